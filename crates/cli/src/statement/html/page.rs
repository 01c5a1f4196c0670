//! A report as a section of the page.

use super::super::row::{Row, account_text, date, parts, signed};
use super::super::source::Source;
use super::super::tally::{Running, Tally};
use super::escape::text;
use crate::clock::moment;
use crate::failure::Failure;
use crate::text::counted;
use bankrail::camt052::{Entry, Report};
use bankrail::values::Decimal;
use std::io::Write;

/// A report that is being written.
#[derive(Default)]
pub(super) struct Page {
    running: Option<Running>,
    tally: Tally,
    number: u64,
    pub(super) unread: u64,
}

impl Page {
    pub(super) fn start(&mut self, source: &Source, report: &Report, to: &mut impl Write) -> Result<(), Failure> {
        let running = Running::new(report);
        let account = &report.account;
        writeln!(to, "<dl>")?;
        let mut fact = |name: &str, value: &str| writeln!(to, "<dt>{name}</dt><dd>{}</dd>", text(value));
        fact("Account", account_text(&account.id))?;
        if let Some(name) = &account.name {
            fact("Name", name.as_str())?;
        }
        if let Some(currency) = &account.currency {
            fact("Currency", currency.as_str())?;
        }
        fact("Report", report.id.as_str())?;
        if let Some(header) = source.header() {
            fact("Message", header.message_id.as_str())?;
        }
        if let Some(created) = &report.created_at {
            fact("Created", &moment(created))?;
        }
        writeln!(to, "</dl>")?;
        if !report.balances.is_empty() {
            writeln!(
                to,
                "<table class=\"balances\">\n<thead><tr><th scope=\"col\">Balance</th><th scope=\"col\">Date</th>\
                 <th scope=\"col\" class=\"n\">Amount</th></tr></thead>"
            )?;
            for balance in &report.balances {
                let sub = balance.kind.sub_kind.as_ref().map_or_else(String::new, |kind| format!(" / {kind}"));
                let kind = format!("{}{sub}", balance.kind.code);
                let currency = balance.amount.currency().map(|currency| currency.as_str()).unwrap_or_default();
                let amount = format!("{} {currency}", signed(balance.amount.value(), &balance.direction));
                let day = date(balance.date.as_ref());
                writeln!(
                    to,
                    "<tr><td class=\"free\">{}</td><td class=\"d\">{}</td><td class=\"n\">{}</td></tr>",
                    text(&kind),
                    text(&day),
                    text(&amount)
                )?;
            }
            writeln!(to, "</table>")?;
        }
        let balance = running.title();
        writeln!(
            to,
            "<table class=\"entries\">\n<thead><tr><th scope=\"col\">#</th><th scope=\"col\">Booked</th>\
             <th scope=\"col\">Value date</th><th scope=\"col\" class=\"n\">Amount</th>\
             <th scope=\"col\" class=\"n\">{balance}</th>\
             <th scope=\"col\">Status</th><th scope=\"col\">Code</th><th scope=\"col\">Counterparty</th>\
             <th scope=\"col\">Narrative</th></tr>\
             </thead>\n<tbody>"
        )?;
        *self = Self { running: Some(running), unread: self.unread, ..Self::default() };
        Ok(())
    }

    pub(super) fn entry(&mut self, entry: &Entry, findings: &[String], to: &mut impl Write) -> Result<(), Failure> {
        self.number += 1;
        self.tally.add(entry);
        let title = self.running.as_ref().map_or("Balance", Running::title);
        let balance = self.running.as_mut().and_then(|running| running.after(entry));
        let row = Row::of(entry);
        let class = if findings.is_empty() { "e" } else { "e found" };
        // What the search sums up. Both are digits and capital letters.
        let sum = match (row.signed, row.currency.bytes().all(|b| b.is_ascii_uppercase())) {
            (Some(amount), true) => format!(" data-amount=\"{amount}\" data-currency=\"{}\"", row.currency),
            _ => String::new(),
        };
        write!(to, "<tr class=\"{class}\"{sum}><td data-label=\"#\">{}</td>", self.number)?;
        let mut cell = |label: &str, class: &str, value: &str| {
            write!(to, "<td data-label=\"{label}\" class=\"{class}\">{}</td>", text(value))
        };
        cell("Booked", "d", &row.booked)?;
        cell("Value date", "d", &row.value_date)?;
        let sign = if row.amount.starts_with('-') { "n debit" } else { "n credit" };
        cell("Amount", sign, &format!("{} {}", row.amount, row.currency))?;
        cell(title, "n", &balance.map(|balance| balance.to_string()).unwrap_or_default())?;
        cell("Status", "", &row.status)?;
        cell("Code", "free", &row.code)?;
        cell("Counterparty", "free", &row.counterparty)?;
        write!(
            to,
            "<td data-label=\"Narrative\" class=\"free text\"><p class=\"narrative\">{}</p>",
            text(&row.narrative)
        )?;
        references(&row, to)?;
        let mut parts = parts(entry).peekable();
        if parts.peek().is_some() {
            write!(to, "<details><summary>Transactions</summary><ul>")?;
            for part in parts {
                let line = format!("{} {} {}", part.amount, part.currency, part.counterparty);
                write!(to, "<li>{}<p class=\"narrative\">{}</p>", text(&line), text(&part.narrative))?;
                references(&part, to)?;
                write!(to, "</li>")?;
            }
            write!(to, "</ul></details>")?;
        }
        if !findings.is_empty() {
            write!(to, "<ul class=\"found\">")?;
            for finding in findings {
                write!(to, "<li>{}</li>", text(finding))?;
            }
            write!(to, "</ul>")?;
        }
        Ok(writeln!(to, "</td></tr>")?)
    }

    pub(super) fn unread(&mut self, error: &str, to: &mut impl Write) -> Result<(), Failure> {
        self.number += 1;
        self.unread += 1;
        let (number, error) = (self.number, text(error));
        Ok(writeln!(
            to,
            "<tr class=\"e found\"><td data-label=\"#\">{number}</td><td colspan=\"8\">\
             This entry cannot be read, and is in no sum: {error}</td></tr>"
        )?)
    }

    pub(super) fn end(&mut self, to: &mut impl Write) -> Result<(), Failure> {
        if self.number == 0 {
            writeln!(to, "<tr><td colspan=\"9\">No entries.</td></tr>")?;
        }
        writeln!(to, "</tbody>\n</table>")?;
        let sum = |sum: Option<Decimal>| sum.map_or_else(|| "too large".to_owned(), |sum| sum.to_string());
        for (currency, totals) in self.tally.iter() {
            let line = format!(
                "{}: {}; {}: {}; net {} {currency}",
                counted(totals.credits.0, "credit", "credits"),
                sum(totals.credits.1),
                counted(totals.debits.0, "debit", "debits"),
                sum(totals.debits.1),
                sum(totals.net()),
            );
            writeln!(to, "<p class=\"totals\">{}</p>", text(&line))?;
        }
        if self.tally.uncounted > 0 {
            let entries = counted(self.tally.uncounted, "entry", "entries");
            writeln!(to, "<p class=\"totals\">{entries} neither credit nor debit, not in the sums</p>")?;
        }
        Ok(())
    }
}

fn references(row: &Row, to: &mut impl Write) -> Result<(), Failure> {
    if row.references.is_empty() {
        return Ok(());
    }
    Ok(write!(to, "<p class=\"references\">{}</p>", text(&row.reference_text()))?)
}
