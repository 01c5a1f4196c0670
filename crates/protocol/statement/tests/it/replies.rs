//! Received replies, and their comparison with the request.

use crate::support::{KEY, document_xml, plain};
use bankrail_statement::{
    AccountId, Cursor, EntryIdentity, ErrorCode, ReceivedNextPage, ReceivedStatement, ReplyError,
    ReplyFinding, SortOrder, StatementReply, StatementRequest,
};

fn read(more: &str) -> Result<ReceivedStatement, ReplyError> {
    let body = format!(
        r#"{{"accountId":"1","extract":"intraday","payload":"<a>\u00e9</a>","requestKey":"{KEY}",{more},"new":{{}}}}"#
    );
    match StatementReply::parse(200, body.as_bytes())? {
        StatementReply::Statement(statement) => Ok(statement),
        StatementReply::Error(error) => panic!("{error:?}"),
    }
}

#[test]
fn half_a_surrogate_pair_in_a_text_costs_that_character_alone() {
    let body = |account: &str, text: &str| {
        let payload = document_xml(&[plain("5.00", text)]).replace('"', "\\\"");
        format!(
            r#"{{"accountId":"{account}","extract":"intraday","payload":"{payload}","requestKey":"{KEY}",
                "moreTransactionsAvailable":false}}"#
        )
    };
    let read = |body: String| match StatementReply::parse(200, body.as_bytes())? {
        StatementReply::Statement(statement) => Ok(statement),
        StatementReply::Error(error) => panic!("{error:?}"),
    };
    let account = "012003123456789";
    for (text, expected, findings) in [
        (r"rent \ud83d\ude00", "rent \u{1f600}", vec![]),
        (
            r"rent \ud83d",
            "rent \u{fffd}",
            vec![ReplyFinding::LoneSurrogate],
        ),
        (
            r"\ude00\ud83d!",
            "\u{fffd}\u{fffd}!",
            vec![ReplyFinding::LoneSurrogate],
        ),
    ] {
        let received = read(body(account, text)).unwrap();
        assert_eq!(received.findings, findings, "{text}");
        let document = received.document().unwrap().document;
        assert_eq!(document.reports[0].entries[0].narrative(), expected);
        // The same text gives the same entry, each time that it is listed.
        let key = |text: &str| {
            let document = read(body(account, text))
                .unwrap()
                .document()
                .unwrap()
                .document;
            EntryIdentity::of(&document.reports[0].entries[0]).key
        };
        assert_eq!(key(text), key(text));
    }
    // A lone surrogate in an amount makes the entry unreadable, and elsewhere in the answer the
    // whole answer.
    let bad = body(account, "x").replacen(">5.00<", r">5\ud83d.00<", 1);
    assert!(read(bad).unwrap().document().is_err());
    assert!(matches!(
        read(body(r"1\ud83d", "x")),
        Err(ReplyError::Json(_))
    ));
}

#[test]
fn every_combination_of_more_and_cursor() {
    let more = ReceivedNextPage::At {
        cursor: Cursor::parse("eA==").unwrap(),
    };
    let null = ReplyFinding::NullMember { member: "cursor" };
    for (json, page, findings) in [
        (
            r#""moreTransactionsAvailable":false"#,
            ReceivedNextPage::None,
            vec![],
        ),
        (
            r#""moreTransactionsAvailable":true,"cursor":"eA==""#,
            more,
            vec![],
        ),
        (
            r#""moreTransactionsAvailable":true"#,
            ReceivedNextPage::WithoutCursor,
            vec![ReplyFinding::MoreWithoutCursor],
        ),
        (
            r#""moreTransactionsAvailable":true,"cursor":"""#,
            ReceivedNextPage::WithoutCursor,
            vec![ReplyFinding::EmptyCursor, ReplyFinding::MoreWithoutCursor],
        ),
        (
            r#""cursor":null,"moreTransactionsAvailable":true"#,
            ReceivedNextPage::WithoutCursor,
            vec![null.clone(), ReplyFinding::MoreWithoutCursor],
        ),
        (
            r#""moreTransactionsAvailable":false,"cursor":null"#,
            ReceivedNextPage::None,
            vec![null],
        ),
        (
            r#""moreTransactionsAvailable":false,"cursor":"""#,
            ReceivedNextPage::None,
            vec![ReplyFinding::EmptyCursor],
        ),
        (
            r#""moreTransactionsAvailable":false,"cursor":"x""#,
            ReceivedNextPage::None,
            vec![ReplyFinding::CursorWithoutMore],
        ),
    ] {
        let statement = read(json).unwrap();
        assert_eq!(
            (&statement.next_page, &statement.findings),
            (&page, &findings),
            "{json}"
        );
        assert_eq!(statement.payload, "<a>é</a>");
        assert_eq!(statement.deny_findings().is_ok(), findings.is_empty());
    }
    let odd = read(r#""moreTransactionsAvailable":true,"cursor":"not base64""#).unwrap();
    assert_eq!(odd.findings, [ReplyFinding::CursorNotBase64]);
    assert_eq!(
        odd.next_page,
        ReceivedNextPage::At {
            cursor: Cursor::parse("not base64").unwrap()
        }
    );
}

#[test]
fn another_extract_is_a_finding_that_can_be_refused() {
    let body = format!(
        r#"{{"accountId":"1","extract":"priorday","payload":"","requestKey":"{KEY}","moreTransactionsAvailable":false}}"#
    );
    let Ok(StatementReply::Statement(statement)) = StatementReply::parse(200, body.as_bytes())
    else {
        panic!("{body}")
    };
    let finding = ReplyFinding::Extract {
        found: r#""priorday""#.to_owned(),
    };
    assert_eq!(
        (statement.extract.as_str(), &statement.findings),
        ("priorday", &vec![finding.clone()])
    );
    let refused = statement.deny_findings().unwrap_err();
    assert_eq!(
        refused.to_string(),
        r#"expected no findings, found: expected the extract intraday, found "priorday""#
    );
    assert_eq!(
        refused,
        ReplyError::Findings {
            found: vec![finding]
        }
    );
    let two = read(r#""moreTransactionsAvailable":true,"cursor":"""#)
        .unwrap()
        .deny_findings()
        .unwrap_err();
    let text = "expected no findings, found: expected a cursor or none, found an empty one; expected a cursor because \
                there are more transactions, found none";
    assert_eq!(two.to_string(), text);
}

#[test]
fn what_was_asked_is_compared() {
    let mut request = StatementRequest::new(&AccountId::parse("1").unwrap());
    let last = r#""moreTransactionsAvailable":false"#;
    let checked = |request: &StatementRequest, more: &str| {
        let mut statement = read(&format!("{last}{more}")).unwrap();
        statement
            .check_against(request)
            .map(|()| statement.findings)
    };
    assert_eq!(checked(&request, "").unwrap(), []);
    request.sort_order = Some(SortOrder::Forward);
    assert_eq!(
        checked(&request, "").unwrap(),
        [ReplyFinding::SortOrderAbsent]
    );
    assert_eq!(checked(&request, r#","sortOrder":"forward""#).unwrap(), []);
    assert_eq!(
        checked(&request, r#","sortOrder":"backward""#).unwrap(),
        [ReplyFinding::SortOrderDiffers]
    );
    let odd = checked(&request, r#","sortOrder":"random""#).unwrap();
    assert!(matches!(odd[..], [ReplyFinding::UnknownSortOrder { .. }]));
    let other = StatementRequest::new(&AccountId::parse("2").unwrap());
    assert!(matches!(
        checked(&other, ""),
        Err(ReplyError::OtherAccount { .. })
    ));
}

#[test]
fn errors_are_found_under_any_status() {
    let body =
        format!(r#"{{"requestKey":"{KEY}","error":{{"statusCode":"EC20001","title":"t","x":1}}}}"#);
    for status in [200, 201, 400, 404, 500] {
        let StatementReply::Error(error) = StatementReply::parse(status, body.as_bytes()).unwrap()
        else {
            panic!("{status}")
        };
        assert!(error.is_account_not_found() && error.findings.is_empty());
        assert_eq!((error.status, error.title.as_deref()), (status, Some("t")));
    }
    for (body, code, findings) in [
        (r#"{"error":{}}"#, None, 2),
        (r#"{"error":"invalid_token"}"#, None, 2),
        (r#"{"error":[],"requestKey":1}"#, None, 3),
        (r#"{"error":{"statusCode":7}}"#, None, 3),
        (
            r#"{"error":{"statusCode":"EC000_002"}}"#,
            Some("EC000_002"),
            1,
        ),
        (r#"{"error":{"statusCode":"X1"}}"#, Some("X1"), 2),
    ] {
        let StatementReply::Error(error) = StatementReply::parse(401, body.as_bytes()).unwrap()
        else {
            panic!("{body}")
        };
        assert_eq!(error.code.as_ref().map(ErrorCode::as_str), code, "{body}");
        assert!(!error.is_account_not_found(), "{body}");
        assert_eq!(
            error.findings.len(),
            findings,
            "{body} {:?}",
            error.findings
        );
    }
}

#[test]
fn what_is_no_answer() {
    for status in [401, 429, 500] {
        for body in ["", "<html>", "{}", r#"{"error":null}"#] {
            assert_eq!(
                StatementReply::parse(status, body.as_bytes()),
                Err(ReplyError::Status { status })
            );
        }
    }
    assert!(matches!(
        StatementReply::parse(200, b""),
        Err(ReplyError::Json(_))
    ));
    assert_eq!(
        StatementReply::parse(200, b"{}"),
        Err(ReplyError::Missing {
            member: "accountId"
        })
    );
    for bad in [
        r#""moreTransactionsAvailable":"true""#,
        r#""moreTransactionsAvailable":null"#,
        r#""payload":"""#,
        r#""cursor":"x""#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
    let long = format!(
        r#""moreTransactionsAvailable":true,"cursor":"{}""#,
        "x".repeat(4097)
    );
    assert!(matches!(read(&long), Err(ReplyError::Cursor(_))));
    let body =
        br#"{"accountId":"1","extract":"intraday","payload":"","requestKey":"x","moreTransactionsAvailable":false}"#;
    assert!(matches!(
        StatementReply::parse(200, body),
        Err(ReplyError::RequestKey { .. })
    ));
}

#[test]
fn a_byte_order_mark_before_an_answer_is_skipped_and_its_payload_is_text() {
    let xml = "<?xml version=\\\"1.0\\\" encoding=\\\"utf-16\\\"?><Document xmlns=\\\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\\\"><BkToCstmrAcctRpt><GrpHdr><MsgId>é</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr><Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct></Rpt></BkToCstmrAcctRpt></Document>";
    let body = format!(
        "\u{feff}{{\"accountId\":\"1\",\"extract\":\"intraday\",\"payload\":\"{xml}\",\"requestKey\":\"{KEY}\",\
         \"moreTransactionsAvailable\":false}}"
    );
    let StatementReply::Statement(statement) = StatementReply::parse(200, body.as_bytes()).unwrap()
    else {
        panic!("{body}")
    };
    let parsed = statement.document().unwrap();
    let header = parsed.document.group_header.unwrap();
    assert_eq!(header.message_id.as_str(), "é");
    let found: Vec<&str> = parsed
        .findings
        .iter()
        .map(|finding| finding.kind.name())
        .collect();
    assert_eq!(found, ["DeclaredEncoding"]);
    // A second byte order mark is no JSON.
    assert!(StatementReply::parse(200, format!("\u{feff}{body}").as_bytes()).is_err());
}

#[test]
fn answers_after_public_trouble_keep_their_names() {
    let Some(root) = std::env::var_os("BANKRAIL_SHARED") else {
        println!("BANKRAIL_SHARED not set: skipped");
        return;
    };
    let folder = std::path::PathBuf::from(root).join("samples/reports");
    for name in ["answer-ISO-8859-1.json", "answer-utf-16.json"] {
        let body = std::fs::read(folder.join(name)).unwrap();
        let StatementReply::Statement(statement) = StatementReply::parse(200, &body).unwrap()
        else {
            panic!("{name}")
        };
        let parsed = statement.document().unwrap();
        let entry = &parsed.document.reports[0].entries[0];
        assert_eq!(entry.counterparty_name(), Some("Jörg Weiß"), "{name}");
        assert_eq!(parsed.findings[0].kind.name(), "DeclaredEncoding", "{name}");
    }
}
