//! A report as a section of the page.

use super::super::row::{Row, TITLES, account_text, balance, code_names, domain, parts};
use super::super::source::Source;
use super::super::tally::{Running, Tally};
use super::escape::{filters, text};
use super::write_view;
use crate::clock::{moment, readable};
use crate::failure::Failure;
use crate::text::grouped;
use askama::Template;
use bankrail::camt052::{Account, Entry, GroupHeader, Report};
use bankrail::values::Decimal;
use std::io::Write;

/// The classes of the cells under the [`TITLES`]: days, numbers, codes, texts of any length.
const CLASSES: [&str; TITLES.len()] = ["d", "d", "n", "n", "", "code", "free"];

/// The place of the amount, and that of the balance.
const AMOUNT: usize = 2;
const BALANCE: usize = 3;

/// The title of a column, and how its cells look.
type Column = (&'static str, &'static str);

#[derive(Template)]
#[template(path = "statement/report.html")]
struct ReportView<'a> {
    report: &'a Report,
    header: Option<&'a GroupHeader>,
    columns: Vec<Column>,
}

#[derive(Template)]
#[template(path = "statement/entry.html")]
struct EntryView<'a> {
    number: u64,
    row: &'a Row,
    /// The amount that the search adds up, if its currency is written in capital letters.
    amount: Option<Decimal>,
    cells: Vec<(Column, String)>,
    code_names: Option<String>,
    parts: Vec<Row>,
    findings: &'a [String],
}

/// The day on which a report was made.
fn day(report: &Report) -> Option<String> {
    let at = report.created_at.as_ref()?.to_string();
    Some(at.split_once('T').map_or(&*at, |(day, _)| day).to_owned())
}

/// A report that is being written.
#[derive(Default)]
pub(super) struct Page {
    running: Option<Running>,
    account: Option<Account>,
    tally: Tally,
    number: u64,
    pub(super) unread: u64,
    /// True between the start of a report and its end.
    is_open: bool,
}

impl Page {
    pub(super) fn start(
        &mut self,
        source: &Source<'_>,
        report: &Report,
        to: &mut impl Write,
    ) -> Result<(), Failure> {
        self.running = Some(Running::new(report));
        self.account = Some(report.account.clone());
        (self.tally, self.number, self.is_open) = (Tally::default(), 0, true);
        write_view(
            &ReportView {
                report,
                header: source.header(),
                columns: self.columns("n"),
            },
            to,
        )
    }

    /// The columns, with this class of the amount.
    fn columns(&self, amount: &'static str) -> Vec<Column> {
        let (mut titles, mut classes) = (TITLES, CLASSES);
        titles[BALANCE] = self.running.as_ref().map_or("Balance", Running::title);
        classes[AMOUNT] = amount;
        titles.into_iter().zip(classes).collect()
    }

    pub(super) fn entry(
        &mut self,
        entry: &Entry,
        findings: &[String],
        to: &mut impl Write,
    ) -> Result<(), Failure> {
        self.number += 1;
        self.tally.add(entry);
        let balance = self
            .running
            .as_mut()
            .and_then(|running| running.after(entry));
        let account = self.account.as_ref();
        let row = Row::of(entry, account);
        let [booked, value_date, amount, left, status, code, counterparty] = row.cells(balance);
        let [booked, value_date] = [booked, value_date].map(|day| readable(&day));
        let [amount_text, left] = [amount, left].map(|amount| grouped(&amount));
        let cells = [
            booked,
            value_date,
            amount_text,
            left,
            status,
            code,
            counterparty,
        ];
        let columns = self.columns(if row.amount.starts_with('-') {
            "n debit"
        } else {
            "n credit"
        });
        let entry = EntryView {
            number: self.number,
            amount: row
                .signed
                .filter(|_| row.currency.bytes().all(|b| b.is_ascii_uppercase())),
            cells: columns.into_iter().zip(cells).collect(),
            row: &row,
            code_names: domain(entry)
                .map(code_names)
                .filter(|names| !names.is_empty()),
            parts: parts(entry, account).collect(),
            findings,
        };
        write_view(&entry, to)
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

    /// Ends what has begun of a document that cannot be read further.
    pub(super) fn unread_rest(&mut self, error: &str, to: &mut impl Write) -> Result<(), Failure> {
        if self.is_open {
            self.end(to)?;
        }
        let error = text(error);
        Ok(writeln!(
            to,
            "<p class=\"found\">The rest of this file cannot be read, and is in no sum: {error}</p>"
        )?)
    }

    pub(super) fn end(&mut self, to: &mut impl Write) -> Result<(), Failure> {
        if self.number == 0 {
            writeln!(to, "<tr><td colspan=\"9\">No entries.</td></tr>")?;
        }
        writeln!(to, "</tbody>\n</table>")?;
        self.is_open = false;
        for line in self.tally.lines() {
            writeln!(to, "<p class=\"totals\">{}</p>", text(grouped(&line)))?;
        }
        Ok(())
    }
}
