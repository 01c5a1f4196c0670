//! Received pages of a statement.

use crate::call_error::{Call, CallError, CallFault, UnreadablePayload};
use bankrail_camt052::{Document, Entry, Finding as DocumentFinding, Parsed, ReadOptions, Report};
use bankrail_statement::{EntryIdentity, ReceivedStatement, StatementRequest};
use bankrail_values::HyphenatedUuid;
use std::sync::Arc;

/// One page of a statement. `Debug` prints its size, not its contents.
#[derive(Clone)]
#[non_exhaustive]
pub struct StatementPage {
    /// The answer: the raw XML as [`ReceivedStatement::payload`], the request key, and the findings
    /// about the answer.
    pub received: ReceivedStatement,
    /// The document.
    pub document: Document,
    /// The findings about the document.
    pub document_findings: Vec<DocumentFinding>,
}

impl StatementPage {
    /// The request key of the call, for support staff.
    #[must_use]
    pub fn request_key(&self) -> HyphenatedUuid {
        self.received.request_key
    }

    /// The XML text as received.
    #[must_use]
    pub fn xml(&self) -> &str {
        &self.received.payload
    }

    /// The report, if there is exactly one.
    pub(crate) fn report(&self) -> Option<&Report> {
        let [report] = self.document.reports.as_slice() else {
            return None;
        };
        Some(report)
    }

    /// The entries of the document's reports, in their order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.document
            .reports
            .iter()
            .flat_map(|report| &report.entries)
    }

    pub(crate) fn entry_identities(&self) -> Vec<EntryIdentity> {
        self.entries().map(EntryIdentity::of).collect()
    }

    pub(crate) fn read(
        request: &StatementRequest,
        mut received: ReceivedStatement,
        status: u16,
        options: &ReadOptions,
    ) -> Result<Self, CallError> {
        let request_key = received.request_key;
        let failed = |fault| CallError {
            status: Some(status),
            request_key: Some(request_key),
            ..CallError::new(Call::Statement, fault)
        };
        let refused = |source| failed(CallFault::Reply(source));
        received.check_against(request).map_err(refused)?;
        let (document, document_findings) = match received.document_with(options) {
            Ok(Parsed {
                document, findings, ..
            }) => (document, findings),
            Err(source) => {
                let xml = received.payload;
                let payload = Arc::new(UnreadablePayload { xml, source });
                return Err(failed(CallFault::Payload(payload)));
            }
        };
        received
            .check_document(&document, request)
            .map_err(refused)?;
        if options.denies_findings() {
            received.deny_findings().map_err(refused)?;
        }
        Ok(Self {
            received,
            document,
            document_findings,
        })
    }
}

bankrail_values::impl_debug!(StatementPage, self;
    received: self.received, entries: self.entries().count(), document_findings: self.document_findings.len());

/// All pages of a statement, in their order.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Statement {
    /// The pages.
    pub pages: Vec<StatementPage>,
}

impl Statement {
    /// The entries of all pages, in their order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.pages.iter().flat_map(StatementPage::entries)
    }
}
