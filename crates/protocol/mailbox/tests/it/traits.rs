//! Common traits of public types: an omission does not compile.

use bankrail_mailbox::*;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Values {
    kind: Kind,
    key: DuplicateKey,
    fingerprint: Fingerprint,
    bytes: OpaqueBytes,
    incoming: Incoming,
    outgoing: Outgoing,
    outcome: ReceiveOutcome,
    decision: ReceiveDecision,
    inbox: InboxEntry,
    outbox: OutboxEntry,
    query: OutboxQuery,
    circuit: EndpointCircuit,
    summary: OutboxSummary,
    backlog: EndpointBacklog,
    stopped: StoppedEndpoint,
    schedule: Schedule,
}

fn is_shared<T: Send + Sync + 'static>() {}

#[test]
fn values_and_errors_go_between_threads() {
    is_shared::<Values>();
    is_shared::<KindError>();
    is_shared::<Box<dyn Inbox>>();
    is_shared::<Box<dyn OutboxStore>>();
    assert!(size_of::<Option<Values>>() > 0);
}

#[test]
fn stable_names_are_read_back() {
    let notes = [
        (DeliveryNote::TimedOut, "timed_out"),
        (DeliveryNote::NoConnection, "no_connection"),
        (DeliveryNote::Tls, "tls"),
        (DeliveryNote::Broken, "broken"),
        (DeliveryNote::Redirected, "redirected"),
        (DeliveryNote::Refused, "refused"),
        (DeliveryNote::Unacknowledged, "unacknowledged"),
        (DeliveryNote::Gone, "gone"),
        (DeliveryNote::NotSealed, "not_sealed"),
        (DeliveryNote::Other, "other"),
    ];
    assert_eq!(DeliveryNote::ALL, notes.map(|(note, _)| note));
    for (note, name) in notes {
        assert_eq!(
            (note.as_str(), name.parse::<DeliveryNote>()),
            (name, Ok(note))
        );
    }
    for (state, name) in [
        (InboxState::Pending, "pending"),
        (InboxState::Completed, "completed"),
        (InboxState::DeadLetter, "dead_letter"),
    ] {
        assert_eq!(
            (state.as_str(), name.parse::<InboxState>()),
            (name, Ok(state))
        );
    }
    let states = [
        (OutboxState::Pending, "pending"),
        (OutboxState::Delivered, "delivered"),
        (OutboxState::DeadLetter, "dead_letter"),
        (OutboxState::Dropped, "dropped"),
    ];
    assert_eq!(OutboxState::ALL, states.map(|(state, _)| state));
    for (state, name) in states {
        assert_eq!(
            (state.as_str(), name.parse::<OutboxState>()),
            (name, Ok(state))
        );
    }
    for name in ["", "Pending", "held"] {
        let errors = [
            name.parse::<InboxState>().unwrap_err(),
            name.parse::<OutboxState>().unwrap_err(),
            name.parse::<DeliveryNote>().unwrap_err(),
        ];
        for error in errors {
            assert!(
                error.to_string().ends_with(&format!(", found {name:?}")),
                "{error}"
            );
        }
    }
}

#[test]
fn opaque_bytes_are_not_shown() {
    let bytes = OpaqueBytes::from(b"DE89 JANE".to_vec());
    assert_eq!(format!("{bytes:?}"), "9 bytes");
    assert_eq!(&*bytes, b"DE89 JANE");
    assert_eq!(bytes.into_vec(), b"DE89 JANE");
}

#[test]
fn a_kind_is_a_short_plain_name() {
    for good in ["a", "payment_outcome", "camt.053-1", &"x".repeat(64)] {
        assert_eq!(Kind::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", "a b", "\u{e9}", &"x".repeat(65)] {
        assert!(Kind::parse(bad).is_err(), "{bad:?}");
    }
    for byte in 0..=0x7f_u8 {
        let allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-.".contains(char::from(byte));
        assert_eq!(
            Kind::parse(&char::from(byte).to_string()).is_ok(),
            allowed,
            "{byte}"
        );
    }
}
