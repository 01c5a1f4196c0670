//! All rows of a judgement: as a table, as JSON, as JUnit XML.

use super::row::{Row, Verdict};
use crate::failure::{Failure, Outcome};
use crate::output::{Destination, Output, Style};
use crate::text::{counted, pad_right, shown};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How a report is printed, and whether it may be incomplete.
#[derive(clap::Args, Debug)]
pub(crate) struct Printing {
    /// End with 0 although rows were not run
    #[arg(long)]
    allow_not_run: bool,
    /// Write a JUnit XML file too; - for standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
}

/// The rows of one judgement.
#[derive(Debug)]
pub(crate) struct Report {
    subject: String,
    rows: Vec<Row>,
}

impl Report {
    /// No rows yet on this subject, such as `provider`.
    pub(crate) fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// The rows in the order of the specification. Those with one id stay in the order in which they were judged.
    fn sorted(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.place());
        rows
    }

    /// Writes the report, and says how the command ends.
    ///
    /// # Errors
    /// [`Failure::Unable`] if there is no row.
    pub(crate) fn finish(&self, printing: &Printing, output: &mut Output) -> Result<Outcome, Failure> {
        if self.rows.is_empty() {
            return Err(Failure::unable("expected rows to judge, found none", "correct --only or --rest-of"));
        }
        if let Some(path) = &printing.junit {
            self.junit(path, output)?;
        }
        // Standard output is for one of them.
        let is_taken = printing.junit.as_ref().is_some_and(|path| path.as_os_str() == "-");
        if !is_taken && printing.json {
            self.print_json(output)?;
        } else if !is_taken {
            self.print(output)?;
        }
        Ok(self.outcome(printing.allow_not_run))
    }

    /// Prints a line for each row under its heading, and how many there are of each verdict.
    fn print(&self, output: &mut Output) -> Result<(), Failure> {
        let mut heading = "";
        for row in self.sorted() {
            if row.heading != heading {
                heading = row.heading;
                output.line(output.paint(Style::Bold, heading))?;
            }
            let (word, style, text) = words(&row.verdict);
            let mut line = String::from("  ");
            pad_right(row.id, 7, &mut line);
            let mut padded = String::new();
            pad_right(word, 9, &mut padded);
            line.push_str(&style.map_or(padded.clone(), |style| output.paint(style, &padded)));
            line.push_str(&shown(&row.title));
            output.line(line)?;
            if !text.is_empty() {
                output.line(format_args!("{:18}{}", "", shown(text)))?;
            }
        }
        let count = |wanted: &str| self.rows.iter().filter(|row| words(&row.verdict).0 == wanted).count();
        let failed = count(FAILED);
        let summary = format!(
            "{}: {}, {} passed, {failed} failed, {} noted, {} not seen, {} not run",
            self.subject,
            counted(u64::try_from(self.rows.len()).unwrap_or(u64::MAX), "row", "rows"),
            count("passed"),
            count("noted"),
            count("not seen"),
            count("not run"),
        );
        let style = if failed == 0 { Style::Green } else { Style::Red };
        output.line(output.paint(style, &shown(&summary)))
    }

    /// Prints one JSON object.
    fn print_json(&self, output: &mut Output) -> Result<(), Failure> {
        let rows: Vec<_> = self
            .sorted()
            .into_iter()
            .map(|row| {
                let (word, _, text) = words(&row.verdict);
                json!({
                    "id": row.id,
                    "heading": row.heading,
                    "title": row.title,
                    "verdict": word.to_lowercase(),
                    "detail": text,
                    "seconds": row.took.as_secs_f64(),
                })
            })
            .collect();
        output.line(format_args!("{:#}", json!({ "subject": self.subject, "rows": rows })))
    }

    /// Writes a JUnit XML file: a suite for each heading, a case for each row. What was not seen or not run is skipped.
    fn junit(&self, path: &Path, output: &mut Output) -> Result<(), Failure> {
        use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
        let mut report = Report::new(format!("bankrail conformance {}", self.subject));
        let rows = self.sorted();
        for rows in rows.chunk_by(|one, next| one.heading == next.heading) {
            let heading = rows.first().map_or("", |row| row.heading);
            let mut suite = TestSuite::new(heading);
            for row in rows {
                let mut status = match &row.verdict {
                    Verdict::Passed | Verdict::Noted(_) => TestCaseStatus::success(),
                    Verdict::Failed(_) => TestCaseStatus::non_success(NonSuccessKind::Failure),
                    Verdict::NotSeen(_) | Verdict::NotRun(_) => TestCaseStatus::skipped(),
                };
                let (word, _, text) = words(&row.verdict);
                if !matches!(row.verdict, Verdict::Passed | Verdict::Noted(_)) {
                    status.set_message(shown(text));
                    status.set_type(word.to_lowercase());
                }
                let mut case = TestCase::new(format!("{} {}", row.id, shown(&row.title)), status);
                case.set_classname(format!("{}.{}", self.subject, row.id)).set_time(row.took);
                if let Verdict::Noted(note) = &row.verdict {
                    case.set_system_out(shown(note));
                }
                suite.add_test_case(case);
            }
            report.add_test_suite(suite);
        }
        let text = report.to_string().map_err(|error| Failure::unable(error, "choose another file"))?;
        let mut to = Destination::open(Some(path), output)?;
        to.write_all(text.as_bytes())?;
        to.finish()
    }

    /// Findings if a row failed; otherwise [`Outcome::NotRun`] if one was not run and that is not allowed.
    fn outcome(&self, allow_not_run: bool) -> Outcome {
        if self.rows.iter().any(|row| matches!(row.verdict, Verdict::Failed(_))) {
            Outcome::Findings
        } else if !allow_not_run && self.rows.iter().any(|row| matches!(row.verdict, Verdict::NotRun(_))) {
            Outcome::NotRun
        } else {
            Outcome::Fine
        }
    }
}

const FAILED: &str = "FAILED";

/// The word for a verdict, its colour, and what there is to say.
fn words(verdict: &Verdict) -> (&'static str, Option<Style>, &str) {
    match verdict {
        Verdict::Passed => ("passed", Some(Style::Green), ""),
        Verdict::Failed(text) => (FAILED, Some(Style::Red), text),
        Verdict::Noted(text) => ("noted", None, text),
        Verdict::NotSeen(text) => ("not seen", Some(Style::Dim), text),
        Verdict::NotRun(text) => ("not run", Some(Style::Dim), text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn report(verdicts: &[Verdict]) -> Report {
        let mut report = Report::new("provider");
        for verdict in verdicts {
            report.push(Row::new("S8.3", "a title", verdict.clone(), Duration::ZERO));
        }
        report
    }

    #[test]
    fn a_failure_weighs_more_than_a_row_that_was_not_run() {
        let (failed, not_run) = (Verdict::Failed(String::new()), Verdict::NotRun(String::new()));
        let (noted, not_seen) = (Verdict::Noted(String::new()), Verdict::NotSeen(String::new()));
        for (verdicts, expected, allowed) in [
            (vec![Verdict::Passed, noted, not_seen], Outcome::Fine, Outcome::Fine),
            (vec![Verdict::Passed, not_run.clone()], Outcome::NotRun, Outcome::Fine),
            (vec![not_run, failed], Outcome::Findings, Outcome::Findings),
        ] {
            let report = report(&verdicts);
            assert_eq!((report.outcome(false), report.outcome(true)), (expected, allowed), "{verdicts:?}");
        }
    }

    #[test]
    fn rows_are_in_the_order_of_the_specification() {
        let mut report = Report::new("provider");
        for id in ["-", "S20.13", "S7.1", "S20.2"] {
            report.push(Row::new(id, "a title", Verdict::Passed, Duration::ZERO));
        }
        let ids: Vec<&str> = report.sorted().into_iter().map(|row| row.id).collect();
        assert_eq!(ids, ["S7.1", "S20.2", "S20.13", "-"]);
    }
}
