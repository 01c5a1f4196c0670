//! Received pages of a statement.

use crate::call_error::{Call, CallError, CallErrorKind, UnreadablePayload};
use bankrail_camt052::{
    Document, Entry, EntryReader, Finding as DocumentFinding, Parsed, ReadError, ReadOptions,
    Report, Version,
};
use bankrail_statement::{ReceivedStatement, StatementRequest};
use bankrail_values::HyphenatedUuid;
use std::sync::Arc;

/// The maximum number of entries of a page, and so of unreadable entries that are reported.
const MAX_UNREAD: usize = 1_000;

/// One page of a statement. `Debug` prints the page's size, not its contents.
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
    /// The entries that could not be read, each with its place and its text
    /// ([`ReadError::unread`]). Only a page of a [`Poller`](crate::Poller), or one that is read
    /// with [`ReadOptions::keep_unreadable`], has such entries; otherwise they make the page fail.
    pub unread: Vec<Arc<ReadError>>,
}

impl StatementPage {
    /// Returns the request key of the call, for support staff.
    #[must_use]
    pub fn request_key(&self) -> HyphenatedUuid {
        self.received.request_key
    }

    /// Returns the XML text as received.
    #[must_use]
    pub fn xml(&self) -> &str {
        &self.received.payload
    }

    /// Returns the report, if there is exactly one.
    pub(crate) fn report(&self) -> Option<&Report> {
        let [report] = self.document.reports.as_slice() else {
            return None;
        };
        Some(report)
    }

    /// Returns the entries of the document's reports, in their order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.document
            .reports
            .iter()
            .flat_map(|report| &report.entries)
    }

    pub(crate) fn read(
        request: &StatementRequest,
        mut received: ReceivedStatement,
        status: u16,
        options: &ReadOptions,
    ) -> Result<Self, CallError> {
        let request_key = received.request_key;
        let failed = |reason| CallError {
            status: Some(status),
            request_key: Some(request_key),
            ..CallError::new(Call::Statement, reason)
        };
        let refused = |source| failed(CallErrorKind::Reply(source));
        received.check_against(request).map_err(refused)?;
        let unreadable = |xml, source, readable| {
            let payload = UnreadablePayload {
                xml,
                source,
                readable,
            };
            failed(CallErrorKind::Payload(Arc::new(payload)))
        };
        let (parsed, refusal) = match received.document_with(options) {
            Ok(parsed) => (parsed, None),
            Err(source) => match received.document_with(&options.keep_unreadable(true)) {
                Ok(parsed) => (parsed, Some(source)),
                Err(_) => return Err(unreadable(received.payload, source, None)),
            },
        };
        let Parsed {
            document, findings, ..
        } = parsed;
        received
            .check_document(&document, request)
            .map_err(refused)?;
        if options.denies_findings() {
            received.deny_findings().map_err(refused)?;
        }
        let unread = unread(&document, &received.payload, options);
        let page = Self {
            received,
            document,
            document_findings: findings,
            unread,
        };
        match refusal {
            Some(source) => {
                let xml = page.received.payload.clone();
                let page = (!page.unread.is_empty()).then_some(page);
                Err(unreadable(xml, source, page))
            }
            None => Ok(page),
        }
    }
}

/// Returns the entries that could not be read and that the document keeps as markup.
fn unread(document: &Document, xml: &str, options: &ReadOptions) -> Vec<Arc<ReadError>> {
    let mut reports = document.reports.iter();
    if !reports.any(|report| report.extras.has_element("Ntry")) {
        return Vec::new();
    }
    let version = Version::default();
    let options = options.text(true).versions_or(version..=version);
    EntryReader::new(xml.as_bytes(), options)
        .filter_map(Result::err)
        .filter(|error| error.unread().is_some())
        .take(MAX_UNREAD)
        .map(Arc::new)
        .collect()
}

bankrail_values::impl_debug!(StatementPage, self;
    received: self.received, entries: self.entries().count(), document_findings: self.document_findings.len(),
    unread: self.unread.len());

/// All pages of a statement, in their order.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Statement {
    /// The pages.
    pub pages: Vec<StatementPage>,
}

impl Statement {
    /// Returns the entries of all pages, in their order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.pages.iter().flat_map(StatementPage::entries)
    }
}
