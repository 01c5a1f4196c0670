//! Errors of customers' records, and their places.

use bankrail_client_assertion::CustomerCode;
use std::fmt;
use std::path::PathBuf;

/// The errors of customers that are refused as a whole. `Display` has one line for each error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Lines(.errors, *.more))]
#[non_exhaustive]
pub struct CustomersError {
    /// The errors in the order of their places, at most [`CustomersError::MAX_ERRORS`].
    pub errors: Vec<CustomerRecordError>,
    /// The number of errors that are not listed.
    pub more: usize,
}

impl CustomersError {
    /// The maximum number of listed errors.
    pub const MAX_ERRORS: usize = 100;

    pub(super) fn of(mut errors: Vec<CustomerRecordError>) -> Self {
        errors.sort_by(|a, b| a.place.cmp(&b.place));
        let more = errors.len().saturating_sub(Self::MAX_ERRORS);
        errors.truncate(Self::MAX_ERRORS);
        Self { errors, more }
    }
}

struct Lines<'a>(&'a [CustomerRecordError], usize);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            write!(out, "{}{error}", if at == 0 { "" } else { "\n" })?;
        }
        if self.1 > 0 {
            write!(out, "\nand {} more", self.1)?;
        }
        Ok(())
    }
}

/// One error of a customer's record, without any key, API key, account number or name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}")]
#[non_exhaustive]
pub struct CustomerRecordError {
    /// The place of the error.
    pub place: Place,
    /// The kind.
    pub kind: CustomerRecordErrorKind,
}

impl CustomerRecordError {
    pub(super) fn new(place: Place, kind: CustomerRecordErrorKind) -> Self {
        Self { place, kind }
    }
}

/// The place of an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Place {
    /// A whole file or folder.
    Path {
        /// The file or folder.
        path: PathBuf,
    },
    /// A place in a file.
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
    },
    /// A part of a record that is in no file.
    Record {
        /// The customer.
        customer: CustomerCode,
        /// The part.
        part: RecordPart,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path { path } => write!(out, "{}", path.display()),
            Self::Line { file, line, column } => write!(out, "{}:{line}:{column}", file.display()),
            Self::Record {
                customer,
                part: RecordPart::Code,
            } => write!(out, "customer {customer}"),
            Self::Record { customer, part } => write!(out, "customer {customer}, {part}"),
        }
    }
}

/// A part of a customer's record, with its index in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RecordPart {
    /// The customer code.
    Code,
    /// An API key.
    ApiKey(usize),
    /// A limit.
    Limit(usize),
    /// An account.
    Account(usize),
    /// A webhook endpoint.
    Endpoint(usize),
}

impl fmt::Display for RecordPart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, index) = match self {
            Self::Code => return out.write_str("code"),
            Self::ApiKey(index) => ("API key", index),
            Self::Limit(index) => ("limit", index),
            Self::Account(index) => ("account", index),
            Self::Endpoint(index) => ("endpoint", index),
        };
        write!(out, "{name} {}", index.saturating_add(1))
    }
}

/// The kind of an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CustomerRecordErrorKind {
    /// A file or folder cannot be read.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// The reason.
        reason: String,
    },
    /// A file is not TOML.
    #[error("expected TOML, {reason}")]
    Syntax {
        /// The reason.
        reason: String,
    },
    /// A value is not as expected.
    #[error("{reason}")]
    Value {
        /// A text with the expected value and, unless it is private, the one found.
        reason: String,
    },
    /// A member is missing.
    #[error("expected the member {name}, found none")]
    Missing {
        /// The member.
        name: String,
    },
    /// A member is unknown.
    #[error("expected one of {known}, found {found}")]
    UnknownMember {
        /// The known members, separated by commas.
        known: String,
        /// The unknown member, quoted and cut.
        found: String,
    },
    /// An API key is stated instead of its hash. The error does not show the key.
    #[error(
        "expected the SHA-256 of an API key in sha256, as printed by `printf %s \"$KEY\" | sha256sum`, found another \
         text; an API key that was in this file in clear must be replaced"
    )]
    ClearApiKey,
    /// A key or a key file is not usable.
    #[error("{}{reason}", .file.as_ref().map(|file| format!("{}: ", file.display())).unwrap_or_default())]
    Key {
        /// The file, if the key is in one.
        file: Option<PathBuf>,
        /// The reason.
        reason: String,
    },
    /// A value that must be unique is also at another place.
    #[error("expected {what} of its own, found that of {other}")]
    Taken {
        /// The name of the value, such as "an API key".
        what: &'static str,
        /// The other place.
        other: Place,
    },
    /// An account is registered for another customer with other details.
    #[error("expected the details of the same account at {other}, found others")]
    OtherDetails {
        /// The other place.
        other: Place,
    },
    /// There are more values than allowed.
    #[error("expected at most {max} {what}, found more")]
    TooMany {
        /// The name of the values in the plural.
        what: &'static str,
        /// The maximum number.
        max: usize,
    },
}
