//! A report as a section of the page.

use super::super::row::{Row, TITLES, account_text, balance, parts};
use super::super::source::Source;
use super::super::tally::{Running, Tally};
use super::escape::text;
use super::found;
use crate::clock::moment;
use crate::failure::Failure;
use bankrail::camt052::{Entry, Report};
use std::io::Write;

/// How the cells under the [`TITLES`] look: days, numbers, texts of any length.
const CLASSES: [&str; TITLES.len()] = ["d", "d", "n", "n", "", "free", "free"];
/// The place of the amount, and that of the balance.
const AMOUNT: usize = 2;
const BALANCE: usize = 3;

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
        let account = &report.account;
        writeln!(to, "<dl>")?;
        for (name, value) in [
            ("Account", Some(account_text(&account.id).to_owned())),
            ("Name", account.name.as_ref().map(ToString::to_string)),
            ("Currency", account.currency.as_ref().map(ToString::to_string)),
            ("Report", Some(report.id.to_string())),
            ("Message", source.header().map(|header| header.message_id.to_string())),
            ("Created", report.created_at.as_ref().map(moment)),
        ] {
            if let Some(value) = value {
                writeln!(to, "<dt>{name}</dt><dd>{}</dd>", text(&value))?;
            }
        }
        writeln!(to, "</dl>")?;
        if !report.balances.is_empty() {
            writeln!(
                to,
                "<table class=\"balances\">\n<thead><tr><th scope=\"col\">Balance</th><th scope=\"col\">Date</th>\
                 <th scope=\"col\" class=\"n\">Amount</th></tr></thead>"
            )?;
            for [kind, amount, day] in report.balances.iter().map(balance) {
                let (kind, day, amount) = (text(&kind), text(&day), text(&amount));
                writeln!(
                    to,
                    "<tr><td class=\"free\">{kind}</td><td class=\"d\">{day}</td><td class=\"n\">{amount}</td></tr>"
                )?;
            }
            writeln!(to, "</table>")?;
        }
        let running = self.running.insert(Running::new(report));
        let mut titles = TITLES;
        titles[BALANCE] = running.title();
        write!(to, "<table class=\"entries\">\n<thead><tr><th scope=\"col\">#</th>")?;
        for (title, class) in titles.iter().zip(CLASSES) {
            write!(to, "<th scope=\"col\"{}>{title}</th>", if class == "n" { " class=\"n\"" } else { "" })?;
        }
        writeln!(to, "<th scope=\"col\">Narrative</th></tr></thead>\n<tbody>")?;
        (self.tally, self.number) = (Tally::default(), 0);
        Ok(())
    }

    pub(super) fn entry(&mut self, entry: &Entry, findings: &[String], to: &mut impl Write) -> Result<(), Failure> {
        self.number += 1;
        self.tally.add(entry);
        let mut titles = TITLES;
        titles[BALANCE] = self.running.as_ref().map_or("Balance", Running::title);
        let balance = self.running.as_mut().and_then(|running| running.after(entry));
        let row = Row::of(entry);
        let class = if findings.is_empty() { "e" } else { "e found" };
        // What the search sums up. Both are digits and capital letters.
        let sum = match (row.signed, row.currency.bytes().all(|b| b.is_ascii_uppercase())) {
            (Some(amount), true) => format!(" data-amount=\"{amount}\" data-currency=\"{}\"", row.currency),
            _ => String::new(),
        };
        write!(to, "<tr class=\"{class}\"{sum}><td data-label=\"#\">{}</td>", self.number)?;
        let mut classes = CLASSES;
        classes[AMOUNT] = if row.amount.starts_with('-') { "n debit" } else { "n credit" };
        for ((title, class), cell) in titles.iter().zip(classes).zip(&row.cells(balance)) {
            write!(to, "<td data-label=\"{title}\" class=\"{class}\">{}</td>", text(cell))?;
        }
        write!(to, "<td data-label=\"Narrative\" class=\"free text\">")?;
        narrative(&row, to)?;
        let mut parts = parts(entry).peekable();
        if parts.peek().is_some() {
            write!(to, "<details><summary>Transactions</summary><ul>")?;
            for part in parts {
                write!(to, "<li>{}", text(&format!("{} {} {}", part.amount, part.currency, part.counterparty)))?;
                narrative(&part, to)?;
                write!(to, "</li>")?;
            }
            write!(to, "</ul></details>")?;
        }
        if !findings.is_empty() {
            found(findings, to)?;
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
        for line in self.tally.lines() {
            writeln!(to, "<p class=\"totals\">{}</p>", text(&line))?;
        }
        Ok(())
    }
}

/// What an entry or a transaction says in words, and its references.
fn narrative(row: &Row, to: &mut impl Write) -> Result<(), Failure> {
    write!(to, "<p class=\"narrative\">{}</p>", text(&row.narrative))?;
    if !row.references.is_empty() {
        write!(to, "<p class=\"references\">{}</p>", text(&row.reference_text()))?;
    }
    Ok(())
}
