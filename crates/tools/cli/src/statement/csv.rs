//! `bankrail statement csv`.

use super::source::{Source, each};
use super::{Csv, Row, account_text, code_names, domain, owned, text, virtual_account};
use crate::failure::{Failure, Outcome};
use crate::output::{Destination, Output};
use crate::text::shown_lines;
use bankrail::camt052::{Entry, EntryLine, Report, StreamItem};
use csv::{Error, ErrorKind, Terminator, Writer, WriterBuilder};
use std::borrow::Cow;
use std::io::{self, Write};

/// A column: its name, and the function that returns its text or number.
type Column = (&'static str, for<'a> fn(&'a EntryRow<'a>) -> Cell<'a>);

enum Cell<'a> {
    /// A text; an apostrophe is written before a text that a spreadsheet would take for a formula.
    Text(Cow<'a, str>),
    Number(String),
}

/// The source of a row.
struct EntryRow<'a> {
    file: &'a str,
    report: &'a Report,
    number: u64,
    entry: &'a Entry,
    transactions: usize,
    /// The transaction that the row is about; `None` for the whole entry.
    line: Option<EntryLine<'a>>,
    row: Row,
}

const COLUMNS: [Column; 29] = [
    ("file", |of| of.file.into()),
    ("account", |of| account_text(&of.report.account.id).into()),
    ("report", |of| {
        let id = of.report.id.as_ref();
        id.map_or("", |id| id.as_str()).into()
    }),
    ("number", |of| Cell::Number(of.number.to_string())),
    ("line", |of| {
        Cell::Number(text(of.line.map(|line| line.number)))
    }),
    ("booked", |of| {
        Cell::Text(text(of.entry.booking_date.as_ref()).into())
    }),
    ("value_date", |of| {
        Cell::Text(text(of.entry.value_date.as_ref()).into())
    }),
    ("status", |of| {
        of.entry.status.as_str().unwrap_or("unknown").into()
    }),
    ("reversal", |of| {
        if of.entry.reversal == Some(true) {
            "true"
        } else {
            ""
        }
        .into()
    }),
    ("amount", |of| Cell::Number(text(of.row.signed))),
    ("currency", |of| of.row.currency.as_str().into()),
    ("account_amount", |of| {
        let own = of.line.map(|line| line.account_money());
        let money = own.unwrap_or_else(|| of.entry.signed_money());
        Cell::Number(text(money.map(|money| money.amount())))
    }),
    ("entry_amount", |of| {
        let is_first = of.line.is_none_or(|line| line.number <= 1);
        let amount = of.entry.signed_amount().filter(|_| is_first);
        Cell::Number(text(amount))
    }),
    ("direction", |of| {
        let own = of.line.map(|line| line.direction());
        own.unwrap_or(&of.entry.direction).as_str().into()
    }),
    ("domain", |of| {
        domain(of.entry)
            .map_or("", |domain| domain.code.as_str())
            .into()
    }),
    ("family", |of| {
        domain(of.entry)
            .map_or("", |domain| domain.family.code.as_str())
            .into()
    }),
    ("sub_family", |of| {
        domain(of.entry)
            .map_or("", |domain| domain.family.sub_family.as_str())
            .into()
    }),
    ("proprietary_code", |of| {
        of.entry
            .bank_transaction_code
            .as_ref()
            .and_then(|code| code.proprietary.as_ref())
            .map_or("", |own| own.code.as_str())
            .into()
    }),
    ("servicer_reference", |of| {
        of.reference("AcctSvcrRef").into()
    }),
    ("end_to_end_id", |of| of.reference("EndToEndId").into()),
    ("references", |of| {
        let each: Vec<String> = of
            .row
            .references
            .iter()
            .map(|of| format!("{}={}", of.name, of.value))
            .collect();
        Cell::Text(each.join(";").into())
    }),
    ("counterparty", |of| of.row.counterparty.as_str().into()),
    ("counterparty_account", |of| {
        let account = of.lines().find_map(|line| line.counterparty_account());
        account
            .map_or("", |account| account_text(&account.id))
            .into()
    }),
    ("ultimate_counterparty", |of| {
        of.row.ultimate.as_str().into()
    }),
    ("virtual_account", |of| of.virtual_account().0.into()),
    ("virtual_account_issuer", |of| of.virtual_account().1.into()),
    ("transactions", |of| {
        Cell::Number(of.transactions.to_string())
    }),
    ("narrative", |of| of.row.narrative.as_str().into()),
    ("code_names", |of| {
        let names = domain(of.entry).map(code_names);
        Cell::Text(names.unwrap_or_default().into())
    }),
];

impl<'a> EntryRow<'a> {
    /// Returns the lines that the row is about.
    fn lines(&self) -> impl Iterator<Item = EntryLine<'a>> {
        let all = self.entry.lines_on(Some(&self.report.account));
        let whole = self.line.is_none();
        self.line.into_iter().chain(all.take_while(move |_| whole))
    }

    /// Returns the number and the issuer of the virtual account.
    fn virtual_account(&self) -> (&'a str, &'a str) {
        let found = self.lines().find_map(|line| virtual_account(&line));
        found.unwrap_or_default()
    }

    /// Returns the first reference of this name.
    fn reference(&self, name: &str) -> &str {
        self.row
            .references
            .iter()
            .find(|of| of.name == name)
            .map_or("", |of| &of.value)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

/// Parses a separator: one ASCII character that is no letter, digit or quotation mark.
pub(super) fn delimiter(text: &str) -> Result<char, String> {
    match text.as_bytes() {
        b"tab" | b"\t" => Ok('\t'),
        [c] if c.is_ascii_punctuation() && !b"\"'-.+".contains(c) => Ok(char::from(*c)),
        _ => Err("expected one character such as , or ; or the word tab".to_owned()),
    }
}

pub(super) fn run(arguments: &Csv, output: &mut Output) -> Result<Outcome, Failure> {
    let mut to = Destination::open(arguments.to.output.as_deref(), output)?;
    let delimiter = u8::try_from(arguments.delimiter).unwrap_or(b',');
    let mut rows = WriterBuilder::new()
        .delimiter(delimiter)
        .terminator(Terminator::CRLF)
        .from_writer(&mut to);
    rows.write_record(COLUMNS.map(|(name, _)| name))
        .map_err(unwritable)?;
    let outcome = each(&arguments.to.files.files, |_, source| {
        write(source, arguments.transactions, &mut rows)
    })?;
    rows.flush()?;
    drop(rows);
    to.finish()?;
    Ok(outcome)
}

fn write(
    mut source: Source<'_>,
    by_transaction: bool,
    rows: &mut Writer<impl Write>,
) -> Result<Outcome, Failure> {
    let mut report = None;
    let mut number = 0_u64;
    let mut outcome = Outcome::Fine;
    while let Some(read) = source.next().map_err(|error| source.failure(&error))? {
        match read.item {
            Ok(StreamItem::Start(start)) => {
                number = 0;
                report = Some(start);
            }
            Ok(StreamItem::Entry(entry)) => {
                number += 1;
                let Some(report) = &report else { continue };
                let account = Some(&report.account);
                let transactions = entry.transactions().count();
                let row = |line: Option<EntryLine<'_>>| match line {
                    None => Row::of(&entry, account),
                    Some(line) => Row {
                        references: owned(line.references()),
                        ..Row::of_line(&line)
                    },
                };
                let all = entry.lines_on(account).map(Some);
                let all = all.take_while(|_| by_transaction);
                for line in all.chain((!by_transaction).then_some(None)) {
                    let row = EntryRow {
                        file: &source.name,
                        report,
                        number,
                        entry: &entry,
                        transactions,
                        line,
                        row: row(line),
                    };
                    for (_, value) in &COLUMNS {
                        rows.write_field(value(&row).written().as_ref())
                            .map_err(unwritable)?;
                    }
                    rows.write_record(None::<&[u8]>).map_err(unwritable)?;
                }
            }
            Err(error) => {
                number += 1;
                outcome = Outcome::Findings;
                crate::log(format_args!(
                    "{}; the entry has no row",
                    source.error(&error)
                ));
            }
            Ok(_) => {}
        }
    }
    Ok(outcome)
}

impl<'a> Cell<'a> {
    fn written(self) -> Cow<'a, str> {
        let text = match self {
            Self::Number(number) => return number.into(),
            Self::Text(text) => text,
        };
        let formula =
            text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
        match shown_lines(&text) {
            Cow::Borrowed(_) if !formula => text,
            shown => format!("{}{shown}", if formula { "'" } else { "" }).into(),
        }
    }
}

fn unwritable(error: Error) -> Failure {
    match error.into_kind() {
        ErrorKind::Io(error) => error.into(),
        other => io::Error::other(format!("{other:?}")).into(),
    }
}
