//! Keys and vectors that several tests use.

use bankrail_jose::{Backend, DecryptionKey, KeyOptions, RsaSize, SigningKey};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::LazyLock;

/// One key of each kind for all tests, because generating keys is slow.
pub(crate) static SIGNING: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());
pub(crate) static DECRYPTION: LazyLock<DecryptionKey> =
    LazyLock::new(|| DecryptionKey::generate(RsaSize::Rsa2048).unwrap());

/// Returns the options of each back end.
pub(crate) fn backends() -> impl Iterator<Item = KeyOptions> {
    Backend::ALL
        .iter()
        .map(|backend| KeyOptions::new().backend(*backend))
}

/// Returns a file of the shared vectors, or `None` where they are not available.
pub(crate) fn vectors(file: &str) -> Option<Value> {
    text(file).map(|text| serde_json::from_str(&text).unwrap())
}

pub(crate) fn text(file: &str) -> Option<String> {
    let Some(shared) = std::env::var_os("BANKRAIL_SHARED") else {
        eprintln!("BANKRAIL_SHARED not set: skipped");
        return None;
    };
    let path = PathBuf::from(shared).join("vectors").join(file);
    Some(
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

pub(crate) fn str<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member]
        .as_str()
        .unwrap_or_else(|| panic!("no text {member:?}"))
}

pub(crate) fn hex(value: &Value, member: &str) -> Vec<u8> {
    let text = str(value, member);
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
