//! Duplicate keys and fingerprints.

use bankrail_mailbox::DuplicateKey;
use bankrail_values::{HyphenatedUuid, Timestamp};
use bankrail_webhook::*;
use proptest::prelude::*;
use std::time::Duration;

fn id(number: u8) -> HyphenatedUuid {
    HyphenatedUuid::from_random_bytes([number; 16])
}

fn key(message: impl Into<Message>) -> DuplicateKey {
    message.into().duplicate_key("CUSTOMER", id(1))
}

#[test]
fn each_message_has_its_key() {
    let outcome = samples::mandate_outcome(&ActionType::Create, &ActionStatus::Completed);
    let mut other = outcome.clone().mandate_status(MandateStatus::Suspended);
    assert_eq!(
        key(outcome.clone()),
        key(other.clone()),
        "the request id alone"
    );
    other.request_id = Some(id(9));
    assert!(!key(outcome.clone()).overlaps(&key(other)));
    // An action that moves on from pending is news under the same request id.
    for status in ActionStatus::KNOWN.iter().cloned().map(Some).chain([None]) {
        let mut other = outcome.clone();
        other.action_status = status.clone();
        assert_eq!(key(other.clone()), key(outcome.clone()), "{status:?}");
        assert_eq!(
            Message::from(other).is_interim(),
            status == Some(ActionStatus::Pending),
            "{status:?}"
        );
    }

    let notification = samples::mandate_notification(&Trigger::CreationConfirmed).unwrap();
    let mut other = samples::mandate_notification(&Trigger::StatusChanged).unwrap();
    other.action_identification = notification.action_identification;
    assert_eq!(
        key(notification.clone()),
        key(other.clone()),
        "the action alone"
    );
    other.action_identification = "5e1f0a728a1d11eb8dcd0242ac130004".parse().unwrap();
    assert!(!key(notification).overlaps(&key(other)));

    let mut query = samples::query(&CaseType::Mandate);
    let mut keys = Vec::new();
    for (case, re_open) in [
        ("C1", None),
        ("C1", Some(false)),
        ("C1", Some(true)),
        ("C2", None),
        ("C2", Some(false)),
    ] {
        query.case_id = case.parse().unwrap();
        query.re_open_case_indication = re_open;
        keys.push(key(query.clone()));
    }
    for (index, one) in keys.iter().enumerate() {
        for (other_index, other) in keys.iter().enumerate() {
            assert_eq!(
                one.overlaps(other),
                index == other_index,
                "an absent indication is not a value"
            );
        }
    }
}

/// Returns a query with this `reminder_count`.
fn reminded(count: Option<&str>) -> Message {
    let mut query = samples::query(&CaseType::Mandate);
    query.reminder_count = count.map(|count| count.parse().unwrap());
    query.into()
}

/// Spellings of `reminder_count` that mean the same (Default: absent counts as 0, digits are a
/// number).
const COUNTS: [&[Option<&str>]; 11] = [
    &[None, Some("0"), Some("00")],
    &[Some("1"), Some("01")],
    &[Some("9"), Some("09")],
    &[Some("10")],
    &[Some("99")],
    &[Some("x")],
    &[Some("1 ")],
    &[Some(" 1")],
    &[Some("+1")],
    &[Some("-0")],
    &[Some("٣")],
];

#[test]
fn counts_of_reminders_compare_as_numbers_and_other_text_as_text() {
    for (index, counts) in COUNTS.iter().enumerate() {
        for (other_index, others) in COUNTS.iter().enumerate() {
            for (count, other) in counts
                .iter()
                .flat_map(|count| others.iter().map(move |other| (count, other)))
            {
                let (one, two) = (key(reminded(*count)), key(reminded(*other)));
                assert_eq!(
                    one.overlaps(&two),
                    index == other_index,
                    "{count:?} and {other:?}"
                );
                assert_eq!(one == two, index == other_index, "{count:?} and {other:?}");
            }
        }
    }
}

/// Each spelling finds what a store holds under the others, by one hash and one fingerprint.
#[test]
fn a_query_is_found_in_whatever_spelling_it_was_stored() {
    let entry = |message: &Message| {
        let acknowledgement = Acknowledgement::from_random_bytes([7; 16]);
        message.incoming(
            "CUSTOMER",
            &samples::headers(MessageKind::Query),
            &[],
            message.to_json().into_bytes(),
            &acknowledgement,
        )
    };
    for counts in COUNTS {
        for (count, stored) in counts
            .iter()
            .flat_map(|count| counts.iter().map(move |stored| (count, stored)))
        {
            let (message, stored) = (entry(&reminded(*count)), reminded(*stored));
            assert!(
                message.has_content(stored.fingerprint()),
                "{count:?} and {stored:?}"
            );
        }
        let message = entry(&reminded(counts[0]));
        assert_eq!(message.key.hashes().len(), counts.len(), "{counts:?}");
        assert_eq!(
            message.other_spellings.len(),
            counts.len() - 1,
            "{counts:?}"
        );
        assert_eq!(
            message.fingerprint,
            reminded(counts[0]).fingerprint(),
            "an entry keeps the fingerprint as it was"
        );
    }
    // Another text is other content in each spelling.
    let Message::Query(mut other) = reminded(None) else {
        panic!()
    };
    other.narrative = "Another question.".parse().unwrap();
    assert!(!entry(&reminded(Some("0"))).has_content(other.fingerprint()));
    for message in samples::all() {
        let spellings = message.other_spellings();
        assert!(
            matches!(message, Message::Query(_)) || spellings.is_empty(),
            "{message:?}"
        );
    }
}

/// Earlier versions stored one hash, of the count as it was written, and knew no other spellings.
#[test]
fn what_earlier_versions_stored_is_found_again() {
    use bankrail_mailbox::testing::{ModelInbox, run_ready};
    use bankrail_mailbox::{Inbox, Incoming, ReceiveOutcome};
    // Computed by another program from the definition of the key.
    let earlier = [
        (
            None,
            "0f2cc914b8457083f7e74a70313e3ce0f7b7bfdfc5000d0a65920fc8f5d83c23",
        ),
        (
            Some("0"),
            "c214f2812d2b71e00bce718b7694c6c6d9dd42b853084e963ec65e1c00a9af9e",
        ),
        (
            Some("01"),
            "2e191ead73f084d0f7a92216ac66853f454d95e1ccf02ee47fb3717d7f69e615",
        ),
    ];
    let entry = |count: Option<&str>| {
        let Message::Query(mut query) = reminded(count) else {
            panic!()
        };
        query.case_id = "C1".parse().unwrap();
        query.re_open_case_indication = None;
        let (headers, acknowledgement) = (
            samples::headers(MessageKind::Query),
            Acknowledgement::from_random_bytes([7; 16]),
        );
        Message::from(query).incoming("CUSTOMER", &headers, &[], Vec::new(), &acknowledgement)
    };
    for (count, hash) in earlier {
        let now = entry(count);
        let stored = now
            .key
            .hashes()
            .iter()
            .copied()
            .find(|stored| stored.to_string() == hash)
            .unwrap();
        let stored = Incoming {
            key: stored.into(),
            other_spellings: Vec::new(),
            ..now
        };
        let inbox = ModelInbox::new();
        run_ready(async {
            let first = inbox.receive(&stored, Timestamp::UNIX_EPOCH).await.unwrap();
            for same in COUNTS
                .iter()
                .find(|counts| counts.contains(&count))
                .unwrap()
                .iter()
            {
                let again = inbox
                    .receive(&entry(*same), Timestamp::UNIX_EPOCH)
                    .await
                    .unwrap();
                assert!(
                    matches!(again, ReceiveOutcome::InProgress { .. }),
                    "{count:?} and {same:?}: {again:?}"
                );
                assert_eq!(again.id(), first.id());
            }
            let other = inbox
                .receive(&entry(Some("2")), Timestamp::UNIX_EPOCH)
                .await
                .unwrap();
            assert!(
                matches!(other, ReceiveOutcome::New { .. }),
                "{count:?}: {other:?}"
            );
        });
    }
}

#[test]
fn a_payments_two_names_are_aliases() {
    let both = samples::payment_outcome(&TransactionStatus::SettlementPending);
    let (mut by_id, mut by_uetr, mut neither) = (both.clone(), both.clone(), both.clone());
    by_id.uetr = None;
    by_uetr.instruction_identification = None;
    (neither.uetr, neither.instruction_identification) = (None, None);
    let [both, by_id, by_uetr] = [both, by_id, by_uetr].map(key);
    assert_eq!(
        [
            both.hashes().len(),
            by_id.hashes().len(),
            by_uetr.hashes().len()
        ],
        [2, 1, 1]
    );
    assert!(both.overlaps(&by_id) && both.overlaps(&by_uetr) && !by_id.overlaps(&by_uetr));
    let other_delivery = Message::from(neither.clone()).duplicate_key("CUSTOMER", id(2));
    assert!(
        !key(neither).overlaps(&other_delivery),
        "the fallback is the message id"
    );
    let settled = key(samples::payment_outcome(
        &TransactionStatus::SettlementCompleted,
    ));
    assert!(!both.overlaps(&settled), "another status is another key");
}

/// Computed by another program from the definition: stores keep keys, so their values must not
/// change.
#[test]
fn keys_have_fixed_values() {
    let time = r#""creation_date_time":"2021-07-29T01:02:03.450Z""#;
    let notification = r#""trigger":"MCRC","mps_user_id":"U1","mandate_identification":
        "0b7c2f6e8a1d11eb8dcd0242ac130003","action_identification":"5e1f0a728a1d11eb8dcd0242ac130003",
        "action_type":"CREA","action_status":"CMPL""#;
    let query = r#""case_id":"C1","investigation_type_code":"INV14","case_type":"Mandate Query Case",
        "narrative":"N","mandate_details":{}"#;
    let first = format!(r#"{query},"reminder_count":"0""#);
    let reminder = format!(r#"{query},"reminder_count":"2","re_open_case_indication":false"#);
    let text = format!(r#"{query},"reminder_count":"x""#);
    for (kind, members, value) in [
        (
            MessageKind::MandateOutcome,
            r#""status":"RJCT","request_id":"f3b1c0de-1111-4222-8333-444455556666""#,
            "2a2fb2b8a7bc329483e22124e93ed842a35945e94423619c8b73a9b26e8bb6ae",
        ),
        (
            MessageKind::MandateOutcome,
            r#""status":"RJCT""#,
            "647fd0abf5125606bfad5cb760588b881b3ee128d9a7df56069cb239b4f22b3f",
        ),
        (
            MessageKind::MandateNotification,
            notification,
            "e92618d5a8827f77ab1310b1b0654ac49910ff18e2d2db2c37b79dd7c38508fe",
        ),
        (
            MessageKind::PaymentOutcome,
            r#""transaction_status":"ACSC","instruction_identification":"I1""#,
            "a529c9d70b270c9ad5b8378bf44ff3930093667d2d175acd014b9a09594c1c0d",
        ),
        (
            MessageKind::PaymentOutcome,
            r#""transaction_status":"ACSC","uetr":"ba5eba11-0000-4000-8000-00000000002a""#,
            "85aa13dea1f865e1f0c9115eea3a40d693a672180d952dc3ffd8f1b9e5fae075",
        ),
        (
            MessageKind::PaymentOutcome,
            r#""transaction_status":"ACSC""#,
            "d16cadbd66bf6e76f4e866ef61d7fdfcc4c427dcac07632a8bdd3ef347d0e29f",
        ),
        (
            MessageKind::Query,
            &first,
            "c214f2812d2b71e00bce718b7694c6c6d9dd42b853084e963ec65e1c00a9af9e",
        ),
        (
            MessageKind::Query,
            query,
            "0f2cc914b8457083f7e74a70313e3ce0f7b7bfdfc5000d0a65920fc8f5d83c23",
        ),
        (
            MessageKind::Query,
            &reminder,
            "3827adaf209cbdba884e19ba0440643e6289bce1c83aecbf5293803fcfb0cd7e",
        ),
        (
            MessageKind::Query,
            &text,
            "f0b0bb3c4cc463e74dc4c28ee007492015f73a79ed3a60ff8e49dbeaf370a3fe",
        ),
    ] {
        let message = Message::from_json(kind, format!("{{{time},{members}}}").as_bytes())
            .unwrap()
            .message;
        let hashes: Vec<String> = key(message)
            .hashes()
            .iter()
            .map(ToString::to_string)
            .collect();
        // A query has a hash for each spelling of its count, as stores keep them.
        assert!(
            hashes.iter().any(|hash| hash == value),
            "{members}: {hashes:?}"
        );
        assert!(
            kind == MessageKind::Query || hashes.len() == 1,
            "{members}: {hashes:?}"
        );
    }
}

#[test]
fn keys_are_apart_by_kind_customer_and_member() {
    let mut outcome = samples::mandate_outcome(&ActionType::Create, &ActionStatus::Completed);
    let by_request = Message::from(outcome.clone());
    assert!(
        !by_request
            .duplicate_key("A", id(1))
            .overlaps(&by_request.duplicate_key("B", id(1)))
    );
    outcome.request_id = Some(id(1));
    let mut without = outcome.clone();
    without.request_id = None;
    assert!(
        !key(outcome).overlaps(&key(without.clone())),
        "a request id is no message id"
    );
    let mut payment = samples::payment_outcome(&TransactionStatus::Warehoused);
    (payment.uetr, payment.instruction_identification) = (None, None);
    assert!(
        !key(without).overlaps(&key(payment)),
        "message ids of two kinds"
    );
}

#[test]
fn the_fingerprint_is_the_content_without_its_time() {
    for message in samples::all() {
        let print = message.fingerprint();
        for other in samples::all() {
            assert_eq!(print == other.fingerprint(), message == other);
        }
        let json = message.to_json();
        let later = json.replacen("2021-07-29T01:02:03.450Z", "2022-01-01T00:00:00Z", 1);
        let later = Message::from_json(message.kind(), later.as_bytes())
            .unwrap()
            .message;
        assert_ne!(later, message);
        assert_eq!(later.fingerprint(), print);
    }
}

/// Computed by another program from the definition: stores keep fingerprints, so their value must
/// not change.
#[test]
fn a_fingerprint_has_a_fixed_value() {
    let json = r#"{"creation_date_time":"2021-07-29T01:02:03.450Z","transaction_status":"RJCT",
        "uetr":"ba5eba11-0000-4000-8000-000000000001","account_servicer_reference":null,
        "zeta":{"b":[true,{"y":"\u0041","x":null}],"a":"\/"},"\u0061lpha":"\u0007é\"",
        "original_transaction_reference":{"instructed_amount":{"currency":"AUD","amount":"012.50"}}}"#;
    let outcome = PaymentOutcome::from_json(json.as_bytes()).unwrap().message;
    let print = WebhookMessage::fingerprint(&outcome).to_string();
    assert_eq!(
        print,
        "3b9a3908da35a4fe3822be6de5b3678ac7b9e569192d9fc0d67112a2ce9ef839"
    );
}

#[test]
fn fingerprints_do_not_see_spelling_but_see_content() {
    let message = samples::payment_outcome(&TransactionStatus::Rejected);
    let json = message.to_json();
    let read = |json: &str| {
        PaymentOutcome::from_json(json.as_bytes())
            .unwrap()
            .message
            .fingerprint()
    };
    let print = read(&json);
    assert_eq!(
        read(
            &json
                .replace("\"ASR-42\"", "\"\\u0041SR-42\"")
                .replace(':', " : ")
                .replace("01 : 02 : 03", "01:02:03")
        ),
        print
    );
    assert_eq!(read(&json.replace("ba5eba11", "BA5EBA11")), print);
    let extra = |extra: &str| read(&json.replacen('{', &format!("{{{extra},"), 1));
    assert_eq!(
        extra(r#""b":{"y":1,"x":2},"a":[1]"#),
        extra(r#""a" : [1], "b":{"x":2,"y":1}"#)
    );
    assert_ne!(extra(r#""a":[1,2]"#), extra(r#""a":[2,1]"#));
    assert_ne!(extra(r#""a":1.0"#), extra(r#""a":1.00"#));
    assert_ne!(extra(r#""a":null"#), print);
    // Only the message's own time is left out.
    assert_ne!(
        extra(r#""a":{"creation_date_time":1}"#),
        extra(r#""a":{"creation_date_time":2}"#)
    );
    let mut later = message.clone();
    later.acceptance_date_time = later
        .acceptance_date_time
        .map(|at| at.saturating_add(Duration::from_millis(1)));
    assert_ne!(WebhookMessage::fingerprint(&later), print);
}

proptest! {
    /// Length prefixes: no two different pairs of parts make one key.
    #[test]
    fn parts_do_not_run_into_each_other(a in "[ab]{1,3}", b in "[ab]{1,2}", c in "[ab]{1,3}", d in "[ab]{1,2}") {
        let query = |case: &str, reminders: &str| {
            let mut query = samples::query(&CaseType::Mandate);
            query.case_id = case.parse().unwrap();
            query.reminder_count = Some(reminders.parse().unwrap());
            key(query)
        };
        prop_assert_eq!(query(&a, &b).overlaps(&query(&c, &d)), a == c && b == d);
    }
}

/// The key of the specification's table decides; `X-Message-Id` only where a message has none of
/// its members (Default).
#[test]
fn the_message_id_counts_only_where_nothing_else_does() {
    for message in samples::all() {
        let pending = matches!(&message, Message::MandateOutcome(outcome)
            if outcome.action_status == Some(ActionStatus::Pending));
        assert_eq!(message.is_interim(), pending, "{message:?}");
        assert_eq!(
            message.duplicate_key("CUSTOMER", id(1)),
            message.duplicate_key("CUSTOMER", id(2)),
            "{message:?}"
        );
    }
    let mut outcome = samples::mandate_outcome(&ActionType::Create, &ActionStatus::Completed);
    outcome.request_id = None;
    let mut payment = samples::payment_outcome(&TransactionStatus::Warehoused);
    (payment.uetr, payment.instruction_identification) = (None, None);
    for message in [Message::from(outcome), payment.into()] {
        let first = message.duplicate_key("CUSTOMER", id(1));
        assert!(
            !first.overlaps(&message.duplicate_key("CUSTOMER", id(2))),
            "{message:?}"
        );
        assert_eq!(first, message.duplicate_key("CUSTOMER", id(1)));
    }
}

#[test]
fn a_reminder_counts_one_more_and_changes_nothing_else() {
    let mut first = samples::query(&CaseType::Payments);
    first.reminder_count = None;
    let mut last = first.clone();
    for count in 1..=99 {
        let now = last
            .creation_date_time
            .saturating_add(Duration::from_secs(86_400));
        let reminder = last.reminder(now).unwrap();
        assert_eq!(
            reminder.reminder_count.as_ref().unwrap().as_str(),
            count.to_string()
        );
        assert_eq!(reminder.creation_date_time, now);
        let mut same = reminder.clone();
        (same.reminder_count, same.creation_date_time) = (None, first.creation_date_time);
        assert_eq!(same, first);
        assert!(
            !key(reminder.clone()).overlaps(&key(last)),
            "news to the receiver"
        );
        assert_eq!(reminder.validate(), []);
        last = reminder;
    }
    assert_eq!(
        last.reminder(last.creation_date_time),
        Err(ReminderError::TooMany)
    );
    for (count, next) in [
        ("07", Ok("8")),
        ("0", Ok("1")),
        ("x", Err(ReminderError::NotACount)),
        ("+1", Err(ReminderError::NotACount)),
    ] {
        let mut query = first.clone();
        query.reminder_count = Some(count.parse().unwrap());
        let made = query.reminder(query.creation_date_time);
        assert_eq!(
            made.map(|made| made.reminder_count.unwrap().to_string()),
            next.map(str::to_owned),
            "{count}"
        );
    }
}
