//! The answer that a client receives: a statement or an error.

use crate::{Cursor, CursorError, ErrorCode, Extract, ReplyFinding, SortOrder, StatementRequest};
use bankrail_values::json::{self, JsonError, JsonErrorKind, JsonLimits, JsonObject, JsonValue};
use bankrail_values::{HyphenatedUuid, excerpt};
use std::fmt;

/// An answer of the statement endpoint: a statement or an error. An error may have any HTTP status,
/// even 200 (Default: "Statement exchange").
///
/// ```
/// use bankrail_statement::StatementReply;
/// let body = br#"{"requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",
///                 "error":{"statusCode":"EC20001","title":"Account Id: '0' not found"}}"#;
/// let StatementReply::Error(error) = StatementReply::parse(200, body)? else { panic!("an error") };
/// assert!(error.is_account_not_found());
/// # Ok::<(), bankrail_statement::ReplyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third kind of answer")]
pub enum StatementReply {
    /// A statement.
    Statement(ReceivedStatement),
    /// The service's error.
    Error(ReceivedErrorBody),
}

/// The caller bounds the length of the body.
const LIMITS: JsonLimits = JsonLimits::new().max_document_bytes(usize::MAX);

impl StatementReply {
    /// Reads an answer, which may begin with a byte order mark. The caller bounds the length of the
    /// body; this allocates no more than that length.
    ///
    /// # Errors
    /// [`ReplyError`] if the answer is neither a statement with a 2xx status nor an error object.
    pub fn parse(status: u16, body: &[u8]) -> Result<Self, ReplyError> {
        let success = (200..=299).contains(&status);
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let mut findings = Vec::new();
        let mut read = json::read_object(body, &LIMITS);
        let is_lone = |error: &JsonError| {
            error.kind() == JsonErrorKind::UnpairedSurrogate && error.pointer() == "/payload"
        };
        if success && read.as_ref().is_err_and(is_lone) {
            findings.push(ReplyFinding::LoneSurrogate);
            read = json::read_object(body, &LIMITS.replace_lone_surrogates(true));
        }
        let mut members = match read {
            Ok(members) => members,
            Err(error) if success => return Err(ReplyError::Json(error)),
            Err(_) => return Err(ReplyError::Status { status }),
        };
        match members.take("error") {
            None => {}
            Some(JsonValue::Null) => findings.push(ReplyFinding::NullMember { member: "error" }),
            Some(error) => return Ok(Self::Error(ReceivedErrorBody::read(status, error, members))),
        }
        if !success {
            return Err(ReplyError::Status { status });
        }
        ReceivedStatement::read(members, findings).map(Self::Statement)
    }
}

/// One received page of a statement. `Debug` prints the payload's length, not its contents.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedStatement {
    /// `accountId`, as received. [`ReceivedStatement::check_against`] compares it with the request.
    pub account_id: String,
    /// `extract`, as received.
    pub extract: String,
    /// `sortOrder`, as received.
    pub sort_order: Option<String>,
    /// The XML document.
    pub payload: String,
    /// The request key of the call.
    pub request_key: HyphenatedUuid,
    /// The indication of a next page.
    pub next_page: ReceivedNextPage,
    /// The deviations that were tolerated.
    pub findings: Vec<ReplyFinding>,
}

bankrail_values::impl_debug!(
    ReceivedStatement, self;
    request_key: self.request_key, payload_bytes: self.payload.len(), next_page: self.next_page, findings: self.findings
);

/// The indication of a next page: `moreTransactionsAvailable` and `cursor`, as received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every combination is one of these")]
pub enum ReceivedNextPage {
    /// There is no next page.
    None,
    /// There is a next page.
    At {
        /// The cursor of the next page.
        cursor: Cursor,
    },
    /// There are more transactions, but no cursor to fetch them with.
    WithoutCursor,
}

impl ReceivedStatement {
    /// Returns `sortOrder`; `None` if it is absent or unknown.
    #[must_use]
    pub fn order(&self) -> Option<SortOrder> {
        self.sort_order.as_deref().and_then(SortOrder::from_wire)
    }

    /// Compares the answer with the request, and adds differences to the findings.
    ///
    /// # Errors
    /// [`ReplyError::OtherAccount`] if the answer is about another account. Its entries must not be
    /// imported.
    pub fn check_against(&mut self, request: &StatementRequest) -> Result<(), ReplyError> {
        if self.account_id != request.account_id() {
            return Err(ReplyError::OtherAccount {
                found: excerpt(&self.account_id),
            });
        }
        match (request.sort_order, self.order()) {
            (Some(_), None) if self.sort_order.is_none() => {
                self.findings.push(ReplyFinding::SortOrderAbsent)
            }
            (Some(asked), Some(said)) if asked != said => {
                self.findings.push(ReplyFinding::SortOrderDiffers)
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses an answer that has findings.
    ///
    /// # Errors
    /// [`ReplyError::Findings`] if there are any.
    pub fn deny_findings(&self) -> Result<(), ReplyError> {
        if self.findings.is_empty() {
            Ok(())
        } else {
            Err(ReplyError::Findings {
                found: self.findings.clone(),
            })
        }
    }

    fn read(
        mut members: JsonObject<'_>,
        mut findings: Vec<ReplyFinding>,
    ) -> Result<Self, ReplyError> {
        let account_id = required_text(&mut members, "accountId")?;
        let extract = required_text(&mut members, "extract")?;
        if Extract::from_wire(&extract).is_none() {
            findings.push(ReplyFinding::Extract {
                found: excerpt(&extract),
            });
        }
        let sort_order = optional_text(&mut members, "sortOrder", &mut findings);
        let payload = required_text(&mut members, "payload")?;
        let key = required_text(&mut members, "requestKey")?;
        let request_key = HyphenatedUuid::parse(&key).map_err(|_| ReplyError::RequestKey {
            found: excerpt(&key),
        })?;
        if key.bytes().any(|b| b.is_ascii_uppercase()) {
            findings.push(ReplyFinding::RequestKeyCase);
        }
        let next_page = read_next_page(&mut members, &mut findings)?;
        if let Some(found) = sort_order
            .as_deref()
            .filter(|order| SortOrder::from_wire(order).is_none())
        {
            findings.push(ReplyFinding::UnknownSortOrder {
                found: excerpt(found),
            });
        }
        Ok(Self {
            account_id,
            extract,
            sort_order,
            payload,
            request_key,
            next_page,
            findings,
        })
    }
}

fn read_next_page(
    members: &mut JsonObject<'_>,
    findings: &mut Vec<ReplyFinding>,
) -> Result<ReceivedNextPage, ReplyError> {
    let more = match members.take("moreTransactionsAvailable") {
        Some(JsonValue::Bool(more)) => more,
        Some(other) => return Err(wrong("moreTransactionsAvailable", "a boolean", &other)),
        None => {
            return Err(ReplyError::Missing {
                member: "moreTransactionsAvailable",
            });
        }
    };
    let cursor = match optional_text(members, "cursor", findings) {
        Some(text) if text.is_empty() => {
            findings.push(ReplyFinding::EmptyCursor);
            None
        }
        other => other,
    };
    match (more, cursor) {
        (false, None) => Ok(ReceivedNextPage::None),
        (false, Some(_)) => {
            findings.push(ReplyFinding::CursorWithoutMore);
            Ok(ReceivedNextPage::None)
        }
        (true, None) => {
            findings.push(ReplyFinding::MoreWithoutCursor);
            Ok(ReceivedNextPage::WithoutCursor)
        }
        (true, Some(text)) => {
            let cursor = Cursor::parse(&text).map_err(ReplyError::Cursor)?;
            if cursor.to_bytes().is_err() {
                findings.push(ReplyFinding::CursorNotBase64);
            }
            Ok(ReceivedNextPage::At { cursor })
        }
    }
}

/// An error of the service, as received. A member that could not be read is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedErrorBody {
    /// The HTTP status of the answer.
    pub status: u16,
    /// The request key of the call.
    pub request_key: Option<HyphenatedUuid>,
    /// `error.statusCode`.
    pub code: Option<ErrorCode>,
    /// `error.title`.
    pub title: Option<String>,
    /// The deviations that were tolerated.
    pub findings: Vec<ReplyFinding>,
}

impl ReceivedErrorBody {
    /// Returns true for the code `EC20001`.
    #[must_use]
    pub fn is_account_not_found(&self) -> bool {
        self.code.as_ref() == Some(&ErrorCode::ACCOUNT_NOT_FOUND)
    }

    fn read(status: u16, error: JsonValue<'_>, mut members: JsonObject<'_>) -> Self {
        let mut findings = Vec::new();
        let request_key = match members.take("requestKey") {
            Some(JsonValue::String(key)) => HyphenatedUuid::parse(&key).ok(),
            _ => None,
        };
        if request_key.is_none() {
            findings.push(ReplyFinding::RequestKeyUnreadable);
        }
        let (code, title) = match error {
            JsonValue::Object(mut inner) => (
                optional_text(&mut inner, "statusCode", &mut findings),
                optional_text(&mut inner, "title", &mut findings),
            ),
            // OAuth gateways send `"error": "invalid_token"`.
            JsonValue::String(title) => (None, Some(title.into_owned())),
            other => {
                findings.push(ReplyFinding::Type {
                    member: "error",
                    expected: "an object",
                    found: other.kind(),
                });
                (None, None)
            }
        };
        let code = code.as_deref().map(ErrorCode::from_wire);
        if !code
            .as_ref()
            .is_some_and(|code| code.is_well_formed() || code.is_gateway())
        {
            let found = code
                .as_ref()
                .map_or_else(|| "none".to_owned(), |code| excerpt(code.as_str()));
            findings.push(ReplyFinding::ErrorCode { found });
        }
        Self {
            status,
            request_key,
            code,
            title,
            findings,
        }
    }
}

fn required_text(members: &mut JsonObject<'_>, member: &'static str) -> Result<String, ReplyError> {
    match members.take(member) {
        Some(JsonValue::String(text)) => Ok(text.into_owned()),
        Some(other) => Err(wrong(member, "a string", &other)),
        None => Err(ReplyError::Missing { member }),
    }
}

fn optional_text(
    members: &mut JsonObject<'_>,
    member: &'static str,
    findings: &mut Vec<ReplyFinding>,
) -> Option<String> {
    match members.take(member)? {
        JsonValue::String(text) => return Some(text.into_owned()),
        JsonValue::Null => findings.push(ReplyFinding::NullMember { member }),
        other => findings.push(ReplyFinding::Type {
            member,
            expected: "a string",
            found: other.kind(),
        }),
    }
    None
}

fn wrong(member: &'static str, expected: &'static str, found: &JsonValue<'_>) -> ReplyError {
    ReplyError::Type {
        member,
        expected,
        found: found.kind(),
    }
}

/// The reason why an answer is neither a statement nor the service's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// The status is not 2xx, and the body is no error object.
    #[error("expected a statement or an error, found the HTTP status {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// The body is not a JSON object by the rules of [`bankrail_values::json`].
    #[error("the answer is not acceptable JSON: {0}")]
    Json(JsonError),
    /// A required member is absent.
    #[error("expected the member {member:?}, found none")]
    Missing {
        /// The member.
        member: &'static str,
    },
    /// The JSON type of a required member is wrong.
    #[error("expected {expected} as {member:?}, found {found}")]
    Type {
        /// The member.
        member: &'static str,
        /// The expected value.
        expected: &'static str,
        /// The value found.
        found: &'static str,
    },
    /// The request key is not a hyphenated UUID.
    #[error("expected a hyphenated UUID as request key, found {found}")]
    RequestKey {
        /// The text, cut and escaped.
        found: String,
    },
    /// The cursor is too long.
    #[error("the cursor is unusable: {0}")]
    Cursor(CursorError),
    /// The answer is about another account.
    #[error("expected the account asked for, found {found}")]
    OtherAccount {
        /// The account, cut and escaped.
        found: String,
    },
    /// The answer has findings, which [`ReceivedStatement::deny_findings`] refuses.
    #[error("expected no findings, found: {}", Listed(found))]
    Findings {
        /// The findings.
        found: Vec<ReplyFinding>,
    },
}

/// Findings as one line of text.
#[derive(Clone, Copy, Debug)]
struct Listed<'a>(&'a [ReplyFinding]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.0.iter().enumerate() {
            write!(out, "{}{finding}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
