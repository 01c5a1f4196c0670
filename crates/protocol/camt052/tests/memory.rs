//! Under the default limits, no document takes more memory than 320 KiB plus 20 times its size,
//! whether it is read whole or part by part; a short document is not refused for its memory.
//!
//! This test is a separate program, because its allocator counts. A list that grows is counted
//! twice while it is moved, as if no list ever grew in its place.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use bankrail_camt052::{Document, EntryReader, LimitKind, ReadError, ReadErrorKind, ReadOptions};
use peak_alloc::PeakAlloc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes of memory for a document of any size, and for each byte of it.
const BASE: usize = 320 * 1024;
const EACH: usize = 20;
/// Bytes of what is repeated in each document, about. Several, because how full a list is depends
/// on how long it is.
const SIZES: [usize; 7] = [0, 400, 1_000, 12_000, 60_000, 230_000, 300_000];
/// The length in bytes up to which no document is refused for its memory, even if it consists of
/// unknown elements.
const SHORT: usize = 1_100;
static SIZE: AtomicUsize = AtomicUsize::new(0);

fn size() -> usize {
    SIZE.load(Ordering::Relaxed)
}

const AMOUNT: &str = "<Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>";

fn around(before: &str, repeated: &str, after: &str) -> String {
    let report = "<GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>\
        <Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm>";
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"><BkToCstmrAcctRpt>{report}{before}{}{after}\
         </Rpt></BkToCstmrAcctRpt></Document>",
        repeated.repeat(size().checked_div(repeated.len()).unwrap_or(0))
    )
}

const ACCOUNT: &str = "<Acct><Id><Othr><Id>1</Id></Othr></Id><Ccy>AUD</Ccy></Acct>";

/// Returns a document with a text in a report, after its account.
fn in_report(repeated: &str) -> String {
    around(ACCOUNT, repeated, "")
}

fn entry(more: &str) -> String {
    format!("<Ntry>{AMOUNT}<Sts>BOOK</Sts><BkTxCd/>{more}</Ntry>")
}

/// Returns a document with a text in an element of an entry.
fn in_entry(open: &str, repeated: &str, close: &str) -> String {
    let before = format!("{ACCOUNT}<Ntry>{AMOUNT}<Sts>BOOK</Sts><BkTxCd/>{open}");
    around(&before, repeated, &format!("{close}</Ntry>"))
}

/// Returns a document with a text in an element of a transaction.
fn in_transaction(open: &str, repeated: &str, close: &str) -> String {
    in_entry(
        &format!("<NtryDtls><TxDtls>{AMOUNT}{open}"),
        repeated,
        &format!("{close}</TxDtls></NtryDtls>"),
    )
}

fn declarations(count: usize, value: &str) -> String {
    (0..count)
        .map(|number| format!(" xmlns:p{number}=\"{value}\""))
        .collect()
}

fn shapes() -> Vec<(&'static str, String)> {
    let transaction = format!("<TxDtls>{AMOUNT}</TxDtls>");
    let deep = |inner: &str, levels: usize| {
        format!("{}{inner}{}", "<x>".repeat(levels), "</x>".repeat(levels))
    };
    let long = format!("<Document xmlns:l=\"{}\"", "u".repeat(10_000));
    let total = "<TtlNtriesPerBkTxCd><BkTxCd/></TtlNtriesPerBkTxCd>";
    let balance = "<Bal><Tp><CdOrPrtry><Cd>ITBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">1.00</Amt>\
        <CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal>";
    let supplement = |held: &str| format!("<SplmtryData><Envlp>{held}</Envlp></SplmtryData>");
    let nested = (0..60)
        .map(|_| format!("<x{}>", declarations(250, "u")))
        .collect::<String>()
        + &"</x>".repeat(60);
    vec![
        // Of these, the schema accepts the first ones.
        ("entries", in_report(&entry(""))),
        (
            "entries under a prefix",
            in_report(&entry(""))
                .replace('<', "<c:")
                .replace("<c:/", "</c:")
                .replace("xmlns", "xmlns:c"),
        ),
        (
            "indented entries",
            in_report(&entry("").replace("><", ">\n        <")),
        ),
        (
            "entries with a narrative",
            in_report(&entry(
                "<AddtlNtryInf>a narrative of an entry</AddtlNtryInf>",
            )),
        ),
        (
            "one entry of many transactions",
            in_entry("<NtryDtls>", &transaction, "</NtryDtls>"),
        ),
        (
            "one entry of many details",
            in_entry("", &format!("<NtryDtls>{transaction}</NtryDtls>"), ""),
        ),
        ("empty details", in_entry("", "<NtryDtls/>", "")),
        ("balances", in_report(balance)),
        (
            "records of tax",
            in_transaction("<Tax>", "<Rcrd/>", "</Tax>"),
        ),
        (
            "records of remitted tax",
            in_transaction(
                "<RmtInf><Strd><TaxRmt>",
                "<Rcrd/>",
                "</TaxRmt></Strd></RmtInf>",
            ),
        ),
        ("interest of the account", in_report("<Intrst/>")),
        ("interest with tax", in_report("<Intrst><Tax/></Intrst>")),
        (
            "structured remittance",
            in_transaction("<RmtInf>", "<Strd/>", "</RmtInf>"),
        ),
        (
            "remittance in pieces",
            in_transaction("<RmtInf>", "<Ustrd>a</Ustrd>", "</RmtInf>"),
        ),
        (
            "documents",
            in_transaction("<RmtInf><Strd>", "<RfrdDocInf/>", "</Strd></RmtInf>"),
        ),
        (
            "totals of one code",
            around(&format!("{ACCOUNT}<TxsSummry>"), total, "</TxsSummry>"),
        ),
        (
            "charges",
            in_entry(
                "<Chrgs>",
                "<Rcrd><Amt Ccy=\"AUD\">1</Amt></Rcrd>",
                "</Chrgs>",
            ),
        ),
        (
            "supplementary data",
            in_transaction("", &supplement("<x/>"), ""),
        ),
        (
            "supplementary data with a prefix",
            in_transaction("", &supplement("<l:x/>"), "").replace("<Document", &long),
        ),
        (
            "one envelope",
            in_transaction(
                &supplement(&format!("<y>{}</y>", "<x/>".repeat(size() / 4))),
                "",
                "",
            ),
        ),
        (
            "reports",
            in_report(&format!("</Rpt><Rpt><Id>r</Id>{ACCOUNT}")),
        ),
        // The schema refuses these, and tolerant reading does not.
        (
            "unknown elements in an identification",
            around("<Acct><Id><Othr><Id>1</Id></Othr>", "<x/>", "</Id></Acct>"),
        ),
        ("unknown elements in a report", in_report("<x/>")),
        (
            "unknown elements in a message",
            in_report("<x/>").replace("<x/></Rpt>", "<x/></Rpt><x/>"),
        ),
        ("unknown elements in an entry", in_entry("", "<x/>", "")),
        (
            "an unknown element in each entry",
            in_report(&entry("<x/>")),
        ),
        (
            "unknown elements deep in a transaction",
            in_transaction("<Tax><Cdtr>", "<x/>", "</Cdtr></Tax>"),
        ),
        (
            "unknown elements in a text",
            in_entry("<AddtlNtryInf>", "<x/>", "</AddtlNtryInf>"),
        ),
        ("unknown text", in_report("<!---->x<x/>")),
        (
            "unknown attributes",
            in_report(&entry("").replace("<Sts>", "<Sts a='' b='' c='' d=''>")),
        ),
        (
            "one unknown element",
            in_report("").replace(
                "</Rpt>",
                &format!("<x>{}</x></Rpt>", "<y/>".repeat(size() / 4)),
            ),
        ),
        ("deep unknown elements", in_report(&deep("", 40))),
        ("names with colons", in_report("<x>a:b:c:d:e:</x>")),
        (
            "a long namespace taken along",
            in_report("<l:x/>").replace("<Document", &long),
        ),
        (
            "a long namespace taken along by attributes",
            in_report(&entry("").replace("<Sts>", "<Sts l:a=''>")).replace("<Document", &long),
        ),
        (
            "many declarations",
            in_report("").replace("</Rpt>", &format!("{nested}</Rpt>")),
        ),
        (
            "many declarations used",
            in_report(&format!("<x{}/>", declarations(200, "u"))),
        ),
        (
            "second choices",
            in_report(&entry(
                "<BookgDt><Dt>2021-07-29</Dt><Dt>2021-07-29</Dt></BookgDt>",
            )),
        ),
        ("repeated elements", in_report("<TxsSummry/>")),
        (
            "elements out of order",
            in_report(&format!("{}<CpyDplctInd>COPY</CpyDplctInd>", entry(""))),
        ),
        ("unknown codes", in_report(&entry("").replace("BOOK", "A"))),
        (
            "empty texts",
            in_transaction("<RmtInf>", "<Ustrd/>", "</RmtInf>"),
        ),
        (
            "amounts without currency",
            in_report(&entry("").replace(" Ccy=\"AUD\"", "")),
        ),
        (
            "empty transactions",
            in_entry("", "<NtryDtls><TxDtls/></NtryDtls>", ""),
        ),
        ("blanks", in_report(" <!---->")),
        (
            "references",
            in_transaction("<AddtlTxInf>", "&#9;", "</AddtlTxInf>"),
        ),
        (
            "a malformed end",
            in_report(&entry("")).replace("</Rpt>", "</Rp"),
        ),
        ("empty balances", in_report("<Bal/>")),
        (
            "entries that cannot be read",
            in_report(&entry("").replace("5.00", "five")),
        ),
        ("comments in an entry", in_entry("", "<!---->", "")),
    ]
}

/// Returns the documents as bytes, some of them in an encoding whose letters are longer in memory.
fn documents() -> Vec<(&'static str, Vec<u8>)> {
    let mut documents: Vec<(&str, Vec<u8>)> = shapes()
        .into_iter()
        .map(|(name, xml)| (name, xml.into_bytes()))
        .collect();
    let declared =
        |encoding: &str, xml: &str| format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>{xml}");
    let accents = |xml: String| {
        xml.chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect()
    };
    let tax = in_transaction("<Tax>", "<Rcrd/><!--ééééééé-->", "</Tax>");
    documents.push((
        "records of tax in ISO-8859-1",
        accents(declared("ISO-8859-1", &tax)),
    ));
    let text = in_report(&entry(
        "<AddtlNtryInf>ééééééééééééééééééééééééééééééééé</AddtlNtryInf>",
    ));
    documents.push((
        "texts in ISO-8859-1",
        accents(declared("ISO-8859-1", &text)),
    ));
    let wide = declared(
        "UTF-16",
        &in_report(&entry(
            "<AddtlNtryInf>語語語語語語語語語語語語</AddtlNtryInf>",
        )),
    );
    let marked = std::iter::once(0xFEFF).chain(wide.encode_utf16());
    documents.push((
        "entries in UTF-16",
        marked.flat_map(u16::to_le_bytes).collect(),
    ));
    documents
}

/// Documents that the default limits must not refuse.
const GOOD: [&str; 13] = [
    "entries",
    "entries under a prefix",
    "indented entries",
    "entries with a narrative",
    "one entry of many transactions",
    "one entry of many details",
    "balances",
    "remittance in pieces",
    "second choices",
    "unknown codes",
    "blanks",
    "texts in ISO-8859-1",
    "entries in UTF-16",
];

/// A way of reading.
type Read = fn(&[u8]) -> Outcome;

/// The result of reading: success, the limit that refused the document, or `None` for another
/// error.
type Outcome = Result<(), Option<LimitKind>>;

fn outcome<T>(read: Result<T, ReadError>) -> Outcome {
    read.map(drop).map_err(|error| match error.kind() {
        ReadErrorKind::Limit { limit, .. } => Some(*limit),
        _ => None,
    })
}

fn whole(bytes: &[u8]) -> Outcome {
    outcome(Document::parse(bytes))
}

fn from_source(bytes: &[u8]) -> Outcome {
    outcome(Document::read_with(bytes, &ReadOptions::default()))
}

/// Returns the parts are dropped as they come, findings and all.
fn in_parts(bytes: &[u8]) -> Outcome {
    let mut reader = EntryReader::new(bytes, ReadOptions::default());
    loop {
        let part = reader.next_item();
        reader.take_findings();
        match part {
            Ok(Some(_)) => {}
            Err(error) if error.unread().is_some() => {}
            ended => return outcome(ended),
        }
    }
}

#[test]
fn no_document_costs_more_than_the_base_and_twenty_times_its_size() {
    let mut wrong = Vec::new();
    let documents = SIZES.into_iter().flat_map(|size| {
        SIZE.store(size, Ordering::Relaxed);
        documents()
    });
    let (mut count, mut greatest) = (0, 0);
    for (name, bytes) in documents {
        count += 1;
        let readers: [(&str, Read); 3] = [
            ("whole", whole),
            ("from a source", from_source),
            ("in parts", in_parts),
        ];
        for (how, read) in readers {
            let before = ALLOCATOR.current_usage();
            ALLOCATOR.reset_peak_usage();
            let outcome = read(&bytes);
            let peak = ALLOCATOR.peak_usage() - before;
            let beyond = peak.saturating_sub(EACH * bytes.len());
            greatest = greatest.max(beyond);
            println!(
                "{peak:8} {beyond:7} {name}, {how}, {} bytes: {outcome:?}",
                bytes.len()
            );
            let refused = matches!(outcome, Err(Some(_))) && bytes.len() <= SHORT;
            if beyond > BASE || refused || (GOOD.contains(&name) && outcome.is_err()) {
                wrong.push(format!(
                    "{peak} {beyond} {name}, {how}, {} bytes: {outcome:?}",
                    bytes.len()
                ));
            }
        }
    }
    assert!(count > 350, "{count}");
    // The base is what is needed, and not much more.
    assert!(greatest > BASE / 2, "{greatest}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
