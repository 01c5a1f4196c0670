//! Entries one after the other, in memory bounded by the largest and by what stands outside of entries.

use super::cursor::{Cursor, Record};
use super::decode::Decoded;
use super::error::{ReadError, ReadErrorKind};
use super::options::ReadOptions;
use super::tokens::StreamTokens;
use crate::extra::Extras;
use crate::finding::Finding;
use crate::schema::tag;
use crate::{Document, Entry, GroupHeader, Report};
use std::fmt;
use std::io::BufRead;

/// Reads a document of any size entry by entry: for each report its start, its entries and its end, then the end of
/// the message.
///
/// What stands before the first entry of a report comes with its start, so the mandatory parts (`Id`, `Acct`) must stand
/// there, and without them the first entry is an error that names them; a whole parse also accepts them later. What stands after the entries, and what the summary disagrees about,
/// comes with the end. Under [`Mode::Strict`](crate::Mode::Strict) the first finding of the schema ends the stream.
///
/// It blocks while its source does. An async caller runs it on a thread of its own and takes the parts out of a channel,
/// whose room bounds what is read ahead; a receiver that is dropped ends the reading:
///
/// ```
/// use bankrail_camt052::{EntryReader, ReadError, StreamItem};
/// use std::io::BufRead;
/// use tokio::sync::mpsc;
///
/// fn parts(source: impl BufRead + Send + 'static) -> mpsc::Receiver<Result<StreamItem, ReadError>> {
///     let (send, receive) = mpsc::channel(64);
///     tokio::task::spawn_blocking(move || {
///         for part in EntryReader::new(source) {
///             if send.blocking_send(part).is_err() {
///                 break;
///             }
///         }
///     });
///     receive
/// }
/// # let file: &[u8] = br#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt><GrpHdr>
/// # <MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr><Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm>
/// # <Acct><Id><Othr><Id>1</Id></Othr></Id></Acct><Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>
/// # <BkTxCd/></Ntry></Rpt></BkToCstmrAcctRpt></Document>"#;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let mut parts = parts(file);
/// let mut entries = 0;
/// while let Some(part) = parts.recv().await {
///     if let StreamItem::Entry(_) = part? {
///         entries += 1;
///     }
/// }
/// assert_eq!(entries, 1);
/// # Ok::<(), ReadError>(())
/// # }).unwrap();
/// ```
///
/// On a thread that may block:
///
/// ```
/// use bankrail_camt052::{EntryReader, StreamItem};
/// # let file: &[u8] = br#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt><GrpHdr>
/// # <MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr><Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm>
/// # <Acct><Id><Othr><Id>1</Id></Othr></Id></Acct><Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>
/// # <BkTxCd/></Ntry></Rpt></BkToCstmrAcctRpt></Document>"#;
/// for item in EntryReader::new(file) {
///     if let StreamItem::Entry(entry) = item? {
///         println!("{:?}", entry.signed_amount());
///     }
/// }
/// # Ok::<(), bankrail_camt052::ReadError>(())
/// ```
pub struct EntryReader<R> {
    cursor: Cursor<StreamTokens<R>>,
    state: State,
    group_header: Option<GroupHeader>,
    message: <Document as Record>::Slots,
    message_at: usize,
    reports: usize,
    report: <Report as Record>::Slots,
    report_at: usize,
    entries: usize,
    outer: [(usize, usize); 2],
}

/// A part of a document read in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamItem {
    /// A report begins: what stands before its entries.
    ReportStart(Box<Report>),
    /// An entry of the report.
    Entry(Box<Entry>),
    /// The report ends: all of it but its entries.
    ReportEnd(Box<Report>),
    /// The message ends: all of it but its reports.
    MessageEnd(Box<Document>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Begin,
    Message,
    /// Within a report; `started` when its start has been handed out, `entry` when the start tag of one has been read.
    Report {
        started: bool,
        entry: bool,
    },
    /// Handed out the start of a report that has ended.
    ReportEnds,
    Done,
}

impl<R: BufRead> EntryReader<R> {
    /// Reads tolerantly.
    pub fn new(source: R) -> Self {
        Self::with_options(source, ReadOptions::default())
    }

    /// Reads as the options say.
    pub fn with_options(source: R, options: ReadOptions) -> Self {
        Self {
            cursor: Cursor::new(StreamTokens::new(Decoded::new(source, options.limits)), options),
            state: State::Begin,
            group_header: None,
            message: Default::default(),
            message_at: 0,
            reports: 0,
            report: Default::default(),
            report_at: 0,
            entries: 0,
            outer: [(0, 0); 2],
        }
    }

    /// The group header, once the first report has begun.
    #[must_use]
    pub fn group_header(&self) -> Option<&GroupHeader> {
        self.group_header.as_ref()
    }

    /// What has been found since this was last asked.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.cursor.findings)
    }

    /// How many more have been found, since the reader began, than [`Limits::findings`](crate::Limits::findings) had room
    /// for until they were taken.
    #[must_use]
    pub fn further_findings(&self) -> u64 {
        self.cursor.further
    }

    /// The next part; `None` after the end of the message.
    ///
    /// # Errors
    /// [`ReadError`]; afterwards there is nothing more.
    pub fn next_item(&mut self) -> Result<Option<StreamItem>, ReadError> {
        let item = self.advance().and_then(|item| {
            self.cursor.refuse_findings()?;
            Ok(item)
        });
        if item.is_err() {
            self.state = State::Done;
        }
        item
    }

    fn advance(&mut self) -> Result<Option<StreamItem>, ReadError> {
        loop {
            match self.state {
                State::Done => return Ok(None),
                State::Begin => {
                    self.cursor.open_document()?;
                    self.cursor.open_message()?;
                    self.outer[0] = self.cursor.enter_record()?;
                    self.state = State::Message;
                }
                State::Message => {
                    if let Some(item) = self.message()? {
                        return Ok(Some(item));
                    }
                }
                State::Report { started, entry } => {
                    if let Some(item) = self.report(started, entry)? {
                        return Ok(Some(item));
                    }
                }
                State::ReportEnds => return self.report_end().map(Some),
            }
        }
    }

    /// Within the message, up to the start tag of a report.
    fn message(&mut self) -> Result<Option<StreamItem>, ReadError> {
        let cursor = &mut self.cursor;
        let Some(index) = cursor.child(Document::FIELDS, &mut self.message_at)? else {
            return self.message_end().map(Some);
        };
        if Document::FIELDS.get(index).is_none_or(|field| field.wire != "Rpt") {
            Document::take(&mut self.message, index, cursor)?;
            return Ok(None);
        }
        self.group_header.clone_from(&self.message.group_header);
        cursor.set_index(self.reports);
        cursor.report_if_late();
        self.reports += 1;
        self.report = Default::default();
        self.report_at = 0;
        self.entries = 0;
        self.outer[1] = cursor.enter_record()?;
        self.state = State::Report { started: false, entry: false };
        Ok(None)
    }

    /// Within a report.
    fn report(&mut self, started: bool, entry: bool) -> Result<Option<StreamItem>, ReadError> {
        let cursor = &mut self.cursor;
        if entry {
            self.state = State::Report { started: true, entry: false };
            return Ok(Some(StreamItem::Entry(Box::new(cursor.node()?))));
        }
        let at_entries = Report::FIELDS.get(self.report_at).is_some_and(|field| field.wire == "Ntry");
        if started
            && at_entries
            && let Ok(entry) = cursor.scan_element(tag!("Ntry"), self.entries)
        {
            self.entries += 1;
            return Ok(Some(StreamItem::Entry(Box::new(entry))));
        }
        let Some(index) = cursor.child(Report::FIELDS, &mut self.report_at)? else {
            self.state = State::ReportEnds;
            return if started { Ok(None) } else { self.report_start().map(Some) };
        };
        if Report::FIELDS.get(index).is_none_or(|field| field.wire != "Ntry") {
            Report::take(&mut self.report, index, cursor)?;
            return Ok(None);
        }
        cursor.set_index(self.entries);
        cursor.report_if_late();
        self.entries += 1;
        self.state = State::Report { started: true, entry: true };
        if started { Ok(None) } else { self.report_start().map(Some) }
    }

    /// What has been read of a report so far; what is missing although the schema demands it is reported at its end.
    fn report_start(&mut self) -> Result<StreamItem, ReadError> {
        let open = if self.state == State::ReportEnds { None } else { self.cursor.path.pop() };
        self.cursor.silent = true;
        let report = Report::finish(self.report.clone(), &mut self.cursor)?;
        self.cursor.silent = false;
        self.cursor.extras.extend(report.extras.parts().iter().cloned());
        self.cursor.path.extend(open);
        Ok(StreamItem::ReportStart(Box::new(report)))
    }

    fn report_end(&mut self) -> Result<StreamItem, ReadError> {
        let report = Report::finish(std::mem::take(&mut self.report), &mut self.cursor)?;
        crate::beyond::report(&report, &mut self.cursor);
        self.cursor.leave_record(self.outer[1]);
        self.state = State::Message;
        Ok(StreamItem::ReportEnd(Box::new(report)))
    }

    fn message_end(&mut self) -> Result<StreamItem, ReadError> {
        let cursor = &mut self.cursor;
        let slots = std::mem::take(&mut self.message);
        let group_header = cursor.soft(slots.group_header, "GrpHdr")?;
        if self.reports == 0 {
            return Err(cursor.halt_here(ReadErrorKind::Missing { name: "Rpt".to_owned() }));
        }
        let mut document = Document::new(Vec::new());
        document.group_header = group_header;
        document.supplementary_data = slots.supplementary_data;
        let extras = cursor.extras();
        cursor.leave_record(self.outer[0]);
        let mut parts = extras.parts().to_vec();
        parts.extend(cursor.close_document()?);
        document.extras = Extras::from_parts(parts);
        self.state = State::Done;
        Ok(StreamItem::MessageEnd(Box::new(document)))
    }
}

impl<R: BufRead> Iterator for EntryReader<R> {
    type Item = Result<StreamItem, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_item().transpose()
    }
}

impl<R> fmt::Debug for EntryReader<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("EntryReader")
            .field("state", &self.state)
            .field("reports", &self.reports)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}
