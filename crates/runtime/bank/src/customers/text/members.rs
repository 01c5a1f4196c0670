//! Members of TOML tables, with the place of each fault.

use crate::customers::files::Files;
use crate::customers::{CustomerFault, CustomerProblem, Place};
use bankrail_values::{Timestamp, excerpt};
use std::cell::RefCell;
use std::fmt::Display;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml::value::{Datetime, Offset};

/// The most characters of a file that separate its parts (line ends and `SEPARATORS`). A list of
/// 10,000 accounts, one on a line, has 20,000. A part takes some 320 bytes of memory, so a file
/// takes at most 11 MB.
const MAX_SEPARATORS: usize = 32_768;

const SEPARATORS: &[u8] = b"\n=,.[{";

/// Reads one file, and keeps all its faults.
#[derive(Debug)]
pub(in crate::customers) struct Reader<'a> {
    pub(super) file: &'a Path,
    text: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
    pub(super) files: &'a RefCell<Files>,
    pub(super) http_on_loopback: bool,
    found: RefCell<Found>,
}

/// What is wrong with a file.
#[derive(Debug, Default)]
pub(in crate::customers) struct Found {
    /// Why the file is refused.
    pub(in crate::customers) faults: Vec<CustomerFault>,
    /// What is left out.
    pub(in crate::customers) warnings: Vec<CustomerFault>,
}

impl<'a> Reader<'a> {
    pub(in crate::customers) fn new(
        file: &'a Path,
        text: &'a str,
        files: &'a RefCell<Files>,
        http_on_loopback: bool,
    ) -> Self {
        let breaks = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self {
            file,
            text,
            lines,
            files,
            http_on_loopback,
            found: RefCell::default(),
        }
    }

    /// The tables and values of the file. `None` if it is not TOML, which is a fault.
    pub(super) fn parse(&self) -> Option<Spanned<DeTable<'a>>> {
        let mut separators = self
            .text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| SEPARATORS.contains(byte));
        if let Some((at, _)) = separators.nth(MAX_SEPARATORS) {
            let reason = format!("at most {MAX_SEPARATORS} lines and values, found more");
            self.fault(at, CustomerProblem::Syntax { reason });
            return None;
        }
        let (table, errors) = DeTable::parse_recoverable(self.text);
        let faultless = errors.is_empty();
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            // The message alone: the error's `Display` shows the line.
            self.fault(
                at,
                CustomerProblem::Syntax {
                    reason: error.message().to_owned(),
                },
            );
        }
        faultless.then_some(table)
    }

    pub(in crate::customers) fn finish(self) -> Found {
        self.found.into_inner()
    }

    /// How many faults there are so far.
    pub(super) fn faults(&self) -> usize {
        self.found.borrow().faults.len()
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.lines.partition_point(|begins| *begins <= offset);
        let begins = line
            .checked_sub(1)
            .and_then(|line| self.lines.get(line))
            .copied()
            .unwrap_or(0);
        let before = self.text.get(begins..offset).unwrap_or_default();
        Place::Line {
            file: self.file.to_owned(),
            line,
            column: before.chars().count() + 1,
        }
    }

    fn fault(&self, offset: usize, problem: CustomerProblem) {
        self.found
            .borrow_mut()
            .faults
            .push(CustomerFault::new(self.place(offset), problem));
    }
}

/// A place in the file, to report what is wrong there.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'r> {
    pub(super) reader: &'r Reader<'r>,
    offset: usize,
}

impl At<'_> {
    pub(super) fn place(self) -> Place {
        self.reader.place(self.offset)
    }

    pub(super) fn fault(self, problem: CustomerProblem) {
        self.reader.fault(self.offset, problem);
    }

    pub(super) fn expected(self, reason: impl Into<String>) {
        self.fault(CustomerProblem::Value {
            reason: reason.into(),
        });
    }

    /// The value, or a fault with the error's text.
    pub(super) fn checked<T, E: Display>(self, result: Result<T, E>) -> Option<T> {
        result
            .map_err(|error| self.expected(error.to_string()))
            .ok()
    }

    pub(super) fn warn(self, problem: CustomerProblem) {
        self.reader
            .found
            .borrow_mut()
            .warnings
            .push(CustomerFault::new(self.place(), problem));
    }
}

/// A value of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'r> {
    value: &'r DeValue<'r>,
    pub(super) at: At<'r>,
}

impl<'r> Item<'r> {
    fn new(reader: &'r Reader<'r>, value: &'r Spanned<DeValue<'r>>) -> Self {
        Self {
            value: value.get_ref(),
            at: At {
                reader,
                offset: value.span().start,
            },
        }
    }

    fn wrong_type<T>(self, expected: &str) -> Option<T> {
        self.at.expected(format!(
            "expected {expected}, found {}",
            self.value.type_str()
        ));
        None
    }

    pub(super) fn text(self) -> Option<&'r str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => self.wrong_type("a string"),
        }
    }

    /// A string that `parse` takes. Its error is shown.
    pub(super) fn parsed<T, E: Display>(
        self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.at.checked(parse(self.text()?))
    }

    pub(super) fn boolean(self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(value) => Some(*value),
            _ => self.wrong_type("true or false"),
        }
    }

    /// A whole number from 0 to 2^32 − 1.
    pub(super) fn number(self) -> Option<u32> {
        let DeValue::Integer(number) = self.value else {
            return self.wrong_type("a whole number");
        };
        let parsed = u32::from_str_radix(number.as_str(), number.radix());
        self.at.checked(
            parsed.map_err(|_| "expected a whole number from 0 to 4294967295, found another"),
        )
    }

    /// A date and time with an offset, such as `2026-11-22T00:00:00Z`.
    pub(super) fn instant(self) -> Option<Timestamp> {
        let DeValue::Datetime(found) = self.value else {
            return self.wrong_type("a date and time");
        };
        let expected =
            "expected a date and time with an offset, such as 2026-11-22T00:00:00Z, found another";
        self.at.checked(instant(found).ok_or(expected))
    }

    pub(super) fn table(self) -> Option<Members<'r>> {
        match self.value {
            DeValue::Table(table) => Some(Members {
                table,
                at: self.at,
                known: Vec::new(),
            }),
            _ => self.wrong_type("a table"),
        }
    }

    pub(super) fn array(self) -> Option<Vec<Item<'r>>> {
        match self.value {
            DeValue::Array(list) => Some(
                list.iter()
                    .map(|value| Item::new(self.at.reader, value))
                    .collect(),
            ),
            _ => self.wrong_type("an array"),
        }
    }
}

/// The members of a table. Those that nobody asks for are faults.
#[derive(Debug)]
pub(super) struct Members<'r> {
    table: &'r DeTable<'r>,
    pub(super) at: At<'r>,
    known: Vec<&'static str>,
}

impl<'r> Members<'r> {
    /// The members of the file itself.
    pub(super) fn of_file(reader: &'r Reader<'r>, table: &'r DeTable<'r>) -> Self {
        Self {
            table,
            at: At { reader, offset: 0 },
            known: Vec::new(),
        }
    }

    pub(super) fn get(&mut self, name: &'static str) -> Option<Item<'r>> {
        self.known.push(name);
        self.unasked(name)
    }

    /// A member that is a fault wherever it is.
    pub(super) fn unasked(&self, name: &str) -> Option<Item<'r>> {
        self.table
            .get(name)
            .map(|value| Item::new(self.at.reader, value))
    }

    pub(super) fn required(&mut self, name: &'static str) -> Option<Item<'r>> {
        let found = self.get(name);
        if found.is_none() {
            self.at.fault(CustomerProblem::Missing { name });
        }
        found
    }

    /// The one member of these that is there, with its name.
    pub(super) fn one_of<const N: usize>(
        &mut self,
        names: [&'static str; N],
    ) -> Option<(&'static str, Item<'r>)> {
        let found: Vec<_> = names
            .into_iter()
            .filter_map(|name| Some((name, self.get(name)?)))
            .collect();
        if let [one] = found.as_slice() {
            return Some(*one);
        }
        let found = if found.is_empty() { "none" } else { "several" };
        self.at.expected(format!(
            "expected one of {}, found {found}",
            names.join(", ")
        ));
        None
    }

    /// What `read` makes of the tables of an array, each with its place.
    pub(super) fn list<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(Members<'r>) -> Option<(T, Place)>,
    ) -> (Vec<T>, Vec<Place>) {
        let tables = self
            .get(name)
            .and_then(Item::array)
            .unwrap_or_default()
            .into_iter()
            .filter_map(Item::table);
        tables.filter_map(read).unzip()
    }

    /// All members, each with its name and the place of that.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'r str, At<'r>, Item<'r>)> + use<'r> {
        let reader = self.at.reader;
        self.table.iter().map(move |(name, value)| {
            (
                name.get_ref().as_ref(),
                At {
                    reader,
                    offset: name.span().start,
                },
                Item::new(reader, value),
            )
        })
    }

    pub(super) fn finish(self) {
        for (name, at, _) in self.all().filter(|(name, ..)| !self.known.contains(name)) {
            at.fault(CustomerProblem::UnknownMember {
                known: self.known.join(", "),
                found: excerpt(name),
            });
        }
    }
}

fn instant(found: &Datetime) -> Option<Timestamp> {
    let (date, clock) = (found.date?, found.time?);
    let minutes = match found.offset? {
        Offset::Z => 0,
        Offset::Custom { minutes } => minutes,
    };
    let month = time::Month::try_from(date.month).ok()?;
    let date = time::Date::from_calendar_date(i32::from(date.year), month, date.day).ok()?;
    let (second, nanosecond) = (clock.second.unwrap_or(0), clock.nanosecond.unwrap_or(0));
    let clock = time::Time::from_hms_nano(clock.hour, clock.minute, second, nanosecond).ok()?;
    let offset = time::UtcOffset::from_whole_seconds(i32::from(minutes).checked_mul(60)?).ok()?;
    Timestamp::from_time(time::PrimitiveDateTime::new(date, clock).assume_offset(offset))
}
