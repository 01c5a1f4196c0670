//! Invented documents: anything that the schema accepts.

use arbitrary::{Arbitrary, Unstructured};
use bankrail_camt052::{
    CardTransaction, CardTransactionDetails, Document, Entry, IndividualCardTransaction, Mode,
    ReadOptions, Remittance, Report, StructuredRemittance, Transaction,
};

/// Bytes made from a number, always the same.
pub(crate) fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
    .take(length)
    .collect()
}

/// Returns a document made from bytes.
pub(crate) fn invented(bytes: &[u8]) -> Document {
    Document::arbitrary(&mut Unstructured::new(bytes)).unwrap()
}

/// Returns a small or middling document made from a number.
pub(crate) fn numbered(seed: u64) -> Document {
    invented(&bytes(seed, 200 + usize::try_from(seed % 7).unwrap() * 150))
}

/// Reading that refuses what the schema refuses.
pub(crate) fn strict() -> ReadOptions {
    ReadOptions::default().mode(Mode::Strict)
}

/// Returns a document whose one transaction has every large part, each made from bytes of its own.
pub(crate) fn full(seed: u64) -> Document {
    let mut parts = 0;
    let mut more = || {
        parts += 1;
        bytes(seed * 100 + parts, 2_000)
    };
    macro_rules! invent {
        () => {
            Arbitrary::arbitrary(&mut Unstructured::new(&more())).unwrap()
        };
    }
    let mut document: Document = invent!();
    let mut report: Report = invent!();
    let mut entry: Entry = invent!();
    let mut transaction: Transaction = invent!();
    let mut remittance: Remittance = invent!();
    let mut structured: StructuredRemittance = invent!();
    let mut card: CardTransaction = invent!();
    structured.garnishment = Some(Box::new(invent!()));
    structured.tax = Some(Box::new(invent!()));
    structured.documents.push(invent!());
    remittance.structured.push(structured);
    card.details = Some(match seed % 2 {
        0 => {
            let mut single: IndividualCardTransaction = invent!();
            single.product = Some(invent!());
            CardTransactionDetails::Individual(Box::new(single))
        }
        _ => CardTransactionDetails::Aggregated(Box::new(invent!())),
    });
    card.point_of_interaction = Some(Box::new(invent!()));
    transaction.card = Some(Box::new(card));
    transaction.remittance = Some(remittance);
    transaction.tax = Some(Box::new(invent!()));
    transaction.instrument = Some(Box::new(invent!()));
    transaction.quantities.push(invent!());
    transaction.price = Some(Box::new(invent!()));
    transaction.agents = Some(Box::new(invent!()));
    transaction.parties = Some(Box::new(invent!()));
    transaction.interest = vec![invent!()];
    entry.card = Some(Box::new(invent!()));
    entry.details = vec![invent!()];
    entry.details[0].transactions = vec![transaction];
    report.entries = vec![entry];
    report.summary = Some(Box::new(invent!()));
    document.reports.push(report);
    document
}
