//! A report as a section of the page.

use super::super::source::Source;
use super::super::tally::{Running, Tally};
use super::super::{Row, account_text, balance, code_names, domain, parts};
use super::{filters, text, write_view};
use crate::clock::moment;
use crate::failure::Failure;
use crate::text::grouped;
use askama::Template;
use bankrail::camt052::{Account, Entry, EntryStatus, GroupHeader, Report};
use bankrail::values::Decimal;
use std::io::Write;

#[derive(Template)]
#[template(path = "statement/report.html")]
struct ReportView<'a> {
    report: &'a Report,
    header: Option<&'a GroupHeader>,
}

#[derive(Template)]
#[template(path = "statement/table.html")]
struct TableView<'a> {
    title: &'static str,
    account: &'a str,
    has_balance: bool,
}

#[derive(Template)]
#[template(path = "statement/entry.html")]
struct EntryView<'a> {
    number: u64,
    row: &'a Row,
    /// The amount that the search adds up, if its currency is written in capital letters.
    amount: Option<Decimal>,
    has_balance: bool,
    balance: Option<Decimal>,
    code_names: Option<String>,
    parts: Vec<Row>,
    findings: &'a [String],
}

/// Returns the day on which a report was made.
fn day(report: &Report) -> Option<String> {
    let at = report.created_at.as_ref()?.to_string();
    Some(at.split_once('T').map_or(&*at, |(day, _)| day).to_owned())
}

/// The entries of one status.
#[derive(Default)]
struct Group {
    title: &'static str,
    /// The rows that wait until the previous groups are written.
    rows: Vec<u8>,
    is_empty: bool,
    tally: Tally,
}

impl Group {
    fn new(title: &'static str) -> Self {
        Self {
            title,
            is_empty: true,
            ..Self::default()
        }
    }
}

/// A report that is being written: its booked entries are written as they are read, the others at
/// its end.
#[derive(Default)]
pub(super) struct Page {
    /// The balance, if the report has an opening balance.
    running: Option<Running>,
    account: Option<Account>,
    booked: Group,
    pending: Group,
    others: Group,
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
        *self = Self {
            running: report.opening_balance().map(|_| Running::new(report)),
            account: Some(report.account.clone()),
            booked: Group::new("Booked"),
            pending: Group::new("Pending"),
            others: Group::new("Neither booked nor pending"),
            number: 0,
            unread: self.unread,
            is_open: true,
        };
        let header = source.reader.header();
        write_view(&ReportView { report, header }, to)
    }

    fn begin(&self, group: &Group, has_balance: bool, to: &mut impl Write) -> Result<(), Failure> {
        let account = self.account.as_ref();
        let table = TableView {
            title: group.title,
            account: account.map_or("", |account| account_text(&account.id)),
            has_balance,
        };
        write_view(&table, to)
    }

    pub(super) fn entry(
        &mut self,
        entry: &Entry,
        findings: &[String],
        to: &mut impl Write,
    ) -> Result<(), Failure> {
        self.number += 1;
        let account = self.account.as_ref();
        let row = Row::of(entry, account);
        let is_booked = entry.status == EntryStatus::BOOKED;
        let running = self.running.as_mut().filter(|_| is_booked);
        let view = EntryView {
            number: self.number,
            amount: row
                .signed
                .filter(|_| row.currency.bytes().all(|b| b.is_ascii_uppercase())),
            balance: running.and_then(|running| running.after(entry)),
            has_balance: is_booked && self.running.is_some(),
            row: &row,
            code_names: domain(entry)
                .map(code_names)
                .filter(|names| !names.is_empty()),
            parts: parts(entry, account).collect(),
            findings,
        };
        if is_booked {
            if self.booked.is_empty {
                self.begin(&self.booked, self.running.is_some(), to)?;
            }
            self.booked.is_empty = false;
            self.booked.tally.add(entry);
            return write_view(&view, to);
        }
        let group = match entry.status {
            EntryStatus::PENDING => &mut self.pending,
            _ => &mut self.others,
        };
        group.is_empty = false;
        group.tally.add(entry);
        write_view(&view, &mut group.rows)
    }

    pub(super) fn unread(&mut self, error: &str) -> Result<(), Failure> {
        self.number += 1;
        self.unread += 1;
        let (number, error) = (self.number, text(error));
        self.others.is_empty = false;
        Ok(writeln!(
            self.others.rows,
            "<tr class=\"e found\"><td data-label=\"#\">{number}</td><td colspan=\"7\">\
             This entry cannot be read, and is in no sum: {error}</td></tr>"
        )?)
    }

    /// Closes the open parts of the page for a document that cannot be read further.
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
        self.is_open = false;
        if self.number == 0 {
            writeln!(to, "<p>No entries.</p>")?;
        }
        for group in [&self.booked, &self.pending, &self.others] {
            if group.is_empty {
                continue;
            }
            if !group.rows.is_empty() {
                self.begin(group, false, to)?;
                to.write_all(&group.rows)?;
            }
            writeln!(to, "</tbody>\n</table>")?;
            for line in group.tally.lines() {
                writeln!(to, "<p class=\"totals\">{}</p>", text(grouped(&line)))?;
            }
        }
        Ok(())
    }
}
