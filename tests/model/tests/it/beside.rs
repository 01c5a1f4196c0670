//! The outbox of the model beside the product's, which one suite holds equal in all engines.

use bankrail_mailbox::{
    Circuit, DeliveryRecord, Disposition, DropOutcome, EndpointId, EntryId, Fingerprint,
    Intervention, Kind, Lease, LeaseOwner, LeaseRequest, Outbox, OutboxOperator, OutboxState,
    Outgoing,
};
use bankrail_model::outbox::{MESSAGES, News, Next, PER_ENDPOINT, Store};
use bankrail_stores::memory::{MemoryOutbox, MemoryStore};
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
enum Call {
    Tick,
    Lease(u8),
    Record(usize, u8, Next, bool),
    ReleaseAll(u8),
    Hold(News),
    Retry,
    Stop,
    Resume,
    Resend(usize),
    Drop(usize),
}

const CALLS: [Call; 21] = [
    Call::Tick,
    Call::Lease(1),
    Call::Lease(2),
    Call::Record(0, 1, Next::Delivered, true),
    Call::Record(0, 2, Next::Delivered, true),
    Call::Record(0, 1, Next::Retry(1), false),
    Call::Record(0, 2, Next::Retry(1), false),
    Call::Record(1, 1, Next::Retry(0), true),
    Call::Record(1, 1, Next::DeadLetter, false),
    Call::Record(1, 2, Next::DeadLetter, false),
    Call::ReleaseAll(1),
    Call::Hold((Some((1, 1)), 0)),
    Call::Hold((Some((2, 2)), 0)),
    Call::Hold((None, 1)),
    Call::Hold((Some((1, 1)), 2)),
    Call::Retry,
    Call::Stop,
    Call::Resume,
    Call::Resend(1),
    Call::Drop(0),
    Call::Drop(1),
];

/// The ticks for which a lease lasts.
const LEASE: u8 = 2;

/// The product's outbox, and the time.
struct Product {
    outbox: MemoryOutbox,
    endpoint: EndpointId,
    ids: Vec<EntryId>,
    now: u8,
}

fn at(ticks: u8) -> Timestamp {
    Timestamp::from_unix_millis(i64::from(ticks) * 1_000).unwrap()
}

impl Product {
    async fn new() -> Self {
        let (outbox, endpoint) = (
            MemoryStore::new().outbox(),
            "a".parse::<EndpointId>().unwrap(),
        );
        let mut ids = Vec::new();
        for number in 0..u8::try_from(MESSAGES).unwrap() {
            let message = Outgoing {
                endpoint: endpoint.clone(),
                kind: Kind::from_static("query"),
                message_id: HyphenatedUuid::from_random_bytes([number; 16]),
                fingerprint: Fingerprint::from_bytes([number; 32]),
                attributes: Vec::new().into(),
                body: Vec::new().into(),
            };
            ids.push(outbox.enqueue(&message, at(0)).await.unwrap().id());
        }
        Self {
            outbox,
            endpoint,
            ids,
            now: 0,
        }
    }

    /// Makes a call. Returns the entries that were leased, or whether something was changed.
    async fn call(&mut self, call: Call) -> u64 {
        let now = at(self.now);
        let owner = |owner: u8| LeaseOwner::from_random_bytes([owner; 16]);
        match call {
            Call::Tick => self.now += 1,
            Call::Lease(by) => {
                let lease = Lease {
                    owner: owner(by),
                    until: at(self.now + LEASE),
                };
                let request = LeaseRequest::new(lease, 8).per_endpoint(PER_ENDPOINT);
                let leased = self.outbox.lease(request, now).await.unwrap();
                let places = leased
                    .iter()
                    .map(|entry| self.ids.iter().position(|id| *id == entry.id).unwrap());
                return places.map(|place| 1 << place).sum();
            }
            Call::Record(place, by, next, answered) => {
                let record = DeliveryRecord {
                    started_at: now,
                    duration: Duration::ZERO,
                    status: None,
                    note: None,
                };
                let next = match next {
                    Next::Delivered => Disposition::Delivered,
                    Next::Retry(ticks) => Disposition::RetryAt(at(self.now + ticks)),
                    Next::DeadLetter => Disposition::DeadLetter,
                };
                let answered = answered.then_some(&self.endpoint);
                let recorded = self
                    .outbox
                    .record(self.ids[place], owner(by), &record, next, answered, now)
                    .await;
                return u64::from(recorded.unwrap());
            }
            Call::ReleaseAll(by) => return self.outbox.release_all(&[owner(by)]).await.unwrap(),
            Call::Hold((opening, rest)) => {
                let circuit = Circuit {
                    openings: opening.map_or(0, |(openings, _)| openings.into()),
                    open_until: opening.map(|(_, open)| at(self.now + open)),
                    rests_until: (rest > 0).then(|| at(self.now + rest)),
                };
                self.outbox
                    .hold_endpoint(&self.endpoint, circuit)
                    .await
                    .unwrap();
            }
            Call::Retry => self
                .outbox
                .retry_endpoint(&self.endpoint, now)
                .await
                .unwrap(),
            Call::Stop => self
                .outbox
                .stop_endpoint(&self.endpoint, &by_hand(), now)
                .await
                .unwrap(),
            Call::Resume => {
                return u64::from(
                    self.outbox
                        .resume_endpoint(&self.endpoint, now)
                        .await
                        .unwrap(),
                );
            }
            Call::Resend(place) => {
                self.outbox.resend(self.ids[place], now).await.unwrap();
            }
            Call::Drop(place) => {
                let outcome = self
                    .outbox
                    .drop_entry(self.ids[place], &by_hand(), now)
                    .await
                    .unwrap();
                return u64::from(outcome == DropOutcome::Dropped);
            }
        }
        0
    }
}

fn by_hand() -> Intervention {
    Intervention {
        by: "test".parse().unwrap(),
        reason: "a call of the test".parse().unwrap(),
    }
}

fn of_model(store: &mut Store, call: Call, leased: u64) -> u64 {
    match call {
        Call::Tick => store.tick(),
        Call::Lease(by) => {
            let taken = u8::try_from(leased).unwrap();
            let sets = store.leasable(0);
            assert!(
                if taken == 0 {
                    sets.is_empty()
                } else {
                    sets.contains(&taken)
                },
                "{taken} of {sets:?}"
            );
            store.lease(taken, by, LEASE);
            return leased;
        }
        Call::Record(place, by, next, answered) => {
            return u64::from(store.record(place, by, next, answered));
        }
        Call::ReleaseAll(by) => return store.release_all(&[by]),
        Call::Hold(news) => store.hold(news),
        Call::Retry => store.retry(0),
        Call::Stop => store.stopped = true,
        Call::Resume => return u64::from(store.resume()),
        Call::Resend(place) => store.resend(place),
        Call::Drop(place) => return u64::from(store.drop_entry(place)),
    }
    0
}

/// Every call in every state of the store that five calls lead to.
#[tokio::test]
async fn the_store_of_the_model_answers_as_the_product() {
    let begin = Store::new(None);
    let (mut known, mut next) = (
        HashSet::from([begin]),
        VecDeque::from([(begin, Vec::new())]),
    );
    let mut compared = 0;
    while let Some((store, path)) = next.pop_front() {
        for call in CALLS {
            if matches!(call, Call::Resend(place) if store.entries[place].state != OutboxState::DeadLetter)
            {
                continue;
            }
            let mut product = Product::new().await;
            for earlier in &path {
                product.call(*earlier).await;
            }
            let answer = product.call(call).await;
            let mut after = store;
            assert_eq!(
                of_model(&mut after, call, answer),
                answer,
                "{call:?} after {path:?}"
            );
            for (entry, id) in after.entries.iter().zip(&product.ids) {
                let found = product.outbox.find(*id).await.unwrap().unwrap();
                let due = found.due.saturating_since(at(product.now)).as_secs();
                assert_eq!(found.state, entry.state, "{call:?} after {path:?}");
                assert_eq!(
                    found.deliveries.min(2),
                    u32::from(entry.deliveries),
                    "{call:?} after {path:?}"
                );
                if entry.state == OutboxState::Pending {
                    assert_eq!(due, u64::from(entry.due), "{call:?} after {path:?}");
                }
            }
            compared += 1;
            if path.len() < 5 && known.insert(after) {
                let path = path.iter().copied().chain([call]).collect();
                next.push_back((after, path));
            }
        }
    }
    println!("{compared} calls in {} states of the store", known.len());
    assert_eq!((compared, known.len()), (38_470, 1_912));
}
