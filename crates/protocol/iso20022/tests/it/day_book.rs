//! An invented message of some ten elements, through which the engine is seen without any message
//! of a bank.

use bankrail_iso20022::__private::Watch;
use bankrail_iso20022::{
    Amount, Bic, BrokenRule, CountryCode, DateTime, Digits, Envelope, FindingKind, Text, choice,
    codes, message, record,
};

codes! {
    /// Whether an amount is a credit or a debit.
    Direction = "CreditDebitCode" { Credit = "CRDT", Debit = "DBIT" }
}

choice! {
    /// Who paid.
    Payer = "Payer1Choice" {
        Name(Text<20>) = "Nm",
        Number(Digits<3, 6>) = "Nb",
        Lines(Vec<Text<10>>) = "Line",
    }
}

record! {
    /// A place.
    Place = "Place1" {
        /// Its name.
        name: 1..1 ~Text<10> = "Nm",
    } => count_places

    /// One movement.
    Item = "Item1" {
        /// Without a sign.
        amount: 1..1 Amount = "Amt",
        /// As seen from the account.
        direction: 1..1 Direction = "CdtDbtInd",
        /// When it was made.
        at: 0..1 DateTime = "DtTm",
        /// Who paid.
        payer: 0..1 Payer = "Pyr",
        /// What it was for.
        notes: 0..3 Text<10> = "Note",
        /// Where it was made.
        place: 0..1 Box<Place> = "Plc",
        /// Of the payer.
        bank: 0..1 Bic = "Bic",
    } => notes

    /// The movements of one day.
    Day = "Day1" {
        /// What the sender calls the day.
        id: 1..1 Text<35> = "Id",
        /// Where.
        country: 0..1 CountryCode = "Ctry",
        /// In order.
        items: 0..* Item = "Itm",
        /// Anything.
        data: 0..1 Envelope = "Data",
    } => places

    /// Who sent the message.
    Header = "Header1" {
        /// The sender's identification of the message.
        id: 1..1 Text<35> = "MsgId",
    }
}

message! {
    /// A whole message.
    Document = "DayBookV01" {
        /// Comes first.
        header: 1..1 ~Header = "Hdr",
        /// One or more.
        days: 1..* Day = "Day",
    }
    namespace: "urn:example:daybook",
    root: "DayBook",
    depth: 6,
    header: header Header,
    groups: Day = "Day",
    units: Item = "Itm",
    /// Reads item after item.
    stream: ItemReader of StreamItem { DayStart, Item, DayEnd },
}

pub(crate) const ITEM: &str = "<Itm><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Itm>";

/// A document with this content in its one day.
pub(crate) fn document(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Document xmlns=\"urn:example:daybook\"><DayBook><Hdr>\
         <MsgId>m</MsgId></Hdr><Day><Id>d</Id>{content}</Day></DayBook></Document>"
    )
}

/// How many places the document has had so far.
#[derive(Default)]
struct Places(usize);

fn count_places(_: &Place, by: &mut impl Watch) {
    if let Some(memory) = by.memory() {
        memory.get::<Places>().0 += 1;
    }
}

/// A day has at most two places.
fn places(_: &Day, by: &mut impl Watch) {
    let count = by
        .memory()
        .map_or(0, |memory| std::mem::take(memory.get::<Places>()).0);
    if count > 2 {
        by.report(FindingKind::BrokenRule(BrokenRule::new("Places", count)));
    }
}

/// No note says that it is odd.
fn notes(item: &Item, by: &mut impl Watch) {
    if item.notes.iter().any(|note| note == "odd") {
        by.report(FindingKind::BrokenRule(BrokenRule::new(
            "Odd",
            "an odd note",
        )));
    }
}
