//! Documents of any message of the family; the namespace of a document determines its message.

use crate::{
    Around, GroupHeader, Parsed, ReadError, ReadOptions, Source, StreamItem, Version, notification,
    report, statement,
};
use bankrail_iso20022::__private::{self as engine, Cursor, Documents, Message, Progress, Shape};
use bankrail_iso20022::{Finding, FurtherFindings};
use std::fmt;
use std::io::BufRead;

/// The messages of the family.
const SHAPES: [&Shape; 3] = [
    <report::Document as Message>::SHAPE,
    <statement::Document as Message>::SHAPE,
    <notification::Document as Message>::SHAPE,
];

/// A document of one of the messages of the family.
///
/// ```
/// use bankrail_camt::AnyDocument;
/// let xml = r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn>
/// <GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>
/// <Ntfctn><Id>n</Id><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct></Ntfctn>
/// </BkToCstmrDbtCdtNtfctn></Document>"#;
/// let parsed = AnyDocument::parse(xml)?;
/// let AnyDocument::Notification(document) = parsed.document else { panic!("a camt.054") };
/// assert_eq!(document.version.to_string(), "08");
/// # Ok::<(), bankrail_camt::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnyDocument {
    /// A camt.052, an account report.
    Report(Box<report::Document>),
    /// A camt.053, an account statement.
    Statement(Box<statement::Document>),
    /// A camt.054, a notification of debits and credits.
    Notification(Box<notification::Document>),
}

impl AnyDocument {
    /// Reads a document tolerantly from text or bytes; the document may be in a wrapper.
    ///
    /// # Errors
    /// [`ReadError`] when the document is malformed or of another message, when a part that the
    /// model cannot do without cannot be read, or when there are several documents.
    pub fn parse(xml: impl Source) -> Result<Parsed<Self>, ReadError> {
        Self::parse_with(xml, &ReadOptions::default())
    }

    /// Reads a document from text or bytes; the document may be in a wrapper.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); also for what the options refuse.
    pub fn parse_with(xml: impl Source, options: &ReadOptions) -> Result<Parsed<Self>, ReadError> {
        let mut all = read(xml, options, 1)?;
        Ok(all.pop().expect("an input without a document is an error"))
    }

    /// Reads all documents in a text or bytes tolerantly: bare or in wrappers, one after the other
    /// or several in one wrapper.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), at the first document that is refused.
    pub fn parse_all(xml: impl Source) -> Result<Vec<Parsed<Self>>, ReadError> {
        Self::parse_all_with(xml, &ReadOptions::default())
    }

    /// Reads all documents in a text or bytes. The limits on bytes and memory apply to all of them
    /// together.
    ///
    /// # Errors
    /// As [`parse_all`](Self::parse_all); also for what the options refuse.
    pub fn parse_all_with(
        xml: impl Source,
        options: &ReadOptions,
    ) -> Result<Vec<Parsed<Self>>, ReadError> {
        read(xml, options, usize::MAX)
    }

    /// Returns the document as a report, and converts statements or notifications to reports.
    #[must_use]
    pub fn into_report_document(self) -> report::Document {
        match self {
            Self::Report(document) => *document,
            Self::Statement(document) => (*document).into(),
            Self::Notification(document) => (*document).into(),
        }
    }
}

/// Reads at most `most` documents.
fn read(
    xml: impl Source,
    options: &ReadOptions,
    most: usize,
) -> Result<Vec<Parsed<AnyDocument>>, ReadError> {
    let options = engine::options_for(&xml, options);
    let mut all = Vec::new();
    engine::parse_any(xml.as_ref(), &options, &SHAPES, &mut |cursor| {
        if all.len() == most {
            return Err(cursor.another());
        }
        all.push(finish(cursor)?);
        Ok(())
    })?;
    Ok(all)
}

fn finish(cursor: &mut Cursor<'_>) -> Result<Parsed<AnyDocument>, ReadError> {
    Ok(match place(cursor.shape()) {
        0 => engine::finish(cursor)?.map(|document| AnyDocument::Report(Box::new(document))),
        1 => engine::finish(cursor)?.map(|document| AnyDocument::Statement(Box::new(document))),
        _ => engine::finish(cursor)?.map(|document| AnyDocument::Notification(Box::new(document))),
    })
}

/// Returns the place of a message among those of the family.
fn place(shape: &Shape) -> usize {
    let is_of = |one: &&Shape| one.namespace == shape.namespace;
    SHAPES.iter().position(is_of).unwrap_or_default()
}

/// Reads documents of any message of the family and of any size entry by entry, as reports. The
/// documents may be in wrappers.
///
/// A statement or a notification is returned as a report with the same parts, so that a program for
/// reports reads all three messages. The end of a message is followed by the next document, if
/// there is one; [`documents`](Self::documents) counts them.
pub struct AnyReader<R> {
    input: Documents<R>,
    progress: Option<AnyProgress>,
    documents: u64,
}

/// The progress in a document, by its message.
enum AnyProgress {
    Report(Box<Progress<report::Document>>),
    Statement(Box<Progress<statement::Document>>),
    Notification(Box<Progress<notification::Document>>),
}

impl<R: BufRead> AnyReader<R> {
    /// Makes a reader of the documents in a source.
    pub fn new(source: R, options: ReadOptions) -> Self {
        Self {
            input: Documents::open(source, &options, &SHAPES),
            progress: None,
            documents: 0,
        }
    }

    /// Reads the next part; `None` at the end of the source.
    ///
    /// # Errors
    /// [`ReadError`], as for [`AnyDocument::parse_all_with`]. After the error of an entry that
    /// cannot be read, the next call continues with the next entry; after any other error the
    /// reader returns `None`.
    pub fn next_item(&mut self) -> Result<Option<report::StreamItem>, ReadError> {
        loop {
            let input = &mut self.input;
            let part = match &mut self.progress {
                None => None,
                Some(AnyProgress::Report(progress)) => input.next_part(progress)?,
                Some(AnyProgress::Statement(progress)) => {
                    input.next_part(progress)?.map(StreamItem::convert)
                }
                Some(AnyProgress::Notification(progress)) => {
                    input.next_part(progress)?.map(StreamItem::convert)
                }
            };
            if part.is_some() || !input.next_document(&SHAPES)? {
                return Ok(part);
            }
            self.documents += 1;
            self.progress = Some(match place(input.shape()) {
                0 => AnyProgress::Report(Box::default()),
                1 => AnyProgress::Statement(Box::default()),
                _ => AnyProgress::Notification(Box::default()),
            });
        }
    }
}

impl<R> AnyReader<R> {
    /// Returns the number of documents begun.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the parts around the current document; `None` if there are none.
    #[must_use]
    pub fn around(&self) -> Option<&Around> {
        self.input.around()
    }

    /// Returns the header; `None` before its end, and again after the end of the message, which
    /// contains it.
    #[must_use]
    pub fn header(&self) -> Option<&GroupHeader> {
        match self.progress.as_ref()? {
            AnyProgress::Report(progress) => progress.header(),
            AnyProgress::Statement(progress) => progress.header(),
            AnyProgress::Notification(progress) => progress.header(),
        }
    }

    /// Returns the version of the document; the default version before anything was read.
    #[must_use]
    pub fn version(&self) -> Version {
        self.input.version()
    }

    /// Returns the name of the message with its version, such as `camt.053.001.08`; `None` before
    /// anything was read.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        self.progress.as_ref()?;
        let message = self.input.shape().namespace.rsplit(':').next()?;
        Some(format!("{message}{}", self.version()))
    }

    /// Returns the findings since the last call.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        self.input.take_findings()
    }

    /// Returns the number of findings of each kind since the start for which
    /// [`ReadLimits::max_findings`](crate::ReadLimits::max_findings) had no room.
    #[must_use]
    pub fn further_findings(&self) -> &FurtherFindings {
        self.input.further_findings()
    }
}

impl<R: BufRead> Iterator for AnyReader<R> {
    type Item = Result<report::StreamItem, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_item().transpose()
    }
}

impl<R> fmt::Debug for AnyReader<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("AnyReader").field(&self.message()).finish()
    }
}

impl From<statement::Statement> for report::Report {
    fn from(from: statement::Statement) -> Self {
        Self {
            id: from.id,
            pagination: from.pagination,
            electronic_sequence: from.electronic_sequence,
            sequence_ranges: from.sequence_ranges,
            legal_sequence: from.legal_sequence,
            created_at: from.created_at,
            period: from.period,
            copy_duplicate: from.copy_duplicate,
            source: from.source,
            account: from.account,
            related_account: from.related_account,
            interest: from.interest,
            balances: from.balances,
            summary: from.summary,
            entries: from.entries,
            additional_information: from.additional_information,
            extras: from.extras,
        }
    }
}

impl From<notification::Notification> for report::Report {
    fn from(from: notification::Notification) -> Self {
        Self {
            id: from.id,
            pagination: from.pagination,
            electronic_sequence: from.electronic_sequence,
            sequence_ranges: from.sequence_ranges,
            legal_sequence: from.legal_sequence,
            created_at: from.created_at,
            period: from.period,
            copy_duplicate: from.copy_duplicate,
            source: from.source,
            account: from.account,
            related_account: from.related_account,
            interest: from.interest,
            balances: Vec::new(),
            summary: from.summary,
            entries: from.entries,
            additional_information: from.additional_information,
            extras: from.extras,
        }
    }
}

impl From<statement::Document> for report::Document {
    fn from(from: statement::Document) -> Self {
        Self {
            version: from.version,
            group_header: from.group_header,
            reports: from.statements.into_iter().map(Into::into).collect(),
            supplementary_data: from.supplementary_data,
            extras: from.extras,
        }
    }
}

impl From<notification::Document> for report::Document {
    fn from(from: notification::Document) -> Self {
        Self {
            version: from.version,
            group_header: from.group_header,
            reports: from.notifications.into_iter().map(Into::into).collect(),
            supplementary_data: from.supplementary_data,
            extras: from.extras,
        }
    }
}
