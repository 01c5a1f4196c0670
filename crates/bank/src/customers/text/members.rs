//! Members of TOML tables, with the place of each fault.

use crate::customers::files::Files;
use crate::customers::{CustomerFault, CustomerProblem, Place};
use bankrail_values::{Timestamp, excerpt};
use std::fmt::Display;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml::value::{Datetime, Offset};

/// A value with its place.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// Reads one file, and keeps all its faults.
#[derive(Debug)]
pub(in crate::customers) struct Reader<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
    pub(super) files: &'a mut Files,
    pub(super) http_on_loopback: bool,
    found: Found,
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
        files: &'a mut Files,
        http_on_loopback: bool,
    ) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self { file, text, lines, files, http_on_loopback, found: Found::default() }
    }

    pub(in crate::customers) fn finish(self) -> Found {
        self.found
    }

    pub(super) fn place(&self, offset: usize) -> Place {
        let line = self.lines.partition_point(|begins| *begins <= offset);
        let begins = line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or(0);
        let before = self.text.get(begins..offset).unwrap_or_default();
        Place::Line { file: self.file.to_owned(), line, column: before.chars().count() + 1 }
    }

    pub(super) fn fault(&mut self, offset: usize, problem: CustomerProblem) {
        let place = self.place(offset);
        self.found.faults.push(CustomerFault::new(place, problem));
    }

    pub(super) fn warn(&mut self, offset: usize, problem: CustomerProblem) {
        let place = self.place(offset);
        self.found.warnings.push(CustomerFault::new(place, problem));
    }

    pub(super) fn expected(&mut self, offset: usize, reason: impl Into<String>) {
        self.fault(offset, CustomerProblem::Value { reason: reason.into() });
    }

    fn wrong_type<T>(&mut self, value: &Value<'_>, expected: &str) -> Option<T> {
        self.expected(value.span().start, format!("expected {expected}, found {}", value.get_ref().type_str()));
        None
    }

    pub(super) fn text<'t>(&mut self, value: &'t Value<'_>) -> Option<&'t str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => self.wrong_type(value, "a string"),
        }
    }

    /// A string that `parse` takes. Its error is shown.
    pub(super) fn parsed<T, E: Display>(
        &mut self,
        value: &Value<'_>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let parsed = parse(self.text(value)?);
        parsed.map_err(|error| self.expected(value.span().start, error.to_string())).ok()
    }

    pub(super) fn boolean(&mut self, value: &Value<'_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(value) => Some(*value),
            _ => self.wrong_type(value, "true or false"),
        }
    }

    /// A whole number from 0 to 2^32 − 1.
    pub(super) fn number(&mut self, value: &Value<'_>) -> Option<u32> {
        let DeValue::Integer(number) = value.get_ref() else { return self.wrong_type(value, "a whole number") };
        let parsed = u32::from_str_radix(number.as_str(), number.radix());
        let reason = "expected a whole number from 0 to 4294967295, found another";
        parsed.map_err(|_| self.expected(value.span().start, reason)).ok()
    }

    /// A date and time with an offset, such as `2026-11-22T00:00:00Z`.
    pub(super) fn instant(&mut self, value: &Value<'_>) -> Option<Timestamp> {
        let DeValue::Datetime(found) = value.get_ref() else { return self.wrong_type(value, "a date and time") };
        let reason = "expected a date and time with an offset, such as 2026-11-22T00:00:00Z, found another";
        instant(found).or_else(|| {
            self.expected(value.span().start, reason);
            None
        })
    }

    pub(super) fn table<'t, 'i>(&mut self, value: &'t Value<'i>) -> Option<Members<'t, 'i>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Members::new(table, value.span().start)),
            _ => self.wrong_type(value, "a table"),
        }
    }

    pub(super) fn array<'t, 'i>(&mut self, value: &'t Value<'i>) -> Option<Vec<&'t Value<'i>>> {
        match value.get_ref() {
            DeValue::Array(list) => Some(list.iter().collect()),
            _ => self.wrong_type(value, "an array"),
        }
    }

    /// The tables of an array.
    pub(super) fn tables<'t, 'i>(&mut self, value: Option<&'t Value<'i>>) -> Vec<Members<'t, 'i>> {
        let list = value.and_then(|value| self.array(value)).unwrap_or_default();
        list.into_iter().filter_map(|value| self.table(value)).collect()
    }
}

/// The members of a table. Those that nobody asks for are faults.
#[derive(Debug)]
pub(super) struct Members<'t, 'i> {
    table: &'t DeTable<'i>,
    pub(super) at: usize,
    known: Vec<&'static str>,
}

impl<'t, 'i> Members<'t, 'i> {
    pub(super) fn new(table: &'t DeTable<'i>, at: usize) -> Self {
        Self { table, at, known: Vec::new() }
    }

    pub(super) fn get(&mut self, name: &'static str) -> Option<&'t Value<'i>> {
        self.known.push(name);
        self.table.get(name)
    }

    /// A member that should not be there.
    pub(super) fn clear(&self, name: &str) -> Option<&'t Value<'i>> {
        self.table.get(name)
    }

    pub(super) fn required(&mut self, reader: &mut Reader<'_>, name: &'static str) -> Option<&'t Value<'i>> {
        let found = self.get(name);
        if found.is_none() {
            reader.fault(self.at, CustomerProblem::Missing { name });
        }
        found
    }

    /// All members, each with its name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'t str, usize, &'t Value<'i>)> + use<'t, 'i> {
        self.table.iter().map(|(name, value)| (name.get_ref().as_ref(), name.span().start, value))
    }

    pub(super) fn finish(self, reader: &mut Reader<'_>) {
        for (name, _) in self.table.iter().filter(|(name, _)| !self.known.contains(&name.get_ref().as_ref())) {
            let (known, found) = (self.known.join(", "), excerpt(name.get_ref()));
            reader.fault(name.span().start, CustomerProblem::UnknownMember { known, found });
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
