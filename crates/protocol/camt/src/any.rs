//! Documents of any message of the family: which one it is, its namespace shows.

use crate::{
    GroupHeader, Parsed, ReadError, ReadOptions, Source, UnitReader, Version, notification, report,
    statement,
};
use bankrail_iso20022::__private::{self as engine, Cursor, Message, Opened, Shape};
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
    /// A camt.052.
    Report(Box<report::Document>),
    /// A camt.053.
    Statement(Box<statement::Document>),
    /// A camt.054.
    Notification(Box<notification::Document>),
}

impl AnyDocument {
    /// Reads a document tolerantly, from text or bytes.
    ///
    /// # Errors
    /// [`ReadError`] when the document is malformed or of another message, or when a part that the
    /// model cannot do without cannot be read.
    pub fn parse(xml: impl Source) -> Result<Parsed<Self>, ReadError> {
        Self::parse_with(xml, &ReadOptions::default())
    }

    /// Reads a document, from text or bytes.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); also what the options refuse.
    pub fn parse_with(xml: impl Source, options: &ReadOptions) -> Result<Parsed<Self>, ReadError> {
        let options = engine::options_for(&xml, options);
        engine::parse_any(xml.as_ref(), &options, &SHAPES, finish)
    }
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

/// Reads a document of any message of the family and of any size entry by entry, as reports.
///
/// A statement or a notification is handed out as a report with the same parts, so that a program
/// that reads reports reads all of them.
pub struct AnyReader<R>(Reader<R>);

enum Reader<R> {
    /// Nothing has been read; `None` after an error.
    Begin(Option<(R, ReadOptions)>, FurtherFindings),
    Report(Box<UnitReader<report::Document, R>>),
    Statement(Box<UnitReader<statement::Document, R>>),
    Notification(Box<UnitReader<notification::Document, R>>),
}

impl<R: BufRead> AnyReader<R> {
    /// Makes a reader of a document from a source.
    pub fn new(source: R, options: ReadOptions) -> Self {
        Self(Reader::Begin(
            Some((source, options)),
            FurtherFindings::default(),
        ))
    }

    /// Reads the next part; `None` after the end of the message.
    ///
    /// # Errors
    /// [`ReadError`] as of [`AnyDocument::parse_with`]. After that of an entry which cannot be
    /// read, the next call goes on with the next entry; after any other error the reader is at its
    /// end.
    pub fn next_item(&mut self) -> Result<Option<report::StreamItem>, ReadError> {
        if let Reader::Begin(source, _) = &mut self.0 {
            let Some((source, options)) = source.take() else {
                return Ok(None);
            };
            let opened = Opened::new(source, options, &SHAPES)?;
            self.0 = match place(opened.shape()) {
                0 => Reader::Report(Box::new(UnitReader::opened(opened))),
                1 => Reader::Statement(Box::new(UnitReader::opened(opened))),
                _ => Reader::Notification(Box::new(UnitReader::opened(opened))),
            };
        }
        Ok(match &mut self.0 {
            Reader::Begin(..) => None,
            Reader::Report(reader) => reader.next_item()?,
            Reader::Statement(reader) => reader.next_item()?.map(Into::into),
            Reader::Notification(reader) => reader.next_item()?.map(Into::into),
        })
    }
}

impl<R> AnyReader<R> {
    /// Returns the header, from its end to that of the message, with which it is handed out.
    #[must_use]
    pub fn header(&self) -> Option<&GroupHeader> {
        match &self.0 {
            Reader::Begin(..) => None,
            Reader::Report(reader) => reader.header(),
            Reader::Statement(reader) => reader.header(),
            Reader::Notification(reader) => reader.header(),
        }
    }

    /// Returns the version of the document; that of the default before anything was read.
    #[must_use]
    pub fn version(&self) -> Version {
        match &self.0 {
            Reader::Begin(..) => Version::default(),
            Reader::Report(reader) => reader.version(),
            Reader::Statement(reader) => reader.version(),
            Reader::Notification(reader) => reader.version(),
        }
    }

    /// Returns the name of the message with its version, such as `camt.053.001.08`; `None` before
    /// anything was read.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        let message = match &self.0 {
            Reader::Begin(..) => return None,
            Reader::Report(_) => "camt.052",
            Reader::Statement(_) => "camt.053",
            Reader::Notification(_) => "camt.054",
        };
        Some(format!("{message}.001.{}", self.version()))
    }

    /// Returns the findings since the last call.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        match &mut self.0 {
            Reader::Begin(..) => Vec::new(),
            Reader::Report(reader) => reader.take_findings(),
            Reader::Statement(reader) => reader.take_findings(),
            Reader::Notification(reader) => reader.take_findings(),
        }
    }

    /// Returns the number of findings of each kind, since the reader began, for which
    /// [`ReadLimits::findings`](crate::ReadLimits::findings) had no room.
    #[must_use]
    pub fn further_findings(&self) -> &FurtherFindings {
        match &self.0 {
            Reader::Begin(_, none) => none,
            Reader::Report(reader) => reader.further_findings(),
            Reader::Statement(reader) => reader.further_findings(),
            Reader::Notification(reader) => reader.further_findings(),
        }
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

impl From<statement::StreamItem> for report::StreamItem {
    fn from(from: statement::StreamItem) -> Self {
        use statement::StreamItem;
        match from {
            StreamItem::StatementStart(start) => Self::ReportStart(Box::new((*start).into())),
            StreamItem::Entry(entry) => Self::Entry(entry),
            StreamItem::StatementEnd(end) => Self::ReportEnd(Box::new((*end).into())),
            StreamItem::MessageEnd(end) => {
                let end = *end;
                Self::MessageEnd(Box::new(report::Document {
                    version: end.version,
                    group_header: end.group_header,
                    reports: Vec::new(),
                    supplementary_data: end.supplementary_data,
                    extras: end.extras,
                }))
            }
        }
    }
}

impl From<notification::StreamItem> for report::StreamItem {
    fn from(from: notification::StreamItem) -> Self {
        use notification::StreamItem;
        match from {
            StreamItem::NotificationStart(start) => Self::ReportStart(Box::new((*start).into())),
            StreamItem::Entry(entry) => Self::Entry(entry),
            StreamItem::NotificationEnd(end) => Self::ReportEnd(Box::new((*end).into())),
            StreamItem::MessageEnd(end) => {
                let end = *end;
                Self::MessageEnd(Box::new(report::Document {
                    version: end.version,
                    group_header: end.group_header,
                    reports: Vec::new(),
                    supplementary_data: end.supplementary_data,
                    extras: end.extras,
                }))
            }
        }
    }
}
