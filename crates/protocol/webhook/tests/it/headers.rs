//! Tests of the specification's header table.

use crate::rows::Wrong;
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::headers::{CORRELATION_ID, MESSAGE_ID, PRIORITY, REQUEST_KEY};
use bankrail_webhook::sender::OriginalRequest;
use bankrail_webhook::*;

const A: &str = "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11";
const B: &str = "2d1e8c34-7f60-4b1f-8a3d-5b9c0e6f7a21";

fn id(text: &str) -> HyphenatedUuid {
    text.parse().unwrap()
}

fn parse(
    kind: MessageKind,
    headers: &[(&str, &str)],
) -> Result<(DeliveryHeaders, Vec<Rule>), DeliveryHeaderError> {
    let headers = headers
        .iter()
        .map(|(name, value)| (*name, value.as_bytes()));
    let (headers, findings) = DeliveryHeaders::parse(kind, headers)?;
    Ok((
        headers,
        findings.into_iter().map(|finding| finding.rule).collect(),
    ))
}

/// The specification's table, typed by hand: the stable name, the specification's name, whether
/// X-RequestKey is required and X-Correlation-Id allowed, and whether `ATTENDED` is.
const TABLE: [(MessageKind, &str, &str, bool, bool); 4] = [
    (
        MessageKind::MandateOutcome,
        "mandate_outcome",
        "MandateActionOutcome",
        true,
        true,
    ),
    (
        MessageKind::MandateNotification,
        "mandate_notification",
        "MandateNotification",
        false,
        true,
    ),
    (
        MessageKind::PaymentOutcome,
        "payment_outcome",
        "MPIRActionOutcome",
        true,
        true,
    ),
    (
        MessageKind::Query,
        "query",
        "QueryNotification",
        false,
        false,
    ),
];

#[test]
fn each_receiver_has_its_headers() {
    let mut wrong = Wrong::default();
    assert_eq!(
        MessageKind::ALL.to_vec(),
        TABLE.map(|(kind, ..)| kind).to_vec()
    );
    for (kind, name, specification, answers, attended) in TABLE {
        wrong.unless_equal(kind, kind.as_str(), name);
        wrong.unless_equal(kind, kind.specification_name(), specification);
        wrong.unless_equal(kind, kind.answers_a_request(), answers);
        let sent = |request_key, correlation_id, priority| {
            let mut headers = DeliveryHeaders::new(id(A));
            (headers.request_key, headers.correlation_id) = (request_key, correlation_id);
            headers.priority = priority;
            headers.check(kind).is_ok()
        };
        let read = |headers: &[(&str, &str)]| {
            let required = [(MESSAGE_ID, A), (REQUEST_KEY, B)];
            let required = &required[..if answers { 2 } else { 1 }];
            parse(kind, &[required, headers].concat()).unwrap()
        };
        for (text, priority, allowed) in [
            ("ATTENDED", Some(Priority::Attended), attended),
            (" UNATTENDED\t", Some(Priority::Unattended), true),
            ("attended", None, false),
            ("Unattended", None, false),
            ("", None, false),
        ] {
            let (headers, findings) = read(&[(PRIORITY, text)]);
            let expected = if allowed {
                (priority, vec![])
            } else {
                (None, vec![Rule::OptionalHeader])
            };
            wrong.unless_equal(
                format!("{kind} {text:?}"),
                (headers.priority, findings),
                expected,
            );
            if let Some(priority) = priority {
                let key = answers.then(|| id(B));
                wrong.unless_equal(
                    format!("{kind} {text:?} sent"),
                    sent(key, None, Some(priority)),
                    allowed,
                );
                let listed = kind.priorities().contains(&priority);
                wrong.unless_equal(format!("{kind} {text:?} listed"), listed, allowed);
            }
        }
        wrong.unless_equal(
            format!("{kind} without keys"),
            sent(None, None, None),
            !answers,
        );
        wrong.unless_equal(
            format!("{kind} with a request key"),
            sent(Some(id(B)), None, None),
            answers,
        );
        wrong.unless_equal(
            format!("{kind} with both"),
            sent(Some(id(B)), Some(id(B)), None),
            answers,
        );
        wrong.unless_equal(
            format!("{kind} with a correlation alone"),
            sent(None, Some(id(B)), None),
            false,
        );
        let (headers, findings) = read(&[(CORRELATION_ID, B)]);
        let expected = if answers {
            vec![]
        } else {
            vec![Rule::UnexpectedHeader]
        };
        wrong.unless_equal(
            format!("{kind} correlated"),
            (headers.correlation_id, findings),
            (Some(id(B)), expected),
        );
        let (headers, findings) = read(&[(CORRELATION_ID, "no")]);
        let expected = (None, vec![Rule::OptionalHeader]);
        wrong.unless_equal(
            format!("{kind} badly correlated"),
            (headers.correlation_id, findings),
            expected,
        );
        let alone = parse(kind, &[(MESSAGE_ID, A)]).is_ok();
        wrong.unless_equal(
            format!("{kind} read without a request key"),
            alone,
            !answers,
        );
        let missing = parse(kind, &[(REQUEST_KEY, B)]).map_err(|error| error.name());
        wrong.unless_equal(format!("{kind} without an id"), missing, Err(MESSAGE_ID));
        let (headers, findings) = if answers {
            read(&[])
        } else {
            read(&[(REQUEST_KEY, B)])
        };
        let expected = if answers {
            vec![]
        } else {
            vec![Rule::UnexpectedHeader]
        };
        wrong.unless_equal(
            format!("{kind} keyed"),
            (headers.request_key, findings),
            (Some(id(B)), expected),
        );
    }
    wrong.none();
}

#[test]
fn what_is_sent_is_read_back() {
    for kind in MessageKind::ALL {
        let sent = samples::headers(kind);
        let pairs: Vec<(&str, String)> = sent.pairs().collect();
        let names: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
        let outcome = matches!(
            kind,
            MessageKind::MandateOutcome | MessageKind::PaymentOutcome
        );
        let expected: &[&str] = if outcome {
            &[REQUEST_KEY, MESSAGE_ID, CORRELATION_ID, PRIORITY]
        } else {
            &[MESSAGE_ID, PRIORITY]
        };
        assert_eq!(names, expected, "{kind}");
        let pairs: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        assert_eq!(parse(kind, &pairs).unwrap(), (sent, vec![]), "{kind}");
    }
}

#[test]
fn the_table_decides_what_is_sent() {
    use MessageKind::{MandateNotification, MandateOutcome, PaymentOutcome, Query};
    let plain = DeliveryHeaders::new(id(A));
    let request = OriginalRequest::new(id(B));
    let answering = DeliveryHeaders::answering(&request, id(A));
    let correlated = DeliveryHeaders::answering(&request.with_correlation_id(id(A)), id(A));
    for kind in [MandateOutcome, PaymentOutcome] {
        assert_eq!(
            plain.check(kind),
            Err(DeliveryHeaderError::Missing { name: REQUEST_KEY })
        );
        assert_eq!(correlated.priority(Priority::Attended).check(kind), Ok(()));
    }
    for kind in [MandateNotification, Query] {
        assert_eq!(plain.check(kind), Ok(()));
        assert_eq!(
            answering.check(kind),
            Err(DeliveryHeaderError::Unexpected { name: REQUEST_KEY })
        );
        let mut correlated = plain;
        correlated.correlation_id = Some(id(B));
        assert_eq!(
            correlated.check(kind),
            Err(DeliveryHeaderError::Unexpected {
                name: CORRELATION_ID
            })
        );
    }
    assert_eq!(
        plain
            .priority(Priority::Attended)
            .check(MandateNotification),
        Ok(())
    );
    assert!(matches!(
        plain.priority(Priority::Attended).check(Query),
        Err(DeliveryHeaderError::Malformed { .. })
    ));
    assert_eq!(plain.priority(Priority::Unattended).check(Query), Ok(()));
}

#[test]
fn a_header_with_two_values_is_refused_however_often_each_is_there() {
    use MessageKind::{MandateOutcome, Query};
    for values in [
        &[A, B][..],
        &[A, B, B],
        &[A, A, B],
        &[A, B, A],
        &[A, B, B, B],
    ] {
        for name in [MESSAGE_ID, REQUEST_KEY] {
            let other = if name == MESSAGE_ID {
                REQUEST_KEY
            } else {
                MESSAGE_ID
            };
            let mut headers = vec![(other, A)];
            headers.extend(values.iter().map(|value| (name, *value)));
            assert!(
                matches!(
                    parse(MandateOutcome, &headers),
                    Err(DeliveryHeaderError::Malformed { name: found, .. }) if found == name
                ),
                "{headers:?}"
            );
        }
        // An optional header is read as absent.
        let mut headers = vec![(MESSAGE_ID, A), (REQUEST_KEY, A)];
        headers.extend(values.iter().map(|value| (CORRELATION_ID, *value)));
        let (read, findings) = parse(MandateOutcome, &headers).unwrap();
        assert_eq!((read.correlation_id, findings.len()), (None, 1));
    }
    let priorities = ["ATTENDED", "UNATTENDED", "UNATTENDED"].map(|value| (PRIORITY, value));
    let mut headers = vec![(MESSAGE_ID, A), (REQUEST_KEY, A)];
    headers.extend(priorities);
    let (read, findings) = parse(MandateOutcome, &headers).unwrap();
    assert_eq!((read.priority, findings.len()), (None, 1));
    // The same value several times is unambiguous.
    assert!(parse(Query, &[(MESSAGE_ID, A); 3]).is_ok());
}

#[test]
fn required_headers_refuse_and_optional_ones_are_findings() {
    use MessageKind::{MandateNotification, MandateOutcome, Query};
    let read = parse(
        MandateOutcome,
        &[
            ("x-requestkey", B),
            ("X-MESSAGE-ID", A),
            ("priority", " ATTENDED\t"),
        ],
    )
    .unwrap();
    assert_eq!(
        read,
        (
            DeliveryHeaders::answering(&OriginalRequest::new(id(B)), id(A))
                .priority(Priority::Attended),
            vec![]
        )
    );
    let missing = |kind, headers: &[(&str, &str)]| match parse(kind, headers) {
        Err(DeliveryHeaderError::Missing { name }) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(MandateOutcome, &[(MESSAGE_ID, A)]), REQUEST_KEY);
    assert_eq!(missing(MandateOutcome, &[(REQUEST_KEY, A)]), MESSAGE_ID);
    assert_eq!(missing(Query, &[(REQUEST_KEY, A)]), MESSAGE_ID);
    let malformed = [
        (MandateOutcome, vec![(REQUEST_KEY, "no"), (MESSAGE_ID, A)]),
        (
            Query,
            vec![(MESSAGE_ID, "9f0c6f2a3c1b4a569d5e0c1f7d8b2a11")],
        ),
        (Query, vec![(MESSAGE_ID, A), (MESSAGE_ID, B)]),
        (Query, vec![(MESSAGE_ID, "")]),
    ];
    for (kind, headers) in malformed {
        assert!(
            matches!(
                parse(kind, &headers),
                Err(DeliveryHeaderError::Malformed { .. })
            ),
            "{headers:?}"
        );
    }
    let bytes = DeliveryHeaders::parse(Query, [(MESSAGE_ID, &b"\xff"[..])]);
    assert!(matches!(bytes, Err(DeliveryHeaderError::Malformed { .. })));

    let both = [
        (MESSAGE_ID, A),
        (MESSAGE_ID, A),
        (CORRELATION_ID, "no"),
        (PRIORITY, "SOON"),
        ("other", "x"),
    ];
    let (headers, findings) = parse(MandateNotification, &both).unwrap();
    assert_eq!(
        headers,
        DeliveryHeaders::new(id(A)),
        "the same value twice is one"
    );
    assert_eq!(findings, [Rule::OptionalHeader, Rule::OptionalHeader]);
    let extra = [
        (MESSAGE_ID, A),
        (REQUEST_KEY, B),
        (CORRELATION_ID, B),
        (PRIORITY, "ATTENDED"),
    ];
    let (headers, findings) = parse(Query, &extra).unwrap();
    assert_eq!(
        (
            headers.request_key,
            headers.correlation_id,
            headers.priority
        ),
        (Some(id(B)), Some(id(B)), None)
    );
    assert_eq!(
        findings,
        [
            Rule::UnexpectedHeader,
            Rule::UnexpectedHeader,
            Rule::OptionalHeader
        ]
    );
}
