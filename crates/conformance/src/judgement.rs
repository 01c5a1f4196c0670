//! All rows of a judgement: as text, as JSON, as JUnit XML.

use crate::error::JudgeError;
use crate::row::{Row, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};
use std::fmt;

/// What a judge found out about a provider or about receivers.
///
/// `Display` gives a line for each row that failed, and one that counts the verdicts.
#[derive(Clone, Debug)]
pub struct Judgement {
    subject: String,
    rows: Vec<Row>,
    note: Option<&'static str>,
}

impl Judgement {
    /// The rows in the order of the specification. Those with one id stay in the order in which they were judged.
    ///
    /// # Errors
    /// [`JudgeError::NoRows`] without a row.
    pub(crate) fn new(
        subject: impl Into<String>,
        mut rows: Vec<Row>,
        note: Option<&'static str>,
    ) -> Result<Self, JudgeError> {
        if rows.is_empty() {
            return Err(JudgeError::NoRows);
        }
        rows.sort_by_key(Row::place);
        Ok(Self { subject: subject.into(), rows, note })
    }

    bankrail_values::getters! { self;
        /// Every row, in the order of the specification.
        rows: &[Row] = &self.rows;
        /// Why rows that might be expected are missing.
        note: Option<&str> = self.note;
    }

    /// True if no row failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.rows.iter().any(|row| matches!(row.verdict, Verdict::Failed(_)))
    }

    /// True if every row was run.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.rows.iter().any(|row| matches!(row.verdict, Verdict::NotRun(_)))
    }

    /// How many rows there are of each verdict, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut line =
            format!("{}: {} {}", self.subject, self.rows.len(), if self.rows.len() == 1 { "row" } else { "rows" });
        for name in ["passed", "failed", "noted", "not seen", "not run"] {
            let count = self.rows.iter().filter(|row| row.verdict.name() == name).count();
            line.push_str(&format!(", {count} {name}"));
        }
        line
    }

    /// One JSON object: `subject`, and `rows` with `id`, `heading`, `title`, `verdict`, `detail` and `seconds`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "id": row.id,
                "heading": row.heading,
                "title": row.title,
                "verdict": row.verdict.name(),
                "detail": row.verdict.detail(),
                "seconds": row.took.as_secs_f64(),
            })
        };
        json!({ "subject": self.subject, "rows": self.rows.iter().map(row).collect::<Vec<_>>() })
    }

    /// A JUnit XML document: a suite for each heading, a case for each row. What was not seen or not run is skipped.
    #[must_use]
    pub fn to_junit(&self) -> String {
        let mut report = Report::new(format!("bankrail conformance {}", self.subject));
        for rows in self.rows.chunk_by(|one, next| one.heading == next.heading) {
            let mut suite = TestSuite::new(rows.first().map_or("", |row| row.heading));
            suite.add_test_cases(rows.iter().map(|row| self.case(row)));
            report.add_test_suite(suite);
        }
        report.to_string().expect("text is written to memory")
    }

    fn case(&self, row: &Row) -> TestCase {
        let mut status = match &row.verdict {
            Verdict::Passed | Verdict::Noted(_) => TestCaseStatus::success(),
            Verdict::Failed(_) => TestCaseStatus::non_success(NonSuccessKind::Failure),
            Verdict::NotSeen(_) | Verdict::NotRun(_) => TestCaseStatus::skipped(),
        };
        status.set_message(row.verdict.detail());
        status.set_type(row.verdict.name());
        let mut case = TestCase::new(format!("{} {}", row.id, row.title), status);
        case.set_classname(format!("{}.{}", self.subject, row.id)).set_time(row.took);
        if let Verdict::Noted(note) = &row.verdict {
            case.set_system_out(note);
        }
        case
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Row { id, title, verdict, .. } in &self.rows {
            if let Verdict::Failed(why) = verdict {
                writeln!(out, "{id} {title}: {why}")?;
            }
        }
        out.write_str(&self.summary())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn judged(verdicts: &[(&'static str, Verdict)]) -> Judgement {
        let row = |(id, verdict): &(&'static str, Verdict)| Row::new(id, "a title", verdict.clone(), Duration::ZERO);
        Judgement::new("provider", verdicts.iter().map(row).collect(), None).unwrap()
    }

    #[test]
    fn what_failed_and_what_was_not_run_is_told_apart() {
        let (failed, not_run) = (Verdict::Failed("why".to_owned()), Verdict::NotRun(String::new()));
        let (noted, not_seen) = (Verdict::Noted(String::new()), Verdict::NotSeen(String::new()));
        for (verdicts, expected) in [
            (vec![Verdict::Passed, noted, not_seen], (true, true)),
            (vec![Verdict::Passed, not_run.clone()], (true, false)),
            (vec![not_run, failed], (false, false)),
        ] {
            let verdicts: Vec<_> = verdicts.into_iter().map(|verdict| ("S8.3", verdict)).collect();
            let judgement = judged(&verdicts);
            assert_eq!((judgement.passed(), judgement.is_complete()), expected, "{verdicts:?}");
        }
    }

    #[test]
    fn rows_are_in_the_order_of_the_specification() {
        let judgement = judged(&["-", "S20.13", "S7.1", "S20.2"].map(|id| (id, Verdict::Passed)));
        let ids: Vec<&str> = judgement.rows().iter().map(|row| row.id).collect();
        assert_eq!(ids, ["S7.1", "S20.2", "S20.13", "-"]);
    }

    #[test]
    fn the_text_has_what_failed_and_how_many_there_are_of_each() {
        let rows = [("S8.3", Verdict::Failed("expected 401, found 200".to_owned())), ("S8.5", Verdict::Passed)];
        let expected = "S8.3 a title: expected 401, found 200\n\
            provider: 2 rows, 1 passed, 1 failed, 0 noted, 0 not seen, 0 not run";
        assert_eq!(judged(&rows).to_string(), expected);
        let junit = judged(&rows).to_junit();
        assert!(junit.contains("<failure message=\"expected 401, found 200\" type=\"failed\""), "{junit}");
        assert_eq!(judged(&rows).to_json()["rows"][0]["verdict"], "failed");
    }
}
