//! Reading and writing messages: what is kept, what is a finding, what is refused.

use bankrail_values::json::JsonErrorKind;
use bankrail_webhook::*;

/// Parses, compares, writes and parses again.
fn round_trip(kind: MessageKind, json: &str) -> ParsedMessage<Message> {
    let first = Message::from_json(kind, json.as_bytes()).unwrap_or_else(|e| panic!("{json}: {e}"));
    let written = first.message.to_json();
    let second = Message::from_json(kind, written.as_bytes()).unwrap();
    assert_eq!(second.message, first.message, "{json}");
    assert_eq!(second.message.to_json(), written, "{json}");
    first
}

fn json(message: impl Into<Message>) -> String {
    message.into().to_json()
}

/// Returns the sample with a piece of its JSON replaced.
fn changed(message: impl Into<Message>, from: &str, to: &str) -> String {
    let json = json(message);
    assert_eq!(
        json.matches(from).count(),
        1,
        "{from} stands once in {json}"
    );
    json.replace(from, to)
}

fn outcome() -> MandateActionOutcome {
    samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending)
}

fn payment() -> PaymentOutcome {
    samples::payment_outcome(&TransactionStatus::Rejected)
}

fn query() -> QueryNotification {
    samples::query(&CaseType::Payments)
}

fn notification(trigger: Trigger) -> MandateNotification {
    samples::mandate_notification(&trigger).unwrap()
}

#[test]
fn every_sample_is_without_findings_and_survives() {
    let all = samples::all();
    assert_eq!(all.len(), 4 * 5 + 3 + 8 + 3 + 4 + 2);
    for message in all {
        let parsed = round_trip(message.kind(), &message.to_json());
        assert_eq!(parsed.findings, [], "{message:?}");
        assert_eq!(parsed.message, message);
        let options = MessageReadOptions::new().deny_findings(true);
        assert!(
            Message::from_json_with(message.kind(), message.to_json().as_bytes(), &options).is_ok()
        );
        samples::headers(message.kind())
            .check(message.kind())
            .unwrap();
    }
}

#[test]
fn members_have_the_specifications_names_in_its_order() {
    assert_eq!(
        json(payment()),
        concat!(
            r#"{"creation_date_time":"2021-07-29T01:02:03.450Z","transaction_status":"RJCT","#,
            r#""transaction_status_reason_code":"AM04","#,
            r#""transaction_status_additional_information":["Insufficient funds"],"mps_user_id":"MPSUSER1","#,
            r#""instruction_identification":"SAMPLEAAXXXN20210729000000000000001","#,
            r#""uetr":"ba5eba11-0000-4000-8000-00000000002a","account_servicer_reference":"ASR-42","#,
            r#""clearing_system_reference":"CSR-42","acceptance_date_time":"2021-07-29T01:02:03.000Z","#,
            r#""original_transaction_reference":{"original_instruction_identification":"INV-2021-0042","#,
            r#""instructed_amount":{"currency":"AUD","amount":"12.50"},"#,
            r#""mandate_identification":"0b7c2f6e8a1d11eb8dcd0242ac130003","creditor_name":"Sample Utilities","#,
            r#""creditor_ultimate_name":"Sample Utilities Holding","#,
            r#""creditor_account_identification":"013010123456789"}}"#,
        )
    );
    let members = |message: Message| {
        let serde_json::Value::Object(members) = serde_json::from_str(&message.to_json()).unwrap()
        else {
            panic!()
        };
        let mut names: Vec<String> = members.keys().cloned().collect();
        names.sort();
        names
    };
    assert_eq!(
        members(outcome().into()),
        [
            "action_identification",
            "action_status",
            "action_type",
            "bilateral",
            "creation_date_time",
            "debtor_alias_name",
            "mandate_identification",
            "mandate_registration_date_time",
            "mandate_status",
            "mps_user_id",
            "request_id",
            "resolution_requested_by",
            "status",
        ]
    );
    assert_eq!(
        members(notification(Trigger::AmendmentDeclined).into()),
        [
            "action_identification",
            "action_status",
            "action_type",
            "creation_date_time",
            "details",
            "mandate_identification",
            "mandate_status",
            "mps_user_id",
            "resolution_event",
            "trigger",
        ]
    );
    assert_eq!(
        members(query().into()),
        [
            "case_id",
            "case_type",
            "creation_date_time",
            "investigation_type_code",
            "mandate_details",
            "narrative",
            "payment_details",
            "re_open_case_indication",
            "reminder_count",
        ]
    );
}

/// Refused messages: the place, what was expected, what was found.
#[test]
fn what_breaks_the_specification_is_an_error_with_its_place() {
    use MessageKind::{
        MandateNotification as N, MandateOutcome as M, PaymentOutcome as P, Query as Q,
    };
    let mamc = || notification(Trigger::AmendmentConfirmed);
    #[rustfmt::skip]
    let cases = [
        (M, changed(outcome(), r#""status":"SUCC","#, ""), "/status: expected a value, found none"),
        (M, changed(outcome(), r#""status":"SUCC""#, r#""status":null"#), "/status: expected a string, found null"),
        (M, changed(outcome(), r#""status":"SUCC""#, r#""status":5"#), "/status: expected a string, found a number"),
        (M, changed(outcome(), r#""bilateral":true"#, r#""bilateral":"true""#),
         "/bilateral: expected a boolean, found a string"),
        (M, changed(outcome(), "450Z\",\"status", "4500Z\",\"status"),
         "/creation_date_time: expected a UTC timestamp as YYYY-MM-DDThh:mm:ss.sssZ, \
          found \"2021-07-29T01:02:03.4500Z\""),
        (M, changed(outcome(), "450Z\",\"status", "450+00:00\",\"status"),
         "/creation_date_time: expected a UTC timestamp as YYYY-MM-DDThh:mm:ss.sssZ, \
          found \"2021-07-29T01:02:03.450+00:00\""),
        (M, changed(outcome(), "MPSUSER1", "MPSUSER1234"),
         "/mps_user_id: expected 1 to 10 characters, found \"MPSUSER1234\""),
        (M, changed(outcome(), "MPSUSER1", ""), "/mps_user_id: expected 1 to 10 characters, found \"\""),
        (M, changed(outcome(), "f3b1c0de-1111", "f3b1c0de1111"),
         "/request_id: expected a UUID with hyphens, found \"f3b1c0de1111-4222-8333-444455556666\""),
        (M, changed(outcome(), "0b7c2f6e8a1d11eb", "0b7c2f6e8a1d41eb"),
         "/mandate_identification: expected a UUID of version 1 as 32 lower-case hexadecimal digits, \
          found \"0b7c2f6e8a1d41eb8dcd0242ac130003\""),
        (M, changed(outcome(), "0b7c2f6e8a1d11eb8", "0b7c2f6e8a1d11ebc"),
         "/mandate_identification: expected a UUID of version 1 as 32 lower-case hexadecimal digits, \
          found \"0b7c2f6e8a1d11ebcdcd0242ac130003\""),
        (M, changed(outcome(), r#"{"creation"#, r#"{"status":"SUCC","creation"#),
         "/status at byte 65: expected each member name once in an object"),
        (M, changed(outcome(), r#"{"creation"#, r#"{"st\u0061tus":"SUCC","creation"#),
         "/status at byte 70: expected each member name once in an object"),
        (M, changed(outcome(), r#"{"creation"#, r#"{"new":[{"a/b~":1,"a/b~":1}],"creation"#),
         "/new/0/a~1b~0 at byte 18: expected each member name once in an object"),
        (N, changed(mamc(), r#""trigger":"MAMC","#, ""), "/trigger: expected a value, found none"),
        (N, changed(mamc(), "\"09:30:00.000Z\"", "\"9:30:00.000Z\""),
         "/details/bilateral_amendment/payment_information/payment_execute_not_before_time: expected a UTC time of \
          day as hh:mm:ss.sssZ, found \"9:30:00.000Z\""),
        (N, changed(mamc(), "2022-12-31", "2022-02-30"),
         "/details/bilateral_amendment/validity_end_date: expected a date as YYYY-MM-DD, found \"2022-02-30\""),
        (N, changed(mamc(), r#""details":{"#, r#""details":{"status_change":{"change":"CNCL"},"#),
         "/details: expected one variant, found 2"),
        (P, changed(payment(), "AM04", "AM045"),
         "/transaction_status_reason_code: expected 1 to 4 characters, found \"AM045\""),
        (P, changed(payment(), "[\"Insufficient funds\"]", "[\"ok\",\"\"]"),
         "/transaction_status_additional_information/1: expected 1 to 105 characters, found \"\""),
        (P, changed(payment(), "[\"Insufficient funds\"]", "\"text\""),
         "/transaction_status_additional_information: expected an array, found a string"),
        (P, changed(payment(), "0000-4000-8000", "0000-1000-8000"),
         "/uetr: expected a UUID of version 4 with hyphens, found \"ba5eba11-0000-1000-8000-00000000002a\""),
        (P, changed(payment(), "\"12.50\"", "12.50"),
         "/original_transaction_reference/instructed_amount/amount: expected a string, found a number"),
        (P, changed(payment(), "\"12.50\"", "\"1e3\""),
         "/original_transaction_reference/instructed_amount/amount: expected a plain decimal of at most 28 digits, \
          found \"1e3\""),
        (P, changed(payment(), ",\"amount\":\"12.50\"", ""),
         "/original_transaction_reference/instructed_amount/amount: expected a value, found none"),
        (P, changed(payment(), "\"AUD\"", "\"aud\""),
         "/original_transaction_reference/instructed_amount/currency: expected a currency code of three upper-case \
          letters, found \"aud\""),
        (Q, changed(query(), "CASE-000042", "CASE-0000000000000042"),
         "/case_id: expected 1 to 20 characters, found \"CASE-0000000000000042\""),
        (Q, changed(query(), r#""reminder_count":"1""#, r#""reminder_count":1"#),
         "/reminder_count: expected a string, found a number"),
        (Q, changed(query(), r#""reminder_count":"1""#, r#""reminder_count":"100""#),
         "/reminder_count: expected 1 to 2 characters, found \"100\""),
        (Q, changed(query(), "I do not know this charge. Please explain.", &"x".repeat(2049)),
         &*format!("/narrative: expected 1 to 2048 characters, found \"{}\"…", "x".repeat(40))),
        (Q, changed(query(), "Please explain.", "\\ud800"),
         "/narrative at byte 237: expected a Unicode character, found half of a surrogate pair"),
        (Q, changed(query(), "CASE-000042", "A\\nCASE-0000000000000042"),
         "/case_id: expected 1 to 20 characters, found \"A\\nCASE-0000000000000042\""),
    ].map(|(kind, json, error): (MessageKind, String, &str)| (kind, json, error.to_owned()));
    for (kind, json, error) in cases {
        let found = Message::from_json(kind, json.as_bytes()).expect_err(&json);
        assert_eq!(found.to_string(), error, "{json}");
        assert_eq!(found.pointer(), error.split([':', ' ']).next(), "{json}");
    }
}

#[test]
fn what_is_not_json_or_too_much_is_refused() {
    let read = |json: &[u8]| Message::from_json(MessageKind::Query, json).unwrap_err();
    assert_eq!(read(b"").to_string(), "byte 0: expected a value");
    assert_eq!(
        read(b"{\n\"a\":}").to_string(),
        "/a at byte 6: expected a value"
    );
    assert_eq!(
        read(b"{} {}").to_string(),
        "byte 3: expected the end of the text"
    );
    assert_eq!(
        read(b"\xef\xbb\xbf{}").to_string(),
        "byte 0: expected a value",
        "a byte order mark"
    );
    assert_eq!(
        read(b"{\"a\":\"\xff\"}").to_string(),
        "byte 6: expected UTF-8"
    );
    assert_eq!(
        read(b"[]").to_string(),
        ": expected an object, found an array"
    );
    for denies in [false, true] {
        assert_eq!(
            MessageReadOptions::new()
                .deny_findings(denies)
                .denies_findings(),
            denies
        );
    }
    assert!(!MessageReadOptions::new().denies_findings());
    let options = MessageReadOptions::new().max_message_bytes(10);
    let long = Message::from_json_with(MessageKind::Query, b"{          }", &options);
    let fault = |error: MessageError| match error {
        MessageError::Json(error) => error.kind(),
        other => panic!("{other}"),
    };
    assert_eq!(
        long.map_err(fault),
        Err(JsonErrorKind::TooLong { max: 10, found: 12 })
    );
    let spaces = |length: usize| {
        [
            json(query()).into_bytes(),
            vec![b' '; length - json(query()).len()],
        ]
        .concat()
    };
    assert!(Message::from_json(MessageKind::Query, &spaces(1024 * 1024)).is_ok());
    assert_eq!(
        fault(read(&spaces(1024 * 1024 + 1))),
        JsonErrorKind::TooLong {
            max: 1_048_576,
            found: 1_048_577
        }
    );
    let deep = changed(
        outcome(),
        r#"{"creation"#,
        &format!(r#"{{"x":{}{},"creation"#, "[".repeat(40), "]".repeat(40)),
    );
    let deep = Message::from_json(MessageKind::MandateOutcome, deep.as_bytes()).unwrap_err();
    assert_eq!(fault(deep), JsonErrorKind::TooDeep { max: 32 });
    let many: String = (0..4096).map(|n| format!("\"x{n}\":0,")).collect();
    let many = changed(outcome(), r#"{"creation"#, &format!(r#"{{{many}"creation"#));
    let many = Message::from_json(MessageKind::MandateOutcome, many.as_bytes()).unwrap_err();
    assert_eq!(fault(many), JsonErrorKind::TooManyValues { max: 4096 });
}

/// Findings: the place, the rule, what was expected, what was found.
#[test]
fn what_is_odd_is_kept_and_reported() {
    use MessageKind::{
        MandateNotification as N, MandateOutcome as M, PaymentOutcome as P, Query as Q,
    };
    #[rustfmt::skip]
    let cases = [
        (M, changed(outcome(), r#""mps_user_id":"MPSUSER1""#, r#""mps_user_id":null"#),
         "/mps_user_id: null: expected no member rather than null, found null"),
        (M, changed(outcome(), "450Z\",\"status", "45Z\",\"status"),
         "/creation_date_time: fraction_digits: expected 3 fractional digits, found 2"),
        (M, changed(outcome(), "03.450Z\",\"status", "03Z\",\"status"),
         "/creation_date_time: fraction_digits: expected 3 fractional digits, found 0"),
        (M, changed(outcome(), "\"PEND\"", "\"LATE\""),
         "/action_status: unknown_code: expected one of CMPL DECL PEND RECL TIMO, found \"LATE\""),
        (M, changed(outcome(), "A Sample", "Zoë"),
         "/debtor_alias_name: default_bound: expected 1 to 140 printable ASCII characters, found \"Zoë\""),
        (M, changed(samples::rejected_mandate_outcome(&ErrorSeverity::Fatal), r#""severity":"FATL","#, ""),
         "/error/severity: default_required: expected a value, found none"),
        (M, changed(samples::rejected_mandate_outcome(&ErrorSeverity::Fatal), "FATL", "WARN"),
         "/error/severity: default_code: expected one of FATL LOGI TRAN, found \"WARN\""),
        (N, changed(notification(Trigger::CreationConfirmed), "MCRC", "MNEW"),
         "/trigger: unknown_code: expected one of MAMC MAMD MAMN MAMX MCRC MCRD MCRX MSCH, found \"MNEW\""),
        (N, changed(notification(Trigger::CreationDeclined), "AC02", "AC-2"),
         "/resolution_event/reason_code: default_bound: expected 4 letters or digits, found \"AC-2\""),
        (N, changed(notification(Trigger::AmendmentConfirmed), "\"15\"", "\"7\""),
         "/details/bilateral_amendment/payment_information/point_in_time: default_bound: expected 2 digits, \
          found \"7\""),
        (P, changed(payment(), "\"12.50\"", "\"12.5\""),
         "/original_transaction_reference/instructed_amount/amount: default_bound: expected up to 16 digits, a point \
          and 2 digits, found \"12.5\""),
        (P, changed(payment(), "\"12.50\"", "\"-12.50\""),
         "/original_transaction_reference/instructed_amount/amount: default_bound: expected up to 16 digits, a point \
          and 2 digits, found \"-12.50\""),
        (P, changed(payment(), r#""currency":"AUD""#, r#""currency":"QQQ""#),
         "/original_transaction_reference/instructed_amount/currency: unknown_currency: expected a currency of ISO \
          4217, found \"QQQ\""),
        (P, changed(payment(), r#""currency":"AUD""#, r#""note":"x","currency":"AUD""#),
         "/original_transaction_reference/instructed_amount/note: unknown_member: expected no such member, \
          found a string"),
        (Q, changed(query(), "INV14", "INV15"),
         "/investigation_type_code: unknown_code: expected one of INV14, found \"INV15\""),
        (Q, changed(query(), r#""count_per_period":"1""#, r#""count_per_period":"many""#),
         "/mandate_details/payment_information/count_per_period: default_bound: expected a decimal of at most 19 \
          characters, found \"many\""),
        (Q, changed(query(), r#""reminder_count":"1""#, r#""reminder_count":"x""#),
         "/reminder_count: reminder_count: expected digits, found \"x\""),
    ];
    let unknown = [
        (r#"{"b":1.10}"#, "an object"),
        ("[]", "an array"),
        (r#""true""#, "a string"),
        ("true", "a boolean"),
        ("false", "a boolean"),
        ("null", "null"),
        ("0", "a number"),
        ("-1.5e3", "a number"),
    ];
    let unknown = unknown.map(|(value, found)| {
        let json = changed(
            outcome(),
            r#"{"creation"#,
            &format!(r#"{{"new":{value},"creation"#),
        );
        (
            M,
            json,
            format!("/new: unknown_member: expected no such member, found {found}"),
        )
    });
    let cases = cases.map(|(kind, json, finding)| (kind, json, finding.to_owned()));
    for (kind, json, finding) in cases.into_iter().chain(unknown) {
        let parsed = round_trip(kind, &json);
        assert_eq!(
            parsed
                .findings
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
            [finding],
            "{json}"
        );
        let denied = Message::from_json_with(
            kind,
            json.as_bytes(),
            &MessageReadOptions::new().deny_findings(true),
        );
        let consistency = parsed.findings[0].rule.class() == RuleClass::Consistency;
        assert_eq!(
            denied.is_ok(),
            consistency,
            "consistency never refuses: {json}"
        );
    }
}

#[test]
fn unknown_members_and_codes_are_written_back_unchanged() {
    let extra = r#""zeta":{"b":1.10,"a":[1E400,-0.0,"\u0041",null],"n":12345678901234567890123},"alpha":true"#;
    let json = changed(payment(), r#"{"creation"#, &format!("{{{extra},\"creation"));
    let json = json
        .replace("\"RJCT\"", "\"NEWS\"")
        .replace("\"AUD\"", "\"AUD\",\"why\":[]");
    let parsed = round_trip(MessageKind::PaymentOutcome, &json);
    let written = parsed.message.to_json();
    assert!(written.ends_with(&format!(",{extra}}}")), "{written}");
    assert!(
        written.contains(r#""transaction_status":"NEWS""#) && written.contains(r#""why":[]"#),
        "{written}"
    );
    let Message::PaymentOutcome(outcome) = parsed.message else {
        panic!()
    };
    assert_eq!(outcome.extra.get("alpha"), Some("true"));
    assert_eq!(
        outcome
            .extra
            .iter()
            .map(|(name, _)| name)
            .collect::<Vec<_>>(),
        ["zeta", "alpha"]
    );
    assert_eq!((outcome.extra.len(), outcome.extra.is_empty()), (2, false));
    let amount = outcome
        .original_transaction_reference
        .unwrap()
        .instructed_amount
        .unwrap();
    assert_eq!(format!("{:?}", amount.extra), r#"{"why": "[]"}"#);
    assert_eq!(
        (payment().extra.len(), payment().extra.is_empty()),
        (0, true)
    );
    assert!(!outcome.transaction_status.is_known());
}

#[test]
fn amendments_tell_absent_from_changed_from_cleared() {
    let read = |details: &str| {
        let json = changed(
            notification(Trigger::AmendedUnilaterally)
                .details(Amendment::new().debtor_information(AmendedDebtor::new())),
            r#"{"amendment":{"debtor_information":{}}}"#,
            details,
        );
        let Message::MandateNotification(message) =
            round_trip(MessageKind::MandateNotification, &json).message
        else {
            panic!()
        };
        message.details.unwrap().change
    };
    let Change::Amendment(amendment) = read(
        r#"{"amendment":{"debtor_information":{"party_name":"A","party_reference":"-","party_type":"\u002d"}}}"#,
    ) else {
        panic!()
    };
    let debtor = amendment.debtor_information.unwrap();
    assert_eq!(debtor.party_name, Amended::Changed("A".to_owned()));
    assert_eq!(debtor.party_reference, Amended::Cleared);
    assert_eq!(debtor.party_type, Amended::Cleared, "however it is escaped");
    assert!(debtor.ultimate_party_name.is_absent());
    assert!(!debtor.party_name.is_absent() && !debtor.party_reference.is_absent());

    let Change::BilateralAmendment(amendment) = read(
        r#"{"bilateral_amendment":{"validity_end_date":"1000-01-01","transfer_arrangement":"-","payment_information":{
            "payment_frequency":"-","payment_execute_not_before_time":"00:00:00-00:00","count_per_period":"0",
            "point_in_time":"00","payment_amount_type":"-","first_payment_date":"1000-01-01",
            "first_payment_amount":{ "currency" : "ZZZ" },"last_payment_amount":{"currency":"AUD","amount":"1.00"}}}}"#,
    ) else {
        panic!()
    };
    assert_eq!(amendment.validity_end_date, Amended::Cleared);
    assert_eq!(amendment.transfer_arrangement, Amended::Cleared);
    assert!(amendment.additional_information.is_absent());
    let payment = amendment.payment_information.unwrap();
    assert_eq!(payment.payment_frequency, Amended::Cleared);
    assert_eq!(payment.payment_execute_not_before_time, Amended::Cleared);
    assert_eq!(payment.count_per_period, Amended::Cleared);
    assert_eq!(payment.point_in_time, Amended::Cleared);
    assert_eq!(payment.payment_amount_type, Amended::Cleared);
    assert_eq!(payment.first_payment_date, Amended::Cleared);
    assert_eq!(payment.first_payment_amount, Amended::Cleared);
    assert_eq!(
        payment
            .last_payment_amount
            .changed()
            .unwrap()
            .money()
            .to_string(),
        "1.00 AUD"
    );
    assert!(payment.amount.is_absent());

    let Change::BilateralAmendment(amendment) = read(
        r#"{"bilateral_amendment":{"payment_information":{"payment_execute_not_before_time":"-"}}}"#,
    ) else {
        panic!()
    };
    let time = amendment
        .payment_information
        .unwrap()
        .payment_execute_not_before_time;
    assert_eq!(
        (time, time.is_cleared()),
        (Amended::ClearedByDash, true),
        "and `-` again when it is written"
    );

    // Money without an amount is the mark only if it is ZZZ without other members.
    for money in [r#"{"currency":"AUD"}"#, r#"{"currency":"ZZZ","x":1}"#] {
        let json = json(notification(Trigger::AmendmentConfirmed)).replace(
            r#""first_payment_amount":{"currency":"AUD","amount":"5.00"}"#,
            &format!("\"first_payment_amount\":{money}"),
        );
        let error =
            Message::from_json(MessageKind::MandateNotification, json.as_bytes()).unwrap_err();
        let place = "/details/bilateral_amendment/payment_information/first_payment_amount/amount";
        assert_eq!(error.pointer(), Some(place), "{money}");
    }

    let mut current = Some("old".to_owned());
    Amended::Absent.apply_to(&mut current);
    assert_eq!(current.as_deref(), Some("old"));
    Amended::Changed("new".to_owned()).apply_to(&mut current);
    assert_eq!(current.as_deref(), Some("new"));
    Amended::Cleared.apply_to(&mut current);
    assert_eq!(current, None);
}

#[test]
fn unknown_details_are_kept_and_reported() {
    let json = changed(
        notification(Trigger::CreationConfirmed),
        r#"{"creation"#,
        r#"{"details":{"port":{"a":1}},"creation"#,
    );
    let parsed = round_trip(MessageKind::MandateNotification, &json);
    let rules: Vec<Rule> = parsed.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::DefaultRequired, Rule::UnknownMember]);
    let Message::MandateNotification(message) = parsed.message else {
        panic!()
    };
    assert_eq!(
        message.details.unwrap().extra.get("port"),
        Some(r#"{"a":1}"#)
    );
}

#[test]
fn a_message_for_another_receiver_is_refused() {
    for message in samples::all() {
        for kind in MessageKind::ALL {
            let read = Message::from_json(kind, message.to_json().as_bytes());
            if kind == message.kind() {
                assert!(read.is_ok());
            } else {
                let wrong = matches!(
                    read,
                    Err(MessageError::WrongKind { expected, found }) if expected == kind && found == message.kind()
                );
                assert!(wrong, "{kind} reads {}: {read:?}", message.kind());
            }
        }
    }
}

#[test]
fn codes_keep_their_text() {
    assert_eq!(MandateStatus::from("ACTV"), MandateStatus::Active);
    assert_eq!(MandateStatus::from("actv").as_str(), "actv");
    assert!(!MandateStatus::from("actv").is_known() && !MandateStatus::from("").is_known());
    for status in ActionStatus::KNOWN {
        assert_eq!(ActionStatus::from(status.as_str()), *status);
    }
}

#[test]
fn acknowledgements() {
    let acknowledgement = Acknowledgement::from_random_bytes([7; 16]);
    let json = acknowledgement.to_json();
    assert_eq!(
        json,
        r#"{"id":"07070707-0707-4707-8707-070707070707","status":"RCVD"}"#
    );
    assert_eq!(
        Acknowledgement::from_json(json.as_bytes()).unwrap(),
        acknowledgement
    );
    for (status, received) in [
        ("RCVD", true),
        ("OK", false),
        ("rcvd", false),
        ("RCVD ", false),
        ("", false),
    ] {
        let json =
            format!(r#"{{"status":"{status}","id":"07070707-0707-4707-8707-070707070707","x":1}}"#);
        assert_eq!(
            Acknowledgement::from_json(json.as_bytes())
                .unwrap()
                .is_received(),
            received,
            "{status:?}"
        );
    }
    for bad in [
        "",
        "{}",
        "[]",
        r#"{"id":"x","status":"RCVD"}"#,
        r#"{"id":"07070707-0707-4707-8707-070707070707"}"#,
    ] {
        assert!(Acknowledgement::from_json(bad.as_bytes()).is_err(), "{bad}");
    }
    let spaces = |length: usize| format!("{json}{}", " ".repeat(length - json.len())).into_bytes();
    assert_eq!(
        Acknowledgement::from_json(&spaces(65_536)).unwrap(),
        acknowledgement
    );
    assert!(matches!(
        Acknowledgement::from_json(&spaces(65_537)),
        Err(MessageError::Json(_))
    ));
}
