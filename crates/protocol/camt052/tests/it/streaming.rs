//! Reading entry by entry gives the same result as parsing the whole document, for any division of
//! the bytes.

use crate::findings::document;
use crate::shared::shared;
use crate::tree::Slowly;
use bankrail_camt052::{
    Document, EntryReader, Extras, Finding, ReadError, ReadErrorKind, ReadOptions, StreamItem,
};
use proptest::prelude::*;

/// Puts the items of a stream together again.
fn assemble(bytes: &[u8], piece: usize) -> Result<(Document, Vec<Finding>), ReadError> {
    let mut reader = EntryReader::new(Slowly { bytes, piece }, ReadOptions::default());
    let (mut reports, mut entries, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(item) = reader.next_item()? {
        findings.extend(reader.take_findings());
        match item {
            StreamItem::Start(start) => assert!(start.entries.is_empty()),
            StreamItem::Entry(entry) => entries.push(*entry),
            StreamItem::End(end) => {
                let mut report = *end;
                report.entries = std::mem::take(&mut entries);
                reports.push(report);
            }
            StreamItem::MessageEnd(end) => {
                let mut document = *end;
                document.reports = std::mem::take(&mut reports);
                return Ok((document, findings));
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("the stream ended without its end");
}

/// The same document and findings, or the same error.
fn assert_same(name: &str, bytes: &[u8]) {
    let whole = Document::parse(bytes);
    for piece in [1, 7, 4096] {
        match (&whole, assemble(bytes, piece)) {
            (Ok(whole), Ok((document, findings))) => {
                assert_eq!(whole.document, document, "{name} {piece}");
                assert_eq!(whole.findings, findings, "{name} {piece}");
            }
            (Err(whole), Err(error)) => {
                let facts = |error: &ReadError| (error.to_string(), format!("{:?}", error.kind()));
                assert_eq!(facts(whole), facts(&error), "{name} {piece}");
            }
            (whole, streamed) => panic!("{name} {piece}: {whole:?} {streamed:?}"),
        }
    }
}

#[test]
fn samples_stream_as_they_parse() {
    let Some(folder) = shared("samples") else {
        return;
    };
    let mut count = 0;
    for folder in [folder.clone(), folder.join("edge")] {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "xml") {
                assert_same(&path.display().to_string(), &std::fs::read(&path).unwrap());
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count} samples");
}

#[test]
fn hostile_documents_stream_as_they_parse() {
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let good = document("", &format!("{entry}<AddtlRptInf>end</AddtlRptInf>"));
    assert_same("good", good.as_bytes());
    for end in (0..good.len()).step_by(3) {
        assert_same("cut", &good.as_bytes()[..end]);
    }
    for (at, byte) in (0..good.len()).step_by(5).zip(
        [0, b'<', b'&', 0xFF, b'>', b'"', 0xEF, 1, b']']
            .into_iter()
            .cycle(),
    ) {
        let mut bad = good.clone().into_bytes();
        bad[at] = byte;
        assert_same(&format!("byte {byte} at {at}"), &bad);
    }
}

#[test]
fn other_encodings_stream_as_they_parse() {
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let declared = |encoding: &str, text: &str| {
        let xml = document(
            "",
            &format!("{entry}<AddtlRptInf>{text}</AddtlRptInf>{entry}"),
        );
        format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>\r\n{xml}")
    };
    let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| {
        text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    let marked = format!(
        "\u{feff}{}",
        declared("UTF-16", "\u{e9}\u{20ac}\u{1f44d}\r\n.")
    );
    for (name, bytes) in [
        ("UTF-16, little end first", wide(&marked, u16::to_le_bytes)),
        ("UTF-16, big end first", wide(&marked, u16::to_be_bytes)),
        (
            "UTF-16 without a mark",
            wide(&marked[3..], u16::to_be_bytes),
        ),
        (
            "UTF-16 with half a character",
            wide(&marked, u16::to_le_bytes)
                .into_iter()
                .filter(|b| *b != 0x3D)
                .collect(),
        ),
        (
            "ISO-8859-15",
            declared("ISO-8859-15", "?\r\n?")
                .bytes()
                .map(|b| if b == b'?' { 0xA4 } else { b })
                .collect(),
        ),
        (
            "UTF-8 with a mark",
            declared("UTF-8", "\u{feff}\u{1f44d}")
                .replacen('<', "\u{feff}<", 1)
                .into_bytes(),
        ),
    ] {
        assert_same(name, &bytes);
        for end in (0..bytes.len()).step_by(7) {
            assert_same(&format!("{name}, cut at {end}"), &bytes[..end]);
            let mut bad = bytes.clone();
            bad[end] ^= [0xFF, 0x80, 0xD8, 0x20][end % 4];
            assert_same(&format!("{name}, byte {end} changed"), &bad);
        }
    }
}

/// Found by the fuzz target `entry_stream`: a byte that is not UTF-8, seen early in a large piece,
/// took the place of the error before it.
#[test]
fn the_first_error_is_told_whatever_was_read_ahead() {
    for (name, bytes) in [
        ("end tag", b"</Document>\xff\xff\xff\xff".as_slice()),
        ("wrong root", b"<Other></Other>\xff"),
        ("forbidden character", "<a></b>\u{1}".as_bytes()),
    ] {
        assert_same(name, bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Found by the fuzz target `entry_stream`: beside a character that is not ASCII, the encoding
    /// was known to a stream only.
    #[test]
    fn odd_declarations_stream_as_they_parse(
        encoding in prop::sample::select(vec!["UTF-8", "utf8", "UTF0-8", "UTF-16", "US-ASCII", "ISO-8859-15", ""]),
        odd in prop::collection::vec(
            (
                any::<prop::sample::Index>(),
                prop::sample::select(vec!["\u{feff}", "\u{e9}", "\0", "?>", "\"", "'", " ", "=", "<", "&amp;", " a='1'"]),
            ),
            0..4,
        ),
        spaces in prop::sample::select(vec![0, 0, 0, 960, 970, 975, 980, 990]),
    ) {
        let mut declaration = format!("<?xml version=\"1.0\"{} encoding=\"{encoding}\"?>", " ".repeat(spaces));
        for (place, piece) in odd {
            let places: Vec<usize> = declaration.char_indices().map(|(at, _)| at).collect();
            declaration.insert_str(*place.get(&places), piece);
        }
        assert_same(&declaration, format!("{declaration}{}", document("", "")).as_bytes());
    }
}

#[test]
fn what_stands_beside_entries_comes_with_the_end() {
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let xml = document("<Foo/>", &format!("{entry}<Bar/>{entry}<Id>again</Id>"));
    assert_same("extras", xml.as_bytes());
    let start = EntryReader::new(xml.as_bytes(), ReadOptions::default())
        .next()
        .unwrap()
        .unwrap();
    let StreamItem::Start(start) = start else {
        panic!("{start:?}")
    };
    assert_ne!(start.extras, Extras::default());
}

#[test]
fn an_entry_before_the_mandatory_parts_of_its_report_is_an_error_that_names_them() {
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let good = document("", "");
    for before in ["<Acct>", "<Id>r</Id>"] {
        let xml = good.replacen(before, &format!("{entry}{before}"), 1);
        assert_eq!(
            Document::parse(&xml).unwrap().document.reports[0]
                .entries
                .len(),
            1,
            "a whole parse reads on"
        );
        let mut reader = EntryReader::new(xml.as_bytes(), ReadOptions::default());
        let error = reader.next_item().unwrap_err();
        assert!(
            matches!(error.kind(), ReadErrorKind::Missing { name } if name == "Acct"),
            "{error:?}"
        );
        assert_eq!(error.path(), "/Document/BkToCstmrAcctRpt/Rpt[1]");
        assert!(
            reader.next_item().unwrap().is_none(),
            "there is nothing more"
        );
    }
}
