//! Entries that were written as XML before, and reports made of such entries.

use super::{BuildError, ReportBuilder, ReportIds};
use crate::{CurrencyCode, Direction, Document, Entry, ReadLimits, ReadOptions};
use bankrail_values::{Decimal, Money, SimpleUuid, Timestamp};

/// The shortest possible beginning of a message, up to its entries.
const HEAD: &str = concat!(
    r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>"#,
    "<GrpHdr><MsgId>0</MsgId><CreDtTm>1970-01-01T00:00:00Z</CreDtTm></GrpHdr>",
    "<Rpt><Id>0</Id><CreDtTm>1970-01-01T00:00:00Z</CreDtTm><Acct><Id><Othr><Id>0</Id></Othr></Id></Acct>"
);
/// The end of a message that has nothing after its entries.
pub(super) const TAIL: &str = "</Rpt></BkToCstmrAcctRpt></Document>";
const ENTRY: (&str, &str) = ("<Ntry>", "</Ntry>");

/// The element `Ntry` of an entry, as this crate has written it, and the figures that a summary
/// needs.
///
/// [`ReportBuilder::build_around`] puts such an entry into a report unchanged, without reading,
/// checking and writing it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenEntry {
    xml: String,
    amount: Money,
    direction: Direction,
}

impl WrittenEntry {
    /// Writes an entry, and checks that a report can contain it and that it does not change when it
    /// is read again.
    ///
    /// # Errors
    /// [`BuildError`] if the message cannot carry the entry.
    pub fn new(entry: &Entry) -> Result<Self, BuildError> {
        let currency = entry
            .amount
            .currency()
            .and_then(CurrencyCode::to_currency)
            .ok_or(BuildError::Unfaithful)?;
        // Uses any identifiers, because only the entry is taken from this report.
        let any = SimpleUuid::from_random_bytes([0; 16]);
        let ids = ReportIds {
            message: any,
            report: any,
        };
        let created_at = "1970-01-01T00:00:00.000Z"
            .parse()
            .expect("a constant that is a time");
        let (nothing, day) = (
            Money::new(Decimal::ZERO, currency),
            Timestamp::UNIX_EPOCH.date(),
        );
        let report =
            ReportBuilder::new(ids, "0", created_at, "0", nothing, day).entry(entry.clone());
        let xml = report
            .build()?
            .to_xml()
            .map_err(|_| BuildError::Unfaithful)?;
        // Takes the text from the first tag to the last one: markup that the entry keeps may have
        // the same name.
        let place = xml.find(ENTRY.0).zip(xml.rfind(ENTRY.1));
        let xml = place
            .and_then(|(from, to)| xml.get(from..to + ENTRY.1.len()))
            .ok_or(BuildError::Unfaithful)?;
        let amount = Money::new(entry.amount.value(), currency);
        let written = Self::assume_written(xml.to_owned(), amount, entry.direction.clone());
        if written.read().as_ref() == Some(entry) {
            Ok(written)
        } else {
            Err(BuildError::Unfaithful)
        }
    }

    /// Makes an entry from the values of [`WrittenEntry::xml`], [`WrittenEntry::amount`] and
    /// [`WrittenEntry::direction`]. The caller vouches that they are unchanged, for example by a
    /// checksum that is stored with them; this function checks nothing.
    #[must_use]
    pub fn assume_written(xml: String, amount: Money, direction: Direction) -> Self {
        Self {
            xml,
            amount,
            direction,
        }
    }

    /// Returns the element `Ntry`. Its namespace is that of the message.
    #[must_use]
    pub fn xml(&self) -> &str {
        &self.xml
    }

    /// Returns the amount without its sign.
    #[must_use]
    pub fn amount(&self) -> Money {
        self.amount
    }

    /// Returns the direction of the entry: credit or debit.
    #[must_use]
    pub fn direction(&self) -> &Direction {
        &self.direction
    }

    /// Reads the entry; `None` if the text is not that of one entry.
    #[must_use]
    pub fn read(&self) -> Option<Entry> {
        // Memory is not limited, because the length was bounded when the entry was written, and a
        // small entry may have parts that take more memory than their text.
        let limits = ReadLimits::default().max_memory_per_byte(usize::MAX);
        let document = [HEAD, &self.xml, TAIL].concat();
        let parsed = Document::parse_with(document, &ReadOptions::default().limits(limits)).ok()?;
        let mut entries = parsed
            .document
            .reports
            .into_iter()
            .flat_map(|report| report.entries);
        entries.next().filter(|_| entries.next().is_none())
    }
}

/// The text of a report around entries that were written before, in parts.
#[derive(Clone, Debug)]
pub struct WrittenReport<'a> {
    pub(super) head: String,
    pub(super) entries: &'a [&'a WrittenEntry],
}

impl WrittenReport<'_> {
    /// Returns the parts of the XML text in order.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        let entries = self.entries.iter().map(|entry| entry.xml());
        std::iter::once(&*self.head)
            .chain(entries)
            .chain(std::iter::once(TAIL))
    }
}
