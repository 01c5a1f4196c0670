//! The rules of an inbox as cases, and a comparison with the model.

use super::model_inbox::ModelInbox;
use super::oldest_suite::oldest_in_inbox;
use super::random::Random;
use super::{at, lease, owner};
use crate::inbox::{Inbox, InboxCounts, InboxEntry, InboxState, Incoming, ReceiveOutcome};
use crate::key::{DuplicateKey, Fingerprint, KeyHash};
use crate::kind::Kind;
use crate::lease::{EntryId, Lease, LeaseOwner};
use crate::opaque::OpaqueBytes;
use bankrail_values::Timestamp;
use std::collections::HashMap;
use std::time::Duration;

const KINDS: [Kind; 4] = [
    Kind::from_static("a"),
    Kind::from_static("b.b"),
    Kind::from_static("c_c"),
    Kind::from_static("d-4"),
];

/// The content of interim messages.
const INTERIM: u8 = 4;

/// Makes a message with these keys and this content; `delivery` distinguishes deliveries.
fn incoming(keys: &[u8], content: u8, delivery: u64) -> Incoming {
    Incoming {
        kind: KINDS[usize::from(content % 4)].clone(),
        key: DuplicateKey::from_hashes(keys.iter().map(|key| KeyHash::from_bytes([*key; 32]))),
        fingerprint: Fingerprint::from_bytes([content; 32]),
        other_spellings: Vec::new(),
        interim: content == INTERIM,
        attributes: if content.is_multiple_of(2) {
            Vec::new()
        } else {
            vec![0, 0xff, content]
        }
        .into(),
        body: vec![b'{', content, 0, 0xff].into(),
        acknowledgement: acknowledgement(delivery),
    }
}

fn acknowledgement(delivery: u64) -> OpaqueBytes {
    delivery.to_be_bytes().to_vec().into()
}

/// Runs every case on a fresh, empty inbox made by `make`, then compares with the model on some
/// random runs.
///
/// # Panics
/// If the engine breaks a rule; the panic's text states the rule.
pub async fn inbox_suite<I: Inbox>(mut make: impl AsyncFnMut() -> I) {
    received_once(&make().await).await;
    oldest_in_inbox(&make().await).await;
    hashes_are_taken_together(&make().await).await;
    conflicts_are_kept_apart(&make().await).await;
    other_spellings_are_the_same_content(&make().await).await;
    results_follow_interim_messages(&make().await).await;
    leases_run_out(&make().await).await;
    leases_are_taken_over(&make().await).await;
    all_leases_of_an_owner_are_given_back(&make().await).await;
    what_a_clock_was_ahead_by_is_undone(&make().await).await;
    poison_is_given_up(&make().await).await;
    completed_entries_are_forgotten(&make().await).await;
    for seed in 0..4 {
        inbox_against_model(&make().await, seed, 300).await;
    }
}

async fn received_once(inbox: &impl Inbox) {
    let first = inbox
        .receive(&incoming(&[1], 1, 1), at(10))
        .await
        .expect("receive");
    assert!(
        matches!(first, ReceiveOutcome::New { .. }),
        "a first message is new: {first:?}"
    );
    assert_eq!(
        *first.acknowledgement(),
        acknowledgement(1),
        "a new message keeps its own acknowledgement"
    );
    let id = first.id();
    let again = inbox
        .receive(&incoming(&[1], 1, 2), at(11))
        .await
        .expect("receive");
    let stored = acknowledgement(1);
    let expected = ReceiveOutcome::InProgress {
        id,
        acknowledgement: stored.clone(),
    };
    assert_eq!(
        again, expected,
        "a message that waits is in progress, with the first acknowledgement"
    );
    let leased = inbox
        .lease(&[], 10, lease(1, 100), at(11))
        .await
        .expect("lease");
    assert_eq!(leased.len(), 1, "one entry for one message");
    assert!(
        inbox
            .complete(id, owner(1), at(12))
            .await
            .expect("complete"),
        "the owner completes"
    );
    let after = inbox
        .receive(&incoming(&[1], 1, 3), at(13))
        .await
        .expect("receive");
    let expected = ReceiveOutcome::Duplicate {
        id,
        acknowledgement: stored,
    };
    assert_eq!(
        after, expected,
        "a handled message is a duplicate, with the first acknowledgement"
    );
    let entry = inbox
        .find(id)
        .await
        .expect("find")
        .expect("the entry is there");
    let want = InboxEntry {
        id,
        kind: KINDS[1].clone(),
        attributes: incoming(&[1], 1, 1).attributes,
        body: incoming(&[1], 1, 1).body,
        acknowledgement: acknowledgement(1),
        received_at: at(10),
        conflicts_with: None,
        follows: None,
        state: InboxState::Completed,
        attempts: 1,
        last_error: None,
    };
    assert_eq!(
        entry, want,
        "an entry is kept as the first delivery brought it"
    );
    assert!(
        !inbox
            .complete(id, owner(1), at(14))
            .await
            .expect("complete"),
        "nothing is completed twice"
    );
}

async fn hashes_are_taken_together(inbox: &impl Inbox) {
    let first = inbox
        .receive(&incoming(&[1, 2], 1, 1), at(0))
        .await
        .expect("receive");
    for keys in [&[1_u8][..], &[2], &[2, 3]] {
        let outcome = inbox
            .receive(&incoming(keys, 1, 2), at(1))
            .await
            .expect("receive");
        assert_eq!(outcome.id(), first.id(), "any hash finds the entry");
        assert!(
            matches!(outcome, ReceiveOutcome::InProgress { .. }),
            "same content under another hash is no conflict"
        );
    }
    let other = inbox
        .receive(&incoming(&[3], 1, 3), at(2))
        .await
        .expect("receive");
    assert!(
        matches!(other, ReceiveOutcome::New { .. }),
        "a duplicate's further keys are not taken: {other:?}"
    );
}

async fn conflicts_are_kept_apart(inbox: &impl Inbox) {
    let first = inbox
        .receive(&incoming(&[1], 1, 1), at(0))
        .await
        .expect("receive");
    let conflict = inbox
        .receive(&incoming(&[1, 2], 2, 2), at(1))
        .await
        .expect("receive");
    let id = conflict.id();
    assert_ne!(id, first.id(), "a conflict is an entry of its own");
    let expected = ReceiveOutcome::Conflict {
        id,
        acknowledgement: acknowledgement(2),
        with: first.id(),
    };
    assert_eq!(
        conflict, expected,
        "other content under the same key is a conflict"
    );
    let again = inbox
        .receive(&incoming(&[1, 2], 2, 3), at(2))
        .await
        .expect("receive");
    let expected = ReceiveOutcome::InProgress {
        id,
        acknowledgement: acknowledgement(2),
    };
    assert_eq!(
        again, expected,
        "a conflict that comes again is its own duplicate"
    );
    let third = inbox
        .receive(&incoming(&[2], 3, 4), at(3))
        .await
        .expect("receive");
    assert!(
        matches!(third, ReceiveOutcome::Conflict { with, .. } if with == id),
        "a message is in conflict with the earliest entry that has a key in common"
    );
    let leased = inbox
        .lease(&[], 10, lease(1, 9), at(3))
        .await
        .expect("lease");
    let marks: Vec<_> = leased.iter().map(|entry| entry.conflicts_with).collect();
    assert_eq!(
        marks,
        [None, Some(first.id()), Some(id)],
        "workers see which entries are in conflict, in order"
    );
}

async fn other_spellings_are_the_same_content(inbox: &impl Inbox) {
    let spellings = |own: u8, others: &[u8], delivery| {
        let others = others
            .iter()
            .map(|other| Fingerprint::from_bytes([*other; 32]))
            .collect();
        Incoming {
            other_spellings: others,
            ..incoming(&[1], own, delivery)
        }
    };
    let first = inbox
        .receive(&spellings(1, &[2, 3], 1), at(0))
        .await
        .expect("receive");
    for (own, others) in [(2, [3, 1]), (3, [1, 2])] {
        let again = inbox
            .receive(&spellings(own, &others, 2), at(1))
            .await
            .expect("receive");
        let expected = ReceiveOutcome::InProgress {
            id: first.id(),
            acknowledgement: acknowledgement(1),
        };
        assert_eq!(
            again, expected,
            "content in another spelling is the same content"
        );
    }
    let conflict = inbox
        .receive(&incoming(&[1], 2, 3), at(2))
        .await
        .expect("receive");
    assert!(
        matches!(conflict, ReceiveOutcome::Conflict { with, .. } if with == first.id()),
        "an entry holds the spelling that it was stored with: {conflict:?}"
    );
}

async fn results_follow_interim_messages(inbox: &impl Inbox) {
    let follows = |entries: &[InboxEntry]| {
        entries
            .iter()
            .map(|entry| (entry.id, entry.follows))
            .collect::<Vec<_>>()
    };
    // The interim message arrives first.
    let interim = inbox
        .receive(&incoming(&[1], INTERIM, 1), at(0))
        .await
        .expect("receive");
    let result = inbox
        .receive(&incoming(&[1], 1, 2), at(1))
        .await
        .expect("receive");
    let expected = ReceiveOutcome::New {
        id: result.id(),
        acknowledgement: acknowledgement(2),
    };
    assert_eq!(
        result, expected,
        "a result after an interim message is new, with its own acknowledgement"
    );
    let again = inbox
        .receive(&incoming(&[1], INTERIM, 3), at(2))
        .await
        .expect("receive");
    assert_eq!(
        again,
        ReceiveOutcome::InProgress {
            id: interim.id(),
            acknowledgement: acknowledgement(1)
        }
    );
    let second = inbox
        .receive(&incoming(&[1], 2, 4), at(2))
        .await
        .expect("receive");
    assert!(
        matches!(second, ReceiveOutcome::Conflict { with, .. } if with == result.id()),
        "a second result with other content is in conflict with the first"
    );
    let first = inbox
        .lease(&[], 9, lease(1, 50), at(3))
        .await
        .expect("lease");
    let expected = [(interim.id(), None), (second.id(), None)];
    assert_eq!(
        follows(&first),
        expected,
        "a result waits for its interim message; a conflict does not"
    );
    assert!(
        inbox
            .release(interim.id(), owner(1), at(20), "busy")
            .await
            .expect("release")
    );
    assert!(
        inbox
            .complete(second.id(), owner(1), at(3))
            .await
            .expect("complete")
    );
    assert!(
        inbox
            .lease(&[], 9, lease(1, 50), at(19))
            .await
            .expect("lease")
            .is_empty(),
        "a result is not leased while its interim message waits for a retry"
    );
    assert_eq!(
        inbox
            .lease(&[], 9, lease(1, 50), at(20))
            .await
            .expect("lease")
            .len(),
        1
    );
    assert!(
        inbox
            .complete(interim.id(), owner(1), at(21))
            .await
            .expect("complete")
    );
    let then = inbox
        .lease(&[], 9, lease(1, 50), at(21))
        .await
        .expect("lease");
    assert_eq!(
        follows(&then),
        [(result.id(), Some(interim.id()))],
        "a result is leased once its interim message is completed, and names it"
    );

    // The result arrives first.
    let result = inbox
        .receive(&incoming(&[2], 1, 5), at(30))
        .await
        .expect("receive")
        .id();
    let late = inbox
        .receive(&incoming(&[2], INTERIM, 6), at(31))
        .await
        .expect("receive");
    assert!(
        matches!(late, ReceiveOutcome::New { .. }),
        "an interim message after its result is new: {late:?}"
    );
    let first = inbox
        .lease(&[], 9, lease(1, 40), at(32))
        .await
        .expect("lease");
    assert_eq!(
        follows(&first),
        [(late.id(), None)],
        "a late interim message is leased before the result that still waits"
    );
    assert!(
        inbox
            .dead_letter(late.id(), owner(1), "poison", at(33))
            .await
            .expect("dead letter")
    );
    let then = inbox
        .lease(&[], 9, lease(1, 40), at(33))
        .await
        .expect("lease");
    assert_eq!(
        follows(&then),
        [(result, Some(late.id()))],
        "a result is leased once its interim message is a dead letter"
    );

    // The result was handled before the interim message arrived.
    let result = leased(inbox, &incoming(&[3], 1, 7), lease(1, 50), at(40)).await;
    assert!(
        inbox
            .complete(result, owner(1), at(41))
            .await
            .expect("complete")
    );
    let late = inbox
        .receive(&incoming(&[3], INTERIM, 8), at(42))
        .await
        .expect("receive")
        .id();
    let entry = inbox
        .find(result)
        .await
        .expect("find")
        .expect("the entry is there");
    assert_eq!(
        entry.follows, None,
        "a completed result does not follow an interim message that comes later"
    );
    let leased = inbox
        .lease(&[], 9, lease(1, 50), at(42))
        .await
        .expect("lease");
    assert!(
        leased.iter().any(|entry| entry.id == late),
        "the late interim message is handled all the same"
    );

    // The result is a dead letter when the interim message arrives, and is resent.
    let result = self::leased(inbox, &incoming(&[4], 1, 9), lease(1, 90), at(50)).await;
    assert!(
        inbox
            .dead_letter(result, owner(1), "poison", at(51))
            .await
            .expect("dead letter")
    );
    let late = inbox
        .receive(&incoming(&[4], INTERIM, 10), at(52))
        .await
        .expect("receive")
        .id();
    assert!(inbox.resend(result, at(53)).await.expect("resend"));
    let first = inbox
        .lease(&[], 9, lease(1, 90), at(54))
        .await
        .expect("lease");
    assert_eq!(
        follows(&first),
        [(late, None)],
        "a resent result waits for the interim message that arrived after it was given up"
    );
    assert!(
        inbox
            .complete(late, owner(1), at(55))
            .await
            .expect("complete")
    );
    let then = inbox
        .lease(&[], 9, lease(1, 90), at(55))
        .await
        .expect("lease");
    assert_eq!(follows(&then), [(result, Some(late))]);
}

async fn leases_run_out(inbox: &impl Inbox) {
    let id = inbox
        .receive(&incoming(&[1], 1, 1), at(0))
        .await
        .expect("receive")
        .id();
    assert!(
        inbox
            .lease(&KINDS[2..3], 5, lease(1, 9), at(0))
            .await
            .expect("lease")
            .is_empty(),
        "a lease takes only entries of the kinds it asks for"
    );
    assert!(
        inbox
            .lease(&[], 0, lease(1, 9), at(0))
            .await
            .expect("lease")
            .is_empty(),
        "a lease with a limit of 0 takes nothing"
    );
    assert_eq!(
        inbox
            .lease(&KINDS[1..2], 1, lease(1, 10), at(0))
            .await
            .expect("lease")
            .len(),
        1
    );
    assert!(
        inbox
            .lease(&[], 5, lease(2, 20), at(9))
            .await
            .expect("lease")
            .is_empty(),
        "a leased entry is not leased again before the end of its lease"
    );
    assert!(
        inbox.extend(id, lease(1, 12), at(9)).await.expect("extend"),
        "the owner extends its lease"
    );
    assert!(
        !inbox.extend(id, lease(2, 99), at(9)).await.expect("extend"),
        "nobody but the owner extends a lease"
    );
    assert!(
        inbox
            .lease(&[], 5, lease(2, 20), at(11))
            .await
            .expect("lease")
            .is_empty(),
        "an extended lease lasts until its new end"
    );
    let taken = inbox
        .lease(&[], 5, lease(2, 20), at(12))
        .await
        .expect("lease");
    assert_eq!(
        taken.iter().map(|entry| entry.attempts).collect::<Vec<_>>(),
        [2],
        "an entry is free again exactly at the end of its lease, and this is its second attempt"
    );
    assert!(
        !inbox
            .complete(id, owner(1), at(13))
            .await
            .expect("complete"),
        "an owner whose lease was taken over cannot complete the entry"
    );
    assert!(
        !inbox
            .release(id, owner(1), at(13), "late")
            .await
            .expect("release"),
        "an owner whose lease was taken over cannot release the entry"
    );
    assert!(
        !inbox
            .dead_letter(id, owner(1), "late", at(13))
            .await
            .expect("dead letter"),
        "an owner whose lease was taken over cannot make the entry a dead letter"
    );
    assert!(
        inbox
            .release(id, owner(2), at(50), "busy")
            .await
            .expect("release"),
        "the owner releases the entry"
    );
    assert!(
        inbox
            .lease(&[], 5, lease(3, 99), at(49))
            .await
            .expect("lease")
            .is_empty(),
        "a released entry is not leased before the time that its owner named"
    );
    let due = inbox
        .lease(&[], 5, lease(3, 60), at(50))
        .await
        .expect("lease");
    assert_eq!(
        due.first().and_then(|entry| entry.last_error.as_deref()),
        Some("busy"),
        "a released entry is leased at the time that its owner named, with the reason of the release"
    );
    assert!(
        inbox
            .complete(id, owner(3), at(70))
            .await
            .expect("complete"),
        "an owner whose lease is over may complete the entry if nobody took it over"
    );
    assert_eq!(
        inbox.counts().await.expect("counts"),
        InboxCounts {
            pending: 0,
            completed: 1,
            dead_letters: 0
        }
    );
}

/// Receives a message and leases it, which must be the only due one.
async fn leased(inbox: &impl Inbox, message: &Incoming, lease: Lease, now: Timestamp) -> EntryId {
    let received = inbox.receive(message, now).await.expect("receive");
    assert!(
        received.is_stored(),
        "there is something to handle: {received:?}"
    );
    let entries = inbox.lease(&[], 9, lease, now).await.expect("lease");
    assert!(
        entries.iter().any(|entry| entry.id == received.id()),
        "what was stored is leased at once"
    );
    received.id()
}

async fn leases_are_taken_over(inbox: &impl Inbox) {
    let message = |delivery| incoming(&[1, 2], 1, delivery);
    let first = leased(inbox, &message(1), lease(1, 10), at(0)).await;
    let progress = ReceiveOutcome::InProgress {
        id: first,
        acknowledgement: acknowledgement(1),
    };
    let again = inbox.receive(&message(2), at(1)).await.expect("receive");
    assert!(
        again == progress && !again.is_stored(),
        "a leased message that comes again is in progress: {again:?}"
    );
    assert!(
        inbox
            .lease(&[], 9, lease(2, 20), at(2))
            .await
            .expect("lease")
            .is_empty(),
        "an entry is not leased while another worker's lease lasts"
    );
    assert!(
        inbox
            .extend(first, lease(1, 11), at(2))
            .await
            .expect("extend")
    );
    let late = inbox
        .lease(&[], 9, lease(2, 30), at(11))
        .await
        .expect("lease");
    assert_eq!(
        late.first().map(|entry| entry.id),
        Some(first),
        "a lease that ran out is taken over"
    );
    assert_eq!(
        inbox.receive(&message(4), at(11)).await.expect("receive"),
        progress,
        "a message that was taken over is in progress, with the first acknowledgement"
    );
    assert!(
        !inbox
            .complete(first, owner(1), at(12))
            .await
            .expect("complete"),
        "the first owner cannot complete an entry that was taken over"
    );
    assert!(
        inbox
            .release(first, owner(2), at(13), "later")
            .await
            .expect("release")
    );
    assert_eq!(
        inbox.receive(&message(5), at(13)).await.expect("receive"),
        progress,
        "a released message that comes again is in progress, with the first acknowledgement"
    );
    assert_eq!(
        inbox
            .lease(&[], 9, lease(3, 40), at(13))
            .await
            .expect("lease")
            .len(),
        1,
        "a released entry is leased at its time"
    );
    assert!(
        inbox
            .complete(first, owner(3), at(14))
            .await
            .expect("complete")
    );
    let done = inbox.receive(&message(6), at(15)).await.expect("receive");
    assert!(
        matches!(done, ReceiveOutcome::Duplicate { .. }),
        "a completed message that comes again is a duplicate"
    );
    assert_eq!(
        *done.acknowledgement(),
        acknowledgement(1),
        "a duplicate has the first acknowledgement"
    );
    assert_eq!(
        inbox
            .find(first)
            .await
            .expect("find")
            .map(|entry| entry.attempts),
        Some(3),
        "each of the three leases counts as an attempt"
    );
    let conflict = leased(inbox, &incoming(&[2], 2, 7), lease(1, 60), at(16)).await;
    let entry = inbox
        .find(conflict)
        .await
        .expect("find")
        .expect("the entry is there");
    assert_eq!(
        entry.conflicts_with,
        Some(first),
        "a conflict is leased, and names the entry that it contradicts"
    );
    assert!(
        inbox
            .complete(conflict, owner(1), at(17))
            .await
            .expect("complete")
    );
}

/// Checks the correction of entries that were received, leased and released while the clock was
/// ahead.
async fn what_a_clock_was_ahead_by_is_undone(inbox: &impl Inbox) {
    let receive = async |number, now| {
        let received = inbox.receive(&incoming(&[number], 1, 1), at(now)).await;
        received.expect("receive").id()
    };
    let lease_of = async |number, until, now| {
        let leased = inbox.lease(&[], 100, lease(number, until), at(now)).await;
        let leased = leased.expect("lease").into_iter().map(|entry| entry.id);
        leased.collect::<Vec<EntryId>>()
    };
    for ahead in [3_601, 1_000_000, 31_536_000] {
        let number = u8::try_from(ahead % 251).expect("a short number");
        let released = receive(number, ahead).await;
        let unfinished = receive(number.wrapping_add(1), ahead).await;
        let both = lease_of(1, ahead + 60, ahead).await;
        assert_eq!(both, [released, unfinished], "both are due");
        let due = at(ahead + 30);
        let given_back = inbox.release(released, owner(1), due, "busy").await;
        assert!(given_back.expect("release"));
        let received = receive(number.wrapping_add(2), ahead).await;
        let soon = receive(number.wrapping_add(3), 0).await;
        assert_eq!(
            lease_of(2, 10, 0).await,
            [received, soon],
            "an entry that was never leased is due"
        );
        let later = inbox.release(soon, owner(2), at(3_600), "busy").await;
        assert!(later.expect("release"));
        assert_eq!(
            inbox.recall(at(3_600), at(0)).await.expect("recall"),
            3,
            "entries that were leased and wait beyond the latest instant, and no others"
        );
        assert_eq!(
            lease_of(3, 10, 0).await,
            [released, unfinished],
            "what waited for a clock that was ahead is due now"
        );
        assert_eq!(inbox.recall(at(3_600), at(0)).await.expect("recall"), 0);
        assert!(
            !inbox
                .complete(unfinished, owner(1), at(1))
                .await
                .expect("complete"),
            "a lease that was ended is not its owner's"
        );
        for (id, by) in [(released, 3), (unfinished, 3), (received, 2)] {
            let done = inbox.complete(id, owner(by), at(1)).await;
            assert!(done.expect("complete"));
        }
        assert_eq!(lease_of(4, 4_000, 3_600).await, [soon]);
        assert!(
            inbox
                .complete(soon, owner(4), at(3_600))
                .await
                .expect("complete")
        );
    }
    let due = receive(250, 0).await;
    assert_eq!(lease_of(5, 1_000_000, 0).await, [due]);
    assert_eq!(inbox.recall(at(3_600), at(5)).await.expect("recall"), 1);
    assert_eq!(
        lease_of(6, 10, 3).await,
        [due],
        "what was due before a recall stays due if the clock steps back once more"
    );
}

async fn all_leases_of_an_owner_are_given_back(inbox: &impl Inbox) {
    let mut stored = Vec::new();
    for number in 1..=5 {
        stored.push(
            inbox
                .receive(&incoming(&[number], number % 4, 1), at(0))
                .await
                .expect("receive")
                .id(),
        );
    }
    for (number, leased) in [(1, 2), (2, 1), (3, 1)] {
        let entries = inbox
            .lease(&[], leased, lease(number, 99), at(0))
            .await
            .expect("lease");
        assert_eq!(
            entries.len(),
            usize::try_from(leased).expect("a small number"),
            "three owners"
        );
    }
    assert!(
        inbox
            .release(stored[0], owner(1), at(20), "busy")
            .await
            .expect("release")
    );
    assert_eq!(
        inbox
            .lease(&[], 1, lease(1, 99), at(20))
            .await
            .expect("lease")
            .len(),
        1,
        "the second start"
    );
    let lost = [owner(1), owner(3), owner(4)];
    assert_eq!(
        inbox.release_all(&[]).await.expect("release"),
        0,
        "no owner has anything to give back"
    );
    assert_eq!(
        inbox.release_all(&lost).await.expect("release"),
        3,
        "two owners give back three entries"
    );
    assert_eq!(
        inbox.release_all(&lost).await.expect("release"),
        0,
        "they were given back before"
    );
    assert!(
        !inbox
            .complete(stored[1], owner(1), at(20))
            .await
            .expect("complete"),
        "an owner whose leases were given back has none"
    );
    let entry = inbox
        .find(stored[0])
        .await
        .expect("find")
        .expect("the entry is there");
    let said = (entry.attempts, entry.last_error.as_deref());
    assert_eq!(
        said,
        (1, Some("busy")),
        "the start is taken back, and no more than it"
    );
    assert!(
        inbox
            .lease(&KINDS[1..2], 9, lease(5, 99), at(19))
            .await
            .expect("lease")
            .iter()
            .all(|it| it.id != stored[0]),
        "an entry is due as before"
    );
    let again = inbox
        .lease(&[], 9, lease(6, 99), at(20))
        .await
        .expect("lease");
    let ids: Vec<_> = again
        .iter()
        .map(|entry| (entry.id, entry.attempts))
        .collect();
    let expected = [(stored[0], 2), (stored[1], 1), (stored[3], 1)];
    assert_eq!(
        ids, expected,
        "they are free, in the order of their arrival, and their starts are counted once"
    );
    assert!(
        inbox
            .complete(stored[2], owner(2), at(20))
            .await
            .expect("complete"),
        "what is another owner's stays so"
    );
    let counts = InboxCounts {
        pending: 4,
        completed: 1,
        dead_letters: 0,
    };
    assert_eq!(inbox.counts().await.expect("counts"), counts);
    assert!(
        inbox
            .complete(stored[3], owner(6), at(21))
            .await
            .expect("complete"),
        "the new owner completes"
    );
    // Received and leased under a clock that was ahead.
    let incoming = incoming(&[6], 2, 1);
    let ahead = inbox
        .receive(&incoming, at(50))
        .await
        .expect("receive")
        .id();
    let leased = inbox
        .lease(&[], 9, lease(7, 99), at(50))
        .await
        .expect("lease");
    assert!(leased.iter().any(|entry| entry.id == ahead));
    assert_eq!(inbox.release_all(&[owner(7)]).await.expect("release"), 1);
    let again = inbox
        .lease(&[], 9, lease(8, 99), at(30))
        .await
        .expect("lease");
    assert!(
        again.iter().any(|entry| entry.id == ahead),
        "an entry that was never tried is due"
    );
}

async fn poison_is_given_up(inbox: &impl Inbox) {
    let mut ids = Vec::new();
    for number in 1..=3 {
        ids.push(
            inbox
                .receive(&incoming(&[number], number, 1), at(0))
                .await
                .expect("receive")
                .id(),
        );
    }
    assert!(
        ids.is_sorted() && ids[0] != ids[1],
        "entries are numbered in ascending order"
    );
    inbox
        .lease(&[], 9, lease(1, 10), at(0))
        .await
        .expect("lease");
    for id in &ids {
        assert!(
            inbox
                .dead_letter(*id, owner(1), "unreadable", at(1))
                .await
                .expect("dead letter")
        );
    }
    assert!(
        inbox
            .lease(&[], 9, lease(2, 99), at(50))
            .await
            .expect("lease")
            .is_empty(),
        "a dead letter is not leased"
    );
    let page = inbox.dead_letters(None, 2).await.expect("list");
    assert_eq!(
        page.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        ids[..2],
        "dead letters are listed in the order of their numbers"
    );
    assert!(
        page.iter()
            .all(|entry| entry.last_error.as_deref() == Some("unreadable")),
        "dead letters are listed with the reason"
    );
    let rest = inbox.dead_letters(Some(ids[1]), 2).await.expect("list");
    assert_eq!(
        rest.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        ids[2..],
        "the next page of dead letters begins after the last entry of the page before"
    );
    let again = inbox
        .receive(&incoming(&[1], 1, 9), at(51))
        .await
        .expect("receive");
    assert!(
        matches!(again, ReceiveOutcome::Duplicate { .. }),
        "a dead letter that comes again is a duplicate"
    );
    assert!(
        inbox.resend(ids[0], at(52)).await.expect("resend"),
        "a dead letter can be resent"
    );
    assert!(
        !inbox.resend(ids[0], at(52)).await.expect("resend"),
        "a dead letter is resent once"
    );
    let leased = inbox
        .lease(&[], 9, lease(2, 99), at(52))
        .await
        .expect("lease");
    assert_eq!(
        leased
            .iter()
            .map(|entry| (entry.id, entry.attempts))
            .collect::<Vec<_>>(),
        [(ids[0], 1)]
    );
}

async fn completed_entries_are_forgotten(inbox: &impl Inbox) {
    let first = leased(inbox, &incoming(&[1], 1, 1), lease(1, 9), at(0)).await;
    inbox
        .complete(first, owner(1), at(5))
        .await
        .expect("complete");
    inbox
        .receive(&incoming(&[2], 2, 2), at(0))
        .await
        .expect("receive");
    assert_eq!(
        inbox.forget(at(5)).await.expect("forget"),
        0,
        "an entry that was completed exactly at the time of forgetting is kept"
    );
    assert_eq!(
        inbox.forget(at(6)).await.expect("forget"),
        1,
        "one completed entry is forgotten, and none that is pending"
    );
    assert_eq!(inbox.find(first).await.expect("find"), None);
    let again = inbox
        .receive(&incoming(&[1], 1, 3), at(7))
        .await
        .expect("receive");
    assert!(
        matches!(again, ReceiveOutcome::New { .. }) && again.id() != first,
        "a message that was forgotten is new when it comes again, under another number"
    );
}

/// Runs `steps` random operations on an empty inbox and on the model, and compares every answer.
///
/// # Panics
/// At the first answer that differs.
#[doc(hidden)]
pub async fn inbox_against_model(inbox: &impl Inbox, seed: u64, steps: u32) {
    let model = ModelInbox::new();
    let mut random = Random::new(seed);
    // The engine's entry numbers, by the model's.
    let mut numbers: HashMap<EntryId, EntryId> = HashMap::new();
    let mut known: Vec<EntryId> = vec![EntryId::new(999_999)];
    // A lease whose answer was lost.
    let mut lost: Option<Lease> = None;
    let mut now = 0;
    for step in 0..steps {
        now += random.below(4);
        let who = random.small(3);
        let lease = lease(who, now + random.below(12));
        let id = random.pick(&known).unwrap_or(EntryId::new(0));
        let theirs = numbers.get(&id).copied().unwrap_or(id);
        let due = at(now + random.below(6));
        let mut keys = vec![random.small(6)];
        if random.below(2) == 0 {
            keys.push(random.small(6));
        }
        let mut message = incoming(&keys, random.small(5), u64::from(step));
        if random.below(4) == 0 {
            message
                .other_spellings
                .push(Fingerprint::from_bytes([random.small(5); 32]));
        }
        let limit = u32::try_from(random.below(4)).unwrap_or(0);
        let kinds = &KINDS[..usize::try_from(random.below(3)).unwrap_or(0)];
        let context = format!("seed {seed}, step {step}");
        let now = at(now);
        match random.below(13) {
            0..=4 => {
                let (got, want) = (
                    inbox.receive(&message, now).await,
                    model.receive(&message, now).await,
                );
                let (got, want) = (got.expect("store"), want.expect("store"));
                if want.is_stored() && !numbers.contains_key(&want.id()) {
                    numbers.insert(want.id(), got.id());
                    known.push(want.id());
                }
                assert_eq!(got, translate(want, &numbers), "receive, {context}");
            }
            5..=6 => {
                let got = inbox.lease(kinds, limit, lease, now).await.expect("store");
                let want = model.lease(kinds, limit, lease, now).await.expect("store");
                assert_eq!(got, entries(want, &numbers), "lease, {context}");
            }
            7 => {
                let got = inbox.extend(theirs, lease, now).await.expect("store");
                assert_eq!(
                    got,
                    model.extend(id, lease, now).await.expect("store"),
                    "extend, {context}"
                );
            }
            8 => {
                let got = inbox
                    .complete(theirs, lease.owner, now)
                    .await
                    .expect("store");
                assert_eq!(
                    got,
                    model.complete(id, lease.owner, now).await.expect("store"),
                    "complete, {context}"
                );
            }
            9 => {
                let got = inbox
                    .release(theirs, lease.owner, due, "later")
                    .await
                    .expect("store");
                let want = model
                    .release(id, lease.owner, due, "later")
                    .await
                    .expect("store");
                assert_eq!(got, want, "release, {context}");
            }
            10 => {
                let got = inbox
                    .dead_letter(theirs, lease.owner, "poison", now)
                    .await
                    .expect("store");
                let want = model
                    .dead_letter(id, lease.owner, "poison", now)
                    .await
                    .expect("store");
                assert_eq!(got, want, "dead letter, {context}");
                let got = inbox.dead_letters(None, limit).await.expect("store");
                let want = model.dead_letters(None, limit).await.expect("store");
                assert_eq!(got, entries(want, &numbers), "list, {context}");
            }
            11 => {
                // The owner is new, as it is for each lease of a worker.
                if let Some(lease) = lost.take().filter(|lease| !lease.is_over(now)) {
                    let got = inbox.release_all(&[lease.owner]).await.expect("store");
                    let want = model.release_all(&[lease.owner]).await.expect("store");
                    assert_eq!(got, want, "release all, {context}");
                }
                let owner =
                    LeaseOwner::from_random_bytes((u128::MAX - u128::from(step)).to_be_bytes());
                let lease = Lease {
                    owner,
                    until: lease.until.saturating_add(Duration::from_millis(20)),
                };
                let got = inbox.lease(kinds, limit, lease, now).await.expect("store");
                let want = model.lease(kinds, limit, lease, now).await.expect("store");
                assert_eq!(
                    got,
                    entries(want, &numbers),
                    "lease without an answer, {context}"
                );
                lost = Some(lease);
            }
            _ if random.below(4) == 0 => {
                let got = inbox.forget(now).await.expect("store");
                assert_eq!(
                    got,
                    model.forget(now).await.expect("store"),
                    "forget, {context}"
                );
            }
            _ => {
                let got = inbox.resend(theirs, now).await.expect("store");
                assert_eq!(
                    got,
                    model.resend(id, now).await.expect("store"),
                    "resend, {context}"
                );
            }
        }
        let got = inbox.find(theirs).await.expect("store");
        let want = model.find(id).await.expect("store");
        assert_eq!(
            got,
            want.map(|entry| entries(vec![entry], &numbers).remove(0)),
            "find, {context}"
        );
        let (got, want) = (
            inbox.oldest_pending().await.expect("store"),
            model.oldest_pending().await.expect("store"),
        );
        assert_eq!(got, want, "oldest, {context}");
        assert_eq!(
            inbox.counts().await.expect("store"),
            model.counts().await.expect("store"),
            "counts, {context}"
        );
    }
}

fn translate(outcome: ReceiveOutcome, numbers: &HashMap<EntryId, EntryId>) -> ReceiveOutcome {
    let theirs = |id: EntryId| numbers.get(&id).copied().unwrap_or(id);
    match outcome {
        ReceiveOutcome::New {
            id,
            acknowledgement,
        } => ReceiveOutcome::New {
            id: theirs(id),
            acknowledgement,
        },
        ReceiveOutcome::Duplicate {
            id,
            acknowledgement,
        } => ReceiveOutcome::Duplicate {
            id: theirs(id),
            acknowledgement,
        },
        ReceiveOutcome::InProgress {
            id,
            acknowledgement,
        } => ReceiveOutcome::InProgress {
            id: theirs(id),
            acknowledgement,
        },
        ReceiveOutcome::Conflict {
            id,
            acknowledgement,
            with,
        } => ReceiveOutcome::Conflict {
            id: theirs(id),
            acknowledgement,
            with: theirs(with),
        },
    }
}

fn entries(entries: Vec<InboxEntry>, numbers: &HashMap<EntryId, EntryId>) -> Vec<InboxEntry> {
    let theirs = |id: EntryId| numbers.get(&id).copied().unwrap_or(id);
    entries
        .into_iter()
        .map(|entry| {
            let (conflicts_with, follows) =
                (entry.conflicts_with.map(theirs), entry.follows.map(theirs));
            InboxEntry {
                id: theirs(entry.id),
                conflicts_with,
                follows,
                ..entry
            }
        })
        .collect()
}
