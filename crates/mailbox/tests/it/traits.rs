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
    for note in DeliveryNote::ALL {
        assert_eq!(DeliveryNote::from_name(note.as_str()), Some(*note));
    }
    for state in [InboxState::Pending, InboxState::Completed, InboxState::DeadLetter] {
        assert_eq!(InboxState::from_name(state.as_str()), Some(state));
    }
    for state in OutboxState::ALL {
        assert_eq!(OutboxState::from_name(state.as_str()), Some(*state));
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
    for bad in ["", "A", "a b", "a:b", "\u{e9}", &"x".repeat(65)] {
        assert!(Kind::parse(bad).is_err(), "{bad:?}");
    }
}
