//! What takes weak receivers down. It comes last, because they may stay down.

use super::{Asks, By, FIRST, Forge, JudgeError, Make, Right, Row, WORKING, accepts, same};
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
        Right::SurvivedAndRefused,
        &[("", Make::Body(|_, _| format!("{{\"secured_payload\":{}}}", nested())))],
    ),
    survives(
        "survives a message of 60,000 levels",
        Right::Survived,
        &[(
            "",
            Make::Text(|mut usual| {
                usual.truncate(usual.len() - 1);
                format!("{usual},\"nested\":{}}}", nested()).into_bytes()
            }),
        )],
    ),
    survives(
        "survives a header of 100,000 characters",
        Right::Survived,
        &[("", Make::Carried(|forge, usual| forge.sealed(&json!({ "x".repeat(100_000): 1 }), &json!({}), usual)))],
    ),
    survives(
        "survives a body of 100 MiB",
        Right::SurvivedAndRefused,
        &[("", Make::Body(|_, _| format!("{{\"secured_payload\":\"{}\"}}", "A".repeat(LARGE))))],
    ),
    survives(
        "survives a compressed message of 100 MiB that nobody has signed",
        Right::SurvivedAndRefused,
        &[("", Make::Carried(|forge, _| Ok(forge.encrypted(&json!({"zip": "DEF"}), &bomb(forge)?)?.compact())))],
    ),
];

/// What a receiver takes after them.
pub(in super::super) const AFTER: &[Row] =
    &[accepts(same("S23.22"), WORKING, "takes {one} after all of that", &[("the message", Make::Whole)])];

const fn survives(title: &'static str, right: Right, deliveries: &'static [(&'static str, Make)]) -> Row {
    Row { id: same("S23.22"), on: FIRST, title, right, asks: Asks::Deliveries(deliveries) }
}

fn nested() -> String {
    "[".repeat(DEPTH) + &"]".repeat(DEPTH)
}

/// The compressed JWS of 100 MiB of spaces, of some 150 kB.
///
/// Its blocks refer to nothing before them, so that one of them can be repeated and the whole is never in memory.
fn bomb(forge: &Forge) -> Result<Vec<u8>, JudgeError> {
    let header = forge.signed_header("RS256", &json!({})).to_string();
    let signature = forge.jws(&json!({}), b"", By::Stranger)?;
    let signature = signature.rsplit('.').next().unwrap_or_default();
    let spaces = base64url::encode(&vec![b' '; 3 << 18]);
    let mut stream = Compress::new(Compression::best(), false);
    let mut block = |plain: &str, flush| {
        let mut out = Vec::with_capacity(plain.len() + 1024);
        stream.compress_vec(plain.as_bytes(), &mut out, flush).map_err(failed)?;
        Ok::<_, JudgeError>(out)
    };
    let mut whole = block(&format!("{}.", base64url::encode(header.as_bytes())), FlushCompress::Full)?;
    let repeated = block(&spaces, FlushCompress::Full)?;
    // Four characters for three bytes.
    for _ in 0..(LARGE / 3 * 4).div_ceil(spaces.len()) {
        whole.extend_from_slice(&repeated);
    }
    whole.extend(block(&format!(".{signature}"), FlushCompress::Finish)?);
    Ok(whole)
}
