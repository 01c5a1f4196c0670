//! Loader of bookings from CSV.

use super::error::{LoadError, RowError};
use super::{Loaded, Rows};
use crate::booking::{Booking, BookingKind, BookingMember};
use crate::ledger::book::{self, Booked};
use crate::ledger::error::BookError;
use crate::sql::Sql;
use bankrail_service::ReportDay;
use bankrail_statement::AccountId;
use bankrail_values::{Currency, Date, Money, excerpt, parse_decimal};
use csv::{DeserializeErrorKind, ErrorKind, ReaderBuilder, StringRecord};
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;

/// The maximum number of bytes of the texts of a row, and of the reader's buffer.
const MAX_ROW_BYTES: usize = 64 << 10;
/// The maximum number of bytes that are read before a row is complete.
const MAX_AHEAD_BYTES: usize = 2 * MAX_ROW_BYTES;

/// A row with its values as texts, so that a wrong value is an error of its column.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'a> {
    account: &'a str,
    date: &'a str,
    kind: &'a str,
    amount: &'a str,
    currency: &'a str,
    value_date: Option<&'a str>,
    reversal: Option<&'a str>,
    key: Option<&'a str>,
    reference: Option<&'a str>,
    end_to_end_id: Option<&'a str>,
    counterparty: Option<&'a str>,
    narrative: Option<&'a str>,
    virtual_account: Option<&'a str>,
    virtual_account_issuer: Option<&'a str>,
    mandate: Option<&'a str>,
    cheque: Option<&'a str>,
}

pub(super) async fn load(
    connection: &impl Sql,
    rows: Rows,
    report_day: Option<&ReportDay>,
) -> Result<Loaded, LoadError> {
    let lines = Rc::new(RefCell::new(Lines::default()));
    let rows = Source {
        source: rows.0,
        lines: Rc::clone(&lines),
    };
    let mut rows = ReaderBuilder::new()
        .has_headers(false)
        .buffer_capacity(MAX_ROW_BYTES)
        .from_reader(rows);
    let (mut columns, mut record) = (StringRecord::new(), StringRecord::new());
    let mut next = |record: &mut StringRecord| match rows.read_record(record) {
        Ok(false) => Ok(None),
        Ok(true) => {
            let mut lines = lines.borrow_mut();
            if record.as_slice().len() > MAX_ROW_BYTES {
                return Err(LoadError::TooLong {
                    line: lines.line,
                    most: MAX_ROW_BYTES,
                });
            }
            let start = record.position().map_or(0, csv::Position::byte);
            Ok(Some(lines.next_row(start)))
        }
        Err(error) => Err(failed(error, &mut lines.borrow_mut())),
    };
    next(&mut columns)?;
    // A row without values, so that the columns of a file without rows are checked too.
    let none = StringRecord::from(vec![""; columns.len()]);
    none.deserialize::<Row<'_>>(Some(&columns))
        .map_err(|error| wrong_columns(&error))?;
    let mut loaded = Loaded::default();
    while let Some(line) = next(&mut record)? {
        let row: Row<'_> = record
            .deserialize(Some(&columns))
            .map_err(|error| wrong_columns(&error))?;
        let booked = row.book(connection, report_day).await;
        match booked.map_err(|(column, source)| LoadError::Row {
            line,
            column,
            source,
        })? {
            Booked::New(_) => loaded.booked += 1,
            Booked::Known(_) => loaded.already += 1,
        }
    }
    Ok(loaded)
}

/// Makes the error of a first line whose columns are no columns of a [`Row`]. For serde nothing
/// else of a row can be wrong, because all its values are texts.
fn wrong_columns(error: &csv::Error) -> LoadError {
    let message = match error.kind() {
        ErrorKind::Deserialize { err, .. } => match err.kind() {
            DeserializeErrorKind::Message(message) => message.as_str(),
            _ => "",
        },
        _ => "",
    };
    if let Some(name) = message.strip_prefix("missing field ") {
        let column = name.trim_matches('`').to_owned();
        return LoadError::NoColumn { column };
    }
    let found = message
        .trim_start_matches("unknown field ")
        .trim_start_matches("duplicate field ");
    let found = found
        .rsplit_once(", expected ")
        .map_or(found, |(name, _)| name);
    let found = excerpt(found.trim_matches('`'));
    LoadError::Column { found }
}

fn failed(error: csv::Error, lines: &mut Lines) -> LoadError {
    let mut at =
        |place: Option<csv::Position>| lines.next_row(place.map_or(0, |place| place.byte()));
    match error.into_kind() {
        ErrorKind::Utf8 { pos, .. } => LoadError::Utf8 { line: at(pos) },
        ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => LoadError::Columns {
            line: at(pos),
            expected: expected_len,
            found: len,
        },
        ErrorKind::Io(_) if lines.read_ahead >= MAX_AHEAD_BYTES => LoadError::TooLong {
            line: lines.line,
            most: MAX_ROW_BYTES,
        },
        ErrorKind::Io(error) => LoadError::Io(error),
        _ => LoadError::Io(io::Error::other("the file is no CSV")),
    }
}

/// The lines that were read from the source and belong to no row yet. The CSV reader's own count of
/// lines leaves out empty ones.
struct Lines {
    /// The line of the last row, from 1.
    line: u64,
    /// The number of bytes read since the last row.
    read_ahead: usize,
    /// The number of all bytes read.
    read: u64,
    /// True if the line that is being read has been empty so far.
    empty: bool,
    /// The offset of the end of each line, with true for an empty line.
    ends: VecDeque<(u64, bool)>,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            line: 1,
            read_ahead: 0,
            read: 0,
            empty: true,
            ends: VecDeque::new(),
        }
    }
}

impl Lines {
    fn add(&mut self, bytes: &[u8]) {
        for (offset, byte) in (self.read..).zip(bytes) {
            match byte {
                b'\n' => {
                    self.ends.push_back((offset, self.empty));
                    self.empty = true;
                }
                b'\r' => {}
                _ => self.empty = false,
            }
        }
        self.read += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.read_ahead += bytes.len();
    }

    /// Returns the line of a row that begins at an offset, or after the end of the line there and
    /// empty lines.
    fn next_row(&mut self, start: u64) -> u64 {
        while self
            .ends
            .front()
            .is_some_and(|(end, empty)| *end <= start || *empty)
        {
            self.ends.pop_front();
            self.line += 1;
        }
        self.read_ahead = 0;
        self.line
    }
}

/// A source that fails before one row takes more than [`MAX_AHEAD_BYTES`].
struct Source<R> {
    source: R,
    lines: Rc<RefCell<Lines>>,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut lines = self.lines.borrow_mut();
        let room = MAX_AHEAD_BYTES
            .saturating_sub(lines.read_ahead)
            .min(into.len());
        if room == 0 && !into.is_empty() {
            return Err(io::Error::other("a row is too long"));
        }
        let read = self.source.read(into.get_mut(..room).unwrap_or_default())?;
        lines.add(into.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// The column of a wrong value, and the value's error.
type Wrong = (&'static str, RowError);

/// Reads a value that a row must have.
fn required<T, E>(
    column: &'static str,
    value: &str,
    read: impl FnOnce(&str) -> Result<T, E>,
    wrong: fn(E) -> RowError,
) -> Result<T, Wrong> {
    if value.is_empty() {
        return Err((column, RowError::Missing));
    }
    read(value).map_err(|error| (column, wrong(error)))
}

impl Row<'_> {
    async fn book(
        &self,
        connection: &impl Sql,
        report_day: Option<&ReportDay>,
    ) -> Result<Booked, Wrong> {
        let account = required(
            "account",
            self.account,
            AccountId::parse,
            RowError::AccountId,
        )?;
        let booking = self.booking()?;
        let key = booking.idempotency_key();
        let booked = match booking.to_entry() {
            Ok(entry) => book::book(connection, &account, &entry, key, report_day).await,
            Err(wrong) => Err(wrong.into()),
        };
        booked.map_err(|error| {
            let column = match error {
                BookError::Conflict if self.key.is_none() => "reference",
                _ => column_of(&error),
            };
            (column, RowError::Book(Box::new(error)))
        })
    }

    fn booking(&self) -> Result<Booking, Wrong> {
        let day = required("date", self.date, Date::parse, RowError::Date)?;
        let kind: BookingKind = required("kind", self.kind, str::parse, RowError::Kind)?;
        let amount = required("amount", self.amount, parse_decimal, RowError::Amount)?;
        let currency = required(
            "currency",
            self.currency,
            Currency::parse,
            RowError::Currency,
        )?;
        let mut booking = Booking::new(kind, Money::new(amount, currency), day);
        if let Some(date) = self.value_date {
            booking =
                booking.value_date(required("value_date", date, Date::parse, RowError::Date)?);
        }
        match self.reversal {
            None | Some("false") => {}
            Some("true") => booking = booking.reversal(),
            Some(_) => return Err(("reversal", RowError::Reversal)),
        }
        let texts = [
            (BookingMember::Key, self.key),
            (BookingMember::Reference, self.reference),
            (BookingMember::EndToEndId, self.end_to_end_id),
            (BookingMember::Counterparty, self.counterparty),
            (BookingMember::Narrative, self.narrative),
            (BookingMember::VirtualAccount, self.virtual_account),
            (
                BookingMember::VirtualAccountIssuer,
                self.virtual_account_issuer,
            ),
            (BookingMember::Mandate, self.mandate),
            (BookingMember::Cheque, self.cheque),
        ];
        for (member, text) in texts {
            if let Some(text) = text {
                booking = booking.text(member, text);
            }
        }
        Ok(booking)
    }
}

/// Returns the column of an error.
fn column_of(error: &BookError) -> &'static str {
    match error {
        BookError::Booking(error) => error.member().map_or("kind", |member| member.as_str()),
        BookError::UnknownAccount => "account",
        BookError::Currency { .. } => "currency",
        BookError::Conflict => "key",
        BookError::OtherDay(_) => "date",
        _ => "amount",
    }
}
