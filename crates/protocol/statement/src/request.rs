//! The body of a statement request (Specification: "Request statement"; Default: "Statement
//! exchange").

use crate::{AccountId, Cursor, CursorError, ErrorCode};
use bankrail_values::json::{self, JsonError, JsonLimits, JsonObject, JsonObjectWriter, JsonValue};
use bankrail_values::{ValueError, excerpt};
use std::num::NonZeroU16;

/// A request for one page of a statement.
///
/// ```
/// use bankrail_statement::{AccountId, StatementRequest};
/// let request = StatementRequest::new(&AccountId::parse("012003123456789")?);
/// assert_eq!(request.to_json(), r#"{"accountId":"012003123456789"}"#);
/// let read = StatementRequest::from_json(br#"{"accountId":"7","includeNarrative":"false","maxEntries":"50"}"#)?;
/// assert_eq!(read.include_narrative, Some(false));
/// assert_eq!(read.entries_at_most(), 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementRequest {
    account_id: String,
    /// `includeNarrative`. If it is absent, the provider decides; the provider of this workspace
    /// takes it as true unless its options differ (Default: "Statement exchange").
    pub include_narrative: Option<bool>,
    /// `cursor`, as received with the previous page; `None` for the first page.
    pub cursor: Option<Cursor>,
    /// `sortOrder`; [`StatementRequest::order`] applies the default.
    pub sort_order: Option<SortOrder>,
    /// `maxEntries`; [`StatementRequest::entries_at_most`] applies the default.
    pub max_entries: Option<MaxEntries>,
    /// `extract`, which can only be `intraday`.
    pub extract: Option<Extract>,
}

impl StatementRequest {
    /// The maximum number of bytes of a body.
    pub const MAX_BYTES: usize = 16 * 1024;

    /// Creates a request for the first page, with the default for all else.
    #[must_use]
    pub fn new(account: &AccountId) -> Self {
        Self {
            account_id: account.as_str().to_owned(),
            include_narrative: None,
            cursor: None,
            sort_order: None,
            max_entries: None,
            extract: None,
        }
    }

    /// Returns the account's identifier as received. A server answers a text that is not an
    /// [`AccountId`] like an unknown account.
    #[must_use]
    pub fn account_id(&self) -> &str {
        &self.account_id
    }

    /// Returns the account's identifier, checked.
    ///
    /// # Errors
    /// [`ValueError`] if the text is not an [`AccountId`]. A server answers
    /// [`ErrorCode::ACCOUNT_NOT_FOUND`].
    pub fn account(&self) -> Result<AccountId, ValueError> {
        AccountId::parse(&self.account_id)
    }

    /// Returns the order of entries: least recent first by default (Default: "Statement exchange").
    #[must_use]
    pub fn order(&self) -> SortOrder {
        self.sort_order.unwrap_or_default()
    }

    /// Returns the maximum number of entries of the answer: 1000 by default (Default: "Statement
    /// exchange").
    #[must_use]
    pub fn entries_at_most(&self) -> usize {
        usize::from(self.max_entries.unwrap_or_default().get())
    }

    /// Writes the body. `includeNarrative` is a JSON boolean and `maxEntries` a JSON number.
    #[must_use]
    pub fn to_json(&self) -> String {
        JsonObjectWriter::new()
            .string("accountId", &self.account_id)
            .optional_raw("includeNarrative", self.include_narrative)
            .optional_string("cursor", self.cursor.as_ref().map(Cursor::as_str))
            .optional_string("sortOrder", self.sort_order.map(SortOrder::as_str))
            .optional_raw("maxEntries", self.max_entries.map(MaxEntries::get))
            .optional_string("extract", self.extract.map(Extract::as_str))
            .finish()
    }

    /// Reads a body.
    ///
    /// - `includeNarrative` and `maxEntries` may also be JSON strings.
    /// - An optional member that is `null` counts as absent.
    /// - Members with other names are ignored.
    ///
    /// # Errors
    /// [`RequestError`] if the body is not a statement request. A server answers 400 with
    /// [`ErrorCode::VALIDATION`].
    pub fn from_json(body: &[u8]) -> Result<Self, RequestError> {
        let mut members =
            json::read_object(body, &JsonLimits::new().max_document_bytes(Self::MAX_BYTES))
                .map_err(RequestError::Json)?;
        let account_id = match members.take("accountId") {
            Some(JsonValue::String(text)) => text.into_owned(),
            Some(other) => return Err(wrong("accountId", "a string", other.kind())),
            None => {
                return Err(RequestError::Missing {
                    member: "accountId",
                });
            }
        };
        Ok(Self {
            account_id,
            include_narrative: match members.take("includeNarrative") {
                None | Some(JsonValue::Null) => None,
                Some(JsonValue::Bool(include)) => Some(include),
                Some(JsonValue::String(text)) if text == "true" => Some(true),
                Some(JsonValue::String(text)) if text == "false" => Some(false),
                Some(other) => {
                    return Err(wrong("includeNarrative", "true or false", other.kind()));
                }
            },
            cursor: text(&mut members, "cursor")?
                .map(|text| Cursor::parse(&text))
                .transpose()
                .map_err(RequestError::Cursor)?,
            sort_order: choice(
                &mut members,
                "sortOrder",
                "forward or backward",
                SortOrder::from_wire,
            )?,
            max_entries: match members.take("maxEntries") {
                None | Some(JsonValue::Null) => None,
                Some(value) => Some(max_entries(&value)?),
            },
            extract: choice(&mut members, "extract", "intraday", Extract::from_wire)?,
        })
    }
}

fn text(
    members: &mut JsonObject<'_>,
    member: &'static str,
) -> Result<Option<String>, RequestError> {
    match members.take(member) {
        None | Some(JsonValue::Null) => Ok(None),
        Some(JsonValue::String(text)) => Ok(Some(text.into_owned())),
        Some(other) => Err(wrong(member, "a string", other.kind())),
    }
}

/// Reads a text that must be one of a few values.
fn choice<T>(
    members: &mut JsonObject<'_>,
    member: &'static str,
    expected: &'static str,
    read: fn(&str) -> Option<T>,
) -> Result<Option<T>, RequestError> {
    let Some(text) = text(members, member)? else {
        return Ok(None);
    };
    let found = || RequestError::Value {
        member,
        expected,
        found: excerpt(&text),
    };
    read(&text).map(Some).ok_or_else(found)
}

fn max_entries(value: &JsonValue<'_>) -> Result<MaxEntries, RequestError> {
    let number = match value {
        JsonValue::Number(number) => number
            .as_u64()
            .and_then(|number| u16::try_from(number).ok())
            .or_else(|| {
                // `48.0` is the same number as `48` (JSON Schema: an integer).
                let number = number.to_f64()?;
                (1..=MaxEntries::MAX.get()).find(|whole| f64::from(*whole) == number)
            }),
        JsonValue::String(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().ok()
        }
        JsonValue::String(_) => None,
        other => return Err(wrong("maxEntries", "a number", other.kind())),
    };
    number
        .and_then(MaxEntries::new)
        .ok_or(RequestError::MaxEntries)
}

fn wrong(member: &'static str, expected: &'static str, found: &'static str) -> RequestError {
    RequestError::Type {
        member,
        expected,
        found,
    }
}

/// The order of a statement's entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SortOrder {
    /// The least recent entry is first, `forward`.
    #[default]
    Forward,
    /// The most recent entry is first, `backward`.
    Backward,
}

impl SortOrder {
    /// Returns the wire text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        }
    }

    /// Returns the order with this wire text.
    pub(crate) fn from_wire(text: &str) -> Option<Self> {
        [Self::Forward, Self::Backward]
            .into_iter()
            .find(|order| order.as_str() == text)
    }
}

/// The period of a statement. A request for earlier days (`priorday`) is refused: their statement
/// is another message, camt.053.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Extract {
    /// The present day so far, `intraday`.
    #[default]
    Intraday,
}

impl Extract {
    /// Returns the wire text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        "intraday"
    }

    pub(crate) fn from_wire(text: &str) -> Option<Self> {
        Some(Self::Intraday).filter(|extract| extract.as_str() == text)
    }
}

/// The maximum number of entries of one answer: 1 to 1000 (Default: "Statement exchange").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaxEntries(NonZeroU16);

impl MaxEntries {
    /// The largest number, 1000, which is the default.
    pub const MAX: Self = match NonZeroU16::new(1000) {
        Some(most) => Self(most),
        None => Self(NonZeroU16::MIN),
    };

    /// Checks a number; `None` outside 1 to 1000.
    #[must_use]
    pub fn new(number: u16) -> Option<Self> {
        NonZeroU16::new(number)
            .map(Self)
            .filter(|most| *most <= Self::MAX)
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u16 {
        self.0.get()
    }
}

impl Default for MaxEntries {
    fn default() -> Self {
        Self::MAX
    }
}

/// The reason why a body is not a statement request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The body is longer than [`StatementRequest::MAX_BYTES`], or is not a JSON object by the
    /// rules of [`bankrail_values::json`].
    #[error("the body is not acceptable JSON: {0}")]
    Json(JsonError),
    /// A required member is absent.
    #[error("expected the member {member:?}, found none")]
    Missing {
        /// The member.
        member: &'static str,
    },
    /// The JSON type of a member is wrong.
    #[error("expected {expected} as {member:?}, found {found}")]
    Type {
        /// The member.
        member: &'static str,
        /// The expected value.
        expected: &'static str,
        /// The value found.
        found: &'static str,
    },
    /// The text of a member is not an allowed one.
    #[error("expected {expected} as {member:?}, found {found}")]
    Value {
        /// The member.
        member: &'static str,
        /// The expected value.
        expected: &'static str,
        /// The text, cut and escaped.
        found: String,
    },
    /// `maxEntries` is not a whole number from 1 to 1000.
    #[error("expected a whole number from 1 to 1000 as \"maxEntries\"")]
    MaxEntries,
    /// The cursor is empty or too long.
    #[error("the cursor is unusable: {0}")]
    Cursor(CursorError),
}

impl RequestError {
    /// Returns the code with which a server answers, [`ErrorCode::VALIDATION`]; the HTTP status is
    /// 400.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::VALIDATION
    }
}
