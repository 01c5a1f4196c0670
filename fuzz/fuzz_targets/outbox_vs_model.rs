//! Takes calls of an outbox at times that step both ways. Every answer of the engines in memory
//! and in SQLite equals that of the model.

use crate::stores::{Calls, Span, alike, sqlite};
use arbitrary::Arbitrary;
use bankrail_mailbox::testing::ModelOutbox;
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, EndpointId, Enqueued, EntryId, Fingerprint,
    Intervention, Kind, Lease, LeaseOwner, LeaseRequest, OutboxQuery, OutboxState, OutboxStore,
    Outgoing,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::time::Duration;

#[derive(Arbitrary, Debug)]
struct Step {
    clock: Span,
    id: u8,
    owner: u8,
    endpoint: u8,
    call: Call,
}

#[derive(Arbitrary, Debug)]
enum Call {
    Enqueue {
        number: u8,
        content: bool,
        kind: bool,
    },
    Lease(Request),
    Record {
        disposition: u8,
        due: Span,
        answered: bool,
        status: u16,
        took: u16,
    },
    Release {
        due: Span,
    },
    ReleaseAll {
        owners: u8,
    },
    Recall {
        latest: Span,
    },
    Hold {
        openings: u8,
        open_until: Option<Span>,
        rests_until: Option<Span>,
    },
    Retry,
    Stop {
        reason: bool,
    },
    Resume,
    Forget {
        before: Span,
    },
    Resend,
    ResendAll,
    Drop,
    List {
        endpoint: bool,
        state: u8,
        kind: bool,
        before: Option<Span>,
        after: bool,
        limit: u8,
    },
    NextDue,
    Backlogs {
        after: bool,
        limit: u8,
    },
}

#[derive(Arbitrary, Debug)]
struct Request {
    until: Span,
    limit: u8,
    after: Option<u8>,
    per_endpoint: Option<u8>,
    slow: u8,
    slow_limit: u8,
    slow_after: Option<u8>,
    reserve: u8,
}

/// Names in an order that depends on neither case nor length.
fn endpoint(number: u8) -> EndpointId {
    let name = ["b", "a", "Z", "b\u{e9}", "\u{10000}"][usize::from(number % 5)];
    EndpointId::parse(name).expect("a name")
}

fn owner(number: u8) -> LeaseOwner {
    LeaseOwner::from_random_bytes([number % 2; 16])
}

fn kind(second: bool) -> Kind {
    Kind::from_static(if second { "b.b" } else { "a" })
}

fn intervention(reason: bool) -> Intervention {
    Intervention {
        by: "operator".parse().expect("a name"),
        reason: if reason { "gone" } else { "" }.parse().expect("a reason"),
    }
}

/// Mostly an entry that was stored.
fn id_of(number: u8, stored: u64) -> EntryId {
    EntryId::new(match number {
        u8::MAX => u64::MAX,
        number => u64::from(number) % (stored + 2),
    })
}

/// Asks all engines. Returns false where no more may be asked: SQLite leaves out the number of an
/// entry that was there already.
fn ask(stores: [&dyn OutboxStore; 3], step: &Step, stored: &mut u64, now: Timestamp) -> bool {
    let (id, own, to) = (id_of(step.id, *stored), owner(step.owner), endpoint(step.endpoint));
    match &step.call {
        Call::Enqueue {
            number,
            content,
            kind: second,
        } => {
            let message = Outgoing {
                endpoint: to,
                kind: kind(*second),
                message_id: HyphenatedUuid::from_random_bytes([number % 32; 16]),
                fingerprint: Fingerprint::from_bytes([u8::from(*content); 32]),
                attributes: vec![0xff, *number].into(),
                body: vec![*number].into(),
            };
            match alike(stores, step, |store| store.enqueue(&message, now)) {
                Ok(Enqueued::New(_)) => *stored += 1,
                // A message that is taken for the same is to be delivered in the same way.
                Ok(Enqueued::AlreadyStored(id)) => {
                    let entry = alike(stores, step, |store| store.find(id));
                    let entry = entry.ok().flatten().expect("a stored entry").message;
                    let facts = |one: &Outgoing| {
                        (one.kind.clone(), one.fingerprint, one.attributes.clone())
                    };
                    assert_eq!(facts(&entry), facts(&message), "{step:?}");
                    return false;
                }
                Err(_) => return false,
            }
        }
        Call::Lease(asked) => {
            let (after, slow_after) = (asked.after.map(endpoint), asked.slow_after.map(endpoint));
            let slow: Vec<_> = (0..5)
                .filter(|n| asked.slow >> n & 1 == 1)
                .map(endpoint)
                .collect();
            let lease = Lease {
                owner: own,
                until: asked.until.from(now),
            };
            let request = LeaseRequest::new(lease, asked.limit.into())
                .after(after.as_ref())
                .per_endpoint(asked.per_endpoint.map_or(u32::MAX, u32::from))
                .slow(&slow, asked.slow_limit.into(), slow_after.as_ref())
                .reserve(asked.reserve.into());
            let _ = alike(stores, step, |store| store.lease(request, now));
        }
        Call::Record {
            disposition,
            due,
            answered,
            status,
            took,
        } => {
            let delivery = DeliveryRecord {
                started_at: now,
                duration: Duration::from_millis((*took).into()),
                status: (*status > 99).then_some(*status),
                note: DeliveryNote::ALL.get(usize::from(*status)).copied(),
            };
            let disposition = match disposition % 3 {
                0 => Disposition::Delivered,
                1 => Disposition::DeadLetter,
                _ => Disposition::RetryAt(due.from(now)),
            };
            let answered = answered.then_some(&to);
            let _ = alike(stores, step, |store| {
                store.record(id, own, &delivery, disposition, answered, now)
            });
        }
        Call::Release { due } => {
            let _ = alike(stores, step, |store| store.release(id, own, due.from(now)));
        }
        Call::ReleaseAll { owners } => {
            let owners: Vec<_> = (0..2).filter(|n| owners >> n & 1 == 1).map(owner).collect();
            let _ = alike(stores, step, |store| store.release_all(&owners));
        }
        Call::Recall { latest } => {
            let _ = alike(stores, step, |store| store.recall(latest.from(now), now));
        }
        Call::Hold {
            openings,
            open_until,
            rests_until,
        } => {
            let circuit = Circuit {
                openings: (*openings).into(),
                open_until: open_until.map(|until| until.from(now)),
                rests_until: rests_until.map(|until| until.from(now)),
            };
            let _ = alike(stores, step, |store| store.hold_endpoint(&to, circuit));
        }
        Call::Retry => {
            let _ = alike(stores, step, |store| store.retry_endpoint(&to, now));
        }
        Call::Stop { reason } => {
            let why = intervention(*reason);
            let _ = alike(stores, step, |store| store.stop_endpoint(&to, &why, now));
        }
        Call::Resume => {
            let _ = alike(stores, step, |store| store.resume_endpoint(&to, now));
        }
        Call::Forget { before } => {
            let _ = alike(stores, step, |store| store.forget(before.from(now)));
        }
        Call::Resend => {
            let _ = alike(stores, step, |store| store.resend(id, now));
        }
        Call::ResendAll => {
            let _ = alike(stores, step, |store| store.resend_all(&to, now));
        }
        Call::Drop => {
            let why = intervention(true);
            let _ = alike(stores, step, |store| store.drop_entry(id, &why, now));
        }
        Call::List {
            endpoint,
            state,
            kind: second,
            before,
            after,
            limit,
        } => {
            let mut query = OutboxQuery::new().limit((*limit).into());
            query.endpoint = endpoint.then_some(to);
            query.state = OutboxState::ALL.get(usize::from(state % 5)).copied();
            query.kind = second.then(|| kind(true));
            query.enqueued_before = before.map(|before| before.from(now));
            query.after = after.then_some(id);
            let _ = alike(stores, step, |store| store.list(&query));
        }
        Call::NextDue => {
            let _ = alike(stores, step, |store| store.next_due());
        }
        Call::Backlogs { after, limit } => {
            let after = after.then_some(&to);
            let _ = alike(stores, step, |store| store.backlogs(after, (*limit).into()));
        }
    }
    let _ = alike(stores, step, |store| store.summary(id));
    true
}

fuzz_target!(|steps: Calls<Step>| {
    let (model, memory, sqlite) = (
        ModelOutbox::new(),
        MemoryStore::new().outbox(),
        sqlite().outbox(),
    );
    let stores: [&dyn OutboxStore; 3] = [&model, &memory, &sqlite];
    let (mut now, mut stored) = (Timestamp::UNIX_EPOCH, 0);
    for step in &steps.0 {
        now = step.clock.from(now);
        if !ask(stores, step, &mut stored, now) {
            break;
        }
    }
    let (end, all) = (&"at the end", OutboxQuery::new().limit(1_000));
    for entry in alike(stores, end, |store| store.list(&all)).unwrap_or_default() {
        let _ = alike(stores, end, |store| store.find(entry.id));
        let _ = alike(stores, end, |store| store.deliveries(entry.id));
    }
    for to in (0..5).map(endpoint) {
        let _ = alike(stores, end, |store| store.counts(Some(&to)));
    }
    let _ = alike(stores, end, |store| store.counts(None));
    let _ = alike(stores, end, |store| store.oldest_pending());
    let _ = alike(stores, end, |store| store.circuits());
    let _ = alike(stores, end, |store| store.stopped_endpoints());
});
