//! `bankrail statement csv`.

use super::Csv;
use super::row::{Row, account_text, counterparty_account, virtual_account};
use super::source::{Part, Source};
use crate::failure::{Failure, Outcome};
use crate::output::{Destination, Output};
use crate::text::shown_lines;
use bankrail::camt052::{Entry, ReadOptions, Report};
use std::io::Write;

const COLUMNS: [&str; 24] = [
    "file",
    "account",
    "report",
    "number",
    "booked",
    "value_date",
    "status",
    "reversal",
    "amount",
    "currency",
    "direction",
    "domain",
    "family",
    "sub_family",
    "proprietary_code",
    "servicer_reference",
    "end_to_end_id",
    "references",
    "counterparty",
    "counterparty_account",
    "virtual_account",
    "virtual_account_issuer",
    "transactions",
    "narrative",
];

/// One ASCII character that is no letter, digit or quotation mark.
pub(super) fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        _ if text == "tab" => Ok('\t'),
        (Some(c), None) if c == '\t' || (c.is_ascii_punctuation() && !matches!(c, '"' | '\'' | '-' | '.' | '+')) => {
            Ok(c)
        }
        _ => Err("expected one character such as , or ; or the word tab".to_owned()),
    }
}

pub(crate) fn run(arguments: &Csv, output: &mut Output) -> Result<Outcome, Failure> {
    let mut to = Destination::open(arguments.to.output.as_deref(), output)?;
    let mut rows =
        Rows { delimiter: arguments.delimiter, terminal: to.is_terminal(), line: String::new(), first: true };
    COLUMNS.iter().for_each(|column| rows.cell(column));
    rows.end(&mut to)?;
    let mut outcome = Outcome::Fine;
    for path in &arguments.to.files.files {
        outcome = outcome.and(write(path, &mut rows, &mut to)?);
    }
    to.finish()?;
    Ok(outcome)
}

fn write(path: &str, rows: &mut Rows, to: &mut impl Write) -> Result<Outcome, Failure> {
    let mut source = Source::open(path, ReadOptions::default())?;
    let mut report = None;
    let mut number = 0_u64;
    let mut outcome = Outcome::Fine;
    while let Some(read) = source.next().map_err(|error| source.failure(&error))? {
        match read.part {
            Part::Start(start) => {
                number = 0;
                report = Some(start);
            }
            Part::Entry(entry) => {
                number += 1;
                if let Some(report) = &report {
                    rows.entry(source.name(), report, number, &entry);
                    rows.end(to)?;
                }
            }
            Part::Unread(error) => {
                number += 1;
                outcome = Outcome::Findings;
                crate::log(format_args!("{}; the entry has no row", source.error(&error)));
            }
            Part::End | Part::Document => {}
        }
    }
    Ok(outcome)
}

/// A row that is being written.
struct Rows {
    delimiter: char,
    terminal: bool,
    line: String,
    /// True before the first cell of a row.
    first: bool,
}

impl Rows {
    fn entry(&mut self, file: &str, report: &Report, number: u64, entry: &Entry) {
        let row = Row::of(entry);
        let first = |name: &str| row.references.iter().find(|(kind, _)| kind == name).map_or("", |(_, value)| value);
        let domain = entry.bank_transaction_code.domain.as_ref();
        let own = entry.bank_transaction_code.proprietary.as_ref();
        let references: Vec<String> = row.references.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (virtual_number, issuer) = virtual_account(entry).unwrap_or_default();
        self.cell(file);
        self.cell(account_text(&report.account.id));
        self.cell(report.id.as_str());
        self.number(&number.to_string());
        self.cell(&row.booked);
        self.cell(&row.value_date);
        self.cell(entry.status.as_str());
        self.cell(if entry.reversal == Some(true) { "true" } else { "" });
        self.number(&row.signed.map(|amount| amount.to_string()).unwrap_or_default());
        self.cell(&row.currency);
        self.cell(entry.direction.as_str());
        self.cell(domain.map_or("", |domain| domain.code.as_str()));
        self.cell(domain.map_or("", |domain| domain.family.code.as_str()));
        self.cell(domain.map_or("", |domain| domain.family.sub_family.as_str()));
        self.cell(own.map_or("", |own| own.code.as_str()));
        self.cell(first("AcctSvcrRef"));
        self.cell(first("EndToEndId"));
        self.cell(&references.join(";"));
        self.cell(&row.counterparty);
        self.cell(counterparty_account(entry));
        self.cell(virtual_number);
        self.cell(issuer);
        self.number(&entry.transactions().count().to_string());
        self.cell(&row.narrative);
    }

    /// A text. One that a spreadsheet would take for a formula is preceded by an apostrophe.
    fn cell(&mut self, text: &str) {
        let text = if self.terminal { shown_lines(text) } else { text.into() };
        self.begin_cell();
        let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
        let quoted = formula || text.contains(['"', '\n', '\r', self.delimiter]);
        if quoted {
            self.line.push('"');
        }
        if formula {
            self.line.push('\'');
        }
        for c in text.chars() {
            self.line.push(c);
            if c == '"' {
                self.line.push('"');
            }
        }
        if quoted {
            self.line.push('"');
        }
    }

    /// A number, which is never taken for a text.
    fn number(&mut self, number: &str) {
        self.begin_cell();
        self.line.push_str(number);
    }

    fn begin_cell(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.line.push(self.delimiter);
        }
    }

    fn end(&mut self, to: &mut impl Write) -> Result<(), Failure> {
        self.line.push_str("\r\n");
        to.write_all(self.line.as_bytes())?;
        self.line.clear();
        self.first = true;
        Ok(())
    }
}
