//! One audit record and its events.

use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::ScopeSet;
use bankrail_values::json::JsonObjectWriter;
use bankrail_values::{HyphenatedUuid, Timestamp};

/// A record of the token or page that a request was given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The instant at which the request was judged.
    pub at: Timestamp,
    /// The request key of the answer, which identifies the call.
    pub request_key: HyphenatedUuid,
    /// The customer.
    pub customer: CustomerCode,
    /// The token or the page that the request was given.
    pub event: AuditEvent,
}

/// Events that are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditEvent {
    /// An access token.
    TokenGranted {
        /// The scopes granted.
        scopes: ScopeSet,
        /// The `kid` of the customer's key that the assertion was verified with, if the key has
        /// one.
        key_id: Option<String>,
        /// The time at which the token expires.
        expires_at: Timestamp,
    },
    /// A page of a statement.
    StatementServed {
        /// The account in the form of [`AuditedAccount`](super::AuditedAccount).
        account: Option<String>,
        /// The number of entries on the page.
        entries: usize,
        /// True for the last page.
        is_last: bool,
    },
}

impl AuditRecord {
    /// Creates a record, for tests of an [`AuditLog`](super::AuditLog).
    #[must_use]
    pub fn new(
        at: Timestamp,
        request_key: HyphenatedUuid,
        customer: CustomerCode,
        event: AuditEvent,
    ) -> Self {
        Self {
            at,
            request_key,
            customer,
            event,
        }
    }

    /// Returns the record as one line of JSON, without the end of the line. Its members are `at`,
    /// `request_key`, `customer`, `event` (`token_granted` or `statement_served`), and those of the
    /// event; unknown ones are absent. `scope` is written as in a token request; `page` is `last`,
    /// or `continued` if another one follows.
    #[must_use]
    pub fn to_json(&self) -> String {
        let line = JsonObjectWriter::new()
            .string("at", &self.at.to_string())
            .string("request_key", &self.request_key.to_string())
            .string("customer", self.customer.as_str());
        match &self.event {
            AuditEvent::TokenGranted {
                scopes,
                key_id,
                expires_at,
            } => line
                .string("event", "token_granted")
                .string("scope", &scopes.to_string())
                .optional_string("key_id", key_id.as_deref())
                .string("expires_at", &expires_at.to_string()),
            AuditEvent::StatementServed {
                account,
                entries,
                is_last,
            } => line
                .string("event", "statement_served")
                .optional_string("account", account.as_deref())
                .raw("entries", entries)
                .string("page", if *is_last { "last" } else { "continued" }),
        }
        .finish()
    }
}
