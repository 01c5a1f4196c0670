//! The fast reader and the reader over events give the same result.

use arbitrary::{Arbitrary, Unstructured};
use bankrail_camt052::{Document, Finding, ReadLimits, ReadOptions, WriteOptions};
use bankrail_iso20022::__private::{parse_counting, read_counting};
use proptest::prelude::*;
use std::io::BufReader;

/// The reader does not wait for an element whose end is further away than this many bytes.
const AHEAD: usize = 64 * 1024;

type Outcome = Result<(Document, Vec<Finding>), String>;

/// The result of reading a document, and how many elements the fast reader took and declined.
type Counted = (Outcome, usize, usize);

fn outcome(
    (read, taken, declined): (
        Result<bankrail_camt052::Parsed, bankrail_camt052::ReadError>,
        usize,
        usize,
    ),
) -> Counted {
    let outcome = read
        .map(|parsed| (parsed.document, parsed.findings))
        .map_err(|error| format!("{error:?}"));
    (outcome, taken, declined)
}

fn in_memory(xml: &str, options: ReadOptions, fast: bool) -> Counted {
    outcome(parse_counting(xml, &options, fast))
}

fn in_pieces(xml: &str, piece: usize, options: ReadOptions, fast: bool) -> Counted {
    outcome(read_counting(
        BufReader::with_capacity(piece, xml.as_bytes()),
        &options,
        fast,
    ))
}

/// Reads a text with and without the fast reader, and as a stream.
fn assert_same(xml: &str, options: ReadOptions) -> (usize, usize) {
    let (with, scanned, declined) = in_memory(xml, options, true);
    let (without, none, _) = in_memory(xml, options, false);
    assert_eq!(none, 0);
    assert_eq!(with, without, "{xml}");
    let (with, streamed, _) = in_pieces(xml, 1 << 20, options, true);
    assert_eq!(with, in_pieces(xml, 1 << 20, options, false).0, "{xml}");
    // The pieces are shorter than an element, and most contain either a whole tag or none.
    assert_eq!(
        in_pieces(xml, 61, options, true).0,
        in_pieces(xml, 61, options, false).0,
        "{xml}"
    );
    // An element that is complete in one piece of the source is scanned, too.
    if with.is_ok() && declined == 0 && xml.len() < 16_384 {
        assert_eq!(scanned, streamed, "{xml}");
    }
    (scanned, declined)
}

fn written(indent: Option<u8>) -> WriteOptions {
    WriteOptions::default().indent(indent).schema_valid(true)
}

fn invented(bytes: &[u8]) -> Document {
    Document::arbitrary(&mut Unstructured::new(bytes)).unwrap()
}

/// Replaces the text at a place, given by a number, by markup and values as written by hand.
pub(crate) fn mutated(xml: &str, place: usize, change: usize) -> String {
    const CHANGES: [&str; 28] = [
        "<",
        ">",
        "&",
        "&amp;",
        "&#65;",
        "&x;",
        "]]>",
        "<!-- c -->",
        "<!--<x>&-->",
        "<!-- -- -->",
        "<!--->",
        "-->",
        "<![CDATA[x]]>",
        "<?p i?>",
        " ",
        "\n\t",
        "\r\n",
        "x",
        "<x/>",
        "<Amt>1</Amt>",
        "<Nm>",
        "</Nm>",
        "\"",
        "'",
        " a=\"b\"",
        "0",
        "-",
        "👍",
    ];
    let mut start = place % xml.len();
    while !xml.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (start + change / CHANGES.len() % 3).min(xml.len());
    while !xml.is_char_boundary(end) {
        end += 1;
    }
    format!(
        "{}{}{}",
        &xml[..start],
        CHANGES[change % CHANGES.len()],
        &xml[end..]
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_readers_give_the_same(
        bytes in proptest::collection::vec(any::<u8>(), 0..1500),
        changes in proptest::collection::vec((any::<usize>(), any::<usize>()), 12),
        indent in proptest::option::of(0_u8..3),
    ) {
        let document = invented(&bytes);
        let xml = document.to_xml_with(&written(indent)).unwrap();
        assert_same(&xml, ReadOptions::default());
        for (place, change) in changes {
            assert_same(&mutated(&xml, place, change), ReadOptions::default());
        }
    }

    #[test]
    fn limits_hold_in_both_readers(bytes in proptest::collection::vec(any::<u8>(), 200..1500), limit in 1_usize..80) {
        let xml = invented(&bytes).to_xml().unwrap();
        let named = prefixed(&xml, limit);
        for which in 0..4 {
            let limits = ReadLimits::default();
            let options = ReadOptions::default().limits(match which {
                0 => limits.max_depth(limit % 20),
                1 => limits.max_entry_elements(limit),
                2 => limits.max_text_bytes(limit),
                _ => limits.max_token_bytes(limit * 4),
            });
            assert_same(&xml, options);
            assert_same(&named, options);
        }
    }
}

/// Returns the document with every element under the prefix `p`, which `root` declares beside other
/// namespaces.
fn prefixed(xml: &str, root: usize) -> String {
    const OURS: &str = "\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"";
    let others = [
        "",
        " xmlns=\"urn:x\"",
        " xmlns=OURS",
        " xmlns:q=OURS",
        " xmlns:q=\"urn:x\" xmlns:pp=OURS",
    ];
    let named = xml
        .replace("</", "\u{1}")
        .replace("<?", "\u{2}")
        .replace('<', "<p:");
    let named = named.replace('\u{1}', "</p:").replace('\u{2}', "<?");
    let others = others[root % others.len()].replace("OURS", OURS);
    named.replacen(
        &format!(" xmlns={OURS}"),
        &format!(" xmlns:p={OURS}{others}"),
        1,
    )
}

/// Uses another prefix, or binds one again, at one element.
fn rebound(xml: &str, place: usize, change: usize) -> String {
    let tags: Vec<usize> = xml.match_indices("<p:").map(|(at, _)| at).collect();
    if tags.is_empty() {
        return xml.to_owned();
    }
    let start = tags[place % tags.len()];
    let name = xml[start + 3..].split([' ', '>', '/']).next().unwrap();
    let end = xml[start..]
        .find(&format!("</p:{name}>"))
        .map_or(xml.len(), |end| start + end);
    let (before, tag, rest) = (
        &xml[..start],
        &xml[start + 3 + name.len()..end],
        &xml[end..],
    );
    let prefix = ["p:", "", "q:", "pp:", "x:"][change % 5];
    let ours = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06";
    let binding = match change / 5 % 8 {
        0 => format!(" xmlns:{}=\"{ours}\"", prefix.trim_end_matches(':'))
            .replace("xmlns:=", "xmlns="),
        1 => " xmlns:p=\"urn:x\"".to_owned(),
        2 => format!(" xmlns:q=\"{ours}\""),
        3 => " xmlns=\"\"".to_owned(),
        4 => format!(" xmlns:p=\"{ours}\""),
        _ => String::new(),
    };
    let rest = rest.replacen(&format!("</p:{name}"), &format!("</{prefix}{name}"), 1);
    format!("{before}<{prefix}{name}{binding}{tag}{rest}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_readers_give_the_same_under_prefixes(
        bytes in proptest::collection::vec(any::<u8>(), 0..1500),
        changes in proptest::collection::vec((any::<usize>(), any::<usize>()), 12),
        indent in proptest::option::of(0_u8..3),
        root in any::<usize>(),
    ) {
        let document = invented(&bytes);
        let xml = document.to_xml_with(&written(indent)).unwrap();
        let xml = prefixed(&xml, root);
        assert_same(&xml, ReadOptions::default());
        let mut both = xml.clone();
        for (place, change) in changes {
            assert_same(&mutated(&xml, place, change), ReadOptions::default());
            assert_same(&rebound(&xml, place, change), ReadOptions::default());
            both = rebound(&both, place, change);
            assert_same(&both, ReadOptions::default());
        }
    }
}

const ENTRY: &str =
    "<Ntry><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>";

fn report(entries: &str) -> String {
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"><BkToCstmrAcctRpt><GrpHdr><MsgId>m</MsgId>\
         <CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr><Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm>\
         <Acct><Id><Othr><Id>1</Id></Othr></Id><Ccy>AUD</Ccy></Acct>{entries}</Rpt></BkToCstmrAcctRpt></Document>"
    )
}

#[test]
fn the_fast_reader_takes_what_this_crate_writes() {
    let xml = report(&ENTRY.repeat(50));
    // The header, three parts of the report, the entries.
    const ALL: usize = 1 + 3 + 50;
    for (xml, form) in [
        (xml.clone(), "compact"),
        (xml.replace("><", ">\n  <"), "indented"),
    ] {
        assert_eq!(
            assert_same(&xml, ReadOptions::default()),
            (ALL, 0),
            "{form}"
        );
    }
    for root in 0..5 {
        let xml = prefixed(&xml, root);
        assert_eq!(
            assert_same(&xml, ReadOptions::default()),
            (ALL, 0),
            "{root}"
        );
        // An element without the prefix is read over events and does not affect its neighbours.
        // Where it is not unknown, two of its children are read fast.
        let read = if root == 2 { ALL - 1 + 2 } else { ALL - 1 };
        let mixed = xml
            .replacen("<p:Ntry>", "<Ntry>", 1)
            .replacen("</p:Ntry>", "</Ntry>", 1);
        assert_eq!(
            assert_same(&mixed, ReadOptions::default()).0,
            read,
            "{root}"
        );
    }
    let narrative =
        "<AddtlNtryInf>a &lt; b <![CDATA[&& ]] > c]]> &gt; d &#13;\r\n</AddtlNtryInf></Ntry>";
    let xml = report(&ENTRY.replace("</Ntry>", narrative).repeat(50));
    assert_eq!(assert_same(&xml, ReadOptions::default()), (ALL, 0));
    for odd in ["<![CDATA[BO]]>OK", "<!-- </p:Ntry> -->BOOK<!-- -->"] {
        let xml = prefixed(&report(&ENTRY.repeat(50)), 0)
            .replace("BOOK", odd)
            .replace("<p:Sts>", "<!-- - --><p:Sts>");
        assert_eq!(assert_same(&xml, ReadOptions::default()), (ALL, 0));
    }
}

#[test]
fn an_entry_that_ends_in_a_later_piece_is_waited_for() {
    let plain = report(&ENTRY.repeat(2_000));
    for xml in [plain.clone(), prefixed(&plain, 0)] {
        let (outcome, scanned, declined) = in_pieces(&xml, 1 << 20, ReadOptions::default(), true);
        assert!(outcome.is_ok());
        // An entry is declined only where a piece ends within its start tag.
        assert!(scanned > 1_995 && declined == 0, "{scanned} {declined}");
    }
    // An end in memory, however it is spelled, is not waited for.
    let odd = report(&ENTRY.repeat(2_000).replace("</Ntry>", "</Ntry >"));
    let (outcome, scanned, _) = in_pieces(&odd, 1 << 20, ReadOptions::default(), true);
    // Both children of each entry are scanned, except where a piece ends within a start tag.
    assert!(
        outcome.is_ok() && (4_000..=4 + 2 * 2_000).contains(&scanned),
        "{scanned}"
    );
    // The reader does not wait for an end that is too far away.
    let long = ENTRY.replace(
        "</Ntry>",
        &format!(
            "<AddtlNtryInf>{}</AddtlNtryInf></Ntry>",
            "x".repeat(2 * AHEAD)
        ),
    );
    let long = report(&(ENTRY.repeat(2) + &long + ENTRY));
    let (outcome, scanned, declined) = in_pieces(&long, 1 << 20, ReadOptions::default(), true);
    assert!(outcome.is_ok());
    // The fast reader takes all but the long entry and its narrative, which it declines, and two
    // other children of the long entry.
    assert_eq!((scanned, declined), (4 + 3 + 2, 2));
}

/// After two elements of a name in a row were declined, the fast reader tries only each sixteenth
/// until it takes one.
#[test]
fn elements_that_are_often_left_are_tried_now_and_then() {
    let odd = ENTRY.replace("<Sts>", "<Sts >");
    for left in [239, 240] {
        let xml = report(&(odd.repeat(left) + &ENTRY.repeat(100)));
        let (scanned, declined) = assert_same(&xml, ReadOptions::default());
        // Two odd entries and each sixteenth, of all of which a child is taken; then a plain one
        // after 15 at most.
        assert_eq!(declined, 2 + left / 16);
        assert!(scanned > 4 + left + (100 - 16), "{scanned}");
    }
}

#[test]
fn an_odd_entry_does_not_spoil_its_neighbours() {
    for (odd, declined) in [
        (ENTRY.replace("BOOK", "<![CDATA[BO]]>OK<![CDATA[]]>"), 0),
        (ENTRY.replace("BOOK", "MINE"), 2),
        (ENTRY.replace("AUD", "EUR"), 0),
        (ENTRY.replace("<Sts>", "<Sts a=\"b\">"), 1),
        (ENTRY.replace("<Sts>", "<!-- --> <!--x-y>--><Sts>"), 0),
        (ENTRY.replace("BOOK", "BO<!-- -->OK"), 0),
        (ENTRY.replace("<Sts>", "<?p i?><Sts>"), 1),
        (ENTRY.replace("<Sts>", "<Sts >"), 1),
        (
            ENTRY
                .replace("<Sts>BOOK</Sts>", "")
                .replace("<Amt", "<Sts>BOOK</Sts><Amt"),
            1,
        ),
        (
            ENTRY
                .replace("Ntry>", "x:Ntry>")
                .replace("<x:Ntry", "<x:Ntry xmlns:x=\"urn:x\""),
            0,
        ),
    ] {
        let xml = report(&format!("{}{odd}{}", ENTRY.repeat(10), ENTRY.repeat(10)));
        let (scanned, found) = assert_same(&xml, ReadOptions::default());
        assert_eq!(found, declined, "{odd}");
        assert!(scanned >= 24, "{scanned} {odd}");
    }
}

/// Values that the schema accepts, replaced by ones whose check digits or country are wrong.
fn doubtful(xml: &str) -> String {
    xml.replace("DE89", "DE88")
        .replace("GB82", "GB83")
        .replace("DEUTDEFF", "DEUTZZFF")
        .replace("ABCDAU2S", "ABCDXX2S")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_readers_report_the_same_beyond_the_schema(
        bytes in proptest::collection::vec(any::<u8>(), 0..1500),
        changes in proptest::collection::vec((any::<usize>(), any::<usize>()), 6),
        indent in proptest::option::of(0_u8..3),
        root in any::<usize>(),
    ) {
        let xml = doubtful(&invented(&bytes).to_xml_with(&written(indent)).unwrap());
        for xml in [prefixed(&xml, root), xml] {
            assert_same(&xml, ReadOptions::default());
            for (place, change) in &changes {
                assert_same(&mutated(&xml, *place, *change), ReadOptions::default());
            }
        }
    }
}

/// The one finding of a real document is often a wrong check digit: it must not cost the fast
/// reader.
#[test]
fn what_is_wrong_beyond_the_schema_is_reported_by_the_fast_reader() {
    let party = |iban: &str| format!("<DbtrAcct><Id><IBAN>{iban}</IBAN></Id></DbtrAcct>");
    let agent =
        "<RltdAgts><DbtrAgt><FinInstnId><BICFI>ABCDZZFF</BICFI></FinInstnId></DbtrAgt></RltdAgts>";
    let transaction = |iban: &str| {
        let parties = format!("<RltdPties>{}</RltdPties>", party(iban));
        format!(
            "<TxDtls><Amt Ccy=\"AUD\">2.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>{parties}{agent}</TxDtls>"
        )
    };
    let details = format!(
        "<NtryDtls><Btch><NbOfTxs>3</NbOfTxs><TtlAmt Ccy=\"AUD\">5.00</TtlAmt></Btch>{}{}</NtryDtls>\
         <NtryDtls>{0}</NtryDtls></Ntry>",
        transaction("DE88370400440532013000"),
        transaction("DE89370400440532013000"),
    );
    let entry = ENTRY.replace("AUD", "EUR").replace("</Ntry>", &details);
    let account = "<RltdAcct><Id><IBAN>GB83WEST12345698765432</IBAN></Id></RltdAcct>";
    let plain = report(&format!(
        "{account}{}",
        [ENTRY, &entry, ENTRY, &entry].concat()
    ));
    // In each of two entries: two wrong IBANs, three countries, count and total of the batch, the
    // currency, those of its three transactions.
    let expected = 1 + 2 * 11;
    let forms = [
        plain.clone(),
        plain.replace("><", ">\n  <"),
        plain.replace("\n", "\r\n"),
    ];
    let named = forms
        .iter()
        .flat_map(|xml| (0..5).map(|root| prefixed(xml, root)));
    for xml in forms.iter().cloned().chain(named) {
        // Text in a comment or CDATA is not a tag and has no prefix.
        let xml = xml
            .replace("Btch><", "Btch><!-- <p:x> --><")
            .replace("BOOK", "<![CDATA[BOO]]>K");
        let (taken, declined) = assert_same(&xml, ReadOptions::default());
        assert_eq!((taken, declined), (9, 0), "{xml}");
        let findings = Document::parse(&xml).unwrap().findings;
        assert_eq!(findings.len(), expected, "{findings:#?}");
        for finding in &findings {
            let name = finding
                .path
                .rsplit('/')
                .next()
                .unwrap()
                .split('[')
                .next()
                .unwrap();
            let offset = usize::try_from(finding.position.unwrap().offset).unwrap();
            let tag = xml[offset..].strip_prefix("<").unwrap();
            assert!(
                tag.strip_prefix("p:").unwrap_or(tag).starts_with(name),
                "{finding:?}"
            );
        }
    }
}

#[test]
fn a_long_tag_is_refused_before_an_element_that_is_read_fast() {
    let options = ReadOptions::default().limits(ReadLimits::default().max_token_bytes(100));
    let entry = ENTRY.replace("<BkTxCd/>", "<BkTxCd></BkTxCd>");
    let end = format!("</Sts{}>", " ".repeat(200));
    let unknown = format!("</Sts><{}/>", "x".repeat(200));
    for odd in [end, unknown] {
        let xml = report(&entry.replace("</Sts>", &odd));
        assert_same(&xml, options);
        assert!(in_memory(&xml, options, true).0.is_err(), "{odd}");
    }
}

#[test]
fn the_entry_without_memory_is_the_same_in_both_readers() {
    for per_byte in [0, 1, 2] {
        let options =
            ReadOptions::default().limits(ReadLimits::default().max_memory_per_byte(per_byte));
        assert_same(&report(&ENTRY.repeat(1_000)), options);
    }
}
