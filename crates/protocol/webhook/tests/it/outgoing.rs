//! Conversion to entries of an outbox and an inbox.

use bankrail_mailbox::Outgoing;
use bankrail_webhook::*;

fn outgoing(message: impl Into<Message>) -> Result<Outgoing, OutgoingError> {
    let message = message.into();
    message.outgoing(
        "endpoint".parse().unwrap(),
        &samples::headers(message.kind()),
    )
}

#[test]
fn every_sample_can_be_sent() {
    for message in samples::all() {
        let outgoing = outgoing(message.clone()).unwrap();
        let headers = samples::headers(message.kind());
        assert_eq!(*outgoing.body, *message.to_json().as_bytes());
        assert_eq!(
            outgoing.kind.as_str().parse::<MessageKind>(),
            Ok(message.kind())
        );
        assert_eq!(
            DeliveryHeaders::from_attributes(&outgoing.attributes),
            Some((headers, Vec::new()))
        );
        assert_eq!(outgoing.message_id, headers.message_id);
        let shown = format!("{outgoing:?}");
        assert!(
            !shown.contains("MPSUSER1") && shown.contains("bytes"),
            "{shown}"
        );
    }
}

#[test]
fn what_is_not_of_the_specifications_form_is_not_sent() {
    let good = samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending);
    let rules = |message: MandateActionOutcome| match outgoing(message) {
        Err(OutgoingError::Findings { findings }) => {
            findings.into_iter().map(|f| f.rule).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(
        rules(good.clone().debtor_alias_name("")),
        [Rule::DefaultBound]
    );
    assert_eq!(
        rules(good.clone().action_status(ActionStatus::from("NEWS"))),
        [Rule::UnknownCode]
    );
    let json = good.to_json().replacen('{', "{\"x\":1,", 1);
    assert_eq!(
        rules(
            MandateActionOutcome::from_json(json.as_bytes())
                .unwrap()
                .message
        ),
        [Rule::UnknownMember]
    );
    let cleared = AmendedDebtor::new().party_name("-".to_owned());
    let message = samples::mandate_notification(&Trigger::AmendedUnilaterally)
        .unwrap()
        .details(Amendment::new().debtor_information(cleared));
    let Err(OutgoingError::Findings { findings }) = outgoing(message) else {
        panic!()
    };
    assert_eq!(
        findings[0].to_string(),
        "/details/amendment/debtor_information/party_name: reads_as_cleared: \
         expected a value that is not the mark for cleared, found the mark"
    );
    // Findings of consistency do not keep a message out of the outbox.
    let odd = good.clone().mandate_status(MandateStatus::Active);
    assert!(!odd.validate().is_empty() && outgoing(odd.clone()).is_ok() && odd.checked().is_err());
    assert_eq!(good.clone().checked().unwrap(), good);

    let message = Message::from(good);
    let headers = samples::headers(MessageKind::Query);
    let refused = message
        .outgoing("endpoint".parse().unwrap(), &headers)
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "headers: expected those of the message's kind"
    );
    let source = std::error::Error::source(&refused).unwrap().to_string();
    assert_eq!(source, "expected a header X-RequestKey, found none");
}

#[test]
fn what_no_receiver_reads_is_not_sent() {
    let with = |texts| {
        let outcome = samples::payment_outcome(&TransactionStatus::SettlementCompleted);
        outcome.transaction_status_additional_information(vec!["x".parse().unwrap(); texts])
    };
    let longest = (1..=4096)
        .rev()
        .find(|texts| outgoing(with(*texts)).is_ok())
        .unwrap();
    let sent = outgoing(with(longest)).unwrap();
    assert!(longest > 4000 && PaymentOutcome::from_json(&sent.body).is_ok());
    let refused = outgoing(with(longest + 1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "expected a message of at most 4096 JSON values, found more"
    );
    assert!(
        PaymentOutcome::from_json(Message::from(with(longest + 1)).to_json().as_bytes()).is_err()
    );
}

#[test]
fn what_the_specification_forbids_is_not_sent() {
    let rules = |message: Message| match outgoing(message) {
        Err(OutgoingError::Findings { findings }) => {
            findings.into_iter().map(|f| f.rule).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let debtor = DebtorInformation::new()
        .account_identification_type_code(AccountIdentificationType::Alias)
        .account_alias_type_code(AliasType::Email)
        .account_alias_identification("nobody");
    let mut query = samples::query(&CaseType::Mandate);
    query.mandate_details.debtor_information = Some(debtor);
    assert_eq!(rules(query.into()), [Rule::AliasFormat]);
    let mut query = samples::query(&CaseType::Mandate);
    query.reminder_count = Some("x".parse().unwrap());
    assert_eq!(rules(query.into()), [Rule::ReminderCount]);
    let mut rejected = samples::payment_outcome(&TransactionStatus::Rejected);
    rejected.transaction_status_reason_code = None;
    assert_eq!(rules(rejected.into()), [Rule::RejectionReason]);
    let mut unlisted = samples::payment_outcome(&TransactionStatus::Warehoused);
    let amount = "1.00 QQQ".parse::<bankrail_values::Money>().unwrap();
    unlisted.original_transaction_reference =
        Some(OriginalTransaction::new().instructed_amount(amount));
    assert_eq!(rules(unlisted.into()), [Rule::UnknownCurrency]);
    let ported = || samples::mandate_outcome(&ActionType::Port, &ActionStatus::Completed);
    assert_eq!(rules(ported().bilateral(false).into()), [Rule::Bilateral]);
    assert_eq!(
        rules(ported().debtor_alias_name("A").into()),
        [Rule::DebtorAliasName]
    );
}

#[test]
fn what_only_a_default_forbids_is_sent_on_request() {
    let with = |message: &Message, options: OutgoingOptions| {
        message.outgoing_with(
            "endpoint".parse().unwrap(),
            &samples::headers(message.kind()),
            &options,
        )
    };
    let query = |change: fn(&mut MandateDetails)| {
        let mut query = samples::query(&CaseType::Mandate);
        change(&mut query.mandate_details);
        Message::from(query)
    };
    let dong = "1500 VND".parse::<bankrail_values::Money>().unwrap();
    let beyond: [(Message, Rule); 6] = [
        (
            samples::payment_outcome(&TransactionStatus::Warehoused)
                .original_transaction_reference(OriginalTransaction::new().instructed_amount(dong))
                .into(),
            Rule::DefaultBound,
        ),
        (
            samples::payment_outcome(&TransactionStatus::Warehoused)
                .original_transaction_reference(OriginalTransaction::new().creditor_name("Café"))
                .into(),
            Rule::DefaultBound,
        ),
        (
            query(|details| details.additional_information = Some("x".repeat(141))),
            Rule::DefaultBound,
        ),
        (
            query(|details| details.mandate_purpose_code = Some("NEWS".into())),
            Rule::DefaultCode,
        ),
        (
            samples::mandate_notification(&Trigger::CreationDeclined)
                .unwrap()
                .resolution_event({
                    let mut event = ResolutionEvent::new("AC02");
                    event.reason_code = None;
                    event
                })
                .into(),
            Rule::DefaultRequired,
        ),
        (
            samples::mandate_notification(&Trigger::AmendedUnilaterally)
                .unwrap()
                .details(
                    Amendment::new()
                        .debtor_information(AmendedDebtor::new().party_name("-".to_owned())),
                )
                .into(),
            Rule::ReadsAsCleared,
        ),
    ];
    for (message, rule) in beyond {
        let Err(OutgoingError::Findings { findings }) = with(&message, OutgoingOptions::new())
        else {
            panic!("{rule}")
        };
        assert_eq!(
            findings
                .iter()
                .map(|finding| finding.rule)
                .collect::<Vec<_>>(),
            [rule]
        );
        assert_eq!(rule.class(), RuleClass::Default);
        let sent = with(&message, OutgoingOptions::new().beyond_defaults(true)).unwrap();
        assert_eq!(*sent.body, *message.to_json().as_bytes());
    }
    // The specification's own rules stand.
    let mut rejected = samples::payment_outcome(&TransactionStatus::Rejected);
    rejected.transaction_status_reason_code = None;
    let refused = with(
        &rejected.into(),
        OutgoingOptions::new().beyond_defaults(true),
    );
    assert!(matches!(refused, Err(OutgoingError::Findings { .. })));
    let unknown = samples::mandate_outcome(&ActionType::Create, &ActionStatus::from("NEWS"));
    let refused = with(
        &unknown.into(),
        OutgoingOptions::new().beyond_defaults(true),
    );
    assert!(matches!(refused, Err(OutgoingError::Findings { .. })));
}

#[test]
fn what_would_never_leave_is_not_taken() {
    // A line in full is 105 characters, quotes and a comma.
    let long = |bytes: usize| {
        let of = |lines: usize, rest: usize| {
            let lengths = std::iter::repeat_n(105, lines).chain([rest / 2, rest - rest / 2]);
            samples::payment_outcome(&TransactionStatus::Rejected)
                .transaction_status_additional_information(
                    lengths
                        .map(|of| "x".repeat(of).parse().unwrap())
                        .collect::<Vec<_>>(),
                )
        };
        let more = bytes - of(0, 2).to_json().len();
        let message = of(more / 108, 2 + more % 108);
        assert_eq!(message.to_json().len(), bytes);
        message
    };
    assert!(outgoing(long(MAX_OUTGOING_BYTES)).is_ok());
    let (found, allowed) = (MAX_OUTGOING_BYTES + 1, MAX_OUTGOING_BYTES);
    assert_eq!(
        outgoing(long(found)).unwrap_err(),
        OutgoingError::TooLarge { found, allowed }
    );
    let message = Message::from(long(1_000));
    let refused = message.outgoing(
        "end\0point".parse().unwrap(),
        &samples::headers(message.kind()),
    );
    assert_eq!(refused.unwrap_err(), OutgoingError::Endpoint);
}

#[test]
fn one_message_made_anew_is_told_from_another_one() {
    let message = |seconds: &str, narrative: &str| {
        let json = format!(
            r#"{{"creation_date_time":"2024-01-02T03:04:{seconds}.678Z","case_id":"C1",
            "investigation_type_code":"INV14","case_type":"Mandate Query Case",
            "narrative":"{narrative}","mandate_details":{{}}}}"#
        );
        let message = Message::from_json(MessageKind::Query, json.as_bytes())
            .unwrap()
            .message;
        message
            .outgoing(
                "endpoint".parse().unwrap(),
                &samples::headers(MessageKind::Query),
            )
            .unwrap()
    };
    let first = message("05", "Why?");
    assert!(first.has_same_content(&first) && first.has_same_content(&message("06", "Why?")));
    assert!(!first.has_same_content(&message("05", "How?")));
    let mut headers = samples::headers(MessageKind::Query);
    headers.priority = Some(Priority::Attended);
    let urgent = Outgoing {
        attributes: headers.to_attributes(&[]),
        ..first.clone()
    };
    assert!(!first.has_same_content(&urgent));
}

#[test]
fn stable_names_are_read_back() {
    for kind in MessageKind::ALL {
        assert_eq!(kind.as_str().parse::<MessageKind>(), Ok(kind));
        assert!(kind.default_path().starts_with("/payto/"));
    }
    let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Rule::ALL.len());
}

/// Headers, findings and acknowledgement of a delivery are read back unchanged.
#[test]
fn an_inbox_keeps_headers_findings_and_acknowledgement() {
    let message = Message::from(samples::query(&CaseType::Mandate));
    let pairs = [
        ("x-message-id", &b"9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11"[..]),
        ("priority", b"\xfc\0"),
    ];
    let (headers, findings) = DeliveryHeaders::parse(MessageKind::Query, pairs).unwrap();
    assert_eq!(findings.len(), 1);
    let acknowledgement = Acknowledgement::from_random_bytes([7; 16]);
    let incoming = message.incoming(
        "C",
        &headers,
        &findings,
        b"as received".to_vec(),
        &acknowledgement,
    );
    assert_eq!(incoming.kind.as_str(), "query");
    assert_eq!(incoming.key, message.duplicate_key("C", headers.message_id));
    assert_eq!(incoming.fingerprint, message.fingerprint());
    assert_eq!(*incoming.body, *b"as received");
    assert_eq!(
        DeliveryHeaders::from_attributes(&incoming.attributes),
        Some((headers, findings))
    );
    assert_eq!(
        Acknowledgement::from_json(&incoming.acknowledgement).unwrap(),
        acknowledgement
    );
    assert_eq!(DeliveryHeaders::from_attributes(b"other bytes"), None);
}
