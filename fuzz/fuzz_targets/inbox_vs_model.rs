//! Takes calls of an inbox at times that step both ways. Every answer of the engines in memory and
//! in SQLite equals that of the model.

use crate::stores::{MAX_CALLS, Span, alike, sqlite};
use arbitrary::Arbitrary;
use bankrail_mailbox::testing::ModelInbox;
use bankrail_mailbox::{
    DuplicateKey, EntryId, Fingerprint, Inbox, InboxState, InboxUpdate, Incoming, KeyHash, Kind,
    Lease, LeaseOwner,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::Timestamp;

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
        owners: u8,
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
    LeaseOwner::from_random_bytes([number % 4; 16])
}

fn content(number: u8) -> Fingerprint {
    Fingerprint::from_bytes([number % 4; 32])
}

fn id_of(number: u8) -> EntryId {
    EntryId::new(match number {
        u8::MAX => u64::MAX,
        number => u64::from(number % 16),
    })
}

fn ask(stores: [&dyn Inbox; 3], step: &Step, now: Timestamp) {
    let (id, own) = (id_of(step.id), owner(step.owner));
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
            let _ = alike(stores, step, |store| store.receive(&message, now));
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
                until: until.map(|until| until.from(now)),
                error: error.then_some("no"),
            };
            let _ = alike(stores, step, |store| store.update(id, own, update, now));
        }
        Call::ReleaseAll { owners } => {
            let owners: Vec<_> = (0..4).filter(|n| owners >> n & 1 == 1).map(owner).collect();
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

fuzz_target!(|steps: Vec<Step>| {
    let (model, memory, sqlite) = (
        ModelInbox::new(),
        MemoryStore::new().inbox(),
        sqlite().inbox(),
    );
    let stores: [&dyn Inbox; 3] = [&model, &memory, &sqlite];
    let mut now = Timestamp::UNIX_EPOCH;
    for step in steps.iter().take(MAX_CALLS) {
        now = step.clock.from(now);
        ask(stores, step, now);
    }
    for id in (1..=100).map(EntryId::new) {
        if alike(stores, &id, |store| store.find(id)) == Ok(None) && id > id_of(15) {
            break;
        }
    }
    let _ = alike(stores, &"at the end", |store| store.counts());
    let _ = alike(stores, &"at the end", |store| store.oldest_pending());
});
