//! The types for reading the message.

use bankrail_camt::UnitReader;
use bankrail_camt::report::Document;

/// A document and its findings.
pub type Parsed = bankrail_camt::Parsed<Document>;

/// Reads a document of any size entry by entry: for each report, the reader returns its start, its
/// entries and its end, and last the end of the message.
///
/// - The parts before the first entry of a report come with its start. They must include the
///   mandatory parts; otherwise the first entry is an error that names the missing ones. Reading a
///   whole document also accepts them after the entries.
/// - The parts after the entries, and disagreements with the summary, come with the end.
/// - Under [`Mode::Strict`](crate::Mode::Strict) the first finding of the schema ends the stream.
///
/// ```no_run
/// use bankrail_camt052::{EntryReader, ReadOptions, StreamItem};
/// use std::fs::File;
/// use std::io::BufReader;
///
/// for item in EntryReader::new(BufReader::new(File::open("report.xml")?), ReadOptions::default()) {
///     if let StreamItem::Entry(entry) = item? {
///         println!("{:?}", entry.signed_money());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The reader blocks while its source blocks. An async caller runs it on its own thread and
/// receives the parts from a channel. The capacity of the channel bounds the parts that are read
/// ahead, and dropping the receiver ends the reading:
///
/// ```
/// use bankrail_camt052::{EntryReader, ReadError, ReadOptions, StreamItem};
/// use std::io::BufRead;
/// use tokio::sync::mpsc;
///
/// fn parts(source: impl BufRead + Send + 'static) -> mpsc::Receiver<Result<StreamItem, ReadError>> {
///     let (send, receive) = mpsc::channel(64);
///     tokio::task::spawn_blocking(move || {
///         for part in EntryReader::new(source, ReadOptions::default()) {
///             if send.blocking_send(part).is_err() {
///                 break;
///             }
///         }
///     });
///     receive
/// }
/// # let file: &[u8] = br#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>
/// # <GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>
/// # <Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>
/// # <Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>
/// # </Rpt></BkToCstmrAcctRpt></Document>"#;
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
pub type EntryReader<R> = UnitReader<Document, R>;
