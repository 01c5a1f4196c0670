//! What all acknowledgements of a run are judged by.

use super::delivery::Answer;
use crate::row::Verdict;
use bankrail_values::excerpt;
use bankrail_webhook::Acknowledgement;

/// What all acknowledgements had in common.
#[derive(Default)]
pub(super) struct Acknowledgements {
    count: usize,
    ids: Vec<String>,
    not_uuid: Option<String>,
    not_received: Option<String>,
}

impl Acknowledgements {
    pub(super) fn add(&mut self, answer: &Answer) {
        let describe = |member: Option<&String>| {
            member.map_or_else(|| answer.describe(), |text| excerpt(text))
        };
        self.count += 1;
        let (id, status) = (answer.member("id"), answer.member("status"));
        if !id.as_deref().is_some_and(is_uuid) {
            self.not_uuid.get_or_insert_with(|| describe(id.as_ref()));
        }
        if status.as_deref() != Some(Acknowledgement::RECEIVED) {
            self.not_received
                .get_or_insert_with(|| describe(status.as_ref()));
        }
        self.ids.extend(id);
    }

    /// The rows about all of them: id, title, verdict.
    pub(super) fn rows(mut self) -> Vec<(&'static str, String, Verdict)> {
        let of = |found: Option<String>, expected: &str| match (self.count, found) {
            (0, _) => Verdict::NotRun("nothing was acknowledged".to_owned()),
            (_, None) => Verdict::Passed,
            (_, Some(found)) => Verdict::Failed(format!("expected {expected}, found {found}")),
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
        // A duplicate may be answered with the first acknowledgement, so that not each of them
        // needs an id of its own.
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

/// A UUID with hyphens, in any case.
fn is_uuid(text: &str) -> bool {
    let places = [8, 13, 18, 23];
    let hyphenated = text.len() == 36
        && places
            .into_iter()
            .all(|at| text.as_bytes().get(at) == Some(&b'-'));
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    digits == 32 && hyphenated
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
}
