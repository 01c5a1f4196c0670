//! Takes bytes as a key file, a certificate or DER, or changes of a key file. Reading never panics,
//! and keys are written and read again equal.

use crate::invented::{choices, logged};
use arbitrary::Arbitrary;
use bankrail_jose::{
    Certificate, DecryptionKey, EncryptionKey, KeyError, KeyMaterial, KeyOptions, PrivateKey,
    PublicKey, SigningKey, VerifyingKey,
};
use bankrail_values::Timestamp;
use std::borrow::Cow;
use std::sync::LazyLock;

static FILES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let vectors = include_str!("../../crates/protocol/jose/tests/vectors/jose.json");
    let vectors: serde_json::Value = serde_json::from_str(vectors).expect("JSON");
    let names = ["pkcs8", "pkcs1", "spki", "public_pkcs1"].iter();
    let files = names.map(|name| vectors["files"][name].as_str().expect("a text").to_owned());
    let certificate = include_str!("../seeds/pem_parse/certificate");
    files.chain([certificate.to_owned()]).collect()
});

#[derive(Arbitrary, Debug)]
enum Change {
    /// A byte of the contents.
    Byte(u16, u8),
    Drop(u16),
    Insert(u16, u8),
    /// The label of the first or of the last line.
    Label(bool, u8),
    /// A text at a place of the file.
    Text(u16, u8),
    Cut(u16),
    /// Another file behind this one.
    Beside(u8),
}

const LABELS: &[&str] = &[
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "CERTIFICATE",
    "ENCRYPTED PRIVATE KEY",
    "EC PRIVATE KEY",
    "PUBLIC KEY X",
    "",
    "\u{e9}",
    "0123456789012345678901234567890123456789012345678901234567890123 PUBLIC KEY",
];

const TEXTS: &[&str] = &[
    "\r\n", "\\n", " ", "=", "-", "-----", "\u{1f44d}", "Proc-Type: 4,ENCRYPTED\n", "-----BEGIN ",
    "-----END ", "{", "<",
];

/// Returns the contents of a block, if it is one.
fn contents(text: &str) -> Option<(&str, Vec<u8>, &str)> {
    let start = text.find("-----\n")? + "-----\n".len();
    let end = text.rfind("-----END")?;
    let body: String = text.get(start..end)?.split_whitespace().collect();
    let der = openssl::base64::decode_block(&body).ok()?;
    Some((&text[..start], der, &text[end..]))
}

fn changed(text: &str, change: &Change) -> Option<String> {
    let within = |place: u16, length: usize| usize::from(place) % (length + 1);
    let border = |place: u16| text.floor_char_boundary(within(place, text.len()));
    Some(match change {
        Change::Byte(place, _) | Change::Drop(place) | Change::Insert(place, _) => {
            let (before, mut der, after) = contents(text)?;
            // Most of the structure is at the beginning, and the numbers have no structure.
            let place = if place % 4 > 0 { place % 48 } else { *place };
            let at = within(place, der.len().checked_sub(1)?);
            match change {
                Change::Byte(_, xor) => der[at] ^= xor,
                Change::Drop(_) => drop(der.remove(at)),
                Change::Insert(_, byte) => der.insert(at, *byte),
                _ => {}
            }
            format!("{before}{}\n{after}", openssl::base64::encode_block(&der))
        }
        Change::Label(first, number) => {
            let label = LABELS[usize::from(*number) % LABELS.len()];
            let line = if *first { "-----BEGIN " } else { "-----END " };
            let (before, rest) = text.split_once(line)?;
            let (_, after) = rest.split_once("-----")?;
            format!("{before}{line}{label}-----{after}")
        }
        Change::Text(place, number) => {
            let (before, after) = text.split_at(border(*place));
            format!("{before}{}{after}", TEXTS[usize::from(*number) % TEXTS.len()])
        }
        Change::Cut(place) => text[..border(*place)].to_owned(),
        Change::Beside(number) => format!("{text}\n{}", FILES[usize::from(*number) % FILES.len()]),
    })
}

fn file(data: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut choices) = choices(data) else {
        return data.into();
    };
    let mut text = choices.choose(&FILES[..]).expect("a file").clone();
    let as_der = choices.ratio(1, 4).unwrap_or(false);
    for _ in 0..choices.int_in_range(0..=3).unwrap_or(0) {
        if let Ok(change) = Change::arbitrary(&mut choices) {
            text = changed(&text, &change).unwrap_or(text);
        }
    }
    match contents(&text) {
        Some((_, der, _)) if as_der => der.into(),
        _ => text.into_bytes().into(),
    }
}

/// A block that was read has an end line for its label.
fn is_ended(text: &str) -> bool {
    let blocks = text.split("-----BEGIN ").skip(1);
    let mut labels = blocks.filter_map(|block| block.split_once("-----"));
    labels.any(|(label, _)| text.contains(&format!("-----END {label}-----")))
}

fn read<T>(read: Result<T, KeyError>) -> Option<T> {
    read.map_err(|error| logged(&error)).ok()
}

fuzz_target!(|data: &[u8]| {
    let data = &*file(data);
    let text = String::from_utf8_lossy(data);
    let private = [
        PrivateKey::from_pem(&text),
        PrivateKey::from_pkcs8_der(data),
        PrivateKey::from_pkcs1_der(data),
    ];
    assert!(private[0].is_err() || is_ended(&text));
    for key in private.into_iter().filter_map(read) {
        let again = [
            PrivateKey::from_pem(&key.to_pkcs8_pem()),
            PrivateKey::from_pem(&key.to_pkcs1_pem()),
        ];
        for again in again {
            assert_eq!(again.expect("what was written").public_key(), key.public_key());
        }
        assert!(!format!("{key:?}").contains(char::is_control));
    }
    let public = [
        PublicKey::from_pem(&text),
        PublicKey::from_spki_der(data),
        PublicKey::from_pkcs1_der(data),
        Certificate::from_der(data).map(Certificate::into_public_key),
    ];
    assert!(public[0].is_err() || is_ended(&text));
    for key in public.into_iter().filter_map(read) {
        let again = [
            PublicKey::from_pem(&key.to_spki_pem()),
            PublicKey::from_pem(&key.to_pkcs1_pem()),
            PublicKey::from_pkcs1_der(&key.to_pkcs1_der()),
        ];
        for again in again {
            assert_eq!(again.expect("what was written"), key);
        }
        assert!(key.modulus_len() == key.bits().div_ceil(8) && key.thumbprint().len() == 43);
    }
    if let Some(certificate) = read(Certificate::from_pem(&text)) {
        let (from, to) = (certificate.not_before(), certificate.not_after());
        assert_eq!(certificate.is_valid_at(from), from.unix_seconds() <= to.unix_seconds());
        assert!(!certificate.is_valid_at(Timestamp::MIN) || from == Timestamp::MIN);
    }
    let Some(material) = read(KeyMaterial::parse(data)) else {
        return;
    };
    assert!(!format!("{material:?}").contains(char::is_control));
    let public = material.public_key();
    let options = KeyOptions::default();
    let again = || KeyMaterial::parse(data).expect("the same as before");
    let used = [
        read(again().into_keys::<SigningKey>(&options)).map(|(keys, _)| keys.keys().len()),
        read(again().into_keys::<VerifyingKey>(&options)).map(|(keys, _)| keys.keys().len()),
        read(again().into_keys::<EncryptionKey>(&options)).map(|(keys, _)| keys.keys().len()),
        read(again().into_keys::<DecryptionKey>(&options)).map(|(keys, _)| keys.keys().len()),
    ];
    assert!(public.is_none() || used.into_iter().flatten().all(|keys| keys == 1));
});
