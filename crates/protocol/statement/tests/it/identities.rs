//! Tests of each hashed part of an entry. The hashes must not change, because stores keep them over
//! versions.

use crate::support::{entry, entry_xml, plain};
use bankrail_camt052::Entry;
use bankrail_statement::{EntryIdentity, EntryKey, EntryLinks};
use sha2::{Digest, Sha256};

/// The hashed form of the number of following parts.
const ONE: Option<&str> = Some("\0\0\0\0\0\0\0\u{1}");
const TWO: Option<&str> = Some("\0\0\0\0\0\0\0\u{2}");
const NOT_REVERSED: Option<&str> = Some("\0");

/// Returns the hash of parts: each is a one, its length and its bytes, or a zero if it is absent.
fn hash(parts: &[Option<&str>]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [Some("bankrail entry 1")].iter().chain(parts) {
        match part {
            Some(text) => {
                hash.update([1]);
                hash.update((text.len() as u64).to_be_bytes());
                hash.update(text);
            }
            None => hash.update([0]),
        }
    }
    hash.finalize().into()
}

/// Returns the first half of the hash.
fn link(parts: &[Option<&str>]) -> u128 {
    u128::from_be_bytes(*hash(parts).first_chunk().unwrap())
}

/// Returns an entry with all hashed parts except a reference of the bank.
fn whole() -> String {
    let references = "<Refs><MsgId>r1</MsgId><PmtInfId>r3</PmtInfId><InstrId>r4</InstrId><EndToEndId>r5</EndToEndId>\
        <TxId>r6</TxId><MndtId>r7</MndtId><ChqNb>r8</ChqNb><ClrSysRef>r9</ClrSysRef><AcctOwnrTxId>r10</AcctOwnrTxId>\
        <AcctSvcrTxId>r11</AcctSvcrTxId><MktInfrstrctrTxId>r12</MktInfrstrctrTxId><PrcgId>r13</PrcgId>\
        <Prtry><Tp>t</Tp><Ref>r14</Ref></Prtry></Refs>";
    let rest = "<BkTxCd><Prtry><Cd>c</Cd><Issr>i</Issr></Prtry></BkTxCd><RltdPties><Dbtr><Nm>D</Nm></Dbtr><DbtrAcct>\
        <Id><IBAN>GB33BUKB20201555555555</IBAN></Id></DbtrAcct><UltmtDbtr><Nm>UD</Nm></UltmtDbtr><Cdtr><Nm>C</Nm>\
        </Cdtr><CdtrAcct><Id><Othr><Id>006430991</Id><Issr>010201</Issr></Othr></Id></CdtrAcct><UltmtCdtr><Nm>UC</Nm>\
        </UltmtCdtr></RltdPties><RmtInf><Ustrd>te</Ustrd><Ustrd>xt</Ustrd><Strd><RfrdDocInf><Nb>n</Nb></RfrdDocInf>\
        <CdtrRefInf><Ref>RF18</Ref></CdtrRefInf><AddtlRmtInf>a</AddtlRmtInf></Strd><Strd/></RmtInf>\
        <AddtlTxInf>at</AddtlTxInf>";
    let dates = "<ValDt><DtTm>2021-07-30T01:02:03.5</DtTm></ValDt>";
    entry_xml("10.50", "<Dt>2021-07-29</Dt>", references, rest, dates)
        .replace(
            "<NtryDtls>",
            "<NtryDtls><Btch><MsgId>b1</MsgId><PmtInfId>b2</PmtInfId></Btch>",
        )
        .replace("</NtryDtls>", "</NtryDtls><AddtlNtryInf>ae</AddtlNtryInf>")
}

/// The hashed parts that entries with and without a reference have in common.
const COMMON: [Option<&str>; 6] = [
    Some("10.5"),
    Some("AUD"),
    Some("CRDT"),
    Some("BOOK"),
    NOT_REVERSED,
    Some("2021-07-29"),
];

#[test]
fn the_identity_of_an_entry_without_a_reference_is_the_hash_of_its_content() {
    let some = |texts: &[&'static str]| texts.iter().copied().map(Some).collect::<Vec<_>>();
    let expected = [
        some(&["content"]),
        COMMON.to_vec(),
        some(&["2021-07-30T01:02:03.500000000", "PMNT", "RCDT", "DMCT"]),
        vec![None, None, Some("ae"), ONE, Some("b1"), Some("b2"), ONE],
        some(&["10.5", "AUD", "CRDT", "r1"]),
        vec![None],
        some(&[
            "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13",
        ]),
        vec![ONE, Some("t"), Some("r14")],
        vec![None, None, None, Some("c"), Some("i")],
        vec![Some("D"), Some("GB33BUKB20201555555555"), None, Some("UD")],
        some(&["C", "006430991", "010201", "UC", "text"]),
        vec![TWO, Some("RF18"), Some("n"), Some("a"), None, Some("at")],
    ];
    let day = Some("2021-07-29".parse().unwrap());
    let expected = EntryIdentity::by_content(EntryKey::from(hash(&expected.concat())), day);
    assert_eq!(EntryIdentity::of(&entry(whole())), expected);
}

/// Returns the entry of [`whole`] with a reference of the bank.
fn with_reference() -> Entry {
    entry(whole().replace("<PmtInfId>r3", "<AcctSvcrRef>r2</AcctSvcrRef><PmtInfId>r3"))
}

#[test]
fn the_identity_of_an_entry_with_a_reference_is_the_hash_of_it() {
    let parts = [&[Some("reference")], &COMMON[..], &[Some("r2")]].concat();
    let day = Some("2021-07-29".parse().unwrap());
    let expected = EntryIdentity::by_reference(EntryKey::from(hash(&parts)), day);
    assert_eq!(EntryIdentity::of(&with_reference()), expected);
}

/// Returns the public links.
fn public(links: EntryLinks) -> (bool, u128, Option<u128>, Option<u128>) {
    (links.booked, links.amount, links.reference, links.payment)
}

#[test]
fn the_links_of_an_entry_are_hashes_of_amount_reference_and_what_the_payer_said() {
    let amount = [Some("10.5"), Some("AUD")];
    let start = |kind: &'static str| vec![Some(kind), Some("CRDT"), NOT_REVERSED];
    let said = [
        "r5",
        "r7",
        "r8",
        "D",
        "GB33BUKB20201555555555",
        "C",
        "006430991",
        "text",
    ]
    .map(Some);
    let mut expected = EntryLinks::new(link(&[start("amount"), amount.to_vec()].concat()));
    expected.reference = Some(link(&[start("reference"), vec![Some("r2")]].concat()));
    expected.payment = Some(link(
        &[start("payment"), amount.to_vec(), said.to_vec()].concat(),
    ));
    assert!(expected.booked);
    assert_eq!(public(EntryLinks::of(&with_reference())), public(expected));
    // A part that the payer left out is absent, and so is the link if all parts are.
    let only_text = link(
        &[
            start("payment"),
            amount.to_vec(),
            vec![None; 7],
            vec![Some("x")],
        ]
        .concat(),
    );
    (expected.reference, expected.payment) = (None, Some(only_text));
    let found = |text: &str, references: &str| {
        let remittance = format!("<RmtInf>{text}</RmtInf>");
        EntryLinks::of(&entry(entry_xml(
            "10.50",
            "<Dt>2021-07-29</Dt>",
            references,
            &remittance,
            "",
        )))
    };
    let not_provided = ["NOTPROVIDED", "notprovided"]
        .map(|id| format!("<Refs><EndToEndId>{id}</EndToEndId></Refs>"));
    for references in [String::new()].iter().chain(&not_provided) {
        assert_eq!(
            public(found("<Ustrd>x</Ustrd>", references)),
            public(expected),
            "{references}"
        );
        assert_eq!(found("", references).payment, None, "{references}");
    }
    let pending = EntryLinks::of(&entry(plain("10.50", "x").replace("BOOK", "PDNG")));
    expected.booked = false;
    assert_eq!(public(pending), public(expected));
}
