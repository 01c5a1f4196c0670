//! `bankrail statement check`.

use super::source::{Found, Source, each_of};
use super::{Check, account_text, domain, domain_text};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::text::{counted, shown};
use bankrail::camt052::{BankTransactionDomain, Entry, Mode, ReadOptions, StreamItem};
use serde_json::json;
use std::collections::BTreeSet;

/// The maximum number of codes that are noted for a document, so that a hostile document takes
/// bounded memory.
const MAX_NOTES: usize = 1_000;

pub(super) fn run(arguments: &Check, output: &mut Output) -> Result<Outcome, Failure> {
    let mode = if arguments.strict {
        Mode::Strict
    } else {
        Mode::Tolerant
    };
    let options = ReadOptions::default().mode(mode);
    let mut outcome = Outcome::Fine;
    for path in &arguments.files.files {
        match each_of(path, options, |source| check(source, arguments, output)) {
            Ok(of_file) => outcome = outcome.and(of_file),
            // The other files are checked nevertheless.
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
    let mut say = |output: &mut Output, found: Found, count: u64| {
        findings += count;
        if arguments.json {
            output.json(&found)
        } else {
            output.line(shown(&found.to_string()))
        }
    };
    if let Some(answer) = source.answer.as_ref() {
        for finding in &answer.findings {
            say(output, source.remark(finding), 1)?;
        }
    }
    let mut unlisted = BTreeSet::new();
    loop {
        let read = match source.next() {
            Ok(Some(read)) => read,
            Ok(None) => break,
            Err(error) => {
                for finding in error.findings() {
                    say(output, source.finding(finding), 1)?;
                }
                return Err(source.failure(&error));
            }
        };
        for finding in &read.findings {
            say(output, source.finding(finding), 1)?;
        }
        match read.item {
            Ok(StreamItem::Start(report)) => {
                reports += 1;
                let found = account_text(&report.account.id);
                if let Some(answer) = source
                    .answer
                    .as_ref()
                    .filter(|answer| answer.account_id != found)
                {
                    let expected = &answer.account_id;
                    let what =
                        format!("expected the account of the answer, {expected}, found {found}");
                    say(output, source.remark(what), 1)?;
                }
            }
            Ok(StreamItem::Entry(entry)) => {
                entries += 1;
                for code in codes(&entry).filter(|code| !code.is_listed()) {
                    let code = domain_text(code);
                    // A longer code is a finding already.
                    let is_code = code.len() <= "PMNT/RCDT/ESCT".len();
                    if !is_code || unlisted.len() >= MAX_NOTES || !unlisted.insert(code.clone()) {
                        continue;
                    }
                    let note = format!(
                        "note: the code {code} of entry {entries} is not in the list of bank transaction codes"
                    );
                    say(output, source.remark(note), 0)?;
                }
            }
            Err(error) => say(output, source.error(&error), 1)?,
            Ok(_) => {}
        }
    }
    for (more, count) in source.further() {
        say(output, more, count)?;
    }
    if arguments.json {
        output.json(&json!({
            "file": source.name, "documents": source.reader.documents(), "reports": reports,
            "entries": entries, "findings": findings, "notes": unlisted.len(),
        }))?;
    } else {
        let documents = match source.reader.documents() {
            0 | 1 => String::new(),
            many => format!("{many} documents, "),
        };
        let (reports, entries) = (
            counted(reports, "report", "reports"),
            counted(entries, "entry", "entries"),
        );
        let verdict = output.verdict(findings);
        let notes = match unlisted.len() {
            0 => String::new(),
            many => format!(", {}", counted(many, "note", "notes")),
        };
        output.line(format_args!(
            "{}: {documents}{reports}, {entries}, {verdict}{notes}",
            shown(&source.name)
        ))?;
    }
    Ok(Outcome::of_findings(findings > 0))
}

/// Returns the standard codes of an entry and of its transactions.
fn codes(entry: &Entry) -> impl Iterator<Item = &BankTransactionDomain> {
    let transactions = entry.transactions();
    let own = transactions.filter_map(|own| own.bank_transaction_code.as_ref()?.domain.as_ref());
    domain(entry).into_iter().chain(own)
}
