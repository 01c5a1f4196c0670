//! `bankrail statement show`.

mod table;

use super::source::{Source, each};
use super::tally::{Running, Tally};
use super::{Row, Show, account_text, balance, code_names, domain, domain_text, parts};
use crate::clock::moment;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, Style};
use crate::text::{counted, shown};
use bankrail::camt052::{Report, StreamItem};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use table::Table;

/// The maximum number of findings that are printed in full; `check` prints all.
const MAX_FINDINGS: usize = 20;

pub(super) fn run(arguments: &Show, output: &mut Output) -> Result<Outcome, Failure> {
    let mut is_first = true;
    each(&arguments.files.files, |_, source| {
        if arguments.json {
            return print_json(source, output);
        }
        if !std::mem::take(&mut is_first) {
            output.line("")?;
        }
        show(source, output)
    })
}

/// The JSON object of an entry. The file and the number of the document connect it to its report.
#[derive(Serialize)]
struct EntryLine<'a> {
    file: &'a str,
    document: u64,
    number: u64,
    #[serde(flatten)]
    row: Row,
    transactions: Vec<Row>,
}

/// Prints an object for each report, entry and finding of a document.
fn print_json(mut source: Source<'_>, output: &mut Output) -> Result<Outcome, Failure> {
    let (mut account, mut number, mut outcome) = (None, 0, Outcome::Fine);
    for finding in source
        .answer
        .as_ref()
        .into_iter()
        .flat_map(|of| &of.findings)
    {
        output.json(&source.remark(finding))?;
    }
    while let Some(read) = source.next().map_err(|error| source.failure(&error))? {
        for finding in &read.findings {
            output.json(&source.finding(finding))?;
        }
        match read.item {
            Ok(StreamItem::Start(report)) => {
                let balances = report.balances.iter().map(balance);
                let balances = balances.map(|[kind, amount, date]| {
                    let (amount, currency) = amount.split_once(' ').unwrap_or((&amount, ""));
                    json!({ "kind": kind, "amount": amount, "currency": currency, "date": date })
                });
                output.json(&json!({
                    "file": source.name,
                    "document": source.reader.documents(),
                    "message": source.reader.message(),
                    "message_id": source.reader.header().map(|of| of.message_id.as_str()),
                    "report": report.id.as_ref().map(|id| id.as_str()),
                    "created": report.created_at.as_ref().map(ToString::to_string),
                    "account": account_text(&report.account.id),
                    "name": report.account.name.as_ref().map(|name| name.as_str()),
                    "currency": report.account.currency.as_ref().map(|of| of.as_str()),
                    "balances": balances.collect::<Vec<_>>(),
                }))?;
                (account, number) = (Some(report.account), 0);
            }
            Ok(StreamItem::Entry(entry)) => {
                number += 1;
                output.json(&EntryLine {
                    file: &source.name,
                    document: source.reader.documents(),
                    number,
                    row: Row::of(&entry, account.as_ref()),
                    transactions: parts(&entry, account.as_ref()).collect(),
                })?;
            }
            Err(error) => {
                (number, outcome) = (number + 1, Outcome::Findings);
                output.json(&source.error(&error))?;
            }
            Ok(_) => {}
        }
    }
    for (more, _) in source.further() {
        output.json(&more)?;
    }
    Ok(outcome)
}

fn show(mut source: Source<'_>, output: &mut Output) -> Result<Outcome, Failure> {
    output.line(output.paint(Style::Bold, &shown(&source.name)))?;
    let (mut findings, mut more, mut outcome) = (Vec::new(), 0_usize, Outcome::Fine);
    if let Some(answer) = source.answer.as_ref() {
        let (account, key) = (shown(&answer.account_id), answer.request_key);
        output.line(format_args!(
            "answer     account {account}, request key {key}"
        ))?;
        findings.extend(answer.findings.iter().map(ToString::to_string));
    }
    let mut table = Table::new(output);
    let (mut running, mut account) = (None, None);
    let mut tally = Tally::default();
    // Collects only codes of the standard's list, which bounds their number.
    let mut codes = BTreeMap::new();
    let mut has_unread = false;
    loop {
        let read = match source.next() {
            Ok(Some(read)) => read,
            Ok(None) => break,
            Err(error) => {
                if !table.is_empty() {
                    table.finish(output)?;
                }
                return Err(source.failure(&error));
            }
        };
        let unread = read
            .item
            .as_ref()
            .err()
            .map(|error| format!("{}; the entry is not shown", source.error(error)));
        for line in read
            .findings
            .iter()
            .map(|finding| source.finding(finding).to_string())
            .chain(unread)
        {
            if findings.len() < MAX_FINDINGS {
                findings.push(line)
            } else {
                more += 1
            }
        }
        match read.item {
            Ok(StreamItem::Start(report)) => {
                head(&source, &report, output)?;
                let begin = Running::new(&report);
                table.begin(begin.title());
                has_unread = false;
                running = Some(begin);
                account = Some(report.account);
            }
            Ok(StreamItem::Entry(entry)) => {
                tally.add(&entry);
                if let Some(code) = domain(&entry).filter(|code| code.is_listed()) {
                    let names = codes.entry(domain_text(code));
                    names.or_insert_with(|| code_names(code));
                }
                let balance = running.as_mut().and_then(|running| running.after(&entry));
                table.entry(&entry, account.as_ref(), balance, output)?;
            }
            Ok(StreamItem::End(_)) => {
                // A report whose entries could not be read is not one without entries.
                if !table.is_empty() || !has_unread {
                    table.finish(output)?;
                }
                for line in std::mem::take(&mut tally).lines() {
                    output.line(format_args!("totals     {}", shown(&line)))?;
                }
                for (code, names) in std::mem::take(&mut codes) {
                    output.line(format_args!("code       {code}  {names}"))?;
                }
            }
            Err(_) => {
                has_unread = true;
                outcome = Outcome::Findings;
            }
            Ok(_) => {}
        }
    }
    more += usize::try_from(source.reader.further_findings().total()).unwrap_or(usize::MAX);
    if !findings.is_empty() {
        output.line(output.paint(
            Style::Red,
            &counted(findings.len() + more, "finding", "findings"),
        ))?;
        for finding in &findings {
            output.line(format_args!("  {}", shown(finding)))?;
        }
        if more > 0 {
            output.line(format_args!(
                "  and {more} more: bankrail statement check lists them"
            ))?;
        }
    }
    Ok(outcome)
}

fn head(source: &Source<'_>, report: &Report, output: &mut Output) -> Result<(), Failure> {
    if source.reader.documents() > 1 {
        let message = source.reader.message().unwrap_or_default();
        let number = source.reader.documents();
        output.line(format_args!("document   {number}, a {message}"))?;
    }
    let account = &report.account;
    let name = account
        .name
        .as_ref()
        .map_or_else(String::new, |name| format!(" ({name})"));
    let currency = account
        .currency
        .as_ref()
        .map_or_else(String::new, |currency| format!(" in {currency}"));
    output.line(shown(&format!(
        "account    {}{name}{currency}",
        account_text(&account.id)
    )))?;
    let message = source.reader.header().map_or_else(String::new, |header| {
        format!(" of message {}", header.message_id)
    });
    let id = report.id.as_ref().map_or("none", |id| id.as_str());
    output.line(shown(&format!("report     {id}{message}")))?;
    if let Some(created) = report.created_at.as_ref() {
        output.line(format_args!("created    {}", moment(created)))?;
    }
    for [kind, amount, day] in report.balances.iter().map(balance) {
        output.line(shown(&format!("balance    {amount}  {kind}  {day}")))?;
    }
    Ok(())
}
