//! Messages that the provider has not signed, or that were changed on their way (Specification: "Secured payload
//! envelope", "Authentication", "Events").

use super::super::delivery::{Answer, Delivery, Heard};
use super::super::forge::{By, Jwe, random};
use super::super::messages;
use super::super::session::{BEYOND, Session, verdict};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_webhook::MessageKind;
use serde_json::{Value, json};
use std::time::Instant;

const OAEP: &str = "RSA-OAEP";
const CBC: &str = "A256CBC-HS512";

pub(super) async fn run(session: &mut Session) -> Result<(), JudgeError> {
    for kind in session.kinds() {
        signature(session, kind).await?;
        unsigned(session, kind).await?;
    }
    // The code that opens messages is one for all four, in every receiver that was looked at.
    let Some(&kind) = session.kinds().first() else { return Ok(()) };
    signature_algorithms(session, kind).await?;
    encryption_algorithms(session, kind).await?;
    changed(session, kind).await?;
    one_answer(session, kind).await
}

fn message(kind: MessageKind) -> Vec<u8> {
    messages::usual(kind).to_string().into_bytes()
}

/// A delivery of a JWS that is encrypted as it should be.
fn encrypted(session: &Session, kind: MessageKind, what: &str, signed: &str) -> Result<Delivery, JudgeError> {
    let jwe = session.forge.jwe(OAEP, CBC, &json!({}), signed.as_bytes())?;
    Ok(session.carried(kind, what, jwe.compact()))
}

/// A JWS of a fresh message under this `alg`.
fn signed(session: &Session, kind: MessageKind, alg: &str, by: &By) -> Result<String, JudgeError> {
    session.forge.jws(&session.forge.signed_header(alg, &json!({})), &message(kind), by)
}

async fn signature(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    let good = signed(session, kind, "RS256", &By::Provider)?;
    let (unsigned, right) = good.rsplit_once('.').unwrap_or_default();
    let other = signed(session, kind, "RS256", &By::Provider)?;
    let (other, _) = other.rsplit_once('.').unwrap_or_default();
    let bytes = bankrail_jose::base64url::decode(right).unwrap_or_default();
    let flipped = bankrail_jose::base64url::encode(&flip(&bytes));
    let embedded = session.forge.signed_header("RS256", &json!({"jwk": session.forge.strangers_jwk()}));
    let embedded = session.forge.jws(&embedded, &message(kind), &By::Stranger)?;
    let deliveries = [
        encrypted(session, kind, "one signed by somebody else", &signed(session, kind, "RS256", &By::Stranger)?)?,
        encrypted(session, kind, "one signed by somebody else whose key it brings along", &embedded)?,
        encrypted(session, kind, "one with the signature of another message", &format!("{other}.{right}"))?,
        encrypted(session, kind, "one with a bit of its signature flipped", &format!("{unsigned}.{flipped}"))?,
        encrypted(
            session,
            kind,
            "one with random bytes for a signature",
            &signed(session, kind, "RS256", &By::Bytes(random(256)?))?,
        )?,
    ];
    session.refuses("S23.21", format!("verifies the signature of {}", messages::one(kind)), &deliveries).await
}

async fn unsigned(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    let plain = session.forge.jwe(OAEP, CBC, &json!({"cty": "json"}), &message(kind))?.compact();
    let inner = session.forge.jwe(OAEP, CBC, &json!({}), &message(kind))?.compact();
    let header = session.forge.signed_header("RS256", &json!({}));
    let reversed = session.forge.jws(&header, inner.as_bytes(), &By::Provider)?;
    let deliveries = [
        session.carried(kind, "one that is encrypted and not signed", plain),
        session.carried(kind, "one that is signed and not encrypted", signed(session, kind, "RS256", &By::Provider)?),
        session.carried(kind, "one that is encrypted first and then signed", reversed),
        encrypted(session, kind, "one whose signature is empty", &signed(session, kind, "RS256", &By::Nobody)?)?,
    ];
    session.refuses("S9.3", format!("takes no unsigned {}", messages::name(kind)), &deliveries).await
}

async fn signature_algorithms(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    // What it is, its `alg`, and who signs.
    type Signed = (&'static str, &'static str, By);
    let rows: [(&str, Vec<Signed>); 3] = [
        (
            "takes no signature of the algorithm none",
            ["none", "None", "NONE", ""].map(|alg| ("alg none in this spelling", alg, By::Nobody)).into(),
        ),
        (
            "takes no HS256 by the provider's public key",
            vec![
                ("HS256 by the public key as PEM", "HS256", By::PublicPem),
                ("HS256 by the public key in DER", "HS256", By::PublicDer),
            ],
        ),
        (
            "takes no algorithm but RS256 from the provider either",
            ["PS256", "RS384", "RS512"].map(|alg| ("another algorithm of the provider", alg, By::Provider)).into(),
        ),
    ];
    for (title, messages) in rows {
        let deliveries: Result<Vec<_>, _> = messages
            .into_iter()
            .map(|(what, alg, by)| {
                encrypted(session, kind, &format!("{what} ({alg:?})"), &signed(session, kind, alg, &by)?)
            })
            .collect();
        session.refuses("S9.5", title, &deliveries?).await?;
    }
    Ok(())
}

async fn encryption_algorithms(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    for (id, title, algorithms) in [
        ("S9.7", "takes no key encryption but RSA-OAEP", &[("RSA-OAEP-256", CBC), ("RSA1_5", CBC), ("dir", CBC)][..]),
        (
            "S9.8",
            "takes no content encryption but A256CBC-HS512",
            &[(OAEP, "A256GCM"), (OAEP, "A128GCM"), (OAEP, "A128CBC-HS256"), (OAEP, "A192CBC-HS384")],
        ),
    ] {
        let mut deliveries = Vec::new();
        for (alg, enc) in algorithms {
            let signed = signed(session, kind, "RS256", &By::Provider)?;
            let jwe = session.forge.jwe(alg, enc, &json!({}), signed.as_bytes())?;
            deliveries.push(session.carried(kind, &format!("{alg} with {enc}"), jwe.compact()));
        }
        session.refuses(id, title, &deliveries).await?;
    }
    Ok(())
}

/// A good message, one part of which is made another.
fn part(
    session: &Session,
    kind: MessageKind,
    what: &str,
    change: impl FnOnce(&mut Jwe),
) -> Result<Delivery, JudgeError> {
    let signed = signed(session, kind, "RS256", &By::Provider)?;
    let mut jwe = session.forge.jwe(OAEP, CBC, &json!({}), signed.as_bytes())?;
    change(&mut jwe);
    Ok(session.carried(kind, what, jwe.compact()))
}

fn flip(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(byte) = bytes.get_mut(7) {
        *byte ^= 1;
    }
    bytes
}

async fn changed(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    let deliveries = [
        part(session, kind, "one with a bit of its tag flipped", |jwe| jwe.tag = flip(&jwe.tag))?,
        part(session, kind, "one with a bit of its initialisation vector flipped", |jwe| jwe.iv = flip(&jwe.iv))?,
        part(session, kind, "one with a bit of its ciphertext flipped", |jwe| jwe.text = flip(&jwe.text))?,
        part(session, kind, "one with a bit of its encrypted key flipped", |jwe| jwe.key = flip(&jwe.key))?,
        // The same members, and other bytes under the tag.
        part(session, kind, "one with another spelling of its header", |jwe| {
            jwe.header = jwe.header.replacen(':', ": ", 1);
        })?,
        part(session, kind, "one with half a tag", |jwe| jwe.tag.truncate(16))?,
        part(session, kind, "one without a tag", |jwe| jwe.tag.clear())?,
        part(session, kind, "one without its last block", |jwe| jwe.text.truncate(jwe.text.len() - 16))?,
        part(session, kind, "one with half a block less", |jwe| jwe.text.truncate(jwe.text.len() - 8))?,
        part(session, kind, "one without an initialisation vector", |jwe| jwe.iv.clear())?,
        part(session, kind, "one without an encrypted key", |jwe| jwe.key.clear())?,
        part(session, kind, "one without a ciphertext", |jwe| jwe.text.clear())?,
    ];
    session.refuses("S9.10", "takes no message that was changed after it was encrypted", &deliveries).await
}

/// Whoever learns which step failed can decrypt messages of others (RFC 7516 section 11.5).
async fn one_answer(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    let title = "refuses in one way what was changed and what is not signed by the provider";
    let deliveries = [
        part(session, kind, "a flipped tag", |jwe| jwe.tag = flip(&jwe.tag))?,
        part(session, kind, "a flipped initialisation vector", |jwe| jwe.iv = flip(&jwe.iv))?,
        part(session, kind, "a flipped ciphertext", |jwe| jwe.text = flip(&jwe.text))?,
        part(session, kind, "a flipped encrypted key", |jwe| jwe.key = flip(&jwe.key))?,
        encrypted(session, kind, "a stranger's signature", &signed(session, kind, "RS256", &By::Stranger)?)?,
    ];
    let begin = Instant::now();
    let mut answers: Vec<(&str, String)> = Vec::new();
    if !session.wants(BEYOND) {
        return Ok(());
    }
    if let Some(why) = session.obstacle(&deliveries) {
        session.push(BEYOND, title.to_owned(), Verdict::NotRun(why), begin);
        return Ok(());
    }
    for delivery in &deliveries {
        let looks = match session.send(delivery).await {
            Heard::Answer(answer) => looks(&answer),
            Heard::Nothing(why) => format!("no answer: {why}"),
        };
        answers.push((&delivery.what, looks));
    }
    let other = answers.first().and_then(|(_, first)| answers.iter().find(|(_, looks)| looks != first));
    let why = || {
        let describe = |found: Option<&(&str, String)>| {
            found.map_or_else(String::new, |(what, looks)| format!("{looks} for {what}"))
        };
        format!("expected one answer, found {} and {}", describe(answers.first()), describe(other))
    };
    let verdict = verdict(other.is_none(), why);
    session.push(BEYOND, title.to_owned(), verdict, begin);
    Ok(())
}

/// Status and body, without the digits of times and of ids that differ in each answer.
fn looks(answer: &Answer) -> String {
    let masked = |value: &Value| -> String {
        value.to_string().split_inclusive(|c: char| !c.is_ascii_alphanumeric()).map(mask).collect()
    };
    let body = serde_json::from_slice(&answer.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into_owned()));
    format!("{} {}", answer.status.as_u16(), bankrail_values::excerpt(&masked(&body)))
}

/// A word and what ends it; `#` for one with digits, and for what may be a part of a UUID.
fn mask(word: &str) -> &str {
    let text = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let hexadecimal = text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hexadecimal || text.contains(|c: char| c.is_ascii_digit()) { "#" } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    #[test]
    fn answers_that_differ_in_times_and_ids_look_alike() {
        let look = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            looks(&Answer { status, content_type: None, body: body.as_bytes().to_vec() })
        };
        let body = |id: &str, why: &str| format!(r#"{{"id":"{id}","at":"2026-11-22T01:02:03Z","detail":"{why}"}}"#);
        let first = look(400, &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "refused"));
        assert_eq!(first, look(400, &body("1b7c2f6e-9a1d-42eb-abcd-0242ac130004", "refused")));
        assert_ne!(first, look(400, &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "signature")));
        assert_ne!(first, look(401, &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "refused")));
        assert_ne!(look(400, ""), look(400, "bad tag"));
        assert_eq!(look(400, "call 17"), look(400, "call 18"));
    }
}
