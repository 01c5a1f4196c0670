//! `bankrail statement show`.

mod table;

use super::Show;
use super::row::{account_text, balance, code_names, domain, domain_text};
use super::source::{Source, each};
use super::tally::{Running, Tally};
use crate::clock::moment;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, Style};
use crate::text::{counted, shown};
use bankrail::camt052::{ReadOptions, Report, StreamItem};
use std::collections::BTreeMap;
use table::Table;

/// The findings that are printed in full; `check` prints all.
const MAX_FINDINGS: usize = 20;

pub(crate) fn run(arguments: &Show, output: &mut Output) -> Result<Outcome, Failure> {
    let (mut outcome, mut is_first) = (Outcome::Fine, true);
    for path in &arguments.files.files {
        let of_file = each(path, ReadOptions::default(), |source| {
            if !std::mem::take(&mut is_first) {
                output.line("")?;
            }
            show(source, output)
        })?;
        outcome = outcome.and(of_file);
    }
    Ok(outcome)
}

fn show(mut source: Source<'_>, output: &mut Output) -> Result<Outcome, Failure> {
    output.line(output.paint(Style::Bold, &shown(source.name())))?;
    let (mut findings, mut more, mut outcome) = (Vec::new(), 0_usize, Outcome::Fine);
    if let Some(answer) = source.answer() {
        let (account, key) = (shown(&answer.account_id), answer.request_key);
        output.line(format_args!(
            "answer     account {account}, request key {key}"
        ))?;
        findings.extend(answer.findings.iter().map(ToString::to_string));
    }
    let mut table = Table::new(output);
    let (mut running, mut account) = (None, None);
    let mut tally = Tally::default();
    // Only codes of the standard's list, which bounds them.
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
                // "no entries" is not true of a report whose entries could not be read.
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
    more += usize::try_from(source.further().total()).unwrap_or(usize::MAX);
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
    if source.documents() > 1 {
        let message = source.message().unwrap_or_default();
        let number = source.documents();
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
    let message = source.header().map_or_else(String::new, |header| {
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
