//! Bookings from CSV.

use super::Loaded;
use super::error::{LoadError, RowError};
use crate::booking::{Booking, BookingKind, BookingMember};
use crate::ledger::book::{self, Booked};
use crate::ledger::error::BookError;
use crate::sql::Sql;
use bankrail_service::ReportDay;
use bankrail_statement::AccountId;
use bankrail_values::{Currency, Date, Money, excerpt, parse_decimal};
use csv::{ErrorKind, ReaderBuilder, StringRecord};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;

/// The most bytes of the texts of a row, and of what the reader reads ahead.
const MOST_BYTES: usize = 64 << 10;
/// The most bytes that are read before a row is complete.
const MOST_AHEAD: usize = 2 * MOST_BYTES;

/// The columns that a file must have.
const REQUIRED: [&str; 5] = ["account", "date", "kind", "amount", "currency"];
/// The columns that it may have beside the texts of a booking.
const OPTIONAL: [&str; 2] = ["value_date", "reversal"];

pub(super) async fn load(
    connection: &impl Sql,
    rows: impl Read,
    report_day: Option<&ReportDay>,
) -> Result<Loaded, LoadError> {
    let lines = Rc::new(RefCell::new(Lines::default()));
    let rows = Source {
        source: rows,
        lines: Rc::clone(&lines),
    };
    let mut rows = ReaderBuilder::new()
        .has_headers(false)
        .buffer_capacity(MOST_BYTES)
        .from_reader(rows);
    let mut record = StringRecord::new();
    let mut next = |record: &mut StringRecord| match rows.read_record(record) {
        Ok(false) => Ok(None),
        Ok(true) => {
            let mut lines = lines.borrow_mut();
            if record.as_slice().len() > MOST_BYTES {
                return Err(LoadError::TooLong {
                    line: lines.line,
                    most: MOST_BYTES,
                });
            }
            Ok(Some(lines.next_row(
                record.position().map_or(0, csv::Position::byte),
            )))
        }
        Err(error) => Err(failed(error, &mut lines.borrow_mut())),
    };
    if next(&mut record)?.is_none() {
        return Err(LoadError::NoColumn {
            column: REQUIRED[0],
        });
    }
    let columns = Columns::of(&record)?;
    let mut loaded = Loaded::default();
    while let Some(line) = next(&mut record)? {
        let row = Row {
            columns: &columns,
            record: &record,
        };
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
        ErrorKind::Io(_) if lines.read_ahead >= MOST_AHEAD => LoadError::TooLong {
            line: lines.line,
            most: MOST_BYTES,
        },
        ErrorKind::Io(error) => LoadError::Io(error),
        _ => LoadError::Io(io::Error::other("the file is no CSV")),
    }
}

/// The lines that have been read from the source and not yet been made rows. The reader's own count
/// of lines leaves out empty ones.
struct Lines {
    /// The line of the last row, from 1.
    line: u64,
    /// Bytes read since the last row.
    read_ahead: usize,
    /// All bytes read.
    read: u64,
    /// Whether the line that is being read has been empty so far.
    empty: bool,
    /// The offset of the end of each line, and whether the line is empty.
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

    /// The line of a row that begins at an offset, or after the end of the line there and empty
    /// lines.
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

/// A source of which only so much is read for one row.
struct Source<R> {
    source: R,
    lines: Rc<RefCell<Lines>>,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut lines = self.lines.borrow_mut();
        let room = MOST_AHEAD.saturating_sub(lines.read_ahead).min(into.len());
        if room == 0 && !into.is_empty() {
            return Err(io::Error::other("a row is too long"));
        }
        let read = self.source.read(into.get_mut(..room).unwrap_or_default())?;
        lines.add(into.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Where the columns are in a row.
struct Columns(Vec<(&'static str, usize)>);

impl Columns {
    fn of(names: &StringRecord) -> Result<Self, LoadError> {
        let mut columns = Vec::<(&'static str, usize)>::new();
        for (at, name) in names.iter().enumerate() {
            let texts = BookingMember::TEXTS.iter().map(|(text, _)| text.as_str());
            let known = REQUIRED
                .into_iter()
                .chain(OPTIONAL)
                .chain(texts)
                .find(|known| *known == name);
            match known.filter(|known| !columns.iter().any(|(there, _)| there == known)) {
                Some(known) => columns.push((known, at)),
                None => {
                    return Err(LoadError::Column {
                        found: excerpt(name),
                    });
                }
            }
        }
        let missing = REQUIRED
            .into_iter()
            .find(|column| !columns.iter().any(|(there, _)| there == column));
        missing.map_or(Ok(Self(columns)), |column| {
            Err(LoadError::NoColumn { column })
        })
    }
}

/// A wrong value: its column, and what is wrong.
type Wrong = (&'static str, RowError);

struct Row<'a> {
    columns: &'a Columns,
    record: &'a StringRecord,
}

impl Row<'_> {
    fn value(&self, column: &str) -> Option<&str> {
        let (_, at) = self.columns.0.iter().find(|(name, _)| *name == column)?;
        self.record.get(*at).filter(|value| !value.is_empty())
    }

    fn read<T, E>(
        &self,
        column: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
        wrong: fn(E) -> RowError,
    ) -> Result<T, Wrong> {
        let value = self.value(column).ok_or((column, RowError::Missing))?;
        read(value).map_err(|error| (column, wrong(error)))
    }

    async fn book(
        &self,
        connection: &impl Sql,
        report_day: Option<&ReportDay>,
    ) -> Result<Booked, Wrong> {
        let account = self.read("account", AccountId::parse, RowError::AccountId)?;
        let booking = self.booking()?;
        let booked = match booking.to_entry() {
            Ok(entry) => {
                book::book(
                    connection,
                    &account,
                    &entry,
                    booking.idempotency_key(),
                    report_day,
                )
                .await
            }
            Err(wrong) => Err(wrong.into()),
        };
        booked.map_err(|error| {
            let column = match error {
                BookError::Conflict if self.value("key").is_none() => "reference",
                _ => column_of(&error),
            };
            (column, RowError::Book(Box::new(error)))
        })
    }

    fn booking(&self) -> Result<Booking, Wrong> {
        let day = self.read("date", Date::parse, RowError::Date)?;
        let kind: BookingKind = self.read("kind", str::parse, RowError::Kind)?;
        let amount = self.read("amount", parse_decimal, RowError::Amount)?;
        let currency = self.read("currency", Currency::parse, RowError::Currency)?;
        let mut booking = Booking::new(kind, Money::new(amount, currency), day);
        if self.value("value_date").is_some() {
            booking = booking.value_date(self.read("value_date", Date::parse, RowError::Date)?);
        }
        match self.value("reversal") {
            None | Some("false") => {}
            Some("true") => booking = booking.reversal(),
            Some(_) => return Err(("reversal", RowError::Reversal)),
        }
        for (member, _) in BookingMember::TEXTS {
            if let Some(text) = self.value(member.as_str()) {
                booking = booking.text(*member, text);
            }
        }
        Ok(booking)
    }
}

/// The column that an error is about.
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
