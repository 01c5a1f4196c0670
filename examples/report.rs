//! Printing of an account report, for the programs `statement` and `sandbox`.

use bankrail::camt052::{
    AccountIdentification, Balance, CountAndSum, Direction, Document, Entry, EntryLine, Report,
};
use std::io::{self, Write};

/// Prints every report of a document: account, balances, summary, one line for each transaction.
///
/// # Errors
/// An error of `out`.
pub(crate) fn print_document(document: &Document, out: &mut impl Write) -> io::Result<()> {
    for report in &document.reports {
        print_report(report, out)?;
    }
    Ok(())
}

fn print_report(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let account = &report.account;
    let id = match &account.id {
        AccountIdentification::Iban(iban) => iban.as_str(),
        AccountIdentification::Other(other) => other.id.as_str(),
        _ => "?",
    };
    write!(out, "  account {id}")?;
    if let Some(name) = &account.name {
        write!(out, " ({})", name.as_str())?;
    }
    writeln!(out)?;
    for balance in &report.balances {
        print_balance(balance, out)?;
    }
    if let Some(summary) = &report.summary {
        if let Some(all) = &summary.all {
            write!(out, "  all      ")?;
            print_count(
                all.entries.as_ref().map(|n| n.as_str()),
                all.sum.as_ref().map(ToString::to_string),
                out,
            )?;
            if let Some(net) = &all.net {
                write!(out, ", net {}{}", sign(&net.direction), net.amount)?;
            }
            writeln!(out)?;
        }
        for (name, part) in [("credits", &summary.credits), ("debits ", &summary.debits)] {
            if let Some(CountAndSum { entries, sum, .. }) = part {
                write!(out, "  {name}  ")?;
                print_count(
                    entries.as_ref().map(|n| n.as_str()),
                    sum.as_ref().map(ToString::to_string),
                    out,
                )?;
                writeln!(out)?;
            }
        }
    }
    if report.entries.is_empty() {
        writeln!(out, "  no entries")?;
    }
    for entry in &report.entries {
        for line in entry.lines() {
            print_line(entry, &line, out)?;
        }
    }
    Ok(())
}

fn print_balance(balance: &Balance, out: &mut impl Write) -> io::Result<()> {
    let kind = &balance.kind.code;
    let sub_kind = balance
        .kind
        .sub_kind
        .as_ref()
        .map_or_else(String::new, |kind| format!("/{kind}"));
    let day = balance
        .date
        .as_ref()
        .map_or_else(|| "no date".to_owned(), ToString::to_string);
    writeln!(
        out,
        "  balance  {}{}  {kind}{sub_kind}, {day}",
        sign(&balance.direction),
        balance.amount
    )
}

fn print_count(count: Option<&str>, sum: Option<String>, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "{} entries, sum {}",
        count.unwrap_or("?"),
        sum.as_deref().unwrap_or("?")
    )
}

fn print_line(entry: &Entry, line: &EntryLine<'_>, out: &mut impl Write) -> io::Result<()> {
    let amount = line.amount().map_or_else(
        || "?".to_owned(),
        |amount| format!("{}{amount}", sign(line.direction())),
    );
    let day = entry
        .booking_date
        .as_ref()
        .map_or_else(|| "          ".to_owned(), ToString::to_string);
    write!(out, "    {day}  {amount:>18}  {}", entry.status)?;
    if let Some(party) = line.counterparty().and_then(|party| party.name.as_ref()) {
        write!(out, "  {}", party.as_str())?;
    }
    if let Some(transaction) = line.transaction {
        let parties = transaction.parties.as_ref();
        if let Some(AccountIdentification::Other(account)) = parties
            .and_then(|parties| parties.creditor_account.as_ref())
            .map(|account| &account.id)
        {
            let issuer = account
                .issuer
                .as_ref()
                .map(|issuer| format!(" at {}", issuer.as_str()))
                .unwrap_or_default();
            write!(out, "  [to {}{issuer}]", account.id.as_str())?;
        }
        let references: Vec<String> = transaction
            .references()
            .map(|(kind, reference)| format!("{kind} {reference}"))
            .collect();
        if !references.is_empty() {
            write!(out, "  ({})", references.join(", "))?;
        }
    }
    let narrative = line.narrative();
    if !narrative.is_empty() {
        write!(out, "  “{}”", narrative.escape_debug())?;
    }
    writeln!(out)
}

fn sign(direction: &Direction) -> &'static str {
    match direction {
        Direction::Credit => "+",
        Direction::Debit => "-",
        _ => "±",
    }
}
