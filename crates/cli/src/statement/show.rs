//! `bankrail statement show`.

mod table;

use super::Show;
use super::row::{account_text, date, signed};
use super::source::{Part, Source};
use super::tally::{Running, Tally};
use crate::clock::moment;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, Style};
use crate::text::{counted, shown};
use bankrail::camt052::{ReadOptions, Report};
use table::Table;

/// The findings that are printed in full; `check` prints all.
const MOST_FINDINGS: usize = 20;

pub(crate) fn run(arguments: &Show, output: &mut Output) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Fine;
    for (index, path) in arguments.files.files.iter().enumerate() {
        if index > 0 {
            output.line("")?;
        }
        outcome = outcome.and(show(path, arguments.wide, output)?);
    }
    Ok(outcome)
}

fn show(path: &str, wide: bool, output: &mut Output) -> Result<Outcome, Failure> {
    let mut source = Source::open(path, ReadOptions::default())?;
    output.line(output.paint(Style::Bold, &shown(source.name())))?;
    let (mut findings, mut more, mut outcome) = (Vec::new(), 0_usize, Outcome::Fine);
    if let Some(answer) = source.answer() {
        output.line(format_args!(
            "answer     account {}, request key {}",
            shown(&answer.account_id),
            answer.request_key
        ))?;
        findings.extend(answer.findings.iter().map(ToString::to_string));
    }
    let mut table = Table::new(wide, output);
    let mut running = None;
    let mut tally = Tally::default();
    loop {
        let read = match source.next() {
            Ok(Some(read)) => read,
            Ok(None) => break,
            Err(error) => {
                table.finish(output)?;
                return Err(source.failure(&error));
            }
        };
        for finding in read.findings {
            if findings.len() < MOST_FINDINGS { findings.push(source.finding(&finding)) } else { more += 1 }
        }
        match read.part {
            Part::Start(report) => {
                head(&source, &report, output)?;
                let begin = Running::new(&report);
                table.begin(begin.title());
                running = Some(begin);
            }
            Part::Entry(entry) => {
                tally.add(&entry);
                let balance = running.as_mut().and_then(|running| running.after(&entry));
                table.entry(&entry, balance.map(|balance| balance.to_string()).unwrap_or_default(), output)?;
            }
            Part::Unread(error) => {
                outcome = Outcome::Findings;
                let line = format!("{}; the entry is not shown", source.error(&error));
                if findings.len() < MOST_FINDINGS { findings.push(line) } else { more += 1 }
            }
            Part::End => {
                table.finish(output)?;
                totals(&std::mem::take(&mut tally), output)?;
            }
            Part::Document => {}
        }
    }
    more += usize::try_from(source.further().total()).unwrap_or(usize::MAX);
    if !findings.is_empty() {
        output.line(output.paint(Style::Red, &counted(findings.len() + more, "finding", "findings")))?;
        for finding in &findings {
            output.line(format_args!("  {}", shown(finding)))?;
        }
        if more > 0 {
            output.line(format_args!("  and {more} more: bankrail statement check lists them"))?;
        }
    }
    Ok(outcome)
}

fn head(source: &Source, report: &Report, output: &mut Output) -> Result<(), Failure> {
    let account = &report.account;
    let mut line = format!("account    {}", account_text(&account.id));
    if let Some(name) = &account.name {
        line.push_str(&format!(" ({name})"));
    }
    if let Some(currency) = &account.currency {
        line.push_str(&format!(" in {currency}"));
    }
    output.line(shown(&line))?;
    let mut line = format!("report     {}", report.id);
    if let Some(header) = source.header() {
        line.push_str(&format!(" of message {}", header.message_id));
    }
    output.line(shown(&line))?;
    if let Some(created) = report.created_at.as_ref() {
        output.line(format_args!("created    {}", moment(created)))?;
    }
    for balance in &report.balances {
        let sub = balance.kind.sub_kind.as_ref().map_or_else(String::new, |kind| format!("/{kind}"));
        let amount = signed(balance.amount.value(), &balance.direction);
        let currency = balance.amount.currency().map(|currency| currency.as_str()).unwrap_or_default();
        let day = date(balance.date.as_ref());
        output.line(shown(&format!("balance    {amount} {currency}  {}{sub}  {day}", balance.kind.code)))?;
    }
    Ok(())
}

fn totals(tally: &Tally, output: &mut Output) -> Result<(), Failure> {
    let text =
        |sum: Option<bankrail::values::Decimal>| sum.map_or_else(|| "too large".to_owned(), |sum| sum.to_string());
    for (currency, totals) in tally.iter() {
        let (credits, debits) = (totals.credits, totals.debits);
        output.line(shown(&format!(
            "totals     {}: {}; {}: {}; net {} {currency}",
            counted(credits.0, "credit", "credits"),
            text(credits.1),
            counted(debits.0, "debit", "debits"),
            text(debits.1),
            text(totals.net()),
        )))?;
    }
    if tally.uncounted > 0 {
        let entries = counted(tally.uncounted, "entry", "entries");
        output.line(format_args!("totals     {entries} neither credit nor debit, not in the sums"))?;
    }
    Ok(())
}
