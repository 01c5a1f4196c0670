//! The answer that a client receives: a statement or an error.

use crate::finding::Listed;
use crate::{Cursor, CursorError, ErrorCode, ReplyFinding, SortOrder, StatementRequest};
use bankrail_values::json::{self, JsonError, JsonLimits, JsonObject, JsonValue};
use bankrail_values::{HyphenatedUuid, excerpt};
use std::fmt;

/// An answer of the statement endpoint: a statement or an error. An error may have any HTTP status, even 200 (Default:
/// "Statement exchange").
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
    Error(ReceivedError),
}

/// The caller bounds the length of the body.
const LIMITS: JsonLimits = JsonLimits::new().max_bytes(usize::MAX);

impl StatementReply {
    /// Reads an answer. The caller bounds the length of the body; nothing larger than the body is allocated.
    ///
    /// # Errors
    /// [`ReplyError`] if the answer is neither a statement with a 2xx status nor an error object.
    pub fn parse(status: u16, body: &[u8]) -> Result<Self, ReplyError> {
        let success = (200..=299).contains(&status);
        let mut members = match json::read_object(body, &LIMITS) {
            Ok(members) => members,
            Err(error) if success => return Err(ReplyError::Json(error)),
            Err(_) => return Err(ReplyError::Status { status }),
        };
        let mut findings = Vec::new();
        match members.take("error") {
            None => {}
            Some(JsonValue::Null) => findings.push(ReplyFinding::NullMember { member: "error" }),
            Some(error) => return Ok(Self::Error(ReceivedError::read(status, error, members))),
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
    /// Whether there is a next page.
    pub page: ReceivedPage,
    /// The deviations that were tolerated.
    pub findings: Vec<ReplyFinding>,
}

impl fmt::Debug for ReceivedStatement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ReceivedStatement")
            .field("request_key", &self.request_key)
            .field("payload_bytes", &self.payload.len())
            .field("page", &self.page)
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}

/// Whether there is a next page: `moreTransactionsAvailable` and `cursor`, as received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every combination is one of these")]
pub enum ReceivedPage {
    /// This is the last page.
    Last,
    /// There is a next page.
    More {
        /// The cursor of the next page.
        cursor: Cursor,
    },
    /// There are more transactions, but no cursor to fetch them with.
    MoreWithoutCursor,
}

impl ReceivedStatement {
    /// `sortOrder`; `None` if it is absent or unknown.
    #[must_use]
    pub fn order(&self) -> Option<SortOrder> {
        [SortOrder::Forward, SortOrder::Backward]
            .into_iter()
            .find(|order| self.sort_order.as_deref() == Some(order.as_str()))
    }

    /// Compares the answer with the request, and adds what differs to the findings.
    ///
    /// # Errors
    /// [`ReplyError::OtherAccount`] if the answer is about another account. Its entries must not be imported.
    pub fn check_against(&mut self, request: &StatementRequest) -> Result<(), ReplyError> {
        if self.account_id != request.account_id() {
            return Err(ReplyError::OtherAccount { found: excerpt(&self.account_id) });
        }
        match (request.sort_order, self.order()) {
            (Some(_), None) if self.sort_order.is_none() => self.findings.push(ReplyFinding::SortOrderAbsent),
            (Some(asked), Some(said)) if asked != said => self.findings.push(ReplyFinding::SortOrderDiffers),
            _ => {}
        }
        Ok(())
    }

    /// Refuses an answer that has findings.
    ///
    /// # Errors
    /// [`ReplyError::Findings`] if there are any.
    pub fn deny_findings(&self) -> Result<(), ReplyError> {
        if self.findings.is_empty() { Ok(()) } else { Err(ReplyError::Findings { found: self.findings.clone() }) }
    }

    fn read(mut members: JsonObject<'_>, mut findings: Vec<ReplyFinding>) -> Result<Self, ReplyError> {
        let account_id = required_text(&mut members, "accountId")?;
        let extract = required_text(&mut members, "extract")?;
        if extract != "intraday" {
            findings.push(ReplyFinding::Extract { found: excerpt(&extract) });
        }
        let sort_order = optional_text(&mut members, "sortOrder", &mut findings);
        let payload = required_text(&mut members, "payload")?;
        let key = required_text(&mut members, "requestKey")?;
        let request_key = HyphenatedUuid::parse(&key).map_err(|_| ReplyError::RequestKey { found: excerpt(&key) })?;
        if key.bytes().any(|b| b.is_ascii_uppercase()) {
            findings.push(ReplyFinding::RequestKeyCase);
        }
        let page = read_page(&mut members, &mut findings)?;
        let statement = Self { account_id, extract, sort_order, payload, request_key, page, findings };
        Ok(statement.with_order_finding())
    }

    fn with_order_finding(mut self) -> Self {
        if let (Some(found), None) = (&self.sort_order, self.order()) {
            self.findings.push(ReplyFinding::UnknownSortOrder { found: excerpt(found) });
        }
        self
    }
}

fn read_page(members: &mut JsonObject<'_>, findings: &mut Vec<ReplyFinding>) -> Result<ReceivedPage, ReplyError> {
    let more = match members.take("moreTransactionsAvailable") {
        Some(JsonValue::Bool(more)) => more,
        Some(other) => return Err(wrong("moreTransactionsAvailable", "a boolean", &other)),
        None => return Err(ReplyError::Missing { member: "moreTransactionsAvailable" }),
    };
    let cursor = match optional_text(members, "cursor", findings) {
        Some(text) if text.is_empty() => {
            findings.push(ReplyFinding::EmptyCursor);
            None
        }
        other => other,
    };
    match (more, cursor) {
        (false, None) => Ok(ReceivedPage::Last),
        (false, Some(_)) => {
            findings.push(ReplyFinding::CursorWithoutMore);
            Ok(ReceivedPage::Last)
        }
        (true, None) => {
            findings.push(ReplyFinding::MoreWithoutCursor);
            Ok(ReceivedPage::MoreWithoutCursor)
        }
        (true, Some(text)) => {
            let cursor = Cursor::parse(&text).map_err(ReplyError::Cursor)?;
            if cursor.to_bytes().is_err() {
                findings.push(ReplyFinding::CursorNotBase64);
            }
            Ok(ReceivedPage::More { cursor })
        }
    }
}

/// An error of the service, as received. A member that could not be read is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedError {
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

impl ReceivedError {
    /// True for the code `EC20001`.
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
                findings.push(ReplyFinding::Type { member: "error", expected: "an object", found: other.kind() });
                (None, None)
            }
        };
        let code = code.as_deref().map(ErrorCode::from_wire);
        if !code.as_ref().is_some_and(|code| code.is_well_formed() || code.is_gateway()) {
            let found = code.as_ref().map_or_else(|| "none".to_owned(), |code| excerpt(code.as_str()));
            findings.push(ReplyFinding::ErrorCode { found });
        }
        Self { status, request_key, code, title, findings }
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
        other => findings.push(ReplyFinding::Type { member, expected: "a string", found: other.kind() }),
    }
    None
}

fn wrong(member: &'static str, expected: &'static str, found: &JsonValue<'_>) -> ReplyError {
    ReplyError::Type { member, expected, found: found.kind() }
}

/// Why an answer is neither a statement nor the service's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// Not a 2xx status, and no error object.
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
        /// What it must be.
        expected: &'static str,
        /// What it is.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccountId;

    const KEY: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003";

    fn read(more: &str) -> Result<ReceivedStatement, ReplyError> {
        let body = format!(
            r#"{{"accountId":"1","extract":"intraday","payload":"<a>\u00e9</a>",
                "requestKey":"{KEY}",{more},"new":{{}}}}"#
        );
        match StatementReply::parse(200, body.as_bytes())? {
            StatementReply::Statement(statement) => Ok(statement),
            StatementReply::Error(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn every_combination_of_more_and_cursor() {
        let more = ReceivedPage::More { cursor: Cursor::parse("eA==").unwrap() };
        let null = ReplyFinding::NullMember { member: "cursor" };
        for (json, page, findings) in [
            (r#""moreTransactionsAvailable":false"#, ReceivedPage::Last, vec![]),
            (r#""moreTransactionsAvailable":true,"cursor":"eA==""#, more, vec![]),
            (
                r#""moreTransactionsAvailable":true"#,
                ReceivedPage::MoreWithoutCursor,
                vec![ReplyFinding::MoreWithoutCursor],
            ),
            (
                r#""moreTransactionsAvailable":true,"cursor":"""#,
                ReceivedPage::MoreWithoutCursor,
                vec![ReplyFinding::EmptyCursor, ReplyFinding::MoreWithoutCursor],
            ),
            (
                r#""cursor":null,"moreTransactionsAvailable":true"#,
                ReceivedPage::MoreWithoutCursor,
                vec![null.clone(), ReplyFinding::MoreWithoutCursor],
            ),
            (r#""moreTransactionsAvailable":false,"cursor":null"#, ReceivedPage::Last, vec![null]),
            (r#""moreTransactionsAvailable":false,"cursor":"""#, ReceivedPage::Last, vec![ReplyFinding::EmptyCursor]),
            (
                r#""moreTransactionsAvailable":false,"cursor":"x""#,
                ReceivedPage::Last,
                vec![ReplyFinding::CursorWithoutMore],
            ),
        ] {
            let statement = read(json).unwrap();
            assert_eq!((&statement.page, &statement.findings), (&page, &findings), "{json}");
            assert_eq!(statement.payload, "<a>é</a>");
            assert_eq!(statement.deny_findings().is_ok(), findings.is_empty());
        }
        let odd = read(r#""moreTransactionsAvailable":true,"cursor":"not base64""#).unwrap();
        assert_eq!(odd.findings, [ReplyFinding::CursorNotBase64]);
        assert_eq!(odd.page, ReceivedPage::More { cursor: Cursor::parse("not base64").unwrap() });
    }

    #[test]
    fn what_was_asked_is_compared() {
        let mut request = StatementRequest::new(&AccountId::parse("1").unwrap());
        let last = r#""moreTransactionsAvailable":false"#;
        let checked = |request: &StatementRequest, more: &str| {
            let mut statement = read(&format!("{last}{more}")).unwrap();
            statement.check_against(request).map(|()| statement.findings)
        };
        assert_eq!(checked(&request, "").unwrap(), []);
        request.sort_order = Some(SortOrder::Forward);
        assert_eq!(checked(&request, "").unwrap(), [ReplyFinding::SortOrderAbsent]);
        assert_eq!(checked(&request, r#","sortOrder":"backward""#).unwrap(), [ReplyFinding::SortOrderDiffers]);
        let odd = checked(&request, r#","sortOrder":"random""#).unwrap();
        assert!(matches!(odd[..], [ReplyFinding::UnknownSortOrder { .. }]));
        let other = StatementRequest::new(&AccountId::parse("2").unwrap());
        assert!(matches!(checked(&other, ""), Err(ReplyError::OtherAccount { .. })));
    }

    #[test]
    fn errors_are_found_under_any_status() {
        let body = format!(r#"{{"requestKey":"{KEY}","error":{{"statusCode":"EC20001","title":"t","x":1}}}}"#);
        for status in [200, 201, 400, 404, 500] {
            let StatementReply::Error(error) = StatementReply::parse(status, body.as_bytes()).unwrap() else {
                panic!("{status}")
            };
            assert!(error.is_account_not_found() && error.findings.is_empty());
            assert_eq!((error.status, error.title.as_deref()), (status, Some("t")));
        }
        for (body, code, findings) in [
            (r#"{"error":{}}"#, None, 2),
            (r#"{"error":"invalid_token"}"#, None, 2),
            (r#"{"error":[],"requestKey":1}"#, None, 3),
            (r#"{"error":{"statusCode":7}}"#, None, 3),
            (r#"{"error":{"statusCode":"EC000_002"}}"#, Some("EC000_002"), 1),
            (r#"{"error":{"statusCode":"X1"}}"#, Some("X1"), 2),
        ] {
            let StatementReply::Error(error) = StatementReply::parse(401, body.as_bytes()).unwrap() else {
                panic!("{body}")
            };
            assert_eq!(error.code.as_ref().map(ErrorCode::as_str), code, "{body}");
            assert_eq!(error.findings.len(), findings, "{body} {:?}", error.findings);
        }
    }

    #[test]
    fn what_is_no_answer() {
        for status in [401, 429, 500] {
            for body in ["", "<html>", "{}", r#"{"error":null}"#] {
                assert_eq!(StatementReply::parse(status, body.as_bytes()), Err(ReplyError::Status { status }));
            }
        }
        assert!(matches!(StatementReply::parse(200, b""), Err(ReplyError::Json(_))));
        assert_eq!(StatementReply::parse(200, b"{}"), Err(ReplyError::Missing { member: "accountId" }));
        for bad in [
            r#""moreTransactionsAvailable":"true""#,
            r#""moreTransactionsAvailable":null"#,
            r#""payload":"""#,
            r#""cursor":"x""#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let long = format!(r#""moreTransactionsAvailable":true,"cursor":"{}""#, "x".repeat(4097));
        assert!(matches!(read(&long), Err(ReplyError::Cursor(_))));
        let body = br#"{"accountId":"1","extract":"intraday","payload":"","requestKey":"x",
                        "moreTransactionsAvailable":false}"#;
        assert!(matches!(StatementReply::parse(200, body), Err(ReplyError::RequestKey { .. })));
    }
}
