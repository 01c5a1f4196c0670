//! What the fake bank was asked, and what it answered.

use crate::fault::Fault;
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_values::Timestamp;
use bytes::Bytes;
use http::HeaderMap;
use std::fmt;

/// An endpoint of the bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// `POST /v1.0/auth`
    Token,
    /// `POST /accounts/v2.0/statement`
    Statement,
    /// Any other path, which is answered 404.
    Unknown,
}

impl Endpoint {
    pub(crate) fn of(path: &str) -> Self {
        match path {
            TOKEN_PATH => Self::Token,
            STATEMENT_PATH => Self::Statement,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Token => "token",
            Self::Statement => "statement",
            Self::Unknown => "unknown path",
        })
    }
}

/// One call of the bank's endpoints.
///
/// `Display`, `Debug` and comparison with a text are one line: the endpoint, the account of a statement, `next page`
/// for a call with a cursor, the status, and the fault in parentheses.
///
/// ```no_run
/// # async fn example(bank: bankrail_emulator::FakeBank) {
/// assert_eq!(bank.calls(), ["token 200", "statement 999001400100101 200"]);
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The bank's time.
    pub at: Timestamp,
    /// The headers, secrets included.
    pub headers: HeaderMap,
    /// The body, at most 64 KiB.
    pub body: Bytes,
    /// The status; `None` if there was no answer.
    pub status: Option<u16>,
    /// The fault that the call met.
    pub fault: Option<Fault>,
}

impl Call {
    /// The member of a statement request with this name, as text.
    fn member(&self, name: &str) -> Option<String> {
        let body: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
        match body.get(name)? {
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// The account that a statement was asked for.
    #[must_use]
    pub fn account(&self) -> Option<String> {
        self.member("accountId").filter(|_| self.endpoint == Endpoint::Statement)
    }

    /// The cursor that a statement was asked for with.
    #[must_use]
    pub fn cursor(&self) -> Option<String> {
        self.member("cursor").filter(|_| self.endpoint == Endpoint::Statement)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.endpoint, out)?;
        if let Some(account) = self.account() {
            write!(out, " {account}")?;
        }
        if self.cursor().is_some() {
            out.write_str(" next page")?;
        }
        match self.status {
            Some(status) => write!(out, " {status}")?,
            None => out.write_str(" no answer")?,
        }
        self.fault.as_ref().map_or(Ok(()), |fault| write!(out, " ({fault})"))
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), out)
    }
}

impl PartialEq<str> for Call {
    fn eq(&self, line: &str) -> bool {
        let own = self.to_string();
        own == line
    }
}

impl PartialEq<&str> for Call {
    fn eq(&self, line: &&str) -> bool {
        *self == **line
    }
}
