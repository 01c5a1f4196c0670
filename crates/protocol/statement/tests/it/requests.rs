//! Requests, written and read.

use bankrail_statement::{
    AccountId, Cursor, ErrorCode, Extract, MaxEntries, RequestError, SortOrder, StatementRequest,
};

#[test]
fn everything_said_there_and_back() {
    let mut request = StatementRequest::new(&AccountId::parse("A.1").unwrap());
    request.include_narrative = Some(false);
    request.cursor = Some(Cursor::parse("a\"b").unwrap());
    request.sort_order = Some(SortOrder::Backward);
    request.max_entries = MaxEntries::new(7);
    request.extract = Some(Extract::Intraday);
    let json = request.to_json();
    assert_eq!(
        json,
        concat!(
            r#"{"accountId":"A.1","includeNarrative":false,"cursor":"a\"b","sortOrder":"backward","maxEntries":7,"#,
            r#""extract":"intraday"}"#
        )
    );
    assert_eq!(
        StatementRequest::from_json(json.as_bytes()).unwrap(),
        request
    );
}

#[test]
fn defaults_and_the_spellings_in_the_wild() {
    let read = |json: &str| StatementRequest::from_json(json.as_bytes()).unwrap();
    let bare = read(r#"{"accountId":"","cursor":null,"maxEntries":null,"startDate":"x"}"#);
    assert_eq!((bare.account_id(), bare.account().is_err()), ("", true));
    assert_eq!(
        (bare.include_narrative, bare.order(), bare.entries_at_most()),
        (None, SortOrder::Forward, 1000)
    );
    // These numbers are integers in JSON Schema.
    for (number, most) in [("48.0", 48), ("1.0", 1), ("1e3", 1000)] {
        assert_eq!(
            read(&format!(r#"{{"accountId":"1","maxEntries":{number}}}"#)).entries_at_most(),
            most
        );
    }
    for include in [true, false] {
        let texts = read(&format!(
            r#"{{"accountId":"1","includeNarrative":"{include}","maxEntries":"0001"}}"#
        ));
        assert_eq!(
            (texts.include_narrative, texts.entries_at_most()),
            (Some(include), 1)
        );
    }
}

#[test]
fn what_is_refused() {
    for more in [
        r#""includeNarrative":"yes""#,
        r#""includeNarrative":1"#,
        r#""includeNarrative":"TRUE""#,
        r#""maxEntries":0"#,
        r#""maxEntries":1001"#,
        r#""maxEntries":-1"#,
        r#""maxEntries":1.5"#,
        r#""maxEntries":1000.5"#,
        r#""maxEntries":1e9"#,
        r#""maxEntries":"""#,
        r#""maxEntries":"+1""#,
        r#""maxEntries":true"#,
        r#""maxEntries":66536"#,
        r#""cursor":"""#,
        r#""cursor":1"#,
        r#""sortOrder":"Forward""#,
        r#""extract":"priorday","startDate":"2021-07-01","endDate":"2021-07-02""#,
        r#""accountId":"2""#,
        r#""sortOrder":"forward","sortOrder":"forward""#,
        r#""new":1,"new":2"#,
        r#""new":"\ud800""#,
    ] {
        let error =
            StatementRequest::from_json(format!(r#"{{"accountId":"1",{more}}}"#).as_bytes())
                .unwrap_err();
        assert_eq!(error.code(), ErrorCode::VALIDATION, "{more}");
    }
    for body in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"accountId":1}"#,
        r#"{"accountId":null}"#,
    ] {
        assert!(
            StatementRequest::from_json(body.as_bytes()).is_err(),
            "{body}"
        );
    }
    assert!(matches!(
        StatementRequest::from_json(&[b' '; 16 * 1024 + 1]),
        Err(RequestError::Json(_))
    ));
    let of_length = |bytes: usize| {
        StatementRequest::from_json(format!("{:bytes$}", r#"{"accountId":"1"}"#).as_bytes())
    };
    assert!(of_length(16 * 1024).is_ok() && of_length(16 * 1024 + 1).is_err());
}
