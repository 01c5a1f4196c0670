//! Entries as they are stored: the element `Ntry` as the message has it.
//!
//! The message's own form is stable over versions of this library, and other programs can read it.

use super::account::Account;
use super::corrupt;
use super::error::BookError;
use bankrail_camt052::{DateTime, Document, Entry, ReadLimits, ReadOptions, ReportBuilder, ReportIds};
use bankrail_values::{Date, Decimal, Money, SimpleUuid, StoreError};

/// The most bytes of a stored entry, and of all entries of a page but its first.
pub(super) const MOST_BYTES: usize = 4 << 20;

/// The least that stands before the entries of a message.
const HEAD: &str = concat!(
    r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>"#,
    "<GrpHdr><MsgId>0</MsgId><CreDtTm>1970-01-01T00:00:00Z</CreDtTm></GrpHdr>",
    "<Rpt><Id>0</Id><CreDtTm>1970-01-01T00:00:00Z</CreDtTm><Acct><Id><Othr><Id>0</Id></Othr></Id></Acct>"
);
const TAIL: &str = "</Rpt></BkToCstmrAcctRpt></Document>";
const ENTRY: (&str, &str) = ("<Ntry>", "</Ntry>");

/// The stored form of an entry. It makes sure that a statement with this entry alone can be sent, and that the entry
/// comes back as it is.
pub(super) fn write(account: &Account, balance: Decimal, day: Date, entry: &Entry) -> Result<String, BookError> {
    let any = SimpleUuid::from_random_bytes([0; 16]);
    let ids = ReportIds { message: any, report: any };
    let created_at = DateTime::parse("1970-01-01T00:00:00.000Z").expect("a constant that is a time");
    let balance = Money::new(balance, account.currency);
    let balance = balance.rescale_to_minor_units().unwrap_or(balance);
    let report = ReportBuilder::new(ids, "CMM", created_at, account.id.as_str(), balance, day).entry(entry.clone());
    let document = report.build().map_err(BookError::Entry)?;
    let xml = document.to_xml().map_err(|_| BookError::Unfaithful)?;
    let written = xml.find(ENTRY.0).zip(xml.rfind(ENTRY.1)).and_then(|(from, to)| xml.get(from..to + ENTRY.1.len()));
    let written = written.ok_or(BookError::Unfaithful)?;
    if written.len() > MOST_BYTES {
        return Err(BookError::TooLarge { most: MOST_BYTES });
    }
    match read(written, 1).ok().as_deref() {
        Some([again]) if again == entry => Ok(written.to_owned()),
        _ => Err(BookError::Unfaithful),
    }
}

/// The entries of a text of so many stored forms.
pub(super) fn read(stored: &str, expected: usize) -> Result<Vec<Entry>, StoreError> {
    let document = [HEAD, stored, TAIL].concat();
    // The length of what is stored is bounded; a small entry may have parts that take more memory than text.
    let limits = ReadLimits::default().memory_per_byte(usize::MAX);
    let parsed = Document::parse_with(document, &ReadOptions::default().limits(limits)).map_err(corrupt)?;
    let entries: Vec<Entry> = parsed.document.reports.into_iter().flat_map(|report| report.entries).collect();
    if entries.len() == expected {
        return Ok(entries);
    }
    Err(corrupt(format!("expected {expected} entries, found {}", entries.len())))
}
