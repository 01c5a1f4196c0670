//! The row of a judgement: a clause of the specification, and the judge's verdict about it.

use std::time::Duration;

/// One row of a judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The clause's id in docs/conformance.md, such as `S20.3`; `-` for a row beyond the
    /// specification.
    pub id: &'static str,
    /// The heading of SPEC.md that the clause stands under.
    pub heading: &'static str,
    /// The question in one line.
    pub title: String,
    /// True if the row is about something beyond the specification.
    pub beyond: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The duration of the row's calls; zero if another row made them.
    pub took: Duration,
    pub(crate) demand: Demand,
    /// True if the row would fail under `strict` where it is noted.
    pub(crate) fails_strictly: bool,
}

/// The demand of a row on the subject, which gives a failure its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Demand {
    /// To handle a right call or message rightly.
    #[default]
    Service,
    /// The subject must refuse an incorrect call or message.
    Refusal,
    /// To keep answering.
    Survival,
}

/// The verdict of a judge about one row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The clause holds.
    Passed,
    /// The clause does not hold: `expected X, found Y`.
    Failed(String),
    /// The specification leaves this open, and the finding differs from what is usual.
    Noted(String),
    /// Nothing showed if the clause holds. The text names what was missing.
    NotSeen(String),
    /// The row was not judged, for this reason: the budget, a row that it depends on, or an address
    /// that was not given.
    NotRun(String),
}

impl Verdict {
    /// Returns the verdict in lower case, such as `not run`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Noted(_) => "noted",
            Self::NotSeen(_) => "not seen",
            Self::NotRun(_) => "not run",
        }
    }

    /// Returns the reason of the verdict. The text is empty if the clause holds.
    #[must_use]
    pub fn detail(&self) -> &str {
        match self {
            Self::Passed => "",
            Self::Failed(text) | Self::Noted(text) | Self::NotSeen(text) | Self::NotRun(text) => {
                text
            }
        }
    }

    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }

    pub(crate) fn not_seen(why: impl Into<String>) -> Self {
        Self::NotSeen(why.into())
    }

    pub(crate) fn not_run(why: impl Into<String>) -> Self {
        Self::NotRun(why.into())
    }

    /// Returns `Passed` if a condition holds, otherwise `Failed` with the reason.
    pub(crate) fn when(holds: bool, why: impl FnOnce() -> String) -> Self {
        if holds {
            Self::Passed
        } else {
            Self::Failed(why())
        }
    }

    /// The first of both that is not passed.
    pub(crate) fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Passed => other(),
            own => own,
        }
    }
}

impl Row {
    /// Returns a row under the heading of its number.
    pub(crate) fn new(
        id: &'static str,
        title: impl Into<String>,
        verdict: Verdict,
        took: Duration,
    ) -> Self {
        Self {
            id,
            heading: heading(id),
            beyond: is_beyond(id),
            title: title.into(),
            verdict,
            took,
            demand: Demand::Service,
            fails_strictly: is_beyond(id),
        }
    }

    /// The same row with this demand.
    pub(crate) fn demanding(self, demand: Demand) -> Self {
        Self { demand, ..self }
    }

    /// Returns the number of the heading and of the row under it, for sorting.
    pub(crate) fn place(&self) -> (u32, u32) {
        place(self.id).unwrap_or((u32::MAX, 0))
    }
}

/// The characters of an answer that are shown.
const MAX_SHOWN_CHARS: usize = 120;

/// Returns the beginning of an answer on one line, without addresses.
pub(crate) fn shown(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(at) = line.find("://") {
        let (before, after) = (line.get(..at), line.get(at + 3..));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let scheme = |c: char| c.is_ascii_alphanumeric();
        let end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | '\\');
        let (_, rest) = after.split_at(after.find(end).unwrap_or(after.len()));
        line = format!("{}(an address){rest}", before.trim_end_matches(scheme));
    }
    match line.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The defects of a row that are listed. Others are counted.
const MAX_LISTED: usize = 5;

/// Joins the first defects, and counts the rest.
pub(crate) fn listed(defects: &[String]) -> String {
    let shown = defects.get(..MAX_LISTED).unwrap_or(defects).join("; ");
    match defects.len().saturating_sub(MAX_LISTED) {
        0 => shown,
        rest => format!("{shown}; and {rest} more"),
    }
}

/// The id of rows that SPEC.md has no clause for.
pub(crate) const BEYOND: &str = "-";

/// The rows about clauses that are defaults in docs/conformance.md, because only the public
/// documentation of live services states them.
const DEFAULTS: [&str; 5] = ["S2.13", "S6.4", "S7.4", "S24.9", "S25.36"];

/// Returns true if rows of this id are about something beyond SPEC.md.
pub(crate) fn is_beyond(id: &str) -> bool {
    id == BEYOND || DEFAULTS.contains(&id)
}

/// Returns the two numbers of an id.
pub(crate) fn place(id: &str) -> Option<(u32, u32)> {
    let (heading, row) = id.strip_prefix('S')?.split_once('.')?;
    Some((heading.parse().ok()?, row.parse().ok()?))
}

/// Returns SPEC.md's heading for an id.
fn heading(id: &str) -> &'static str {
    let number = place(id).and_then(|(heading, _)| usize::try_from(heading).ok());
    number
        .and_then(|number| HEADINGS.get(number.checked_sub(1)?))
        .copied()
        .unwrap_or("Beyond SPEC.md")
}

/// SPEC.md's headings in its order.
const HEADINGS: [&str; 26] = [
    "Intraday Statement, Access Token and Mandate Notification Service Specification",
    "What the service does",
    "Resources and their fields",
    "Statement response (body of a successful statement call)",
    "Statement error response",
    "Statement payload (XML, namespace urn:iso:std:iso:20022:tech:xsd:camt.052.001.06)",
    "Access token response",
    "Client assertion (JWT) the customer builds",
    "Secured payload envelope (used by all webhook messages)",
    "Webhook acknowledgement (the receiver's response body)",
    "Common formats in webhook messages",
    "MandateActionOutcome message (outcome of a mandate action the biller started)",
    "MandateNotification message (payer took an action on a mandate)",
    "MPIRActionOutcome message (outcome of a payment instruction the biller started)",
    "QueryNotification message (payer raised a query)",
    "Payment alias (PayID) formats used when a mandate identifies the debtor account by alias",
    "States and transitions",
    "Endpoints",
    "Request statement",
    "Obtain access token",
    "Webhook receivers (called by the service, implemented by the customer)",
    "Authentication",
    "Events",
    "Errors",
    "Limits",
    "Versioning",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_shown_on_one_line_without_addresses_and_without_escapes() {
        for (text, expected) in [
            (
                "{\"id\":\"7\",\n \"a\": null}",
                "{\"id\":\"7\", \"a\": null}",
            ),
            (
                "{\"type\":\"https://a.example/b?c\",\"x\":\"see http://d\"}",
                "{\"type\":\"(an address)\",\"x\":\"see (an address)\"}",
            ),
            ("://", "(an address)"),
        ] {
            assert_eq!(shown(text), expected);
        }
        assert_eq!(shown(&"é".repeat(121)), format!("{}…", "é".repeat(120)));
    }

    #[test]
    fn headings_are_those_of_the_specification_in_its_order() {
        for (id, expected) in [
            (
                "S1.1",
                "Intraday Statement, Access Token and Mandate Notification Service Specification",
            ),
            ("S8.15", "Client assertion (JWT) the customer builds"),
            ("S20.3", "Obtain access token"),
            ("S26.1", "Versioning"),
            ("S27.1", "Beyond SPEC.md"),
            ("-", "Beyond SPEC.md"),
        ] {
            assert_eq!(heading(id), expected);
        }
        let conformance = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/conformance.md");
        // A published package does not contain this file.
        let Ok(page) = std::fs::read_to_string(conformance) else {
            return;
        };
        let found: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(found, HEADINGS);
        for id in DEFAULTS {
            let (before, _) = page.split_once(&format!("\n- **{id}** ")).unwrap();
            let above = before
                .lines()
                .rfind(|line| !line.is_empty() && !line.starts_with("- "));
            assert!(above == Some("Defaults:") && is_beyond(id), "{id}");
        }
    }
}
