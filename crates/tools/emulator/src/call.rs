//! Calls to a bank, with their answers.

use crate::fault::Fault;
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_values::{HyphenatedUuid, Timestamp};
use bytes::Bytes;
use http::HeaderMap;
use std::fmt;
use std::time::Duration;

/// An endpoint of the bank, or of its customers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum Endpoint {
    /// The bank's `POST /v1.0/auth`.
    Token,
    /// The bank's `POST /accounts/v2.0/statement`.
    Statement,
    /// The customers' receivers, to which the bank itself makes calls to deliver messages.
    Webhook,
    /// Any other path of the bank: that of a document, or one that is answered 404.
    Other,
}

impl Endpoint {
    pub(crate) const ALL: [Self; 4] = [Self::Token, Self::Statement, Self::Webhook, Self::Other];

    /// Returns the name in the journal and in orders.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    pub(crate) fn of(path: &str) -> Self {
        match path {
            TOKEN_PATH => Self::Token,
            STATEMENT_PATH => Self::Statement,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if *self == Self::Other {
            "other path"
        } else {
            self.name()
        })
    }
}

/// One call of the bank's endpoints, or with
/// [`EmulatorOptions::journal`](crate::EmulatorOptions::journal) one that the bank made to deliver
/// a message.
///
/// `Display`, `Debug` and comparison with a text are one line: the endpoint, the account of a
/// statement, `next page` for a call with a cursor, the status, and the fault in parentheses.
///
/// ```no_run
/// # async fn example(bank: bankrail_emulator::FakeBank) {
/// assert_eq!(bank.calls(), ["token 200", "statement 999001400100101 200"]);
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The number of the call, from 1. [`Calls::record`](crate::Calls::record) sets it.
    pub number: u64,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The time of the call, by the bank's clock.
    pub at: Timestamp,
    /// The `X-RequestKey` of the answer.
    pub request_key: Option<HyphenatedUuid>,
    /// The method, cut after 200 characters.
    pub method: String,
    /// The path, cut after 200 characters.
    pub path: String,
    /// The headers of the request; empty unless the bank keeps requests. A
    /// [`FakeBank`](crate::FakeBank) keeps headers with all secrets; a bank with
    /// [`EmulatorOptions::journal`](crate::EmulatorOptions::journal) masks the secrets.
    pub headers: HeaderMap,
    /// The body of the request as far as the bank read it, at most 64 KiB; empty unless the bank
    /// keeps requests. For a delivery, the message before it is sealed.
    pub body: Bytes,
    /// The headers of the answer; empty without
    /// [`EmulatorOptions::journal`](crate::EmulatorOptions::journal).
    pub answer_headers: HeaderMap,
    /// The first 64 KiB of the answer's body; empty without a journal, and where a fault sends the
    /// body in pieces.
    pub answer: Bytes,
    /// The customer whose API key the request had.
    pub customer: Option<String>,
    /// The status; `None` if there was no answer.
    pub status: Option<u16>,
    /// The fault that the call met.
    pub fault: Option<Fault>,
    /// The reason why the call was refused, or why a delivery had no answer. The reason never
    /// contains a secret.
    pub reason: Option<String>,
    /// The time until the answer.
    pub took: Duration,
}

impl Call {
    /// Returns a call that has no answer yet.
    #[must_use]
    pub fn new(endpoint: Endpoint, at: Timestamp) -> Self {
        Self {
            number: 0,
            endpoint,
            at,
            request_key: None,
            method: String::new(),
            path: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            answer_headers: HeaderMap::new(),
            answer: Bytes::new(),
            customer: None,
            status: None,
            fault: None,
            reason: None,
            took: Duration::ZERO,
        }
    }

    /// Returns a member of a statement request as text.
    fn member(&self, name: &str) -> Option<String> {
        let body: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
        match body.get(name)? {
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// Returns the account of a statement request.
    #[must_use]
    pub fn account(&self) -> Option<String> {
        self.member("accountId")
            .filter(|_| self.endpoint == Endpoint::Statement)
    }

    /// Returns the cursor of a statement request.
    #[must_use]
    pub fn cursor(&self) -> Option<String> {
        self.member("cursor")
            .filter(|_| self.endpoint == Endpoint::Statement)
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
        self.fault
            .as_ref()
            .map_or(Ok(()), |fault| write!(out, " ({fault})"))
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), out)
    }
}

impl PartialEq<&str> for Call {
    fn eq(&self, line: &&str) -> bool {
        self.to_string() == **line
    }
}
