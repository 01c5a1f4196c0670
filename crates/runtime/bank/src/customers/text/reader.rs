//! A reader of a text that records errors with their places.

use crate::customers::files::Files;
use crate::customers::{CustomerRecordError, CustomerRecordErrorKind, Place};
use bankrail_values::excerpt;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

/// The maximum number of characters of a file that separate its parts (line ends and `SEPARATORS`).
/// A list of 10,000 accounts, one on a line, has 20,000. A part takes about 320 bytes of memory, so
/// a file takes at most 11 MB.
const MAX_SEPARATORS: usize = 32_768;

const SEPARATORS: &[u8] = b"\n=,.[{";

/// Reads one text, and collects its errors.
#[derive(Debug)]
pub(in crate::customers) struct Reader<'a> {
    pub(super) file: &'a Path,
    text: &'a str,
    /// The offset of the first byte of each line.
    lines: Vec<usize>,
    /// The files that the text may name; `None` if it may name none.
    pub(super) files: Option<&'a mut Files>,
    pub(super) http_on_loopback: bool,
    /// The errors for which the text is refused.
    pub(in crate::customers) errors: Vec<CustomerRecordError>,
    /// The keys of a set that are left out, each with the reason.
    pub(in crate::customers) warnings: Vec<CustomerRecordError>,
}

impl<'a> Reader<'a> {
    pub(in crate::customers) fn of_file(
        file: &'a Path,
        text: &'a str,
        files: &'a mut Files,
        http_on_loopback: bool,
    ) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
        Self {
            file,
            text,
            lines: lines.collect(),
            files: Some(files),
            http_on_loopback,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Makes a reader of a text that this crate has written to a store.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(super) fn of_stored(text: &'a str) -> Self {
        Self {
            file: Path::new(""),
            text,
            // Nobody is shown the places of errors in a row.
            lines: Vec::new(),
            files: None,
            http_on_loopback: true,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Returns the members of the text. Records the errors and returns `None` if the text is not
    /// TOML or has a member that is missing, unknown or of another type.
    pub(super) fn parse<T: DeserializeOwned>(&mut self) -> Option<T> {
        // A record in a store was within the bounds of a record when it was written.
        if self.files.is_some() {
            let bytes = self.text.bytes().enumerate();
            let mut separators = bytes.filter(|(_, byte)| SEPARATORS.contains(byte));
            if let Some((at, _)) = separators.nth(MAX_SEPARATORS) {
                let reason = format!("at most {MAX_SEPARATORS} lines and values, found more");
                self.error_at(at, CustomerRecordErrorKind::Syntax { reason });
                return None;
            }
        }
        let (table, errors) = DeTable::parse_recoverable(self.text);
        if !errors.is_empty() {
            for error in errors {
                // The message alone: the error's `Display` shows the line, which may have a secret.
                let reason = error.message().to_owned();
                let at = error.span().map_or(0, |span| span.start);
                self.error_at(at, CustomerRecordErrorKind::Syntax { reason });
            }
            return None;
        }
        match T::deserialize(Deserializer::from(table)) {
            Ok(members) => Some(members),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                self.error_at(at, kind(error.message()));
                None
            }
        }
    }

    fn place_at(&self, offset: usize) -> Place {
        let line = self.lines.partition_point(|begins| *begins <= offset);
        let begins = line.checked_sub(1).and_then(|line| self.lines.get(line));
        let before = self.text.get(begins.copied().unwrap_or(0)..offset);
        Place::Line {
            file: self.file.to_owned(),
            line,
            column: before.unwrap_or_default().chars().count() + 1,
        }
    }

    fn error_at(&mut self, offset: usize, kind: CustomerRecordErrorKind) {
        let error = CustomerRecordError::new(self.place_at(offset), kind);
        self.errors.push(error);
    }

    pub(super) fn place<T>(&self, at: &Spanned<T>) -> Place {
        self.place_at(at.span().start)
    }

    pub(super) fn error<T>(&mut self, at: &Spanned<T>, kind: CustomerRecordErrorKind) {
        self.error_at(at.span().start, kind);
    }

    pub(super) fn warn<T>(&mut self, at: &Spanned<T>, kind: CustomerRecordErrorKind) {
        let warning = CustomerRecordError::new(self.place(at), kind);
        self.warnings.push(warning);
    }

    pub(super) fn expected<T>(&mut self, at: &Spanned<T>, reason: impl Into<String>) {
        let reason = reason.into();
        self.error(at, CustomerRecordErrorKind::Value { reason });
    }

    /// Returns the value, or records the error's text as an error.
    pub(super) fn checked<T, V, E: Display>(
        &mut self,
        at: &Spanned<T>,
        result: Result<V, E>,
    ) -> Option<V> {
        result
            .map_err(|error| self.expected(at, error.to_string()))
            .ok()
    }

    /// Parses a text, or records the error's text as an error.
    pub(super) fn parsed<V, E: Display>(
        &mut self,
        text: &Spanned<String>,
        parse: impl FnOnce(&str) -> Result<V, E>,
    ) -> Option<V> {
        self.checked(text, parse(text.get_ref()))
    }
}

/// Makes the kind of an error from serde's message. For a member of another type, serde's message
/// shows the value, which may be a secret, so only the value's type is kept.
fn kind(message: &str) -> CustomerRecordErrorKind {
    let (found, expected) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    if let Some(name) = message.strip_prefix("missing field ") {
        let name = name.trim_matches('`').to_owned();
        return CustomerRecordErrorKind::Missing { name };
    }
    if let Some(name) = found.strip_prefix("unknown field ") {
        let known = expected.trim_start_matches("one of ").replace('`', "");
        let found = excerpt(name.trim_matches('`'));
        return CustomerRecordErrorKind::UnknownMember { known, found };
    }
    let expected = match expected {
        "i64" => "a whole number",
        "a sequence" => "an array",
        "a boolean" => "true or false",
        "a TOML datetime" => "a date and time",
        "" => "another value",
        other => other,
    };
    let found = found.trim_start_matches("invalid type: ");
    let found = match found.split(' ').next().unwrap_or_default() {
        "map" => "table",
        "sequence" => "array",
        other => other,
    };
    let reason = format!("expected {expected}, found {found}");
    CustomerRecordErrorKind::Value { reason }
}
