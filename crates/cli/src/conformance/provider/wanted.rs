//! Which rows are asked for: `--only` and `--rest-of`.

use crate::conformance::only::{self, is_within};
use crate::failure::Failure;
use crate::input;
use serde_json::Value;

/// The bytes of an earlier report that are read.
const MOST: usize = 4 << 20;

/// The rows to judge. Without a word, all of them.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    only: Vec<String>,
    /// Id and title of what an earlier run did not come to.
    rest: Option<Vec<(String, String)>>,
}

impl Wanted {
    /// Those under these ids, and of those only what the report in a file has not run.
    pub(super) fn new(only: &[String], rest_of: Option<&str>) -> Result<Self, Failure> {
        let rest = rest_of.map(|path| rest(path, &input::read(path, MOST)?)).transpose()?;
        Ok(Self { only: only.to_vec(), rest })
    }

    /// True if there is a row of this id.
    pub(super) fn has(&self, id: &str) -> bool {
        only::wants(&self.only, id) && self.rest.as_ref().is_none_or(|rest| rest.iter().any(|(found, _)| found == id))
    }

    /// True for this row.
    pub(super) fn has_row(&self, id: &str, title: &str) -> bool {
        self.has(id) && self.rest.as_ref().is_none_or(|rest| rest.iter().any(|row| row.0 == id && row.1 == title))
    }

    /// True if there may be a row under one of these.
    pub(super) fn has_any(&self, headings: &[&str]) -> bool {
        let under = |id: &String| headings.iter().any(|heading| is_within(id, heading));
        let touches = |only: &String| under(only) || headings.iter().any(|heading| is_within(heading, only));
        (self.only.is_empty() || self.only.iter().any(touches))
            && self.rest.as_ref().is_none_or(|rest| rest.iter().any(|(id, _)| under(id)))
    }
}

/// Id and title of each row that was not run.
fn rest(path: &str, report: &[u8]) -> Result<Vec<(String, String)>, Failure> {
    let name = input::name(path);
    let report: Option<Value> = serde_json::from_slice(report).ok();
    let rows = report.as_ref().and_then(|report| report.get("rows")).and_then(Value::as_array).ok_or_else(|| {
        Failure::unable(format_args!("{name}: expected a report, found another file"), "keep what --json prints")
    })?;
    let text = |row: &Value, member: &str| row.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    let rows = rows.iter().filter(|row| text(row, "verdict") == "not run");
    let rest: Vec<_> = rows.map(|row| (text(row, "id"), text(row, "title"))).collect();
    if rest.is_empty() {
        let what = format_args!("{name}: expected rows that were not run, found none").to_string();
        return Err(Failure::unable(what, "nothing is left to judge"));
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_what_was_not_run() {
        let report = br#"{"rows":[{"id":"S8.3","title":"a","verdict":"not run"},
            {"id":"S8.3","title":"b","verdict":"passed"},{"id":"S4.1","title":"c","verdict":"passed"}]}"#;
        let wanted = Wanted { only: Vec::new(), rest: Some(rest("r.json", report).unwrap()) };
        assert!(wanted.has("S8.3") && wanted.has_row("S8.3", "a") && wanted.has_any(&["S8"]));
        assert!(!wanted.has_row("S8.3", "b") && !wanted.has("S4.1") && !wanted.has_any(&["S4", "S2"]));
        for report in [&b"{}"[..], b"no", br#"{"rows":[]}"#] {
            assert!(rest("r.json", report).is_err());
        }
    }
}
