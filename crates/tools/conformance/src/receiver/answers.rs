//! Judges the form of answers, and all acknowledgements of a run together.

use super::Answer;
use super::rows::one;
use crate::row::{BEYOND, Verdict, listed, shown};
use bankrail_values::excerpt;
use bankrail_webhook::{Acknowledgement, MessageKind};
use serde_json::Value;

/// The common features of all acknowledgements.
#[derive(Default)]
pub(super) struct Acknowledgements {
    count: usize,
    ids: Vec<String>,
    not_uuid: Vec<String>,
    not_received: Vec<String>,
}

impl Acknowledgements {
    pub(super) fn add(&mut self, answer: &Answer) {
        let describe = |member: Option<&String>| {
            member.map_or_else(|| answer.describe(), |text| excerpt(text))
        };
        self.count += 1;
        let (id, status) = (answer.member("id"), answer.member("status"));
        if !id.as_deref().is_some_and(is_uuid) {
            self.not_uuid.push(describe(id.as_ref()));
        }
        if status.as_deref() != Some(Acknowledgement::RECEIVED) {
            self.not_received.push(describe(status.as_ref()));
        }
        self.ids.extend(id);
    }

    /// Returns the rows about all acknowledgements: id, title, verdict.
    pub(super) fn rows(mut self) -> Vec<(&'static str, String, Verdict)> {
        let of = |found: Vec<String>, expected: &str| match self.count {
            0 => Verdict::not_run("nothing was acknowledged"),
            _ => Verdict::when(found.is_empty(), || {
                format!("expected {expected}, found {}", listed(&found))
            }),
        };
        let mut rows = vec![
            (
                "S10.1",
                "the id of each acknowledgement is a UUID with hyphens".to_owned(),
                of(self.not_uuid, "a UUID with hyphens"),
            ),
            (
                "S10.2",
                "the status of each acknowledgement is RCVD".to_owned(),
                of(self.not_received, "\"RCVD\""),
            ),
        ];
        // A duplicate may be answered with the first acknowledgement, so ids may repeat.
        let count = self.ids.len();
        self.ids.sort_unstable();
        self.ids.dedup();
        if count > 1 {
            let several = Verdict::when(self.ids.len() > 1, || {
                "expected several ids, found one in all".to_owned()
            });
            rows.push((
                "S10.1",
                "different messages are acknowledged under different ids".to_owned(),
                several,
            ));
        }
        rows
    }
}

/// Returns true for a UUID with hyphens, in any case.
fn is_uuid(text: &str) -> bool {
    let places = [8, 13, 18, 23];
    let hyphenated = text.len() == 36
        && places
            .into_iter()
            .all(|at| text.as_bytes().get(at) == Some(&b'-'));
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    digits == 32 && hyphenated
}

/// Returns the rows about the form of the first answer of a receiver: id, title, verdict.
pub(super) fn form(kind: MessageKind, answer: &Answer) -> [(&'static str, String, Verdict); 3] {
    let one = one(kind);
    let whole = ["id", "status"]
        .into_iter()
        .all(|member| answer.member(member).is_some());
    let status = answer.status.as_u16();
    let content_type = answer.content_type.as_deref().unwrap_or("none");
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    [
        (
            "S21.3",
            format!("answers {one} with JSON that has id and status as text"),
            Verdict::when(whole, || {
                format!(
                    "expected {{\"id\":…,\"status\":\"RCVD\"}}, found {}",
                    answer.describe()
                )
            }),
        ),
        (
            BEYOND,
            format!("acknowledges {one} with the HTTP status 200"),
            Verdict::when(status == 200, || format!("expected 200, found {status}")),
        ),
        (
            BEYOND,
            format!("says that its answer to {one} is application/json"),
            Verdict::when(media_type.eq_ignore_ascii_case("application/json"), || {
                format!(
                    "expected the content type application/json, found {}",
                    excerpt(content_type)
                )
            }),
        ),
    ]
}

/// Returns the status and the body without digits of times and ids, which differ in each answer.
pub(super) fn looks(answer: &Answer) -> String {
    let masked = |value: &Value| -> String {
        value
            .to_string()
            .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
            .map(mask)
            .collect()
    };
    let body = serde_json::from_slice(&answer.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into_owned()));
    format!("{} {}", answer.status.as_u16(), shown(&masked(&body)))
}

/// Returns a word with the character that ends it, or `#` for a word with digits or one that may be
/// a part of a UUID.
fn mask(word: &str) -> &str {
    let text = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let hexadecimal = text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hexadecimal || text.contains(|c: char| c.is_ascii_digit()) {
        "#"
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    fn judged(bodies: &[&str]) -> Vec<(&'static str, bool)> {
        let mut all = Acknowledgements::default();
        for body in bodies {
            all.add(&Answer {
                status: StatusCode::OK,
                content_type: None,
                body: body.as_bytes().to_vec(),
            });
        }
        all.rows()
            .into_iter()
            .map(|(id, _, verdict)| (id, verdict == Verdict::Passed))
            .collect()
    }

    #[test]
    fn one_that_is_wrong_is_enough() {
        let good = r#"{"id":"0B7C2F6E-8a1d-41eb-8dcd-0242ac130003","status":"RCVD"}"#;
        let other = r#"{"id":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130004","status":"RCVD","at":1}"#;
        let all = |id, status, several| vec![("S10.1", id), ("S10.2", status), ("S10.1", several)];
        assert_eq!(judged(&[good, other, other]), all(true, true, true));
        assert_eq!(judged(&[good, good]), all(true, true, false));
        for bad in [
            "0b7c2f6e-8a1d-41eb-8dcd0-242ac130003",
            "0b7c2f6e8a1d41eb8dcd0242ac130003",
            "7",
        ] {
            let bad = good.replace("0B7C2F6E-8a1d-41eb-8dcd-0242ac130003", bad);
            assert_eq!(
                judged(&[good, &bad, other]),
                all(false, true, true),
                "{bad}"
            );
        }
        assert_eq!(
            judged(&[good, other, &good.replace("RCVD", "rcvd")]),
            all(true, false, true)
        );
        // Neither answer has an id and a status as text.
        assert_eq!(
            judged(&["RCVD", r#"{"id":7,"status":null}"#]),
            [("S10.1", false), ("S10.2", false)]
        );
        // Without an acknowledgement neither row passes.
        assert_eq!(judged(&[]), [("S10.1", false), ("S10.2", false)]);
    }

    #[test]
    fn answers_that_differ_in_times_and_ids_look_alike() {
        let look = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            looks(&Answer {
                status,
                content_type: None,
                body: body.as_bytes().to_vec(),
            })
        };
        let body = |id: &str, why: &str| {
            format!(r#"{{"id":"{id}","at":"2026-11-22T01:02:03Z","detail":"{why}"}}"#)
        };
        let first = look(
            400,
            &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "refused"),
        );
        assert_eq!(
            first,
            look(
                400,
                &body("1b7c2f6e-9a1d-42eb-abcd-0242ac130004", "refused")
            )
        );
        assert_ne!(
            first,
            look(
                400,
                &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "signature")
            )
        );
        assert_ne!(
            first,
            look(
                401,
                &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "refused")
            )
        );
        assert_ne!(look(400, ""), look(400, "bad tag"));
        assert_eq!(look(400, "call 17"), look(400, "call 18"));
    }
}
