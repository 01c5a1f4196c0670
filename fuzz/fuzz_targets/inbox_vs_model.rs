//! Takes calls of an inbox at times that step both ways. Every answer of the engines in memory and
//! in SQLite equals that of the model.

use crate::stores::{Calls, Span, alike, sqlite};
use arbitrary::Arbitrary;
use bankrail_mailbox::testing::ModelInbox;
use bankrail_mailbox::{
    DuplicateKey, EntryId, Fingerprint, Inbox, InboxState, InboxUpdate, Incoming, KeyHash, Kind,
    Lease, LeaseOwner, ReceiveOutcome,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::Timestamp;
use std::time::Duration;

#[derive(Arbitrary, Debug)]
struct Step {
    clock: Span,
    id: u8,
    owner: u8,
    call: Call,
}

#[derive(Arbitrary, Debug)]
enum Call {
    Receive {
        keys: u8,
        content: u8,
        other: Option<u8>,
        interim: bool,
        kind: u8,
        answer: u8,
    },
    Lease {
        kinds: u8,
        limit: u8,
        until: Span,
    },
    Update {
        state: u8,
        due: Option<Span>,
        until: Option<Span>,
        error: bool,
    },
    ReleaseAll {
        limit: u8,
    },
    Recall {
        latest: Span,
    },
    DeadLetters {
        after: bool,
        limit: u8,
    },
    Resend,
    Forget {
        before: Span,
    },
}

const KINDS: [Kind; 3] = [
    Kind::from_static("a"),
    Kind::from_static("b.b"),
    Kind::from_static("c_c"),
];

fn owner(number: u8) -> LeaseOwner {
    LeaseOwner::from_random_bytes([number % 2; 16])
}

fn content(number: u8) -> Fingerprint {
    Fingerprint::from_bytes([number % 4; 32])
}

/// Mostly an entry that was stored.
fn id_of(number: u8, stored: u64) -> EntryId {
    EntryId::new(match number {
        u8::MAX => u64::MAX,
        number => u64::from(number) % (stored + 2),
    })
}

/// A message that was stored, and may have been forgotten since.
struct Kept {
    id: EntryId,
    keys: u8,
    content: u8,
    interim: bool,
    conflicts: bool,
}

fn count(known: &[Kept]) -> u64 {
    u64::try_from(known.len()).expect("few")
}

/// The rule, of which the model has the product's own function: one of the known messages with a
/// key of this one has its content, or one of its kind is another with the same key. A result
/// follows the interim message before it.
fn judge_outcome(
    stores: [&dyn Inbox; 3],
    step: &Step,
    outcome: &ReceiveOutcome,
    mut new: Kept,
    other: Option<u8>,
    known: &mut Vec<Kept>,
) {
    let found = |id| alike(stores, step, |store| store.find(id)).expect("memory does not fail");
    let alive = |kept: &&Kept| kept.keys & new.keys != 0 && found(kept.id).is_some();
    let alive: Vec<&Kept> = known.iter().filter(alive).collect();
    let contents = [Some(new.content), other].map(|number| number.map(content));
    let same = alive.iter().find(|kept| contents.contains(&Some(content(kept.content))));
    if let Some(same) = same {
        assert!(!outcome.is_stored() && outcome.id() == same.id, "{step:?}");
        return;
    }
    let alike = alive.iter().find(|kept| kept.interim == new.interim);
    let before = alive.iter().find(|kept| kept.interim && !kept.conflicts);
    let before = before.filter(|_| alike.is_none() && !new.interim);
    let entry = found(outcome.id()).expect("a stored entry");
    assert_eq!(entry.conflicts_with, alike.map(|kept| kept.id), "{step:?}");
    assert_eq!(entry.follows, before.map(|kept| kept.id), "{step:?}");
    assert!(outcome.is_stored(), "{step:?}");
    (new.id, new.conflicts) = (outcome.id(), alike.is_some());
    known.push(new);
}

fn ask(stores: [&dyn Inbox; 3], step: &Step, known: &mut Vec<Kept>, now: Timestamp) {
    let (id, own) = (id_of(step.id, count(known)), owner(step.owner));
    match &step.call {
        Call::Receive {
            keys,
            content: number,
            other,
            interim,
            kind,
            answer,
        } => {
            let hashes = (0..4).filter(|n| keys >> n & 1 == 1);
            let message = Incoming {
                kind: KINDS[usize::from(kind % 3)].clone(),
                key: DuplicateKey::from_hashes(hashes.map(|n| KeyHash::from_bytes([n; 32]))),
                fingerprint: content(*number),
                other_spellings: other.map(content).into_iter().collect(),
                interim: *interim,
                attributes: vec![0xff, *number].into(),
                body: vec![*number].into(),
                acknowledgement: vec![*answer].into(),
            };
            let outcome = alike(stores, step, |store| store.receive(&message, now));
            let kept = Kept {
                id: EntryId::new(0),
                keys: keys & 15,
                content: *number,
                interim: *interim,
                conflicts: false,
            };
            judge_outcome(stores, step, &outcome.expect("there is room"), kept, *other, known);
        }
        Call::Lease {
            kinds,
            limit,
            until,
        } => {
            let kinds: Vec<_> = (0..3)
                .filter(|n| kinds >> n & 1 == 1)
                .map(|n| KINDS[n].clone())
                .collect();
            let lease = Lease {
                owner: own,
                until: until.from(now),
            };
            let _ = alike(stores, step, |store| {
                store.lease(&kinds, (*limit).into(), lease, now)
            });
        }
        Call::Update {
            state,
            due,
            until,
            error,
        } => {
            let update = InboxUpdate {
                state: [
                    InboxState::Pending,
                    InboxState::Completed,
                    InboxState::DeadLetter,
                ][usize::from(state % 3)],
                due: due.map(|due| due.from(now)),
                until: until
                    .filter(|_| state % 3 == 0)
                    .map(|until| until.from(now)),
                error: error.then_some("no"),
            };
            let _ = alike(stores, step, |store| store.update(id, own, update, now));
        }
        // The answer to a lease was lost; of others, an engine may leave out some.
        Call::ReleaseAll { limit } => {
            let lost = Lease {
                owner: LeaseOwner::from_random_bytes([9; 16]),
                until: now.saturating_add(Duration::from_secs(1)),
            };
            let _ = alike(stores, step, |store| {
                store.lease(&[], (*limit).into(), lost, now)
            });
            let owners = [lost.owner];
            let _ = alike(stores, step, |store| store.release_all(&owners));
        }
        Call::Recall { latest } => {
            let _ = alike(stores, step, |store| store.recall(latest.from(now), now));
        }
        Call::DeadLetters { after, limit } => {
            let after = after.then_some(id);
            let _ = alike(stores, step, |store| {
                store.dead_letters(after, (*limit).into())
            });
        }
        Call::Resend => {
            let _ = alike(stores, step, |store| store.resend(id, now));
        }
        Call::Forget { before } => {
            let _ = alike(stores, step, |store| store.forget(before.from(now)));
        }
    }
    let _ = alike(stores, step, |store| store.find(id));
}

fuzz_target!(|steps: Calls<Step>| {
    let (model, memory, sqlite) = (
        ModelInbox::new(),
        MemoryStore::new().inbox(),
        sqlite().inbox(),
    );
    let stores: [&dyn Inbox; 3] = [&model, &memory, &sqlite];
    let (mut now, mut known) = (Timestamp::UNIX_EPOCH, Vec::new());
    // Engines in SQL do not recall an entry that a lease under a clock ahead has made ready and left.
    let mut recalled = Timestamp::MIN;
    for step in &steps.0 {
        now = step.clock.from(now);
        if now < recalled {
            break;
        }
        if matches!(step.call, Call::Recall { .. }) {
            recalled = now;
        }
        ask(stores, step, &mut known, now);
    }
    for id in (1..=count(&known) + 1).map(EntryId::new) {
        let _ = alike(stores, &id, |store| store.find(id));
    }
    let _ = alike(stores, &"at the end", |store| store.counts());
    let _ = alike(stores, &"at the end", |store| store.oldest_pending());
});
