//! Checks that are made on each of several statements, and are one row each.

use super::wire::Answer;
use crate::row::{Verdict, listed};
use bankrail_values::excerpt;

/// The result of a check.
pub(super) enum Found {
    /// The answer has nothing to check.
    Absent,
    Right,
    /// The specification allows the value, which is unusual.
    Unusual(String),
    Wrong(String),
}

impl Found {
    /// Wrong for this reason, if there is one.
    pub(super) fn of(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Wrong, |()| Self::Right)
    }

    /// Right if this condition holds.
    pub(super) fn when(holds: bool, expected: &str, found: Option<&str>) -> Self {
        if holds {
            Self::Right
        } else {
            Self::Wrong(differs(expected, found))
        }
    }

    /// The first that is not right.
    pub(super) fn and(self, other: impl FnOnce() -> Self) -> Self {
        if matches!(self, Self::Right) {
            other()
        } else {
            self
        }
    }

    /// A text that must be there, and is usually this one.
    pub(super) fn usually(usual: &str, found: Option<&str>) -> Self {
        match found {
            Some(found) if found == usual => Self::Right,
            Some(found) if !found.trim().is_empty() => Self::Unusual(differs(usual, Some(found))),
            _ => Self::Wrong(differs(usual, found)),
        }
    }
}

/// Returns the verdict on the findings at each place, such as `statement 2`: all that is wrong, or
/// else all that is unusual. A row without findings was not seen, for this reason.
pub(super) fn verdict(
    all: impl IntoIterator<Item = (impl AsRef<str>, Found)>,
    unseen: &Verdict,
) -> Verdict {
    let (mut wrong, mut unusual, mut right) = (Vec::new(), Vec::new(), false);
    for (place, found) in all {
        let at = |what: String| format!("{}: {what}", place.as_ref());
        match found {
            Found::Absent => {}
            Found::Right => right = true,
            Found::Unusual(what) => unusual.push(at(what)),
            Found::Wrong(what) => wrong.push(at(what)),
        }
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

/// `expected X, found Y`.
pub(super) fn differs(expected: &str, found: Option<&str>) -> String {
    let found = found.map_or_else(|| "none".to_owned(), excerpt);
    format!("expected {expected}, found {found}")
}

/// Passed if there is an endpoint at the path of the specification. Another path is noted, because
/// the caller chose it.
pub(super) fn path_of(answer: &Answer, url: &reqwest::Url, path: &str) -> Verdict {
    let said =
        super::body::object(&answer.body).is_ok_and(|members| members.get("error").is_some());
    match answer.status {
        _ if !url.path().ends_with(path) => Verdict::Noted(differs(path, Some(url.path()))),
        404 | 405 if !said => Verdict::Failed(format!(
            "expected the endpoint at {path}, found {}",
            answer.status
        )),
        _ => Verdict::Passed,
    }
}

/// Passed if the status is an expected one.
pub(super) fn status_of(answer: &Answer, expected: &[u16]) -> Verdict {
    if expected.contains(&answer.status) {
        return Verdict::Passed;
    }
    let names: Vec<String> = expected.iter().map(u16::to_string).collect();
    Verdict::Failed(format!(
        "expected {}, found {}",
        names.join(" or "),
        answer.status
    ))
}
