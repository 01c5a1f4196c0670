//! What takes weak receivers down. It comes last, because they may stay down.

use super::delivery::{Delivery, Heard};
use super::forge::By;
use super::messages;
use super::session::{Session, verdict};
use crate::error::{JudgeError, failed};
use crate::row::Verdict;
use bankrail_jose::base64url;
use flate2::{Compress, Compression, FlushCompress};
use serde_json::json;
use std::time::Instant;

/// The levels of nested JSON.
const DEPTH: usize = 60_000;
/// The bytes of a large body, and of a large message.
const LARGE: usize = 100 << 20;

pub(super) async fn run(session: &mut Session) -> Result<(), JudgeError> {
    if !["S21.26", "S23.22"].into_iter().any(|id| session.wants(id)) {
        return Ok(());
    }
    let Some(&kind) = session.kinds().first() else { return Ok(()) };
    let old = session.sealed(kind, "the same delivery, after all the others", &messages::usual(kind))?;
    session.send(&old).await;

    let (open, close) = ("[".repeat(DEPTH), "]".repeat(DEPTH));
    let nested = session.target.delivery(kind, "", format!("{{\"secured_payload\":{open}{close}}}").into_bytes());
    survives(session, "an envelope of 60,000 levels", nested, false).await?;
    let message = messages::usual(kind).to_string();
    let message = format!("{},\"nested\":{open}{close}}}", message.strip_suffix('}').unwrap_or_default());
    let sealed = session.forge.sealed(&json!({}), &json!({}), message.as_bytes())?;
    let nested = session.carried(kind, "", sealed);
    survives(session, "a message of 60,000 levels", nested, true).await?;
    let long = "x".repeat(100_000);
    let sealed = session.forge.sealed(&json!({ long: 1 }), &json!({}), messages::usual(kind).to_string().as_bytes())?;
    let headers = session.carried(kind, "", sealed);
    survives(session, "a header of 100,000 characters", headers, true).await?;
    let body = [b"{\"secured_payload\":\"".as_slice(), &vec![b'A'; LARGE], b"\"}"].concat();
    let large = session.target.delivery(kind, "", body);
    survives(session, "a body of 100 MiB", large, false).await?;
    let bomb = session.forge.jwe("RSA-OAEP", "A256CBC-HS512", &json!({"zip": "DEF"}), &bomb(session)?)?;
    let bomb = session.carried(kind, "", bomb.compact());
    survives(session, "a compressed message of 100 MiB that nobody has signed", bomb, false).await?;

    session.accepts("S21.26", "takes a message that it knows after all of that", &[old]).await?;
    for kind in session.kinds() {
        let good = session.sealed(kind, "the message", &messages::whole(kind))?;
        session.accepts("S23.22", format!("takes {} after all of that", messages::one(kind)), &[good]).await?;
    }
    Ok(())
}

/// A row that passes if the next good message is acknowledged, and this one is not unless it may be.
async fn survives(session: &mut Session, what: &str, hostile: Delivery, may_take: bool) -> Result<(), JudgeError> {
    if !session.wants("S23.22") {
        return Ok(());
    }
    let begin = Instant::now();
    let title = format!("survives {what}");
    let kind = hostile.kind;
    if let Some(why) = session.obstacle(std::slice::from_ref(&hostile)) {
        session.push("S23.22", title, Verdict::NotRun(why), begin);
        return Ok(());
    }
    let heard = session.send(&hostile).await;
    drop(hostile);
    let taken = session.is_acknowledged(kind, &heard) && !may_take;
    let verdict = match session.is_down(kind).await? {
        Some(found) => {
            let before = match heard {
                Heard::Nothing(why) => format!(", after no answer ({why})"),
                Heard::Answer(_) => String::new(),
            };
            Verdict::Failed(format!("expected the next good message to be acknowledged, found {found}{before}"))
        }
        None => verdict(!taken, || format!("expected no acknowledgement, found {}", heard.describe())),
    };
    session.push("S23.22", title, verdict, begin);
    Ok(())
}

/// The compressed JWS of 100 MiB of spaces, of some 150 kB.
///
/// Its blocks refer to nothing before them, so that one of them can be repeated and the whole is never in memory.
fn bomb(session: &Session) -> Result<Vec<u8>, JudgeError> {
    let header = session.forge.signed_header("RS256", &json!({})).to_string();
    let signature = session.forge.jws(&json!({}), b"", &By::Stranger)?;
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
