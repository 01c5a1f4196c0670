//! All rows of a judgement: as text, as JSON, as JUnit XML, as an HTML page.

use crate::error::JudgeError;
use crate::row::{Demand, Row, Verdict};
use askama::Template;
use bankrail_values::{Clock as _, SystemClock, Timestamp};
use serde_json::json;
use std::fmt;

/// The rows of one run of a judge, with their verdicts.
///
/// `Display` prints a line for each failed row, a line with the number of each verdict, the first
/// thing to mend, and the options that would judge more rows.
#[derive(Clone, Debug)]
pub struct Judgement {
    subject: &'static str,
    address: String,
    at: Timestamp,
    rows: Vec<Row>,
    blocked: Option<String>,
    seed: u32,
    more: Vec<String>,
}

/// The kinds of defects in the order in which they are to be mended: the demand of a row, how its
/// id begins, and what a failure of it means. The first that fits is the kind of a row.
const DEFECTS: [(Demand, &[&str], &str); 12] = [
    (
        Demand::Service,
        &["S20.13", "S7.8"],
        "without it nothing else works",
    ),
    (
        Demand::Survival,
        &[""],
        "the receiver stops, and messages after it are lost",
    ),
    (
        Demand::Refusal,
        &["S19.11", "S22.2", "S22.10"],
        "a customer gets another customer's data",
    ),
    (
        Demand::Refusal,
        &[
            "S2.6", "S8.", "S9.", "S19.6", "S19.7", "S20.5", "S20.17", "S22.", "S23.21",
        ],
        "it accepts what is not proved to be authentic",
    ),
    (
        Demand::Service,
        &["S21.26", "S23."],
        "an event is handled twice, or in the wrong order",
    ),
    (
        Demand::Service,
        &[
            "S9.", "S11.", "S12.", "S13.", "S14.", "S15.", "S16.", "S21.",
        ],
        "messages of this kind are lost",
    ),
    (
        Demand::Service,
        &[
            "S4.15", "S6.16", "S6.20", "S6.21", "S6.22", "S6.23", "S6.24", "S6.25", "S6.30",
            "S6.35", "S6.37", "S19.26",
        ],
        "money is lost, doubled or changed by it",
    ),
    (
        Demand::Refusal,
        &[""],
        "it accepts what the specification forbids",
    ),
    (
        Demand::Service,
        &["S8.", "S19.14", "S20.9", "S22.6"],
        "it refuses what the specification allows",
    ),
    (
        Demand::Service,
        &["S24.5", "S24.6", "S24.7", "S25."],
        "callers are stopped too early or too late",
    ),
    (
        Demand::Service,
        &[""],
        "those who read answers by the specification fail on it",
    ),
    // The last one is the kind of all rows beyond the specification.
    (Demand::Service, &["-"], "it differs from live services"),
];

/// Returns the index of a row's kind in [`DEFECTS`].
fn defect(row: &Row) -> usize {
    let is_kind = |(demand, ids, _): &(Demand, &[&str], &str)| {
        !row.beyond && *demand == row.demand && ids.iter().any(|id| is_of(row.id, id))
    };
    let place = DEFECTS.iter().position(is_kind);
    place.unwrap_or(DEFECTS.len() - 1)
}

impl Judgement {
    /// Returns the rows in the order of the specification. Rows with one id stay in the order in
    /// which they were judged. `prices` has the options with which the reasons of rows that were
    /// not judged begin, and the cost of each.
    ///
    /// # Errors
    /// [`JudgeError::NoRows`] without a row.
    pub(crate) fn new(
        subject: &'static str,
        address: String,
        mut rows: Vec<Row>,
        blocked: Option<impl Into<String>>,
        seed: u32,
        prices: &[(&str, &str)],
    ) -> Result<Self, JudgeError> {
        if rows.is_empty() {
            return Err(JudgeError::NoRows);
        }
        rows.sort_by_key(Row::place);
        let would_judge = |(option, price): &(&str, &str)| {
            let unjudged = |row: &&Row| match &row.verdict {
                Verdict::NotSeen(why) | Verdict::NotRun(why) => why.starts_with(option),
                Verdict::Noted(_) => row.fails_strictly && *option == "--strict",
                _ => false,
            };
            let (count, s) = match rows.iter().filter(unjudged).count() {
                0 => return None,
                1 => (1, ""),
                count => (count, "s"),
            };
            Some(format!("{option} would judge {count} more row{s}: {price}"))
        };
        let more = prices.iter().filter_map(would_judge).collect();
        Ok(Self {
            subject,
            address,
            at: SystemClock.now(),
            rows,
            blocked: blocked.map(Into::into),
            seed,
            more,
        })
    }

    /// Returns every row, in the order of the specification.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the reason why most rows were not run, if the first call was refused.
    #[must_use]
    pub fn blocked(&self) -> Option<&str> {
        self.blocked.as_deref()
    }

    /// Returns true if no row failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failed().next().is_none()
    }

    fn failed(&self) -> impl Iterator<Item = &Row> {
        let rows = self.rows.iter();
        rows.filter(|row| matches!(row.verdict, Verdict::Failed(_)))
    }

    /// Returns true if every row was run.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self
            .rows
            .iter()
            .any(|row| matches!(row.verdict, Verdict::NotRun(_)))
    }

    /// Returns the first thing to mend and the reason, in one line. `None` if no row failed.
    #[must_use]
    pub fn mend_first(&self) -> Option<String> {
        let row = self.failed().min_by_key(|row| defect(row))?;
        let (id, title, detail) = (row.id, &row.title, row.verdict.detail());
        Some(match &self.blocked {
            Some(blocked) => format!("mend first: {blocked} ({id} {title}: {detail})"),
            None => {
                let (_, _, why) = DEFECTS.get(defect(row))?;
                format!("mend first: {id} {title}, because {why}: {detail}")
            }
        })
    }

    /// Returns a line for each option that would judge more rows, with the calls and the time that
    /// the option costs.
    #[must_use]
    pub fn more(&self) -> &[String] {
        &self.more
    }

    /// Returns the number of rows of each verdict, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut line = format!(
            "{} {}: {} {}",
            self.subject,
            self.address,
            self.rows.len(),
            if self.rows.len() == 1 { "row" } else { "rows" }
        );
        for name in ["passed", "failed", "noted", "not seen", "not run"] {
            let count = self
                .rows
                .iter()
                .filter(|row| row.verdict.name() == name)
                .count();
            line.push_str(&format!(", {count} {name}"));
            let beyond = self.failed().filter(|row| row.beyond).count();
            if name == "failed" && beyond > 0 {
                line.push_str(&format!(" ({beyond} of them beyond SPEC.md)"));
            }
        }
        line.push_str(&format!("; seed {}", self.seed));
        line
    }

    /// Returns one JSON object with line breaks: `subject`, `address`, `version` of the judge,
    /// `time`, `seed`, `mend_first`, `more`, and `rows` with `id`, `heading`, `title`, `beyond`,
    /// `verdict`, `detail` and `seconds`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let row = |row: &Row| {
            json!({
                "id": row.id,
                "heading": row.heading,
                "title": row.title,
                "beyond": row.beyond,
                "verdict": row.verdict.name(),
                "detail": row.verdict.detail(),
                "seconds": row.took.as_secs_f64(),
            })
        };
        let report = json!({
            "subject": self.subject,
            "address": self.address,
            "version": VERSION,
            "time": self.at.to_string(),
            "seed": self.seed,
            "mend_first": self.mend_first(),
            "more": self.more,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        });
        format!("{report:#}")
    }

    /// Returns a JUnit XML document: a suite for each heading, a case for each row. Rows that were
    /// noted, not seen or not run are skipped. Names stay the same from run to run; address,
    /// version, time and seed are properties of the suites.
    #[must_use]
    pub fn to_junit(&self) -> String {
        let report = Junit { judgement: self };
        let mut xml = report.render().expect("text is written to memory");
        // XML 1.0 cannot represent these characters.
        xml.retain(|c| !matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f'));
        xml
    }

    /// Returns an HTML page in one file with every row under its heading, and the failed rows at
    /// the top as well. The page loads nothing and runs no script.
    #[must_use]
    pub fn to_html(&self) -> String {
        let failed: Vec<&Row> = self.failed().collect();
        let under = self
            .headings()
            .map(|(heading, rows)| (heading, rows.iter().collect()));
        let failed = Some(("Failed", failed)).filter(|(_, failed)| !failed.is_empty());
        let page = Page {
            judgement: self,
            sections: failed.into_iter().chain(under).collect(),
        };
        page.render().expect("text is written to memory")
    }

    /// Returns the headings of the specification that have rows, with those rows.
    fn headings(&self) -> impl Iterator<Item = (&'static str, &[Row])> {
        let chunks = self.rows.chunk_by(|one, next| one.heading == next.heading);
        chunks.filter_map(|rows| Some((rows.first()?.heading, rows)))
    }
}

#[derive(Template)]
#[template(path = "junit.xml")]
struct Junit<'a> {
    judgement: &'a Judgement,
}

/// Returns the name of the element that a test case has for its verdict, if it has one.
fn junit_element(verdict: &Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Passed => None,
        Verdict::Failed(_) => Some("failure"),
        Verdict::Noted(_) | Verdict::NotSeen(_) | Verdict::NotRun(_) => Some("skipped"),
    }
}

/// Counts the rows whose test cases have this element.
fn count(rows: &[Row], element: &str) -> usize {
    rows.iter()
        .filter(|row| junit_element(&row.verdict) == Some(element))
        .count()
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    judgement: &'a Judgement,
    /// The sections of the page: their titles, and the rows under them.
    sections: Vec<(&'static str, Vec<&'a Row>)>,
}

/// The version of the judge.
const VERSION: &str = concat!("bankrail-conformance ", env!("CARGO_PKG_VERSION"));

/// Returns true if an id equals `start` or lies below it, after a point.
fn is_of(id: &str, start: &str) -> bool {
    id == start || start.is_empty() || (start.ends_with('.') && id.starts_with(start))
}

impl fmt::Display for Judgement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.failed() {
            writeln!(out, "{} {}: {}", row.id, row.title, row.verdict.detail())?;
        }
        out.write_str(&self.summary())?;
        let mut last = self.mend_first().into_iter().chain(self.more.clone());
        last.try_for_each(|line| write!(out, "\n{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::time::Duration;

    fn judged(verdicts: &[(&'static str, Verdict)]) -> Judgement {
        let row = |(id, verdict): &(&'static str, Verdict)| {
            Row::new(id, "a title", verdict.clone(), Duration::ZERO)
        };
        Judgement::new(
            "provider",
            "https://bank.example/".to_owned(),
            verdicts.iter().map(row).collect(),
            None::<&str>,
            7,
            &[("--book", "2 statements"), ("--strict", "no call")],
        )
        .unwrap()
    }

    #[test]
    fn what_failed_and_what_was_not_run_is_told_apart() {
        let (failed, not_run) = (
            Verdict::Failed("why".to_owned()),
            Verdict::NotRun(String::new()),
        );
        let (noted, not_seen) = (
            Verdict::Noted(String::new()),
            Verdict::NotSeen(String::new()),
        );
        for (verdicts, expected) in [
            (vec![Verdict::Passed, noted, not_seen], (true, true)),
            (vec![Verdict::Passed, not_run.clone()], (true, false)),
            (vec![not_run, failed], (false, false)),
        ] {
            let verdicts: Vec<_> = verdicts
                .into_iter()
                .map(|verdict| ("S8.3", verdict))
                .collect();
            let judgement = judged(&verdicts);
            assert_eq!(
                (judgement.passed(), judgement.is_complete()),
                expected,
                "{verdicts:?}"
            );
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
        let rows = [
            (
                "S8.3",
                Verdict::Failed("expected 401, found 200".to_owned()),
            ),
            ("S8.5", Verdict::Passed),
        ];
        let expected = "S8.3 a title: expected 401, found 200\n\
            provider https://bank.example/: 2 rows, 1 passed, 1 failed, 0 noted, 0 not seen, 0 not run; seed 7\n\
            mend first: S8.3 a title, because it refuses what the specification allows: expected \
            401, found 200";
        assert_eq!(judged(&rows).to_string(), expected);
        let junit = judged(&rows).to_junit();
        assert!(
            junit.contains("<failure message=\"expected 401, found 200\" type=\"failed\""),
            "{junit}"
        );
        let json: Value = serde_json::from_str(&judged(&rows).to_json()).unwrap();
        assert_eq!(
            (&json["rows"][0]["verdict"], &json["seed"]),
            (&Value::from("failed"), &Value::from(7))
        );
    }

    #[test]
    fn what_is_noted_is_skipped_with_its_text_and_what_hinders_most_is_mended_first() {
        let noted = judged(&[("S8.3", Verdict::Noted("another text".to_owned()))]);
        let junit = noted.to_junit();
        assert!(
            junit.contains("<skipped message=\"another text\" type=\"noted\""),
            "{junit}"
        );
        assert!(
            junit.contains("name=\"address\" value=\"https://bank.example/\""),
            "{junit}"
        );
        assert_eq!(noted.mend_first(), None);
        let (html, hostile) = (noted.to_html(), Verdict::Failed("<script>&\"'".to_owned()));
        assert!(
            html.contains("another text")
                && html.contains("<dd>7</dd>")
                && !html.contains("<h2>Failed"),
            "{html}"
        );
        let html = judged(&[("S8.3", hostile)]).to_html();
        assert!(
            html.contains("<h2>Failed") && !html.contains("<script"),
            "{html}"
        );
        assert!(html.contains("&#60;script&#62;&#38;&#34;&#39;"), "{html}");
        let why = || Verdict::Failed("why".to_owned());
        let beyond = judged(&[
            ("-", why()),
            ("S2.13", why()),
            ("S7.8", why()),
            ("S6.4", Verdict::Passed),
        ]);
        assert!(
            beyond
                .summary()
                .contains("1 passed, 3 failed (2 of them beyond SPEC.md), 0 noted")
        );
        let blocked = Judgement {
            blocked: Some("check the key".to_owned()),
            ..judged(&[("S20.13", why())])
        };
        assert_eq!(
            blocked.mend_first().unwrap(),
            "mend first: check the key (S20.13 a title: why)"
        );
    }

    #[test]
    fn each_kind_of_defect_has_its_reason_and_its_place_among_the_others() {
        // The kinds are in the order in which they should be mended.
        let kinds = [
            ("S20.13", Demand::Service, "nothing else works"),
            ("S23.22", Demand::Survival, "the receiver stops"),
            ("S19.11", Demand::Refusal, "another customer's data"),
            ("S23.21", Demand::Refusal, "not proved"),
            ("S21.26", Demand::Service, "handled twice"),
            ("S21.4", Demand::Service, "are lost"),
            ("S6.20", Demand::Service, "money"),
            // The same id as of a message that is lost.
            ("S21.4", Demand::Refusal, "forbids"),
            ("S8.15", Demand::Service, "the specification allows"),
            ("S25.16", Demand::Service, "too early or too late"),
            ("S10.1", Demand::Service, "read answers"),
            ("-", Demand::Service, "live services"),
        ];
        let rows = kinds.map(|(id, demand, _)| {
            let verdict = Verdict::Failed("why".to_owned());
            Row::new(id, "a title", verdict, Duration::ZERO).demanding(demand)
        });
        for (place, (id, _, why)) in kinds.iter().enumerate() {
            let left = rows.iter().skip(place).cloned().rev().collect();
            let judgement =
                Judgement::new("provider", String::new(), left, None::<&str>, 7, &[]).unwrap();
            let first = judgement.mend_first().unwrap();
            let right = first.starts_with(&format!("mend first: {id} ")) && first.contains(why);
            assert!(right, "{place}: {first}");
        }
    }

    #[test]
    fn options_that_would_judge_more_are_counted_with_their_price() {
        let unseen = || Verdict::NotSeen("--book lets the judge order bookings".to_owned());
        let noted = || Verdict::Noted("another".to_owned());
        let more = |rows: &[_]| judged(rows).more().to_vec();
        assert_eq!(
            more(&[("S6.24", Verdict::Passed), ("S6.25", noted())]),
            [""; 0]
        );
        let rows = [("S6.24", unseen()), ("S6.25", unseen()), ("-", noted())];
        let expected = [
            "--book would judge 2 more rows: 2 statements",
            "--strict would judge 1 more row: no call",
        ];
        assert_eq!(more(&rows), expected);
        assert!(judged(&rows).to_string().ends_with(expected[1]));
        let open = Row {
            fails_strictly: false,
            ..Row::new("-", "a title", noted(), Duration::ZERO)
        };
        let (rows, prices) = (vec![open], [("--strict", "no delivery")]);
        let judgement =
            Judgement::new("receivers", String::new(), rows, None::<&str>, 7, &prices).unwrap();
        assert!(judgement.more().is_empty());
    }
}
