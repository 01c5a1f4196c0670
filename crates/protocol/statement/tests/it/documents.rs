//! The document inside an answer, written and read.

use crate::support::{KEY, account, document, document_xml, plain, received};
use bankrail_camt052::{Document, ReadOptions};
use bankrail_statement::{
    Cursor, MaxEntries, NextPage, ReceivedNextPage, ReplyError, ReplyFinding, SortOrder,
    StatementReply, StatementRequest, StatementResponse,
};

#[test]
fn a_document_is_read_from_the_answer_as_it_was_written() {
    let document = document(&[
        plain("1.00", "\"quoted\" \\ back &amp; 👍"),
        plain("10.0000", "tab&#9;"),
    ]);
    let page = NextPage::At {
        cursor: Cursor::from_bytes(b"7").unwrap(),
    };
    let mut response = StatementResponse::new(&account(), KEY.parse().unwrap(), page);
    response.sort_order = Some(SortOrder::Forward);
    let mut body = "kept".to_owned();
    response.write_json(&document, &mut body).unwrap();
    let body = body.strip_prefix("kept").unwrap();
    let StatementReply::Statement(statement) = StatementReply::parse(200, body.as_bytes()).unwrap()
    else {
        panic!("{body}")
    };
    assert_eq!(statement.payload, document.to_xml().unwrap());
    assert_eq!(statement.findings, []);
    assert_eq!(statement.document().unwrap().document, document);
    let plain = response.to_json(&document.to_xml().unwrap());
    let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
    assert_eq!(value(body), value(&plain));
}

#[test]
fn a_document_that_cannot_be_written_leaves_the_output_unchanged() {
    let mut document = document(&[plain("1.00", "x")]);
    document.reports.clear();
    let response = StatementResponse::new(&account(), KEY.parse().unwrap(), NextPage::None);
    let mut body = "kept".to_owned();
    assert!(response.write_json(&document, &mut body).is_err());
    assert_eq!(body, "kept");
}

fn checked(
    entries: &[String],
    page: &ReceivedNextPage,
    request: &StatementRequest,
) -> Vec<ReplyFinding> {
    let mut statement = received(&document_xml(entries), page);
    let read = statement.document().unwrap();
    statement.findings.clear();
    statement.check_document(&read.document, request).unwrap();
    statement.findings
}

#[test]
fn findings_about_the_document() {
    let mut request = StatementRequest::new(&account());
    let more = ReceivedNextPage::At {
        cursor: Cursor::parse("eA==").unwrap(),
    };
    assert_eq!(checked(&[], &ReceivedNextPage::None, &request), []);
    assert_eq!(
        checked(&[], &more, &request),
        [ReplyFinding::MoreWithoutEntries]
    );
    assert_eq!(
        checked(&[], &ReceivedNextPage::WithoutCursor, &request),
        [ReplyFinding::MoreWithoutEntries]
    );

    let on = |day: &str| plain("1.00", "x").replace("2021-07-29", day);
    let days = [on("2021-07-28"), on("2021-07-29"), on("2021-07-29")];
    let back: Vec<String> = days.iter().rev().cloned().collect();
    assert_eq!(checked(&days, &more, &request), []);
    let wrong = |expected, at| vec![ReplyFinding::OutOfOrder { expected, at }];
    assert_eq!(
        checked(&back, &more, &request),
        wrong(SortOrder::Forward, 3)
    );
    request.sort_order = Some(SortOrder::Backward);
    assert_eq!(checked(&back, &more, &request), []);
    assert_eq!(
        checked(&days, &more, &request),
        wrong(SortOrder::Backward, 2)
    );
    let at = |time: &str| {
        plain("1.00", "x").replace("<Dt>2021-07-29</Dt>", &format!("<DtTm>{time}</DtTm>"))
    };
    let times = [
        at("2021-07-29T10:00:00"),
        on("2021-07-29"),
        at("2021-07-29T09:00:00"),
        at("2021-07-29T09:00:01"),
    ];
    assert_eq!(
        checked(&times, &more, &request),
        wrong(SortOrder::Backward, 4)
    );

    request.sort_order = None;
    request.max_entries = MaxEntries::new(2);
    assert_eq!(
        checked(&days, &more, &request),
        [ReplyFinding::TooManyEntries { limit: 2, found: 3 }]
    );
    assert_eq!(checked(&days[..2], &more, &request), []);
    for (asked, found) in [
        ("012003123456789", "other"),
        ("AB1", "ab1"),
        ("AB1", "AB.2"),
    ] {
        let mut statement = received(
            &document_xml(&[]).replace("012003123456789", found),
            &ReceivedNextPage::None,
        );
        asked.clone_into(&mut statement.account_id);
        let read = statement.document().unwrap();
        let other = statement.check_document(&read.document, &request);
        assert!(
            matches!(other, Err(ReplyError::OtherAccount { .. })),
            "{asked}, {found}: {other:?}"
        );
    }
    let other = |id: &str| format!("<Othr><Id>{id}</Id></Othr>");
    let (asked, iban) = ("012003123456789", "GB33BUKB20201555555555");
    let in_iban = format!("<IBAN>{iban}</IBAN>");
    for (asked, written, found) in [
        (asked, other(asked), None),
        (
            asked,
            other("012-003 123456789"),
            Some(r#""012-003 123456789""#),
        ),
        (asked, in_iban.clone(), Some(r#""GB33BUKB20201555555555""#)),
        (iban, in_iban, None),
    ] {
        let xml = document_xml(&[]).replace(&other("012003123456789"), &written);
        let mut statement = received(&xml, &ReceivedNextPage::None);
        asked.clone_into(&mut statement.account_id);
        let read = statement.document().unwrap();
        statement.check_document(&read.document, &request).unwrap();
        let expected = found.map(|found| ReplyFinding::PayloadAccount {
            found: found.to_owned(),
        });
        assert_eq!(
            statement.findings,
            Vec::from_iter(expected),
            "{asked}, {written}"
        );
        assert!(!format!("{statement:?}").contains("<Document"));
    }
}

#[test]
fn payloads_that_are_not_documents_are_errors() {
    for payload in ["", "<Document/>", "not xml"] {
        assert!(
            received(payload, &ReceivedNextPage::None)
                .document()
                .is_err(),
            "{payload}"
        );
    }
    let options = ReadOptions::default().deny_findings(true);
    let good = received(&document_xml(&[]), &ReceivedNextPage::None);
    assert!(good.document_with(&options).is_ok());
    assert!(Document::parse(&good.payload).is_ok());
}
