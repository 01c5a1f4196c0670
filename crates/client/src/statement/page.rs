//! A page as it was received and read.

use super::{StatementError, UnreadablePayload};
use bankrail_camt052::{Document, Finding as DocumentFinding, Parsed};
use bankrail_statement::{ReceivedStatement, StatementRequest};
use bankrail_values::HyphenatedUuid;

/// One page of a statement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatementPage {
    /// The answer: the raw XML as [`ReceivedStatement::payload`], the request key, and the findings about the answer.
    pub received: ReceivedStatement,
    /// The document.
    pub document: Document,
    /// The findings about the document.
    pub document_findings: Vec<DocumentFinding>,
}

impl StatementPage {
    /// The key by which support staff find the call.
    #[must_use]
    pub fn request_key(&self) -> HyphenatedUuid {
        self.received.request_key
    }

    /// The XML text as it came.
    #[must_use]
    pub fn xml(&self) -> &str {
        &self.received.payload
    }

    pub(super) fn entry_identities(&self) -> Vec<bankrail_statement::EntryIdentity> {
        Vec::new()
    }

    pub(super) fn read(
        request: &StatementRequest,
        mut received: ReceivedStatement,
        status: u16,
    ) -> Result<Self, StatementError> {
        let request_key = received.request_key;
        let refused = |source| StatementError::Reply { status, request_key: Some(request_key), source };
        received.check_against(request).map_err(refused)?;
        match Document::parse(&received.payload) {
            Ok(Parsed { document, findings, .. }) => Ok(Self { received, document, document_findings: findings }),
            Err(source) => Err(StatementError::Payload(Box::new(UnreadablePayload {
                xml: received.payload,
                status,
                request_key,
                source,
            }))),
        }
    }
}

/// All pages of a statement, in their order.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Statement {
    /// The pages.
    pub pages: Vec<StatementPage>,
}
