//! The parts around a document: wrappers, the application header, other documents. All of it is
//! invented.

use crate::documents::document;
use crate::family::{Schema, all, bytes, check, strict};
use bankrail_camt::report::StreamItem;
use bankrail_camt::{
    AnyDocument, AnyReader, Finding, FindingKind, LimitKind, Parsed, ReadErrorKind, ReadLimits,
    ReadOptions,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::BufReader;

const NEW: Schema = Schema {
    message: 53,
    version: 8,
};
const OTHER: Schema = Schema {
    message: 52,
    version: 6,
};

/// A Business Application Header, as of head.001.001.02.
const HEADER: &str = r#"<AppHdr xmlns="urn:iso:std:iso:20022:tech:xsd:head.001.001.02"><Fr><FIId><FinInstnId><BICFI>ABCDAU2SXXX</BICFI><Othr><Id>no</Id></Othr></FinInstnId></FIId></Fr><To><OrgId><Nm>Example</Nm><Id><OrgId><Othr><Id> 4711 </Id></Othr></OrgId></Id></OrgId></To><BizMsgIdr>B-1</BizMsgIdr><MsgDefIdr>camt.053.001.08</MsgDefIdr><BizSvc>example.cbpr</BizSvc><CreDt>2021-07-29T17:10:05Z</CreDt><PssblDplct>true</PssblDplct><Rltd><Fr><FIId><FinInstnId><BICFI>WRNGAU2S</BICFI></FinInstnId></FIId></Fr><BizMsgIdr>B-0</BizMsgIdr></Rltd></AppHdr>"#;

/// The ways in which a document may be wrapped: what stands before and after it.
const WRAPPERS: [[&str; 2]; 7] = [
    [
        r#"<BizMsgEnvlp xmlns="urn:iso:std:iso:20022:tech:xsd:nvlp.001.001.01"><Hdr/><Doc>"#,
        "</Doc><Ref><Nm>r</Nm></Ref></BizMsgEnvlp>",
    ],
    [
        "<Saa:DataPDU xmlns:Saa=\"urn:swift:saa:xsd:saa.2.0\"><Saa:Revision>2.0.13</Saa:Revision>\n<Saa:Header>\
         <Saa:Message><Saa:SenderReference>s</Saa:SenderReference></Saa:Message></Saa:Header><Saa:Body>",
        "</Saa:Body>\n</Saa:DataPDU>",
    ],
    [
        r#"<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Header><t soap:mustUnderstand="1"/></soap:Header><soap:Body>"#,
        "</soap:Body></soap:Envelope>",
    ],
    [
        r#"<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>"#,
        "</e:Body></e:Envelope>",
    ],
    [
        r#"<Xchg xmlns="urn:iso:std:iso:20022:tech:xsd:head.002.001.01"><PyldDesc/><Pyld>"#,
        "</Pyld></Xchg>",
    ],
    ["<w>a text &amp; more<!-- c --><v/>", "<v><u/></v></w>"],
    ["<RequestPayload>", "</RequestPayload>"],
];

fn reader(xml: &[u8]) -> AnyReader<&[u8]> {
    AnyReader::new(xml, ReadOptions::default())
}

/// The parts of all documents with the numbers of the documents, and the findings without places.
type Streamed = (Vec<(u64, StreamItem)>, Vec<(FindingKind, String)>);

fn streamed(xml: &[u8]) -> Streamed {
    let mut reader = AnyReader::new(BufReader::with_capacity(7, xml), ReadOptions::default());
    let (mut items, mut findings) = (Vec::new(), Vec::new());
    while let Some(item) = reader.next_item().unwrap() {
        items.push((reader.documents(), item));
        findings.extend(kinds(reader.take_findings()));
    }
    (items, findings)
}

fn kinds(findings: Vec<Finding>) -> Vec<(FindingKind, String)> {
    let of = |finding: Finding| (finding.kind, finding.path);
    findings.into_iter().map(of).collect()
}

/// Returns the parsed document and its findings, without their places.
fn read(parsed: Parsed<AnyDocument>) -> (AnyDocument, Vec<(FindingKind, String)>) {
    (parsed.document, kinds(parsed.findings))
}

#[test]
fn an_application_header_in_an_envelope_is_kept_and_read() {
    let document = document(NEW);
    let [before, after] = WRAPPERS[1];
    let xml = format!("<?xml version=\"1.0\"?>{before}{HEADER}{document}{after}\n");
    let parsed = AnyDocument::parse_with(&xml, &strict().deny_findings(true)).unwrap();
    assert_eq!(check(&parsed.document), []);
    let around = parsed.around.unwrap();
    assert_eq!(around.before, xml[..xml.find("<Document").unwrap()]);
    let mut reader = reader(xml.as_bytes());
    assert!(reader.next_item().unwrap().is_some());
    assert_eq!(reader.around(), Some(&*around));
    let header = around.header.unwrap();
    assert_eq!(header.xml, HEADER);
    let facts = [
        header.from,
        header.to,
        header.message_id,
        header.message,
        header.service,
        header.created_at,
        header.possible_duplicate,
    ];
    let expected = [
        "ABCDAU2SXXX",
        "4711",
        "B-1",
        "camt.053.001.08",
        "example.cbpr",
        "2021-07-29T17:10:05Z",
        "true",
    ];
    assert_eq!(facts, expected.map(|fact| Some(fact.to_owned())));
}

#[test]
fn the_older_header_and_its_document_are_roots_side_by_side() {
    let header = "<Ah:AppHdr xmlns:Ah=\"urn:swift:xsd:$ahV10\"><Ah:From><Ah:Type>BIC</Ah:Type>\
        <Ah:Id>ABCDAU2S</Ah:Id></Ah:From><Ah:To><Ah:Id>ABCDNZ2A</Ah:Id></Ah:To>\
        <Ah:MsgName>camt.053.001.08</Ah:MsgName><Ah:MsgRef>r</Ah:MsgRef>\
        <Ah:CrDate>2021-07-29T17:10:05</Ah:CrDate></Ah:AppHdr>";
    let bare = document(NEW);
    for declaration in ["", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"] {
        let xml = format!("{declaration}{header}\n{declaration}{bare}");
        let parsed = AnyDocument::parse(xml.as_bytes()).unwrap();
        let found = parsed.around.clone().unwrap().header.unwrap();
        assert_eq!(found.xml.replace(" xmlns=\"\"", ""), header);
        assert_eq!(found.from.as_deref(), Some("ABCDAU2S"));
        assert_eq!(found.to.as_deref(), Some("ABCDNZ2A"));
        assert_eq!(found.message_id.as_deref(), Some("r"));
        assert_eq!(found.created_at.as_deref(), Some("2021-07-29T17:10:05"));
        assert_eq!(read(parsed), read(AnyDocument::parse(&bare).unwrap()));
        assert_eq!(streamed(xml.as_bytes()), streamed(bare.as_bytes()));
    }
}

/// A header whose namespace is declared around it can stand by itself.
#[test]
fn a_header_takes_the_namespaces_that_it_needs() {
    for (namespace, prefix) in [
        ("urn:h", "h:"),
        ("urn:h", ""),
        ("urn:iso:std:iso:20022:tech:xsd:camt.052.001.06", ""),
    ] {
        let declared = format!(
            "xmlns{}=\"{namespace}\"",
            if prefix.is_empty() { "" } else { ":h" }
        );
        let xml = format!(
            "<x:w xmlns:x=\"urn:x\" {declared}><{prefix}AppHdr><{prefix}BizMsgIdr>1</{prefix}BizMsgIdr>\
             </{prefix}AppHdr>{}</x:w>",
            document(NEW)
        );
        let header = AnyDocument::parse(&xml).unwrap().around.unwrap().header;
        let header = header.unwrap();
        assert_eq!(header.message_id.as_deref(), Some("1"));
        let markup = roxmltree::Document::parse(&header.xml).unwrap();
        let name = markup.root_element().tag_name();
        assert_eq!((name.namespace(), name.name()), (Some(namespace), "AppHdr"));
    }
}

#[test]
fn a_header_of_another_message_is_a_finding() {
    let xml = format!("<w>\n{HEADER}{}</w>", document(OTHER));
    let kind = FindingKind::HeaderMessage {
        header: "camt.053.001.08".to_owned(),
        found: "camt.052.001.06".to_owned(),
    };
    let parsed = AnyDocument::parse_with(&xml, &strict()).unwrap();
    assert_eq!(parsed.findings[0].position.unwrap().line, 2);
    assert_eq!(
        kinds(parsed.findings),
        [(kind.clone(), "/Document".to_owned())]
    );
    assert_eq!(streamed(xml.as_bytes()).1, [(kind, "/Document".to_owned())]);
    assert!(AnyDocument::parse_with(&xml, &strict().deny_findings(true)).is_err());
}

/// Returns a stack of wrappers, and of headers in them, made from a number.
fn wrapped(seed: u64, document: &str) -> String {
    let choices = bytes(seed, 8);
    let mut xml = document.to_owned();
    for choice in &choices[..1 + usize::from(choices[7] % 6)] {
        if choice % 3 == 0 {
            xml = format!("{}{xml}", HEADER.replace("camt.053.001.08", ""));
        }
        let [before, after] = WRAPPERS[usize::from(*choice) / 3 % WRAPPERS.len()];
        xml = format!("{before}\n{xml}{after}");
    }
    xml
}

#[test]
fn a_wrapped_document_is_read_as_the_bare_one() {
    for (seed, schema) in (0..84).zip((0..4).flat_map(|_| all())) {
        let mut bare = schema.invent(seed);
        let root = bare.find("<Document").unwrap();
        bare.drain(..root);
        if seed % 2 == 0 {
            // Adds an unknown element, so that there is a finding.
            bare = bare.replacen("</GrpHdr>", "<Unknown/></GrpHdr>", 1);
        }
        let xml = wrapped(seed, &bare);
        let expected = AnyDocument::parse(&bare).unwrap();
        let found = AnyDocument::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
        let shift = u64::try_from(xml.find(&bare).unwrap()).unwrap();
        let places = |parsed: &Parsed<AnyDocument>, shift| -> Vec<_> {
            let of = |finding: &Finding| finding.position.map(|at| at.offset + shift);
            parsed.findings.iter().map(of).collect()
        };
        assert_eq!(places(&found, 0), places(&expected, shift), "{xml}");
        assert_eq!(read(found), read(expected), "{xml}");
        assert_eq!(streamed(xml.as_bytes()), streamed(bare.as_bytes()), "{xml}");
    }
}

#[test]
fn documents_one_after_another_are_read_as_each_alone() {
    let between = ["", "\n", "\u{feff}", "\r\n\u{feff}", " <!-- c --> "];
    for seed in 0..20 {
        let choices = bytes(seed, 12);
        let mut input = String::from(if seed % 2 == 0 { "\u{feff}" } else { "" });
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        for number in 0..u64::from(choices[0] % 4) + 1 {
            let choice = choices[usize::try_from(number).unwrap() + 1];
            let schema = all().nth(usize::from(choice) % 21).unwrap();
            let mut xml = schema.invent(seed * 8 + number);
            if choice % 4 == 1 {
                let root = xml.find("<Document").unwrap();
                xml = wrapped(u64::from(choice), &xml[root..]);
            }
            whole.push(read(AnyDocument::parse(&xml).unwrap()));
            let (items, findings) = streamed(xml.as_bytes());
            parts.push((items, findings, number));
            input += &xml;
            input += between[usize::from(choice) % between.len()];
        }
        let all = AnyDocument::parse_all(&input).unwrap_or_else(|error| panic!("{error}\n{input}"));
        assert_eq!(all.into_iter().map(read).collect::<Vec<_>>(), whole);
        // The documents are also read as UTF-16, each with a byte order mark.
        let wide: Vec<u8> = "\u{feff}"
            .chars()
            .chain(input.trim_start_matches('\u{feff}').chars())
            .collect::<String>()
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let all = AnyDocument::parse_all(&wide).unwrap();
        assert_eq!(all.into_iter().map(read).collect::<Vec<_>>(), whole);
        let (items, findings) = streamed(input.as_bytes());
        let (mut expected, mut expected_findings) = (Vec::new(), Vec::new());
        for (items, findings, number) in parts {
            expected.extend(items.into_iter().map(|(_, item)| (number + 1, item)));
            expected_findings.extend(findings);
        }
        assert_eq!(items, expected);
        assert_eq!(findings, expected_findings);
    }
}

/// Several documents are in one wrapper; the message, the version and the header are those of the
/// current document.
#[test]
fn a_reader_tells_the_documents_of_one_wrapper_apart() {
    let header = HEADER.replace("053.001.08", "052.001.06");
    let [one, two] = [document(NEW), document(OTHER)];
    let xml = format!("<w><p>{one}</p>\n<p>{header}{two}</p></w>");
    let mut reader = reader(xml.as_bytes());
    let mut seen = Vec::new();
    while let Some(item) = reader.next_item().unwrap() {
        if matches!(item, StreamItem::Start(_)) {
            let around = reader.around().unwrap();
            let message = around
                .header
                .as_ref()
                .and_then(|header| header.message.clone());
            seen.push((reader.documents(), reader.message().unwrap(), message));
            assert!(reader.header().is_some());
            let before = if seen.len() == 1 {
                "<w><p>"
            } else {
                "</p>\n<p>"
            };
            assert!(around.before.starts_with(before), "{}", around.before);
        }
    }
    let named = |text: &str| text.to_owned();
    assert_eq!(
        seen,
        [
            (1, named("camt.053.001.08"), None),
            (2, named("camt.052.001.06"), Some(named("camt.052.001.06"))),
        ]
    );
    assert_eq!(reader.message().as_deref(), Some("camt.052.001.06"));
    let error = AnyDocument::parse(&xml).unwrap_err();
    assert!(matches!(error.kind(), ReadErrorKind::SeveralDocuments));
    assert_eq!(error.position().line, 2);
    assert!(error.to_string().contains("parse_all"), "{error}");
}

/// Returns the error of the whole input, which is that of the reader.
fn refused(xml: &str, options: &ReadOptions) -> bankrail_camt::ReadError {
    let whole = AnyDocument::parse_all_with(xml, options).unwrap_err();
    let mut reader = AnyReader::new(xml.as_bytes(), *options);
    let error = loop {
        match reader.next_item() {
            Ok(item) => assert!(item.is_some(), "{xml}"),
            Err(error) => break error,
        }
    };
    assert_eq!(whole.to_string(), error.to_string());
    assert!(matches!(reader.next_item(), Ok(None)));
    whole
}

#[test]
fn what_is_no_document_is_refused_at_its_place() {
    let bare = document(NEW);
    for (xml, place, expected) in [
        (format!("{bare}\nx"), bare.len(), "white space beside"),
        (format!("{bare}\n{HEADER}"), bare.len() + 1, "found AppHdr"),
        (format!("{bare}<w/>\n<v/>"), bare.len(), "found w"),
        (
            "<w><v/></w>".to_owned(),
            0,
            "expected the element Document, found w",
        ),
        (HEADER.to_owned(), 0, "found AppHdr"),
        (
            "<w><pain xmlns='urn:iso:std:iso:20022:tech:xsd:pain.001.001.09'/></w>".to_owned(),
            3,
            "found pain",
        ),
        (
            "<w><Document xmlns='urn:iso:std:iso:20022:tech:xsd:pain.001.001.09'/></w>".to_owned(),
            3,
            "pain.001.001.09",
        ),
        ("<html><p/></html>".to_owned(), 0, "HTML"),
        (
            format!("<w><v>a</v><v>\n<![CDATA[{bare}]]></v></w>"),
            "<w><v>a</v><v>\n".len(),
            "found a document as text, in CDATA or with escapes: unpack this text",
        ),
        (
            format!("<w>{}</w>", bare.replace('<', "&lt;")),
            "<w>".len(),
            "found a document as text",
        ),
        (
            format!("<w> {}</w>", STANDARD.encode(&bare)),
            "<w>".len(),
            "found a document in base64: unpack this text",
        ),
        (format!("<w>{bare}"), bare.len() + 3, "end of the document"),
        (
            format!("{bare}<!DOCTYPE w><w>{bare}</w>"),
            bare.len(),
            "document type",
        ),
        (
            format!("{bare}<?xml version='1.0' encoding='ISO-8859-1'?>{bare}"),
            bare.len(),
            "expected the encoding of the document before, UTF-8, found ISO-8859-1",
        ),
    ] {
        let error = if xml.contains("ISO") && !xml.contains("urn:iso:std:iso:20022:tech:xsd:pain") {
            AnyDocument::parse_all(xml.as_bytes()).map(drop).err()
        } else {
            Some(refused(&xml, &ReadOptions::default()))
        };
        let Some(error) = error else {
            panic!("read: {xml}")
        };
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(
            error.position().offset,
            u64::try_from(place).unwrap(),
            "{error}"
        );
    }
}

/// A text in a wrapper that looks like a packed document does not matter beside a document.
#[test]
fn a_text_beside_a_document_may_be_markup() {
    let bare = document(NEW);
    let xml = format!("<w><v><![CDATA[<p>Dear customer</p>]]></v>{bare}</w>");
    assert_eq!(AnyDocument::parse_all(&xml).unwrap().len(), 1);
}

/// With any damage, the whole input and its stream are both read, or both refused.
#[test]
fn damaged_inputs_are_read_alike_whole_and_as_a_stream() {
    let sound = format!(
        "<?xml version=\"1.0\"?>{}\n{HEADER}{}",
        wrapped(3, &document(NEW)),
        document(OTHER)
    );
    let (mut read, mut refused) = (0, 0);
    for seed in 0..1_500 {
        let choices = bytes(seed, 16);
        let mut input = sound.clone().into_bytes();
        let pick = |choices: &[u8]| usize::from(u16::from_le_bytes([choices[0], choices[1]]));
        for choice in choices.chunks(8).take(1 + usize::from(choices[7] % 2)) {
            let at = pick(choice) % input.len();
            let end = (at + 1 + usize::from(choice[2] % 12)).min(input.len());
            match choice[3] % 4 {
                0 => drop(input.drain(at..end)),
                1 => input[at] = choice[4] % 128,
                2 => {
                    let piece = input[at..end].to_vec();
                    let to = pick(&choice[4..]) % input.len();
                    input.splice(to..to, piece);
                }
                _ => input.truncate(at),
            }
        }
        let whole = AnyDocument::parse_all(&input);
        let mut reader = reader(&input);
        let error = loop {
            match reader.next_item() {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let shown = String::from_utf8_lossy(&input);
        match (whole, error) {
            (Ok(all), None) => {
                read += 1;
                assert_eq!(u64::try_from(all.len()).unwrap(), reader.documents());
            }
            // A stream needs the mandatory parts of a report before its first entry.
            (_, Some(error)) if matches!(error.kind(), ReadErrorKind::Missing { .. }) => {}
            (Err(whole), Some(error)) => {
                refused += 1;
                assert_eq!(whole.to_string(), error.to_string(), "{shown}");
            }
            (whole, error) => panic!("{whole:?}\n{error:?}\n{shown}"),
        }
    }
    assert!(read > 100 && refused > 100, "{read} {refused}");
}

/// The parts around documents take a bounded amount of memory.
#[test]
fn wrappers_and_headers_are_within_the_limits() {
    let bare = document(NEW);
    let deep = "<w>".repeat(10_000) + &bare;
    let limits = ReadLimits::default().max_kept_bytes(1_000);
    let options = ReadOptions::default().limits(limits);
    let long = "<x>1234567</x>".repeat(200);
    for (xml, expected) in [
        (deep, LimitKind::Depth),
        (
            format!("<AppHdr>{long}</AppHdr>{bare}"),
            LimitKind::KeptBytes,
        ),
        (format!("<w><h>{long}</h>{bare}</w>"), LimitKind::KeptBytes),
    ] {
        let error = refused(&xml, &options);
        let ReadErrorKind::Limit { limit, .. } = error.kind() else {
            panic!("{error}")
        };
        assert_eq!(*limit, expected);
    }
    // Text before a root is not kept, and each document has its own limit.
    let many = format!("<!-- {long} -->{bare}<w>{bare}</w><w>{bare}</w>");
    assert_eq!(
        AnyDocument::parse_all_with(&many, &options).unwrap().len(),
        3
    );
    // An element less, and the depth that the document has of its own is not enough.
    let nested = |limit| {
        let limits = ReadLimits::default().max_depth(limit);
        let xml = format!("<w><w>{bare}</w></w>");
        AnyDocument::parse_with(&xml, &ReadOptions::default().limits(limits)).is_ok()
    };
    let deepest = (1..40).find(|limit| nested(*limit)).unwrap();
    let bare_depth = (1..40).find(|limit| {
        let limits = ReadLimits::default().max_depth(*limit);
        AnyDocument::parse_with(&bare, &ReadOptions::default().limits(limits)).is_ok()
    });
    assert_eq!(Some(deepest - 2), bare_depth);
}

/// The documents of a list are counted, however short they are.
#[test]
fn documents_without_number_are_within_the_memory_of_their_bytes() {
    let short = "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"><BkToCstmrAcctRpt>\
        <GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>\
        <Rpt><Id>1</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct></Rpt>\
        </BkToCstmrAcctRpt></Document>";
    let options = ReadOptions::default().limits(ReadLimits::default().max_memory_per_byte(1));
    let many = short.repeat(3_000);
    let error = AnyDocument::parse_all_with(&many, &options).unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ReadErrorKind::Limit {
                limit: LimitKind::Memory,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(AnyDocument::parse_all(&many).unwrap().len(), 3_000);
}
