//! The types for reading the message.

use bankrail_camt::UnitReader;
use bankrail_camt::notification::Document;

/// A document and its findings.
pub type Parsed = bankrail_camt::Parsed<Document>;

/// Reads a document of any size entry by entry: for each notification, the reader returns its
/// start, its entries and its end, and last the end of the message.
///
/// - The parts before the first entry of a notification come with its start. They must include the
///   mandatory parts; otherwise the first entry is an error that names the missing ones. Reading a
///   whole document also accepts them after the entries.
/// - The parts after the entries, and disagreements with the summary, come with the end.
/// - Under [`Mode::Strict`](crate::Mode::Strict) the first finding of the schema ends the stream.
///
/// ```
/// use bankrail_camt054::{EntryReader, ReadOptions, StreamItem};
/// # let file: &[u8] = br#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.06"><BkToCstmrDbtCdtNtfctn>
/// # <GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>
/// # <Ntfctn><Id>s</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>
/// # <Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>
/// # </Ntfctn></BkToCstmrDbtCdtNtfctn></Document>"#;
/// let mut amounts = Vec::new();
/// for item in EntryReader::new(file, ReadOptions::default()) {
///     if let StreamItem::Entry(entry) = item? {
///         amounts.extend(entry.signed_amount());
///     }
/// }
/// assert_eq!(amounts.len(), 1);
/// # Ok::<(), bankrail_camt054::ReadError>(())
/// ```
pub type EntryReader<R> = UnitReader<Document, R>;
