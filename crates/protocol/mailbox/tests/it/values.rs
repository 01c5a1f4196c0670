//! Values of messages, leases and endpoints.

use bankrail_mailbox::*;
use bankrail_values::Timestamp;
use std::time::Duration;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

#[cfg(feature = "serde")]
#[test]
fn a_fingerprint_is_64_lower_case_digits() {
    let bytes = std::array::from_fn(|at| u8::try_from(at * 8).unwrap() + 1);
    let print = Fingerprint::from_bytes(bytes);
    let text = "01091119212931394149515961697179818991 99a1a9b1b9c1c9d1d9e1e9f1f9".replace(' ', "");
    assert_eq!(
        (print.as_bytes(), print.to_string()),
        (&bytes, text.clone())
    );
    assert_eq!(
        serde_json::to_string(&print).unwrap(),
        format!("\"{text}\"")
    );
    let read = |text: &str| serde_json::from_str::<Fingerprint>(&format!("\"{text}\"")).ok();
    assert_eq!(read(&text), Some(print));
    for (digit, byte) in [
        ("00", 0),
        ("09", 9),
        ("0a", 10),
        ("0f", 15),
        ("10", 16),
        ("9f", 0x9f),
        ("ff", 0xff),
    ] {
        assert_eq!(
            read(&digit.repeat(32)),
            Some(Fingerprint::from_bytes([byte; 32])),
            "{digit}"
        );
    }
    for bad in [
        text.to_uppercase(),
        text[1..].to_owned(),
        format!("{text}0"),
        text.replace('1', "g"),
        String::new(),
    ] {
        assert_eq!(read(&bad), None, "{bad}");
    }
}

#[test]
fn hashes_are_sorted_and_stand_once() {
    let hash = |byte| KeyHash::from_bytes([byte; 32]);
    let key = DuplicateKey::from_hashes([hash(3), hash(1), hash(3)]);
    assert_eq!(key.hashes(), [hash(1), hash(3)]);
    assert!(key.overlaps(&hash(1).into()) && key.overlaps(&key) && !key.overlaps(&hash(2).into()));
    assert!(!DuplicateKey::from_hashes([]).overlaps(&key));
}

#[test]
fn names_and_numbers_are_shown_as_they_are() {
    let kind = Kind::parse("camt.053-1_x9").unwrap();
    assert_eq!(format!("{kind} {kind:?}"), "camt.053-1_x9 camt.053-1_x9");
    let id = EntryId::new(42);
    assert_eq!(
        (id.get(), id.to_string(), format!("{id:>4}")),
        (42, "42".to_owned(), "  42".to_owned())
    );
    let owner = LeaseOwner::from_random_bytes([0x0a; 16]);
    assert_eq!(
        (owner.as_bytes(), format!("{owner:?}")),
        (&[0x0a; 16], "0a".repeat(16))
    );
    for enqueued in [Enqueued::New(id), Enqueued::AlreadyStored(id)] {
        assert_eq!(enqueued.id(), id);
    }
}

#[test]
fn a_lease_is_over_at_its_end() {
    let lease = Lease {
        owner: LeaseOwner::from_random_bytes([1; 16]),
        until: at(10),
    };
    assert_eq!(
        [9, 10, 11].map(|now| lease.is_over(at(now))),
        [false, true, true]
    );
}

#[test]
fn an_endpoint_is_held_until_the_later_of_both() {
    let circuit = |openings, open: Option<i64>, rests: Option<i64>| Circuit {
        openings,
        open_until: open.map(at),
        rests_until: rests.map(at),
    };
    for (open, rests, until) in [
        (None, None, None),
        (Some(5), None, Some(5)),
        (None, Some(6), Some(6)),
        (Some(5), Some(4), Some(5)),
    ] {
        let circuit = circuit(1, open, rests);
        assert_eq!(circuit.held_until(), until.map(at));
        if let Some(until) = until {
            assert_eq!(
                [until - 1, until].map(|now| circuit.is_held(at(now))),
                [true, false]
            );
        } else {
            assert!(!circuit.is_held(Timestamp::MIN));
        }
    }
    // After an opening, the bound is one entry: the trial.
    let bound = |openings, most| circuit(openings, None, None).bound(most);
    assert_eq!(
        [bound(0, 8), bound(1, 8), bound(2, 8), bound(1, 0)],
        [8, 1, 1, 0]
    );

    // The later opening and the longer rest stay.
    let (first, second) = (
        circuit(1, Some(10), Some(30)),
        circuit(2, Some(20), Some(15)),
    );
    for joined in [first.joined(second), second.joined(first)] {
        assert_eq!(joined, circuit(2, Some(20), Some(30)));
    }
    assert_eq!(
        first.joined(circuit(1, Some(99), None)),
        first,
        "news of the same opening is none"
    );

    // An answer ends everything except a rest.
    assert_eq!(second.closed(at(14)), Some(circuit(0, None, Some(15))));
    assert_eq!(second.closed(at(15)), None);
    assert_eq!(circuit(2, Some(20), None).closed(at(0)), None);
}

/// Returns the numbers of the chosen entries, in order. A candidate is its endpoint, its turn, and
/// true if it is slow.
fn chosen(request: &LeaseRequest<'_>, candidates: &[(&str, u32, bool)]) -> Vec<u64> {
    let candidates = candidates
        .iter()
        .enumerate()
        .map(|(at, (endpoint, turn, slow))| LeaseCandidate {
            id: EntryId::new(at as u64),
            endpoint: (*endpoint).to_owned(),
            turn: *turn,
            slow: *slow,
        });
    request
        .choose(candidates.collect())
        .into_iter()
        .map(EntryId::get)
        .collect()
}

#[test]
fn endpoints_take_turns() {
    let lease = Lease {
        owner: LeaseOwner::from_random_bytes([1; 16]),
        until: at(10),
    };
    let request = |limit| LeaseRequest::new(lease, limit);
    let quick = [
        ("a", 0, false),
        ("a", 1, false),
        ("b", 0, false),
        ("c", 0, false),
        ("b", 1, false),
    ];
    assert_eq!(
        chosen(&request(9), &quick),
        [0, 2, 3, 1, 4],
        "each endpoint once, then each again"
    );
    assert_eq!(chosen(&request(2), &quick), [0, 2]);
    assert_eq!(chosen(&request(0), &quick), [0_u64; 0]);
    let (b, c) = ("b".parse().unwrap(), "c".parse().unwrap());
    assert_eq!(
        chosen(&request(3).after(Some(&b)), &quick),
        [3, 0, 2],
        "the one behind the last comes first"
    );
    assert_eq!(chosen(&request(3).after(Some(&c)), &quick), [0, 2, 3]);
    // One place is reserved for each further turn.
    assert_eq!(chosen(&request(4).reserve(1), &quick), [0, 2, 3]);
    assert_eq!(chosen(&request(5).reserve(1), &quick), [0, 2, 3, 1]);
    assert_eq!(chosen(&request(6).reserve(1), &quick), [0, 2, 3, 1, 4]);
    assert_eq!(chosen(&request(6).reserve(3), &quick), [0, 2, 3]);
    // Slow endpoints have a separate limit and a separate order.
    let mixed = [
        ("a", 0, true),
        ("b", 0, false),
        ("c", 0, true),
        ("d", 0, false),
    ];
    let slow = ["a".parse().unwrap(), c.clone()];
    assert_eq!(chosen(&request(9).slow(&slow, 1, None), &mixed), [1, 3, 0]);
    assert_eq!(
        chosen(&request(9).slow(&slow, 2, Some(&slow[0])), &mixed),
        [1, 3, 2, 0]
    );
    assert_eq!(chosen(&request(1).slow(&slow, 2, None), &mixed), [1, 0, 2]);
    assert_eq!(
        chosen(&request(9), &mixed),
        [1, 3],
        "no slow ones unless asked for"
    );
    let all = request(1).per_endpoint(7);
    assert_eq!(
        (all.limit, all.per_endpoint, request(1).per_endpoint),
        (1, 7, u32::MAX)
    );
}

#[test]
fn a_query_has_a_longest_page() {
    assert_eq!(OutboxQuery::MAX_LIMIT, 1000);
    for (asked, page) in [(0, 0), (7, 7), (1000, 1000), (1001, 1000), (u32::MAX, 1000)] {
        assert_eq!(OutboxQuery::new().limit(asked).page(), page);
    }
    assert_eq!(OutboxQuery::new().page(), 100);
}

fn outgoing() -> Outgoing {
    Outgoing {
        endpoint: "endpoint".parse().unwrap(),
        kind: Kind::from_static("a"),
        message_id: "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11".parse().unwrap(),
        fingerprint: Fingerprint::from_bytes([1; 32]),
        attributes: vec![1].into(),
        body: vec![1].into(),
    }
}

#[test]
fn content_is_kind_fingerprint_and_attributes() {
    let one = outgoing();
    assert!(one.has_same_content(&Outgoing {
        body: vec![2].into(),
        ..outgoing()
    }));
    assert!(!one.has_same_content(&Outgoing {
        kind: Kind::from_static("b"),
        ..outgoing()
    }));
    assert!(!one.has_same_content(&Outgoing {
        fingerprint: Fingerprint::from_bytes([2; 32]),
        ..outgoing()
    }));
    assert!(!one.has_same_content(&Outgoing {
        attributes: vec![2].into(),
        ..outgoing()
    }));
}

#[test]
fn a_schedule_counts_and_cuts() {
    let second = Duration::from_secs(1);
    let schedule = Schedule::new([second, 2 * second], 0).longest_retry_after(5 * second);
    assert_eq!(
        (schedule.attempts(), Schedule::default().attempts()),
        (2, 10)
    );
    assert_eq!(
        [4, 5, 6].map(|asked| schedule.granted(asked * second)),
        [4 * second, 5 * second, 5 * second]
    );
    assert_eq!(
        Schedule::default().granted(Duration::MAX),
        24 * 3600 * second
    );
    assert_eq!(
        Schedule::new([100 * second], 200).delay(0, 0),
        Some(Duration::ZERO),
        "at most the whole delay"
    );
    assert_eq!(
        Schedule::new([100 * second], 200).delay(0, u64::MAX),
        Some(200 * second)
    );
    assert_eq!(
        Schedule::new([100 * second], 50).delay(0, 0),
        Some(50 * second)
    );
    assert_eq!(
        Schedule::new([100 * second], 50).delay(0, u64::MAX),
        Some(150 * second)
    );
    let longest = Duration::from_millis(u64::MAX);
    assert_eq!(
        Schedule::new([longest], 0).delay(0, u64::MAX),
        Some(longest)
    );
}
