//! Changes of a folder while it is in use.

use super::fixture::{Folder, client_certificate, customer, verifying_key};
use crate::capture::Capture;
use bankrail_bank::{CustomerFolder, CustomerSource};
use bankrail_service::delivery::MissingAcknowledgement::{Delivered, Failed};
use bankrail_service::testing::directory_suite;
use bankrail_service::{ApiKeyHash, Directory};
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

async fn finds(folder: &CustomerFolder, key: &str) -> Option<String> {
    let customer = folder
        .customer_by_api_key(ApiKeyHash::of(key.as_bytes()))
        .await
        .unwrap();
    customer.map(|customer| customer.code.to_string())
}

#[tokio::test]
async fn the_suite() {
    let folder = Folder::new();
    folder.write(
        "A.toml",
        &customer("ACME", "acme", &["key-of-acme", "second-key"], ""),
    );
    folder.write("B.toml", &customer("BETA", "beta", &["key-of-beta"], ""));
    let (acme, beta) = ("ACME".parse().unwrap(), "BETA".parse().unwrap());
    let known: [(&[u8], _); 3] = [
        (b"key-of-acme", acme),
        (b"second-key", "ACME".parse().unwrap()),
        (b"key-of-beta", beta),
    ];
    directory_suite(&folder.open(), &known).await;
}

/// Both API keys work while they overlap, and then the old one stops.
#[tokio::test]
async fn an_api_key_is_replaced_without_an_interruption() {
    let folder = Folder::new();
    folder.write("A.toml", &customer("ACME", "acme", &["old"], ""));
    let directory = folder.open();
    assert_eq!(
        (
            finds(&directory, "old").await,
            finds(&directory, "new").await
        ),
        (Some("ACME".into()), None)
    );
    // The new one from noon, the old one until midnight.
    let text = customer("ACME", "acme", &["old"], "expires = 2026-11-23T00:00:00Z\n");
    let new = ApiKeyHash::of(b"new").to_string();
    folder.write(
        "A.toml",
        &format!("{text}[[api_keys]]\nsha256 = \"{new}\"\nnot_before = 2026-11-22T12:00:00Z\n"),
    );
    let acme = Some("ACME".to_owned());
    assert_eq!(
        (
            finds(&directory, "old").await,
            finds(&directory, "new").await
        ),
        (acme.clone(), None)
    );
    folder.clock.advance(Duration::from_secs(12 * 3600));
    assert_eq!(
        (
            finds(&directory, "old").await,
            finds(&directory, "new").await
        ),
        (acme.clone(), acme.clone())
    );
    folder
        .clock
        .advance(Duration::from_millis(12 * 3_600_000 - 1));
    assert_eq!(
        (
            finds(&directory, "old").await,
            finds(&directory, "new").await
        ),
        (acme.clone(), acme.clone())
    );
    folder.clock.advance(Duration::from_millis(1));
    assert_eq!(
        (
            finds(&directory, "old").await,
            finds(&directory, "new").await
        ),
        (None, acme)
    );
}

#[tokio::test]
async fn changes_take_effect_while_running_and_errors_change_nothing() {
    let folder = Folder::new();
    folder.write("A.toml", &customer("ACME", "acme", &["a"], ""));
    let directory = folder.open();
    let before = directory.customers().await.unwrap();
    // Nothing changes: the same customers.
    assert!(Arc::ptr_eq(&before, &directory.customers().await.unwrap()));
    // A customer comes.
    folder.write("B.toml", &customer("BETA", "beta", &["b"], ""));
    assert_eq!(finds(&directory, "b").await.as_deref(), Some("BETA"));
    // An error: all customers stay as they were, and the other file's change waits.
    let capture = Capture::start();
    folder.write("A.toml", "code = \"MARK");
    folder.remove("B.toml");
    assert_eq!(finds(&directory, "a").await.as_deref(), Some("ACME"));
    assert_eq!(finds(&directory, "b").await.as_deref(), Some("BETA"));
    let rejected = folder.shown(directory.rejected().unwrap());
    assert!(rejected.starts_with("A.toml:1:"), "{rejected}");
    // Another lookup says nothing new.
    finds(&directory, "a").await;
    assert!(directory.reload().await.is_err());
    drop(capture);
    // A key file alone is missing.
    folder.write("A.toml", &customer("ACME", "later", &["a"], ""));
    assert!(
        directory
            .reload()
            .await
            .unwrap_err()
            .to_string()
            .contains("later.pem: cannot be read")
    );
    // It comes: the customers are read again without a change of their own files.
    std::fs::copy(folder.path("acme.pem"), folder.path("later.pem")).unwrap();
    assert_eq!(finds(&directory, "b").await, None);
    assert_eq!(finds(&directory, "a").await.as_deref(), Some("ACME"));
    assert_eq!(directory.rejected(), None);
    // Another key under the same name.
    std::fs::copy(folder.path("beta.pem"), folder.path("later.pem")).unwrap();
    let customer = directory
        .customer_by_api_key(ApiKeyHash::of(b"a"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        customer.keys.keys()[0].public_key(),
        verifying_key(1).public_key()
    );
    // The folder vanishes: nobody loses access.
    folder.remove("A.toml");
    assert_eq!(finds(&directory, "a").await.as_deref(), Some("ACME"));
    let rejected = folder.shown(directory.rejected().unwrap());
    assert_eq!(
        rejected,
        "FOLDER: expected at least one file whose name ends in .toml, found none"
    );
}

/// Faults are logged once, when they appear, with file and line and without the file's content.
#[test]
fn errors_are_logged_once() {
    // The thread that reads logs too.
    let capture = Capture::start();
    let dispatch = tracing::dispatcher::get_default(Clone::clone);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .on_thread_start(move || {
            std::mem::forget(tracing::dispatcher::set_default(&dispatch));
        })
        .build()
        .unwrap();
    runtime.block_on(async {
        let folder = Folder::new();
        folder.write("A.toml", &customer("ACME", "acme", &["a"], ""));
        let directory = folder.open();
        folder.write(
            "A.toml",
            &customer(
                "ACME",
                "acme",
                &["a"],
                "[[api_keys]]\nsha256 = \"MARK4711\"\n",
            ),
        );
        for _ in 0..3 {
            finds(&directory, "a").await;
        }
        folder.write("A.toml", &customer("ACME", "acme", &["a", "b"], ""));
        finds(&directory, "b").await;
    });
    drop(runtime);
    let text = capture.text();
    assert_eq!(
        text.matches("a change of the customers was refused")
            .count(),
        1,
        "{text}"
    );
    assert!(
        text.contains("A.toml:8:10: expected the SHA-256 of an API key"),
        "{text}"
    );
    assert_eq!(
        text.matches("the customers have changed").count(),
        1,
        "{text}"
    );
    assert!(!text.contains("MARK4711"), "{text}");
}

/// The files are not checked before the interval has passed.
#[tokio::test]
async fn the_interval() {
    let folder = Folder::new();
    folder.write("A.toml", &customer("ACME", "acme", &["a"], ""));
    let directory = CustomerFolder::open(
        folder.path(""),
        folder.options().interval(Duration::from_secs(3600)),
    )
    .unwrap();
    folder.write("A.toml", &customer("ACME", "acme", &["b"], ""));
    assert_eq!(finds(&directory, "b").await, None);
    assert_eq!(directory.interval(), Duration::from_secs(3600));
    directory.reload().await.unwrap();
    assert_eq!(finds(&directory, "b").await.as_deref(), Some("ACME"));
}

#[test]
fn an_endpoint_has_a_client_certificate_of_its_own() {
    let folder = Folder::new();
    folder.write("bank.pem", client_certificate());
    folder.write(
        "half.pem",
        client_certificate().split_once("\n-----BEGIN").unwrap().0,
    );
    let endpoint = |certificate: &str| {
        let text = format!(
            "[[endpoints]]\nid = \"e\"\nurl = \"https://a.example\"\nencryption_key = {{ file = \
             \"encryption.pem\" }}\nclient_certificate = {certificate}\n"
        );
        folder.write("A.toml", &customer("ACME", "acme", &[], &text));
    };
    endpoint("{ file = \"bank.pem\" }");
    let customers = folder.open().current();
    let read = &customers.records().next().unwrap().endpoints[0];
    assert_eq!(
        read.client_certificate().unwrap().expose_pem(),
        client_certificate()
    );
    for (certificate, expected) in [
        (
            "{ file = \"half.pem\" }",
            "expected a client certificate and its private key as PEM",
        ),
        ("{ file = \"absent.pem\" }", "absent.pem: cannot be read"),
        ("{}", "expected one of pem, file, found none"),
    ] {
        endpoint(certificate);
        let refused = folder.refused();
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn an_endpoint_has_a_rule_of_its_own_for_a_missing_acknowledgement() {
    let folder = Folder::new();
    let endpoint = |rule: &str| {
        let text = format!(
            "[[endpoints]]\nid = \"e\"\nurl = \"https://a.example\"\nencryption_key = {{ file = \
             \"encryption.pem\" }}\n{rule}\n"
        );
        folder.write("A.toml", &customer("ACME", "acme", &[], &text));
    };
    for (rule, expected) in [
        ("", None),
        ("requires_acknowledgement = false", Some(Delivered)),
        ("requires_acknowledgement = true", Some(Failed)),
    ] {
        endpoint(rule);
        let customers = folder.open().current();
        let read = &customers.records().next().unwrap().endpoints[0];
        assert_eq!(read.missing_acknowledgement(), expected, "{rule}");
    }
    endpoint("requires_acknowledgement = \"no\"");
    let refused = folder.refused();
    assert!(refused.contains("expected true or false"), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_secret_that_everybody_may_read_is_logged() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("endpoint.key", "hunter2\n");
    let endpoint = "[[endpoints]]\nid = \"e\"\nurl = \"https://a.example\"\nencryption_key = { file = \
        \"encryption.pem\" }\napi_key = { file = \"endpoint.key\" }\n";
    folder.write("A.toml", &customer("ACME", "acme", &[], endpoint));
    let mode = |mode: u32| {
        std::fs::set_permissions(folder.path("endpoint.key"), PermissionsExt::from_mode(mode))
    };
    let log = || {
        let capture = Capture::start();
        let customers = folder.open().current();
        let endpoint = customers.records().next().unwrap().endpoints[0].clone();
        assert_eq!(endpoint.api_key().unwrap().1.expose_secret(), "hunter2");
        assert_eq!(endpoint.api_key().unwrap().0, "apikey");
        capture.text()
    };
    mode(0o644).unwrap();
    let text = log();
    let line = text
        .lines()
        .find(|line| line.contains("every user of the machine may read"))
        .unwrap();
    assert!(
        line.contains("WARN") && line.contains("endpoint.key") && !text.contains("hunter2"),
        "{text}"
    );
    mode(0o640).unwrap();
    assert!(!log().contains("every user of the machine"));
}

/// All verifying keys of a JWK set are used, or the one with the stated `kid`.
#[test]
fn keys_of_a_jwk_set() {
    let folder = Folder::new();
    let key = |of: usize, kid: &str| verifying_key(of).with_kid(kid).to_jwk();
    let encryption = super::fixture::encryption_key()
        .clone()
        .with_kid("e")
        .to_jwk();
    let elliptic = r#"{"kty":"EC","crv":"P-256","kid":"x","x":"AA","y":"AA"}"#;
    let set = format!(
        r#"{{"keys":[{},{encryption},{elliptic},{}]}}"#,
        key(0, "a"),
        key(1, "b")
    );
    folder.write("acme.pem", &set);
    folder.write("A.toml", &customer("ACME", "acme", &[], ""));
    let kids = |folder: &Folder| {
        let customers = folder.open().current();
        let keys = customers.records().next().unwrap().customer.keys.keys();
        keys.iter()
            .map(|key| key.kid().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let capture = Capture::start();
    assert_eq!(kids(&folder), ["a", "b"]);
    let text = capture.text();
    assert!(text.contains("acme.pem: key \"x\" at index 2: "), "{text}");
    folder.write("A.toml", &customer("ACME", "acme", &[], "kid = \"b\"\n"));
    assert_eq!(kids(&folder), ["b"]);
    folder.write("acme.pem", &format!(r#"{{"keys":[{encryption}]}}"#));
    assert!(
        folder
            .refused()
            .starts_with("A.toml:4:8: acme.pem: expected a usable key in the JWK set")
    );
}

#[test]
fn http_on_loopback_is_for_sandboxes() {
    let folder = Folder::new();
    let endpoint = "[[endpoints]]\nid = \"e\"\nurl = \"http://127.0.0.1:8080/hooks\"\n\
        encryption_key = { file = \"encryption.pem\" }\n";
    folder.write("A.toml", &customer("ACME", "acme", &[], endpoint));
    let expected = "A.toml:7:7: expected an https address, found \"http://127.0.0.1:8080/hooks\"";
    assert_eq!(folder.refused(), expected);
    let options = folder.options().danger_allow_http_on_loopback(true);
    assert_eq!(
        CustomerFolder::open(folder.path(""), options)
            .unwrap()
            .current()
            .len(),
        1
    );
}

/// A record that was read again is another value, though with the same content.
#[tokio::test]
async fn a_change_of_one_file_reads_no_other() {
    let folder = Folder::new();
    let [acme, beta] = ["ACME", "BETA"].map(|code| code.parse().unwrap());
    folder.write("A.toml", &customer("ACME", "acme", &["a"], ""));
    folder.write("B.toml", &customer("BETA", "beta", &["b"], ""));
    let age = |name: &str| {
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        File::options()
            .write(true)
            .open(folder.path(name))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    };
    ["A.toml", "B.toml", "acme.pem", "beta.pem"]
        .into_iter()
        .for_each(age);
    let directory = folder.open();
    let before = directory.current();
    folder.write("B.toml", &customer("BETA", "beta", &["b", "c"], ""));
    assert_eq!(finds(&directory, "c").await.as_deref(), Some("BETA"));
    let after = directory.current();
    let same = |code| Arc::ptr_eq(before.get(code).unwrap(), after.get(code).unwrap());
    assert_eq!((same(&acme), same(&beta)), (true, false));
    // The file of a key has changed, and not that which names it.
    age("B.toml");
    directory.reload().await.unwrap();
    folder.write("acme.pem", &verifying_key(1).to_spki_pem());
    assert!(directory.reload().await.is_ok());
    let last = directory.current();
    assert!(Arc::ptr_eq(
        after.get(&beta).unwrap(),
        last.get(&beta).unwrap()
    ));
    assert_ne!(after.get(&acme), last.get(&acme));
}

#[test]
fn at_most_thirty_thousand_customers() {
    let folder = Folder::new();
    (0..=CustomerFolder::MAX_FILES).for_each(|at| folder.write(&format!("{at}.toml"), ""));
    assert_eq!(
        folder.refused(),
        "FOLDER: expected at most 30000 files of customers, found more"
    );
}
