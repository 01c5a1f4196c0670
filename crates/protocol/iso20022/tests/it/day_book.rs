//! An invented message of about ten elements, which shows the engine without any message of a bank.

use bankrail_iso20022::__private::Watch;
use bankrail_iso20022::{
    Amount, Bic, BrokenRule, Choice, Code, CountryCode, Digits, Element, Envelope, Extras,
    FindingKind, IsoDateTime, Message, Text, UnitReader, UnknownCode,
};

/// The direction of an amount: credit or debit.
///
/// `CreditDebitCode` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CreditDebitCode")]
#[non_exhaustive]
pub enum Direction {
    /// The code `CRDT`.
    #[code("CRDT")]
    Credit,
    /// The code `DBIT`.
    #[code("DBIT")]
    Debit,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The payer of an item.
///
/// `Payer1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "Payer1Choice")]
#[non_exhaustive]
pub enum Payer {
    /// The element `Nm`.
    #[element("Nm")]
    Name(Text<20>),
    /// The element `Nb`.
    #[element("Nb")]
    Number(Digits<3, 6>),
    /// The element `Line`.
    #[element("Line")]
    Lines(Vec<Text<10>>),
    /// None of the alternatives of the schema; the extras of the parent hold what the document has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// A place.
///
/// `Place1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Place1", rule = count_places)]
#[non_exhaustive]
pub struct Place {
    /// The name. `Nm`, mandatory in the schema; optional in tolerant reading.
    #[element("Nm", soft)]
    pub name: Option<Text<10>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// One movement.
///
/// `Item1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1", rule = notes)]
#[non_exhaustive]
pub struct Item {
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The direction as seen from the account. `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Direction,
    /// The time at which the movement was made. `DtTm`.
    #[element("DtTm")]
    pub at: Option<IsoDateTime>,
    /// The payer. `Pyr`.
    #[element("Pyr")]
    pub payer: Option<Payer>,
    /// The purposes of the payment. `Note`, at most 3.
    #[element("Note", max = 3)]
    pub notes: Vec<Text<10>>,
    /// The place where the movement was made. `Plc`.
    #[element("Plc")]
    pub place: Option<Box<Place>>,
    /// The bank of the payer. `Bic`.
    #[element("Bic")]
    pub bank: Option<Bic>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The movements of one day.
///
/// `Day1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Day1", rule = places)]
#[non_exhaustive]
pub struct Day {
    /// The sender's name of the day. `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The country of the day. `Ctry`.
    #[element("Ctry")]
    pub country: Option<CountryCode>,
    /// The movements in order. `Itm`.
    #[element("Itm")]
    pub items: Vec<Item>,
    /// Supplementary data of any kind. `Data`.
    #[element("Data")]
    pub data: Option<Envelope>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The sender of the message.
///
/// `Header1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Header1")]
#[non_exhaustive]
pub struct Header {
    /// The sender's identification of the message. `MsgId`.
    #[element("MsgId")]
    pub id: Text<35>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A whole message.
///
/// `DayBookV01` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element, Message)]
#[element(type = "DayBookV01")]
#[message(namespace = "urn:example:daybook", root = "DayBook", depth = 6)]
#[message(header = header, groups = days, unit = Item, unit_name = "Itm")]
#[non_exhaustive]
pub struct Document {
    /// The header, which comes first. `Hdr`, mandatory in the schema; optional in tolerant reading.
    #[element("Hdr", soft)]
    pub header: Option<Header>,
    /// The days, one or more. `Day`.
    #[element("Day", min = 1)]
    pub days: Vec<Day>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Reads item after item.
pub type ItemReader<R> = UnitReader<Document, R>;

/// A part of a document that [`ItemReader`] has read.
pub type StreamItem = bankrail_iso20022::StreamItem<Document>;

pub(crate) const ITEM: &str = "<Itm><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Itm>";

/// Returns a document with this content in its one day.
pub(crate) fn document(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Document xmlns=\"urn:example:daybook\"><DayBook><Hdr>\
         <MsgId>m</MsgId></Hdr><Day><Id>d</Id>{content}</Day></DayBook></Document>"
    )
}

/// The number of places that the document has had so far.
#[derive(Default)]
struct Places(usize);

fn count_places(_: &Place, by: &mut dyn Watch) {
    if let Some(memory) = by.memory() {
        memory.get::<Places>().0 += 1;
    }
}

/// A day has at most two places.
fn places(_: &Day, by: &mut dyn Watch) {
    let count = by
        .memory()
        .map_or(0, |memory| std::mem::take(memory.get::<Places>()).0);
    if count > 2 {
        by.report(FindingKind::BrokenRule(BrokenRule::new("Places", count)));
    }
}

/// A note that reads "odd" breaks a rule.
fn notes(item: &Item, by: &mut dyn Watch) {
    if item.notes.iter().any(|note| note == "odd") {
        by.report(FindingKind::BrokenRule(BrokenRule::new(
            "Odd",
            "an odd note",
        )));
    }
}
