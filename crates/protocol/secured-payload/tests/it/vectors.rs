//! Messages of other libraries, and hostile ones: those in the repository
//! (`tests/vectors/secured_payload.json`), and others where they are available.

use crate::shared::{Keys, vectors};
use bankrail_jose::{Backend, Jwk, KeyOptions};
use bankrail_secured_payload::{OpenError, OpenErrorKind};
use serde_json::Value;
use std::sync::LazyLock;

static FILE: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../vectors/secured_payload.json")).expect("the file is JSON")
});

fn rows(list: &str) -> &'static [Value] {
    FILE[list].as_array().unwrap()
}

/// Returns a signing key and the key that all messages of the file are encrypted to, on each back
/// end.
fn known(signing: &str) -> Vec<Keys> {
    let private = |name: &str| Jwk::parse(&FILE["keys"][name].to_string()).unwrap();
    let (signing, decryption) = (private(signing), private("RFC 7516 A.1"));
    let options = Backend::ALL
        .iter()
        .map(|backend| KeyOptions::new().backend(*backend));
    options
        .map(|options| {
            Keys::new(
                signing.private_key().unwrap(),
                decryption.private_key().unwrap(),
                &options,
            )
        })
        .collect()
}

#[test]
fn messages_of_other_libraries_are_opened() {
    for row in rows("messages") {
        for keys in known(str(row, "signing")) {
            let opened = keys.customer().open(str(row, "message")).unwrap();
            assert_eq!(opened.json(), str(&FILE, "payload").as_bytes(), "{row}");
            let zip = row["zip"].as_bool().unwrap();
            assert_eq!(opened.outer_header().is_deflated(), zip, "{row}");
            let strict = keys
                .opener()
                .open(str(row, "message"))
                .err()
                .map(|error| error.kind());
            assert_eq!(
                strict,
                zip.then_some(OpenErrorKind::UnsupportedHeader),
                "compression is off by default: {row}"
            );
        }
    }
}

/// Messages are rejected if their headers fit the profile but their parts were computed with other
/// algorithms.
#[test]
fn messages_that_were_computed_in_another_way_are_rejected() {
    for keys in known("RFC 7515 A.2") {
        for row in rows("rejected") {
            let found = keys.customer().open(str(row, "message"));
            assert!(
                matches!(found, Err(OpenError::Rejected)),
                "{}: {found:?}",
                row["name"]
            );
        }
    }
}

#[test]
fn messages_of_other_algorithms_are_refused_without_a_key() {
    for keys in known("RFC 7515 A.2") {
        for row in rows("unsupported") {
            let kind = keys
                .customer()
                .open(str(row, "message"))
                .unwrap_err()
                .kind();
            assert_eq!(kind, OpenErrorKind::UnsupportedHeader, "{row}");
        }
    }
}

fn keys(signing: &str, decryption: &str) -> Option<Vec<Keys>> {
    let file = vectors("keys.json")?;
    let private = |name: &str| Jwk::parse(&file[name].to_string()).unwrap();
    let (signing, decryption) = (private(signing), private(decryption));
    let options = Backend::ALL
        .iter()
        .map(|backend| KeyOptions::new().backend(*backend));
    Some(
        options
            .map(|options| {
                Keys::new(
                    signing.private_key().unwrap(),
                    decryption.private_key().unwrap(),
                    &options,
                )
            })
            .collect(),
    )
}

fn str<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap()
}

#[test]
fn what_other_libraries_seal_is_opened() {
    let Some(file) = vectors("nested.json") else {
        return;
    };
    let list = file["vectors"].as_array().unwrap();
    assert_eq!(list.len(), 10);
    for vector in list {
        for keys in keys(str(vector, "sign_key"), str(vector, "enc_key")).unwrap() {
            let opened = keys.customer().open(str(vector, "jwe")).unwrap();
            assert_eq!(opened.json(), str(vector, "payload").as_bytes());
            let zip = str(vector, "profile") == "zip";
            assert_eq!(opened.outer_header().is_deflated(), zip);
            assert_eq!(
                keys.opener().open(str(vector, "jwe")).is_ok(),
                !zip,
                "compression is off by default"
            );
            assert!(
                keys.customer().open(str(vector, "jws")).is_err(),
                "a bare signature"
            );
        }
    }
}

#[test]
fn hostile_messages_are_refused() {
    let Some(file) = vectors("hostile_payloads.json") else {
        return;
    };
    let (mut run, mut rejected) = (0, Vec::new());
    for keys in keys("sig2048", "enc2048").unwrap() {
        for (name, message) in file.as_object().unwrap() {
            run += 1;
            let opened = keys.customer().open(message.as_str().unwrap());
            assert_eq!(opened.is_ok(), name == "valid", "{name}: {opened:?}");
            match opened {
                Err(error @ OpenError::Rejected) => {
                    rejected.push(format!("{name} {error} {error:?}"))
                }
                Err(error) => assert!(
                    matches!(
                        error.kind(),
                        OpenErrorKind::Malformed | OpenErrorKind::UnsupportedHeader
                    ),
                    "{name}: {error:?}"
                ),
                Ok(_) => {}
            }
        }
    }
    assert_eq!(run, 12 * Backend::ALL.len());
    // The messages that are refused only after a key was used. `zip_ok_small` inflates, but has no
    // signature.
    let names = [
        "badpad_badtag",
        "okpad_badtag",
        "bad_oaep",
        "zip_ok_small",
        "zip_10MiB",
    ];
    assert_eq!(
        rejected.len(),
        names.len() * Backend::ALL.len(),
        "{rejected:?}"
    );
    for line in rejected {
        assert!(
            names
                .iter()
                .any(|name| line == format!("{name} the message was rejected Rejected")),
            "{line}"
        );
    }
}
