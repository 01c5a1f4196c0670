//! `bankrail statement check`.

use super::Check;
use super::row::{account_text, domain, domain_text};
use super::source::{Source, each};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::text::{counted, shown};
use bankrail::camt052::{Entry, Mode, ReadOptions, StreamItem};
use std::collections::BTreeMap;

/// The codes that are noted of a document, so that a hostile one takes bounded memory.
const MAX_NOTES: usize = 1_000;

pub(crate) fn run(arguments: &Check, output: &mut Output) -> Result<Outcome, Failure> {
    let mode = if arguments.strict {
        Mode::Strict
    } else {
        Mode::Tolerant
    };
    let options = ReadOptions::default().mode(mode);
    let mut outcome = Outcome::Fine;
    for path in &arguments.files.files {
        match each(path, options, |source| check(source, arguments, output)) {
            Ok(of_file) => outcome = outcome.and(of_file),
            // The other files are checked all the same.
            Err(Failure::Refused(line)) => {
                outcome = Outcome::Findings;
                crate::log(line);
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(outcome)
}

fn check(
    mut source: Source<'_>,
    arguments: &Check,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (mut reports, mut entries, mut findings) = (0_u64, 0_u64, 0_u64);
    let mut say = |output: &mut Output, line: String| {
        findings += 1;
        if arguments.quiet {
            Ok(())
        } else {
            output.line(shown(&line))
        }
    };
    if let Some(answer) = source.answer() {
        for finding in &answer.findings {
            say(output, format!("{}: {finding}", source.name()))?;
        }
    }
    let mut unlisted = Unlisted::default();
    loop {
        let read = match source.next() {
            Ok(Some(read)) => read,
            Ok(None) => break,
            Err(error) => {
                for finding in error.findings() {
                    say(output, source.finding(finding))?;
                }
                return Err(source.failure(&error));
            }
        };
        for finding in &read.findings {
            say(output, source.finding(finding))?;
        }
        match read.item {
            Ok(StreamItem::Start(report)) => {
                reports += 1;
                let found = account_text(&report.account.id);
                if let Some(answer) = source.answer().filter(|answer| answer.account_id != found) {
                    let expected = &answer.account_id;
                    let what =
                        format!("expected the account of the answer, {expected}, found {found}");
                    say(output, format!("{}: {what}", source.name()))?;
                }
            }
            Ok(StreamItem::Entry(entry)) => {
                entries += 1;
                unlisted.add(&entry, entries);
            }
            Err(error) => say(output, source.error(&error))?,
            Ok(_) => {}
        }
    }
    for (name, count) in source.further().iter() {
        findings += count;
        if !arguments.quiet {
            output.line(format_args!(
                "{}: {count} more of the kind {name}",
                shown(source.name())
            ))?;
        }
    }
    if !arguments.quiet {
        for line in unlisted.lines() {
            output.line(shown(&format!("{}: note: {line}", source.name())))?;
        }
        let documents = match source.documents() {
            0 | 1 => String::new(),
            many => format!("{many} documents, "),
        };
        let (reports, entries) = (
            counted(reports, "report", "reports"),
            counted(entries, "entry", "entries"),
        );
        let verdict = output.verdict(findings);
        let notes = match unlisted.codes.len() {
            0 => String::new(),
            many => format!(", {}", counted(many, "note", "notes")),
        };
        output.line(format_args!(
            "{}: {documents}{reports}, {entries}, {verdict}{notes}",
            shown(source.name())
        ))?;
    }
    Ok(Outcome::of_findings(findings > 0))
}

/// Bank transaction codes that the standard's list does not have.
#[derive(Default)]
struct Unlisted {
    /// The number of entries with a code, and that of the first of them in the document.
    codes: BTreeMap<String, (u64, u64)>,
}

impl Unlisted {
    fn add(&mut self, entry: &Entry, number: u64) {
        let of_transactions = entry
            .transactions()
            .filter_map(|transaction| transaction.bank_transaction_code.as_ref()?.domain.as_ref());
        let all = domain(entry).into_iter().chain(of_transactions);
        let mut codes: Vec<_> = all
            .filter(|code| !code.is_listed())
            .map(domain_text)
            .collect();
        codes.sort_unstable();
        codes.dedup();
        for code in codes {
            // A longer code is a finding already.
            let has_room = self.codes.len() < MAX_NOTES && code.len() <= "PMNT/RCDT/ESCT".len();
            if has_room || self.codes.contains_key(&code) {
                self.codes.entry(code).or_insert((0, number)).0 += 1;
            }
        }
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        self.codes.iter().map(|(code, (count, first))| {
            let entries = counted(*count, "entry has", "entries have");
            format!(
                "{entries} the code {code}, which is not in the list of bank transaction codes; \
                 the first is entry {first}"
            )
        })
    }
}
