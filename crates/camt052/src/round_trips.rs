//! Whatever the schema accepts survives writing and reading, in every form.

use crate::{
    CardTransaction, CardTransactionDetails, Document, Entry, EntryReader, Mode, ReadOptions, Remittance, Report,
    StreamItem, StructuredRemittance, Transaction, WriteOptions,
};
use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Octets out of a number, always the same.
pub(crate) fn octets(seed: u64, length: usize) -> Vec<u8> {
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

pub(crate) fn invented(octets: &[u8]) -> Document {
    Document::arbitrary(&mut Unstructured::new(octets)).unwrap()
}

fn strict() -> ReadOptions {
    ReadOptions { mode: Mode::Strict, ..ReadOptions::default() }
}

fn assert_round_trips(document: &Document) {
    assert_eq!(document.check(), []);
    let xml = document.to_xml().unwrap();
    let parsed = Document::parse_with(&xml, &strict()).unwrap_or_else(|error| panic!("{error:?}\n{xml}"));
    assert_eq!(&parsed.document, document);
    let indented = document.to_xml_with(WriteOptions { indent: Some(1), schema_valid: true }).unwrap();
    assert_eq!(&Document::parse_with(&indented, &strict()).unwrap().document, document);
    let utf16: Vec<u8> = xml.replace("UTF-8", "UTF-16").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(&Document::parse_with(&utf16, &strict()).unwrap().document, document);
    let mut json = String::new();
    document.write_json_string(&mut json).unwrap();
    assert_eq!(serde_json::from_str::<String>(&json).unwrap(), xml);
    let tree = roxmltree::Document::parse(&xml).unwrap();
    let entries =
        EntryReader::new(xml.as_bytes()).filter(|item| matches!(item.as_ref().unwrap(), StreamItem::Entry(_))).count();
    assert_eq!(tree.descendants().filter(|node| node.has_tag_name("Ntry")).count(), entries);
    #[cfg(feature = "serde")]
    {
        let json = serde_json::to_string(document).unwrap();
        assert_eq!(&serde_json::from_str::<Document>(&json).unwrap(), document);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_document_round_trips(octets in proptest::collection::vec(any::<u8>(), 0..3000)) {
        assert_round_trips(&invented(&octets));
    }
}

/// A document whose one transaction has every large part, each out of octets of its own.
fn full(seed: u64) -> Document {
    let mut parts = 0;
    let mut more = || {
        parts += 1;
        octets(seed * 100 + parts, 2_000)
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
        0 => CardTransactionDetails::Individual(Box::new(invent!())),
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
    transaction.interest = Some(Box::new(invent!()));
    entry.card = Some(Box::new(invent!()));
    entry.details = vec![invent!()];
    entry.details[0].transactions = vec![transaction];
    report.entries = vec![entry];
    report.summary = Some(Box::new(invent!()));
    document.reports.push(report);
    document
}

#[test]
fn every_element_of_the_schema_round_trips() {
    let mut names = BTreeSet::new();
    for seed in 0..100 {
        let document = full(seed);
        if seed < 4 {
            assert_round_trips(&document);
        }
        let xml = document.to_xml().unwrap();
        let parsed = Document::parse_with(&xml, &strict()).unwrap_or_else(|error| panic!("{error:?}\n{xml}"));
        assert_eq!(parsed.document, document);
        names.extend(xml.split('<').filter_map(|tag| {
            let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
            (name.len() > 1).then_some(name)
        }));
        if names.len() >= ELEMENT_NAMES && seed >= 4 {
            return;
        }
    }
    panic!("{} of {ELEMENT_NAMES} element names: {names:?}", names.len());
}

/// The element names of the schema.
const ELEMENT_NAMES: usize = 341;
