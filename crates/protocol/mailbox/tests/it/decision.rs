//! The decision, case by case.

use bankrail_mailbox::*;

fn content(number: u8) -> Fingerprint {
    Fingerprint::from_bytes([number; 32])
}

/// Makes a pending entry with content 1.
fn entry(number: u64) -> KnownEntry {
    KnownEntry {
        id: EntryId::new(number),
        fingerprint: content(1),
        interim: false,
        state: InboxState::Pending,
        acknowledgement: vec![u8::try_from(number).unwrap()].into(),
        conflicts_with: None,
    }
}

fn decide(known: Vec<KnownEntry>) -> ReceiveDecision {
    ReceiveDecision::of(&message(false), known)
}

/// Makes a message with content 1.
fn message(interim: bool) -> Incoming {
    Incoming {
        kind: Kind::from_static("a"),
        key: KeyHash::from_bytes([0; 32]).into(),
        fingerprint: content(1),
        other_spellings: Vec::new(),
        interim,
        attributes: Vec::new().into(),
        body: Vec::new().into(),
        acknowledgement: Vec::new().into(),
    }
}

fn new(follows: Option<u64>, followed_by: Option<u64>) -> ReceiveDecision {
    let (follows, followed_by) = (follows.map(EntryId::new), followed_by.map(EntryId::new));
    ReceiveDecision::Store {
        conflicts_with: None,
        follows,
        followed_by,
    }
}

#[test]
fn a_result_follows_its_interim_message_in_either_order() {
    let other = |number| KnownEntry {
        fingerprint: content(2),
        ..entry(number)
    };
    let interim = |number| KnownEntry {
        interim: true,
        ..other(number)
    };
    for state in [
        InboxState::Pending,
        InboxState::Completed,
        InboxState::DeadLetter,
    ] {
        let known = vec![
            KnownEntry {
                state,
                ..interim(5)
            },
            KnownEntry {
                state,
                ..interim(3)
            },
        ];
        assert_eq!(decide(known), new(Some(3), None), "{state:?}");
        let waits = (state != InboxState::Completed).then_some(3);
        let late = ReceiveDecision::of(&message(true), vec![KnownEntry { state, ..other(3) }]);
        assert_eq!(late, new(None, waits), "{state:?}");
    }
    // A result in conflict neither follows an entry nor is followed by one.
    let conflict = KnownEntry {
        conflicts_with: Some(EntryId::new(1)),
        ..other(3)
    };
    assert_eq!(
        ReceiveDecision::of(&message(true), vec![conflict]),
        new(None, None)
    );
    let contradiction = decide(vec![interim(3), other(4)]);
    let with = Some(EntryId::new(4));
    assert_eq!(
        contradiction,
        ReceiveDecision::Store {
            conflicts_with: with,
            follows: None,
            followed_by: None
        }
    );
    let two = ReceiveDecision::of(&message(true), vec![interim(3), other(2)]);
    let with = Some(EntryId::new(3));
    assert_eq!(
        two,
        ReceiveDecision::Store {
            conflicts_with: with,
            follows: None,
            followed_by: None
        }
    );
}

#[test]
fn what_nobody_holds_is_stored() {
    assert_eq!(decide(Vec::new()), new(None, None));
    let other = |number| KnownEntry {
        fingerprint: content(2),
        ..entry(number)
    };
    let stored = decide(vec![other(5), other(3), other(4)]);
    let with = Some(EntryId::new(3));
    let expected = ReceiveDecision::Store {
        conflicts_with: with,
        follows: None,
        followed_by: None,
    };
    assert_eq!(stored, expected, "the earliest");
}

#[test]
fn what_is_finished_is_a_duplicate() {
    for state in [InboxState::Completed, InboxState::DeadLetter] {
        let ReceiveDecision::Answer(outcome) = decide(vec![KnownEntry { state, ..entry(7) }])
        else {
            panic!()
        };
        assert!(
            matches!(outcome, ReceiveOutcome::Duplicate { .. }),
            "{outcome:?}"
        );
        assert_eq!(**outcome.acknowledgement(), [7]);
    }
}

#[test]
fn the_same_content_decides_before_other_content() {
    let other = KnownEntry {
        fingerprint: content(2),
        ..entry(1)
    };
    let ReceiveDecision::Answer(outcome) = decide(vec![entry(9), other, entry(8)]) else {
        panic!()
    };
    assert_eq!(outcome.id(), EntryId::new(8));
}

#[test]
fn another_spelling_of_the_content_decides_like_the_same_one() {
    let spelled = |known: Vec<KnownEntry>| {
        let message = Incoming {
            other_spellings: vec![content(2), content(3)],
            ..message(false)
        };
        ReceiveDecision::of(&message, known)
    };
    for number in 1..=3 {
        let known = vec![KnownEntry {
            fingerprint: content(number),
            ..entry(7)
        }];
        let ReceiveDecision::Answer(outcome) = spelled(known) else {
            panic!()
        };
        assert_eq!(outcome.id(), EntryId::new(7), "content {number}");
    }
    let ReceiveDecision::Store { conflicts_with, .. } = spelled(vec![KnownEntry {
        fingerprint: content(4),
        ..entry(7)
    }]) else {
        panic!()
    };
    assert_eq!(conflicts_with, Some(EntryId::new(7)));
}

#[test]
fn what_is_not_finished_is_in_progress() {
    let conflict = KnownEntry {
        conflicts_with: Some(EntryId::new(2)),
        ..entry(7)
    };
    for known in [entry(7), conflict] {
        let ReceiveDecision::Answer(outcome) = decide(vec![known]) else {
            panic!()
        };
        assert!(
            matches!(outcome, ReceiveOutcome::InProgress { .. }),
            "{outcome:?}"
        );
        assert_eq!(**outcome.acknowledgement(), [7]);
    }
}

#[test]
fn an_outcome_says_which_entry_holds_the_message_and_what_to_answer() {
    let acknowledgement = OpaqueBytes::from(b"answer".to_vec());
    let (id, with) = (EntryId::new(3), EntryId::new(2));
    let stored =
        |conflicts_with| ReceiveOutcome::stored(id, acknowledgement.clone(), conflicts_with);
    let known = acknowledgement.clone();
    for (outcome, is_stored) in [
        (
            ReceiveOutcome::New {
                id,
                acknowledgement: known.clone(),
            },
            true,
        ),
        (
            ReceiveOutcome::Conflict {
                id,
                acknowledgement: known.clone(),
                with,
            },
            true,
        ),
        (
            ReceiveOutcome::Duplicate {
                id,
                acknowledgement: known.clone(),
            },
            false,
        ),
        (
            ReceiveOutcome::InProgress {
                id,
                acknowledgement: known,
            },
            false,
        ),
    ] {
        assert_eq!((outcome.id(), outcome.is_stored()), (id, is_stored));
        if is_stored {
            let conflicts_with = matches!(outcome, ReceiveOutcome::Conflict { .. }).then_some(with);
            assert_eq!(outcome, stored(conflicts_with));
        }
        assert_eq!(*outcome.acknowledgement(), acknowledgement);
        assert_eq!(outcome.into_acknowledgement(), acknowledgement);
    }
}
