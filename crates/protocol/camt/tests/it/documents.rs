//! Small documents of each version, with the expected facts. All of it is invented.

use crate::family::{Schema, VERSIONS, all, check, read, strict, write};
use bankrail_camt::{
    AnyDocument, AnyReader, EntryStatus, FindingKind, ReadOptions, Version, report::StreamItem,
};

/// The content of a document, entry by entry: signed amount, status, counterparty, the BIC of its
/// agent, reference, text.
const ENTRIES: [[&str; 6]; 3] = [
    [
        "1250.00 AUD",
        "BOOK",
        "Example Bakery",
        "ABCDAU2SXXX",
        "INV-2021-07",
        "Rolls for July",
    ],
    [
        "-19.95 AUD",
        "BOOK",
        "Example Telephone",
        "ABCDNZ2A",
        "T-1",
        "Line 7\nDirect debit",
    ],
    ["-0.50 AUD", "PDNG", "", "", "", "Fee"],
];

/// Returns the same document in a version of a message.
pub(crate) fn document(schema: Schema) -> String {
    let Schema { message, version } = schema;
    let (root, group) = match message {
        52 => ("BkToCstmrAcctRpt", "Rpt"),
        53 => ("BkToCstmrStmt", "Stmt"),
        _ => ("BkToCstmrDbtCdtNtfctn", "Ntfctn"),
    };
    let made = "<CreDtTm>2021-07-29T17:10:05+10:00</CreDtTm>";
    let balance = |kind, amount| {
        format!(
            "<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">{amount}</Amt>\
             <CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal>"
        )
    };
    let balances = if message == 54 {
        String::new()
    } else {
        balance("OPBD", "100.00") + &balance("CLBD", "1330.05")
    };
    let net = if version <= 3 {
        "<TtlNetNtryAmt>1229.55</TtlNetNtryAmt><CdtDbtInd>CRDT</CdtDbtInd>"
    } else {
        "<TtlNetNtry><Amt>1229.55</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry>"
    };
    let bic = if version == 2 { "BIC" } else { "BICFI" };
    let status = |status: &str| match version {
        ..=6 => format!("<Sts>{status}</Sts>"),
        _ => format!("<Sts><Cd>{status}</Cd></Sts>"),
    };
    let party = |tag: &str, name: &str| match version {
        ..=6 => format!("<{tag}><Nm>{name}</Nm></{tag}>"),
        _ => format!("<{tag}><Pty><Nm>{name}</Nm></Pty></{tag}>"),
    };
    let own = |amount: &str, direction: &str| match version {
        2 => String::new(),
        _ => format!("<Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>"),
    };
    let uetr = match version {
        ..=7 => "",
        _ => "<UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR>",
    };
    let entry = |amount: &str, direction: &str, state: &str, rest: String| {
        format!(
            "<Ntry><Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>{}\
             <BookgDt><Dt>2021-07-29</Dt></BookgDt><BkTxCd></BkTxCd>{rest}</Ntry>",
            status(state)
        )
    };
    let details = |refs: String, own: String, parties: String, agent: String, text: &str| {
        format!(
            "<NtryDtls><TxDtls><Refs>{refs}</Refs>{own}<RltdPties>{parties}</RltdPties>\
             <RltdAgts>{agent}</RltdAgts><RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls></NtryDtls>"
        )
    };
    let agent = |tag: &str, code: &str| {
        format!("<{tag}><FinInstnId><{bic}>{code}</{bic}></FinInstnId></{tag}>")
    };
    let entries = [
        entry(
            "1250.00",
            "CRDT",
            "BOOK",
            details(
                format!("<EndToEndId>INV-2021-07</EndToEndId>{uetr}"),
                own("1250.00", "CRDT"),
                party("Dbtr", "Example Bakery"),
                agent("DbtrAgt", "ABCDAU2SXXX"),
                "Rolls for July",
            ),
        ),
        entry(
            "19.95",
            "DBIT",
            "BOOK",
            details(
                "<EndToEndId>T-1</EndToEndId>".to_owned(),
                own("19.95", "DBIT"),
                party("Cdtr", "Example Telephone"),
                agent("CdtrAgt", "ABCDNZ2A"),
                "Line 7",
            ) + "<AddtlNtryInf>Direct debit</AddtlNtryInf>",
        ),
        entry(
            "0.50",
            "DBIT",
            "PDNG",
            "<AddtlNtryInf>Fee</AddtlNtryInf>".to_owned(),
        ),
    ];
    format!(
        "<Document xmlns=\"{}\"><{root}><GrpHdr><MsgId>m1</MsgId>{made}</GrpHdr><{group}><Id>1</Id>{made}\
         <Acct><Id><Othr><Id>011222814766538</Id></Othr></Id><Ccy>AUD</Ccy></Acct>{balances}\
         <TxsSummry><TtlNtries><NbOfNtries>3</NbOfNtries><Sum>1270.45</Sum>{net}</TtlNtries></TxsSummry>\
         {}</{group}></{root}></Document>",
        schema.namespace(),
        entries.concat()
    )
}

/// Reads the facts of a document, one entry after the other.
fn facts(xml: &str) -> Vec<[String; 6]> {
    let mut reader = AnyReader::new(xml.as_bytes(), ReadOptions::default());
    let mut facts = Vec::new();
    while let Some(item) = reader.next_item().unwrap() {
        let StreamItem::Entry(entry) = item else {
            continue;
        };
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let line = entry.lines().next().unwrap();
        let agents = line.transaction.and_then(|own| own.agents.as_deref());
        let bic = agents.and_then(|agents| {
            let agent = agents
                .debtor_agent
                .as_ref()
                .or(agents.creditor_agent.as_ref());
            agent?.institution.bic.as_ref()
        });
        facts.push([
            entry.signed_money().unwrap().to_string(),
            entry.status.to_string(),
            text(entry.counterparty_name()),
            text(bic.map(AsRef::as_ref)),
            text(line.end_to_end_id()),
            entry.narrative(),
        ]);
    }
    facts
}

#[test]
fn each_version_says_the_same() {
    for schema in all() {
        let xml = document(schema);
        let name = schema.name();
        assert_eq!(facts(&xml), ENTRIES, "{name}");
        let parsed = AnyDocument::parse_with(&xml, &strict().deny_findings(true));
        let parsed = parsed.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(check(&parsed.document), [], "{name}");
        let body = xml.trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        assert!(
            write(&parsed.document).ends_with(body),
            "{name}: what is written is what was read"
        );
    }
}

#[test]
fn a_summary_in_the_form_of_each_version_is_compared() {
    for schema in all() {
        let xml = document(schema).replace("1229.55", "1229.56");
        let findings = read(&xml).unwrap().findings;
        let [finding] = &findings[..] else {
            panic!("{}: {findings:?}", schema.name())
        };
        assert_eq!(finding.kind.name(), "NetAmount", "{}", schema.name());
    }
}

/// Later versions are read by the shape of 08: everything that it has is right.
#[test]
fn later_versions_are_read_with_a_finding() {
    for message in crate::family::MESSAGES {
        for version in 9..=14 {
            let newest = Schema {
                message,
                version: *VERSIONS.end(),
            };
            let later = Schema { message, version };
            let xml = document(newest).replace(&newest.namespace(), &later.namespace());
            assert_eq!(facts(&xml), ENTRIES, "{}", later.name());
            let parsed = read(&xml).unwrap();
            let [finding] = &parsed.findings[..] else {
                panic!("{:?}", parsed.findings)
            };
            let (known, found) = (Version::new(8), Version::new(version));
            assert_eq!(finding.kind, FindingKind::NewerVersion { known, found });
            assert_eq!(finding.path, "/Document");
            let checked = check(&parsed.document);
            assert_eq!((&checked[0].kind, checked.len()), (&finding.kind, 1));
            assert_eq!(
                read(&write(&parsed.document)).unwrap().document,
                parsed.document
            );
            assert!(AnyDocument::parse_with(&xml, &strict()).is_err());
        }
    }
}

/// An element of a later version is kept and reported, and written again where it stood.
#[test]
fn what_a_later_version_adds_is_kept() {
    let newest = Schema {
        message: 53,
        version: 8,
    };
    let later = Schema {
        message: 53,
        version: 14,
    };
    let xml = document(newest)
        .replace(&newest.namespace(), &later.namespace())
        .replacen("<Refs>", "<Refs><AddedLater>x</AddedLater>", 1);
    assert_eq!(facts(&xml), ENTRIES);
    let parsed = read(&xml).unwrap();
    let kinds: Vec<_> = parsed
        .findings
        .iter()
        .map(|finding| finding.kind.name())
        .collect();
    assert_eq!(kinds, ["NewerVersion", "UnknownElement"]);
    assert!(write(&parsed.document).contains("<Refs><AddedLater>x</AddedLater>"));
}

#[test]
fn a_status_may_be_proprietary_since_version_07() {
    for (version, expected) in [(6, None), (7, Some("HELD")), (8, Some("HELD"))] {
        let schema = Schema {
            message: 52,
            version,
        };
        let xml = document(schema)
            .replace("<Sts>PDNG</Sts>", "<Sts><Prtry>HELD</Prtry></Sts>")
            .replace("<Cd>PDNG</Cd>", "<Prtry>HELD</Prtry>");
        let parsed = AnyDocument::parse_with(&xml, &strict());
        let status = parsed.ok().map(|parsed| {
            assert!(write(&parsed.document).contains("<Sts><Prtry>HELD</Prtry></Sts>"));
            let AnyDocument::Report(document) = parsed.document else {
                panic!("a report")
            };
            document.reports[0].entries[2].status.clone()
        });
        let text = |status: &EntryStatus| match status {
            EntryStatus::Proprietary(text) => text.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(status.as_ref().map(text).as_deref(), expected);
    }
}

/// Without a status nobody knows if the money has moved, so that tolerant reading refuses the
/// entry, too.
#[test]
fn a_status_that_is_neither_a_code_nor_proprietary_is_refused() {
    for version in [7, 8] {
        let schema = Schema {
            message: 52,
            version,
        };
        for other in ["<Own>PDNG</Own>", "<Cd xmlns=\"urn:other\">PDNG</Cd>"] {
            let xml = document(schema).replace("<Cd>PDNG</Cd>", other);
            let error = AnyDocument::parse(&xml).unwrap_err();
            assert!(error.path().ends_with("/Ntry[3]/Sts"), "{error}");
            let kept = ReadOptions::default().keep_unreadable(true);
            let parsed = AnyDocument::parse_with(&xml, &kept).unwrap();
            let AnyDocument::Report(document) = parsed.document else {
                panic!("a report")
            };
            assert_eq!(document.reports[0].entries.len(), 2);
        }
    }
}

#[test]
fn an_agent_may_be_the_counterparty_since_version_07() {
    let schema = Schema {
        message: 54,
        version: 8,
    };
    let agent = "<Agt><FinInstnId><Nm>Example Bank</Nm></FinInstnId></Agt>";
    let xml = document(schema).replace("<Pty><Nm>Example Bakery</Nm></Pty>", agent);
    assert!(AnyDocument::parse_with(&xml, &strict()).is_ok());
    assert_eq!(facts(&xml)[0][2], "Example Bank");
}
