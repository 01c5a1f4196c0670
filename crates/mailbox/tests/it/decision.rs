//! The decision, case by case.

use bankrail_mailbox::*;
use bankrail_values::Timestamp;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

fn lease(owner: u8, until: i64) -> Lease {
    Lease { owner: LeaseOwner::from_random_bytes([owner; 16]), until: at(until) }
}

fn content(number: u8) -> Fingerprint {
    Fingerprint::from_bytes([number; 32])
}

/// A pending entry with content 1.
fn entry(number: u64) -> KnownEntry {
    KnownEntry {
        id: EntryId::new(number),
        fingerprint: content(1),
        state: InboxState::Pending,
        acknowledgement: vec![u8::try_from(number).unwrap()].into(),
        conflicts_with: None,
        lease: None,
    }
}

fn decide(known: Vec<KnownEntry>, claim: Option<Lease>, now: i64) -> ReceiveDecision {
    ReceiveDecision::of(&content(1), known, claim.as_ref(), at(now))
}

#[test]
fn what_nobody_holds_is_stored() {
    assert_eq!(decide(Vec::new(), None, 0), ReceiveDecision::Store { conflicts_with: None });
    let other = |number| KnownEntry { fingerprint: content(2), ..entry(number) };
    let stored = decide(vec![other(5), other(3), other(4)], Some(lease(1, 9)), 0);
    assert_eq!(stored, ReceiveDecision::Store { conflicts_with: Some(EntryId::new(3)) }, "the earliest");
}

#[test]
fn what_is_finished_is_a_duplicate() {
    for state in [InboxState::Completed, InboxState::DeadLetter] {
        for claim in [None, Some(lease(1, 9))] {
            let ReceiveDecision::Answer(outcome) = decide(vec![KnownEntry { state, ..entry(7) }], claim, 0) else {
                panic!()
            };
            assert!(matches!(outcome, ReceiveOutcome::Duplicate { .. }), "{outcome:?}");
            assert_eq!(**outcome.acknowledgement(), [7]);
        }
    }
}

#[test]
fn the_same_content_decides_before_other_content() {
    let other = KnownEntry { fingerprint: content(2), ..entry(1) };
    let ReceiveDecision::Answer(outcome) = decide(vec![entry(9), other, entry(8)], None, 0) else { panic!() };
    assert_eq!(outcome.id(), EntryId::new(8));
}

#[test]
fn a_claim_gets_what_is_free_or_its_own() {
    let held = |owner, until| vec![KnownEntry { lease: Some(lease(owner, until)), ..entry(7) }];
    let taken = |decision| match decision {
        ReceiveDecision::Lease { outcome, attempts } => Some((outcome.is_work(), attempts)),
        ReceiveDecision::Answer(ReceiveOutcome::InProgress { .. }) => None,
        other => panic!("{other:?}"),
    };
    assert_eq!(taken(decide(vec![entry(7)], None, 0)), None, "no claim, no lease");
    assert_eq!(taken(decide(vec![entry(7)], Some(lease(1, 9)), 0)), Some((true, 1)), "never leased");
    assert_eq!(taken(decide(held(2, 5), Some(lease(1, 9)), 4)), None, "another's");
    assert_eq!(taken(decide(held(2, 5), Some(lease(1, 9)), 5)), Some((true, 1)), "free exactly at its end");
    assert_eq!(taken(decide(held(1, 5), Some(lease(1, 9)), 4)), Some((true, 0)), "the owner repeats its claim");
    assert_eq!(taken(decide(held(1, 5), Some(lease(1, 9)), 5)), Some((true, 1)), "the owner leases it again");
    let conflict = KnownEntry { conflicts_with: Some(EntryId::new(2)), ..entry(7) };
    let ReceiveDecision::Lease { outcome, .. } = decide(vec![conflict], Some(lease(1, 9)), 0) else { panic!() };
    assert!(matches!(outcome, ReceiveOutcome::Conflict { with, .. } if with == EntryId::new(2)));
}
