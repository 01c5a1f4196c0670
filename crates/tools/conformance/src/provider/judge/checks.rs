//! Checks of answers: their status, their path, and the members of their JSON bodies.

use super::wire::Answer;
use crate::row::{Verdict, listed};
use bankrail_values::json::{JsonLimits, JsonObject, JsonValue, read_object};
use bankrail_values::{HyphenatedUuid, excerpt};

/// The verdict of a check on an answer that has nothing to check.
pub(super) const ABSENT: Verdict = Verdict::NotSeen(String::new());

/// What is right about an answer.
pub(super) type Check = fn(&AnswerView<'_>) -> Verdict;

/// The length of a body is bounded where it is received.
const LIMITS: JsonLimits = JsonLimits::new().max_document_bytes(usize::MAX);

/// An answer to check.
pub(super) struct AnswerView<'a> {
    pub(super) answer: &'a Answer,
    /// The account that was asked for; empty if none was.
    pub(super) account: &'a str,
    /// The members of the body, or the reason why it cannot be read.
    pub(super) members: Result<JsonObject<'a>, String>,
}

impl<'a> AnswerView<'a> {
    pub(super) fn of(answer: &'a Answer, account: &'a str) -> Self {
        Self {
            answer,
            account,
            members: object(&answer.body),
        }
    }

    pub(super) fn member(&self, name: &str) -> Option<&JsonValue<'a>> {
        self.members.as_ref().ok()?.get(name)
    }

    /// Checks a member that must be there as text. One row alone fails for a body that cannot be
    /// read.
    pub(super) fn text(&self, name: &str, check: impl FnOnce(&str) -> Verdict) -> Verdict {
        let members = self.members.as_ref();
        members.map_or(ABSENT, |members| {
            text(members, name).map_or_else(Verdict::Failed, check)
        })
    }
}

/// Reads the members of a body strictly: no member twice, nothing after the object.
///
/// # Errors
/// What is wrong with it.
pub(super) fn object(body: &[u8]) -> Result<JsonObject<'_>, String> {
    read_object(body, &LIMITS)
        .map_err(|error| format!("expected a JSON object with each member once, found: {error}"))
}

/// Returns a member that must be there as text.
///
/// # Errors
/// What is there instead.
pub(super) fn text<'a>(members: &'a JsonObject<'_>, name: &str) -> Result<&'a str, String> {
    match members.get(name) {
        Some(JsonValue::String(text)) => Ok(text),
        found => Err(kind(name, "a string", found)),
    }
}

/// `expected a string as NAME, found a number`.
pub(super) fn kind(name: &str, expected: &str, found: Option<&JsonValue<'_>>) -> String {
    format!(
        "expected {expected} as {name}, found {}",
        found.map_or("none", JsonValue::kind)
    )
}

/// Passed for a GUID with hyphens.
pub(super) fn guid(name: &str, found: &str) -> Verdict {
    Verdict::when(HyphenatedUuid::parse(found).is_ok(), || {
        format!(
            "expected a hyphenated GUID as {name}, found {}",
            excerpt(found)
        )
    })
}

/// Passed if this condition holds.
pub(super) fn expect(holds: bool, expected: &str, found: Option<&str>) -> Verdict {
    Verdict::when(holds, || differs(expected, found))
}

/// `expected X, found Y`.
pub(super) fn differs(expected: &str, found: Option<&str>) -> String {
    let found = found.map_or_else(|| "none".to_owned(), excerpt);
    format!("expected {expected}, found {found}")
}

/// Gives the reason why nothing was seen, if a check had nothing to check.
pub(super) fn seen(verdict: Verdict, unseen: &str) -> Verdict {
    if verdict == ABSENT {
        Verdict::not_seen(unseen)
    } else {
        verdict
    }
}

/// Returns the verdict on the checks at each place, such as `statement 2`: all that is wrong, or
/// else all that is unusual. A row without checks that saw anything was not seen, for this reason.
pub(super) fn combined(
    all: impl IntoIterator<Item = (impl AsRef<str>, Verdict)>,
    unseen: &Verdict,
) -> Verdict {
    let (mut wrong, mut unusual, mut right) = (Vec::new(), Vec::new(), false);
    for (place, verdict) in all {
        let defects = match verdict {
            Verdict::Failed(_) => &mut wrong,
            Verdict::Noted(_) => &mut unusual,
            other => {
                right |= other == Verdict::Passed;
                continue;
            }
        };
        defects.push(format!("{}: {}", place.as_ref(), verdict.detail()));
    }
    if !wrong.is_empty() {
        Verdict::Failed(listed(&wrong))
    } else if !unusual.is_empty() {
        Verdict::Noted(listed(&unusual))
    } else if right {
        Verdict::Passed
    } else {
        unseen.clone()
    }
}

/// Passed if there is an endpoint at the path of the specification. Another path is noted, because
/// the caller chose it.
pub(super) fn path_of(answer: &Answer, url: &reqwest::Url, path: &str) -> Verdict {
    let is_error = object(&answer.body).is_ok_and(|members| members.get("error").is_some());
    match answer.status {
        _ if !url.path().ends_with(path) => Verdict::Noted(differs(path, Some(url.path()))),
        404 | 405 if !is_error => Verdict::Failed(format!(
            "expected the endpoint at {path}, found {}",
            answer.status
        )),
        _ => Verdict::Passed,
    }
}

/// Returns `Passed` if the status is an expected one.
pub(super) fn status_of(answer: &Answer, expected: &[u16]) -> Verdict {
    Verdict::when(expected.contains(&answer.status), || {
        let names: Vec<String> = expected.iter().map(u16::to_string).collect();
        format!("expected {}, found {}", names.join(" or "), answer.status)
    })
}
