//! Deliveries that take weak receivers down. They come last, because a receiver may stay down.

use super::{Content, Expected, Forge, JudgeError, Kinds, Recipe, Row, Signer, accepts, same};
use crate::error::failed;
use bankrail_jose::base64url;
use flate2::{Compress, Compression, FlushCompress};
use serde_json::json;

/// The levels of nested JSON.
const DEPTH: usize = 60_000;
/// The bytes of a large body, and of a large message.
const LARGE: usize = 100 << 20;

/// Deliveries that a receiver survives.
pub(in super::super) const HOSTILE: &[Row] = &[
    survives(
        "survives an envelope of 60,000 levels",
        Expected::SurvivedAndRefused,
        &[(
            "",
            Recipe::Body(|_, _| format!("{{\"secured_payload\":{}}}", nested())),
        )],
    ),
    survives(
        "survives a message of 60,000 levels",
        Expected::Survived,
        &[(
            "",
            Recipe::Text(|mut usual| {
                usual.truncate(usual.len() - 1);
                format!("{usual},\"nested\":{}}}", nested()).into_bytes()
            }),
        )],
    ),
    survives(
        "survives a header of 100,000 characters",
        Expected::Survived,
        &[(
            "",
            Recipe::Carried(|forge, usual| {
                forge.sealed(&json!({ "x".repeat(100_000): 1 }), &json!({}), usual)
            }),
        )],
    ),
    survives(
        "survives a body of 100 MiB",
        Expected::SurvivedAndRefused,
        &[(
            "",
            Recipe::Body(|_, _| format!("{{\"secured_payload\":\"{}\"}}", "A".repeat(LARGE))),
        )],
    ),
    survives(
        "survives a compressed message of 100 MiB that nobody has signed",
        Expected::SurvivedAndRefused,
        &[(
            "",
            Recipe::Carried(|forge, _| compressed(forge, &bomb(forge, b"", Signer::Stranger)?)),
        )],
    ),
    survives(
        "survives a compressed message of 100 MiB that the provider has signed",
        Expected::Survived,
        &[(
            "",
            Recipe::Carried(|forge, usual| {
                compressed(forge, &bomb(forge, usual, Signer::Provider)?)
            }),
        )],
    ),
];

/// Deliveries that a receiver takes after the hostile ones.
pub(in super::super) const AFTER: &[Row] = &[accepts(
    same("S23.22"),
    Kinds::Working,
    "takes {one} after all of that",
    &[("the message", Recipe::Whole)],
)];

const fn survives(
    title: &'static str,
    expected: Expected,
    deliveries: &'static [(&'static str, Recipe)],
) -> Row {
    Row {
        id: same("S23.22"),
        kinds: Kinds::First,
        title,
        expected,
        content: Content::Deliveries(deliveries),
    }
}

fn nested() -> String {
    "[".repeat(DEPTH) + &"]".repeat(DEPTH)
}

fn compressed(forge: &Forge, jws: &[u8]) -> Result<String, JudgeError> {
    Ok(forge.encrypted(&json!({"zip": "DEF"}), jws)?.compact())
}

/// The compressed JWS of a message and 100 MiB of spaces, of some 150 kB.
///
/// Its blocks refer to nothing before them, so that one of them can be repeated and compressed
/// once.
fn bomb(forge: &Forge, message: &[u8], by: Signer) -> Result<Vec<u8>, JudgeError> {
    let header = forge.signed_header("RS256", &json!({})).to_string();
    // Without padding, so that what follows can be appended.
    let mut message = message.to_vec();
    message.resize(message.len().next_multiple_of(3), b' ');
    let begin = format!(
        "{}.{}",
        base64url::encode(header.as_bytes()),
        base64url::encode(&message)
    );
    let spaces = base64url::encode(&vec![b' '; 3 << 18]);
    // Four characters for three bytes.
    let times = (LARGE / 3 * 4).div_ceil(spaces.len());
    let signed = if matches!(by, Signer::Provider) {
        begin.clone() + &spaces.repeat(times)
    } else {
        String::new()
    };
    let signature = base64url::encode(&forge.signature("RS256", signed.as_bytes(), by)?);
    let mut stream = Compress::new(Compression::best(), false);
    let mut block = |plain: &str, flush| {
        let mut out = Vec::with_capacity(plain.len() + 1024);
        stream
            .compress_vec(plain.as_bytes(), &mut out, flush)
            .map_err(failed)?;
        Ok::<_, JudgeError>(out)
    };
    let mut whole = block(&begin, FlushCompress::Full)?;
    let repeated = block(&spaces, FlushCompress::Full)?;
    for _ in 0..times {
        whole.extend_from_slice(&repeated);
    }
    whole.extend(block(&format!(".{signature}"), FlushCompress::Finish)?);
    Ok(whole)
}
