//! The selection of the rows to judge.

use crate::row::place;
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// A selection of the rows of one heading, such as `S8`, or of one clause, such as `S8.15`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSelection(String);

impl fmt::Display for RowSelection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The error for a text that is not a selection of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the number of a heading or a row, such as S8 or S8.15")]
#[non_exhaustive]
pub struct RowSelectionError;

impl FromStr for RowSelection {
    type Err = RowSelectionError;

    fn from_str(text: &str) -> Result<Self, RowSelectionError> {
        let heading = text
            .strip_prefix('S')
            .is_some_and(|number| number.parse::<u32>().is_ok());
        if heading || place(text).is_some() {
            Ok(Self(text.to_owned()))
        } else {
            Err(RowSelectionError)
        }
    }
}

/// The rows that an earlier run of the judge did not reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrunRows(Vec<(String, String)>);

/// The reason why a report has no rows to continue with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnrunRowsError {
    /// The file is not a report of [`crate::Judgement::to_json`].
    #[error("expected a report, found another file")]
    NoReport,
    /// Every row was run.
    #[error("expected rows that were not run, found none")]
    None,
}

impl UnrunRows {
    /// Reads the rows from a report that [`crate::Judgement::to_json`] wrote.
    ///
    /// # Errors
    /// [`UnrunRowsError`] if the text is no such report, or every row in it was run.
    pub fn from_json(report: &[u8]) -> Result<Self, UnrunRowsError> {
        let report: Option<Value> = serde_json::from_slice(report).ok();
        let rows = report
            .as_ref()
            .and_then(|report| report.get("rows")?.as_array())
            .ok_or(UnrunRowsError::NoReport)?;
        let text = |row: &Value, member: &str| {
            row.get(member)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let rows = rows.iter().filter(|row| text(row, "verdict") == "not run");
        let rest: Vec<_> = rows
            .map(|row| (text(row, "id"), text(row, "title")))
            .collect();
        if rest.is_empty() {
            Err(UnrunRowsError::None)
        } else {
            Ok(Self(rest))
        }
    }
}

/// The rows to judge. By default, all rows are judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) only: Vec<RowSelection>,
    pub(crate) rest: Option<UnrunRows>,
}

impl Wanted {
    /// Returns true if a row with an id must be judged.
    pub(crate) fn has(&self, id: &str) -> bool {
        (self.only.is_empty() || self.only.iter().any(|only| is_within(id, &only.0)))
            && self
                .rest
                .as_ref()
                .is_none_or(|rest| rest.0.iter().any(|(found, _)| found == id))
    }

    /// Returns true if a row must be judged.
    pub(crate) fn has_row(&self, id: &str, title: &str) -> bool {
        self.has(id)
            && self
                .rest
                .as_ref()
                .is_none_or(|rest| rest.0.iter().any(|row| row.0 == id && row.1 == title))
    }

    /// Returns true if there may be a row under one of these headings and ids.
    pub(crate) fn has_any(&self, headings: &[&str]) -> bool {
        let under = |id: &str| headings.iter().any(|heading| is_within(id, heading));
        let touches = |only: &RowSelection| {
            under(&only.0) || headings.iter().any(|heading| is_within(heading, &only.0))
        };
        (self.only.is_empty() || self.only.iter().any(touches))
            && self
                .rest
                .as_ref()
                .is_none_or(|rest| rest.0.iter().any(|(id, _)| under(id)))
    }
}

/// Returns true if an id equals another one or lies below it.
fn is_within(id: &str, other: &str) -> bool {
    id.strip_prefix(other)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_all_of_its_rows() {
        for (id, only, expected) in [
            ("S8.15", "S8", true),
            ("S8.15", "S8.15", true),
            ("S8.15", "S8.1", false),
            ("S8.1", "S8.15", false),
            ("S81.5", "S8", false),
            ("-", "S8", false),
        ] {
            let wanted = Wanted {
                only: vec![only.parse().unwrap()],
                rest: None,
            };
            assert_eq!(wanted.has(id), expected, "{id} {only}");
        }
        assert!(Wanted::default().has("-"));
        for (text, accepted) in [
            ("S8", true),
            ("S8.15", true),
            ("8", false),
            ("S", false),
            ("S8.", false),
        ] {
            assert_eq!(text.parse::<RowSelection>().is_ok(), accepted, "{text}");
        }
    }

    #[test]
    fn the_rest_is_what_was_not_run() {
        let report = br#"{"rows":[{"id":"S8.3","title":"a","verdict":"not run"},
            {"id":"S8.3","title":"b","verdict":"passed"},{"id":"S4.1","title":"c","verdict":"passed"}]}"#;
        let wanted = Wanted {
            only: Vec::new(),
            rest: Some(UnrunRows::from_json(report).unwrap()),
        };
        assert!(wanted.has("S8.3") && wanted.has_row("S8.3", "a") && wanted.has_any(&["S8"]));
        assert!(
            !wanted.has_row("S8.3", "b") && !wanted.has("S4.1") && !wanted.has_any(&["S4", "S2"])
        );
        for report in [&b"{}"[..], b"no", br#"{"rows":[]}"#] {
            assert!(UnrunRows::from_json(report).is_err());
        }
    }
}
