//! The views of the messages to deliver: their states, deliveries, and next due times.

use super::exchange::{Destination, outgoing};
use super::text::filters;
use super::{Head, NavLink, Page, PageError, PageState, Paging, ROWS, address, html};
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use bankrail::mailbox::{
    Circuit, DeliveryRecord, EndpointId, EntryId, OutboxCounts, OutboxQuery, OutboxState,
    OutboxStore, OutboxSummary,
};
use bankrail::values::{Clock as _, StoreError, SystemClock, Timestamp};
use bankrail::webhook::headers::MESSAGE_ID;
use bankrail_emulator::Call;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Clone, Deserialize, Serialize)]
pub(super) struct ListQuery {
    /// The name of a state.
    state: Option<String>,
    endpoint: Option<String>,
    /// The page has entries with smaller numbers than this.
    before: Option<u64>,
}

impl ListQuery {
    /// The address of the list with this state and place instead.
    fn address(&self, state: Option<OutboxState>, before: Option<u64>) -> String {
        let query = Self {
            state: state.map(|state| state.as_str().to_owned()),
            endpoint: self.endpoint.clone(),
            before,
        };
        address("/outbox", query)
    }
}

/// Returns the name of a state for people.
fn state_name(state: &OutboxState) -> &'static str {
    match state {
        OutboxState::Pending => "waiting",
        OutboxState::Delivered => "delivered",
        OutboxState::DeadLetter => "dead letter",
        OutboxState::Dropped => "dropped",
    }
}

/// The time of an entry's next delivery.
enum Next {
    /// The entry is never delivered unless an operator acts.
    Not,
    /// A worker is delivering it.
    UnderWay,
    /// The entry is delivered when the endpoint is resumed.
    Stopped,
    /// The entry is delivered as soon as a worker is free.
    Due,
    At(Timestamp),
}

/// The endpoints that hold entries back.
struct Endpoints {
    stopped: HashSet<EndpointId>,
    circuits: HashMap<EndpointId, Circuit>,
}

impl Endpoints {
    async fn read(page: &PageState) -> Result<Self, StoreError> {
        let stopped = page.data.outbox.stopped_endpoints().await?;
        let circuits = page.data.outbox.circuits().await?;
        Ok(Self {
            stopped: stopped
                .into_iter()
                .map(|stopped| stopped.endpoint)
                .collect(),
            circuits: circuits
                .into_iter()
                .map(|of| (of.endpoint, of.circuit))
                .collect(),
        })
    }

    fn next(&self, entry: &OutboxSummary, now: Timestamp) -> Next {
        if entry.state != OutboxState::Pending {
            return Next::Not;
        }
        if entry.leased_until.is_some_and(|until| now < until) {
            return Next::UnderWay;
        }
        if self.stopped.contains(&entry.endpoint) {
            return Next::Stopped;
        }
        let held = self
            .circuits
            .get(&entry.endpoint)
            .and_then(Circuit::held_until);
        let at = held.map_or(entry.due, |held| held.max(entry.due));
        if at <= now { Next::Due } else { Next::At(at) }
    }
}

/// An entry as a row of the list, with the facts for its page.
struct EntryRow {
    summary: OutboxSummary,
    last: Option<DeliveryRecord>,
    next: Next,
}

impl EntryRow {
    fn new(
        summary: OutboxSummary,
        last: Option<DeliveryRecord>,
        endpoints: &Endpoints,
        now: Timestamp,
    ) -> Self {
        Self {
            next: endpoints.next(&summary, now),
            summary,
            last,
        }
    }

    /// Returns true if the entry would be delivered now if its endpoint were resumed.
    fn is_held(&self) -> bool {
        matches!(self.next, Next::Stopped | Next::At(_))
    }
}

/// Describes the end of a delivery: `200`, `503 refused`, `timed out`.
fn ended(delivery: &DeliveryRecord) -> String {
    let status = delivery.status.map(|status| status.to_string());
    let note = delivery.note.map(|note| note.as_str().replace('_', " "));
    let said: Vec<String> = status.into_iter().chain(note).collect();
    if said.is_empty() {
        "no answer".to_owned()
    } else {
        said.join(" ")
    }
}

#[derive(Template)]
#[template(path = "page/outbox.html")]
struct OutboxView {
    head: Head,
    page: Page,
    now: Timestamp,
    endpoint: Option<String>,
    /// True if a filter leaves out other messages.
    is_filtered: bool,
    states: Vec<NavLink>,
    rows: Vec<EntryRow>,
    paging: Paging,
}

fn count(counts: &OutboxCounts, state: OutboxState) -> u64 {
    match state {
        OutboxState::Pending => counts.pending,
        OutboxState::Delivered => counts.delivered,
        OutboxState::DeadLetter => counts.dead_letters,
        OutboxState::Dropped => counts.dropped,
    }
}

pub(super) async fn list(
    State(page): State<Page>,
    Query(asked): Query<ListQuery>,
) -> Result<Response, PageError> {
    let outbox = &*page.data.outbox;
    let mut query = OutboxQuery::new();
    let state = match &asked.state {
        Some(name) => Some(name.parse().map_err(|_| PageError::NotFound)?),
        None => None,
    };
    let endpoint = asked
        .endpoint
        .as_deref()
        .map(EndpointId::parse)
        .transpose()
        .map_err(|_| PageError::NotFound)?;
    query.state = state;
    query.endpoint.clone_from(&endpoint);
    let counts = outbox.counts(endpoint.as_ref()).await?;
    let endpoints = Endpoints::read(&page).await?;
    let (entries, next) = newest(outbox, &query, asked.before, ROWS).await?;
    let now = SystemClock.now();
    let mut rows = Vec::with_capacity(entries.len());
    for summary in entries {
        // A message without deliveries needs no query.
        let last = if summary.deliveries > 0 {
            outbox.deliveries(summary.id).await?.pop()
        } else {
            None
        };
        rows.push(EntryRow::new(summary, last, &endpoints, now));
    }
    let link = |of: Option<OutboxState>| NavLink {
        href: asked.address(of, None),
        name: of.map_or_else(
            || "all".to_owned(),
            |of| format!("{} {}", count(&counts, of), state_name(&of)),
        ),
        current: of == state,
    };
    let states = std::iter::once(None).chain(OutboxState::ALL.iter().copied().map(Some));
    Ok(html(&OutboxView {
        head: page.head("Outbox", "/outbox").await?,
        now,
        is_filtered: state.is_some() || asked.endpoint.is_some() || asked.before.is_some(),
        endpoint: asked.endpoint.clone(),
        states: states.map(link).collect(),
        rows,
        paging: Paging {
            first: asked.before.map(|_| asked.address(state, None)),
            next: next.map(|number| asked.address(state, Some(number))),
        },
        page,
    }))
}

#[derive(Template)]
#[template(path = "page/entry.html")]
struct EntryView {
    head: Head,
    page: Page,
    now: Timestamp,
    row: EntryRow,
    /// The deliveries with their numbers, the newest first.
    deliveries: Vec<(usize, DeliveryRecord)>,
    /// The headers and the body, if the provider has a control.
    content: Option<String>,
    /// The deliveries that the journal has, the newest first.
    exchanges: Vec<Call>,
    place: Arc<Destination>,
}

/// The maximum number of deliveries that are shown, which are the newest ones.
const MAX_DELIVERIES: usize = 100;

pub(super) async fn show(
    State(page): State<Page>,
    Path(number): Path<u64>,
) -> Result<Response, PageError> {
    let id = EntryId::new(number);
    // Stores number entries with an `i64`, so a larger number does not exist.
    let known = i64::try_from(number).is_ok();
    let summary = if known {
        page.data.outbox.summary(id).await?
    } else {
        None
    };
    let summary = summary.ok_or(PageError::NotFound)?;
    let deliveries = page.data.outbox.deliveries(id).await?;
    let (endpoints, now) = (Endpoints::read(&page).await?, SystemClock.now());
    let (mut content, mut exchanges) = (None, Vec::new());
    if page.data.has_buttons {
        content = page
            .data
            .outbox
            .find(id)
            .await?
            .map(|entry| outgoing(&entry.message));
        exchanges = page.data.bank.emulator.calls().newest();
        exchanges.retain(|call| call.endpoint == bankrail_emulator::Endpoint::Webhook);
        let own = summary.message_id.to_string();
        exchanges.retain(|call| call.headers.get(MESSAGE_ID).is_some_and(|id| *id == *own));
    }
    let last = deliveries.last().cloned();
    let deliveries = (1..)
        .zip(deliveries)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .take(MAX_DELIVERIES)
        .collect();
    Ok(html(&EntryView {
        head: page.head(&format!("Message {number}"), "/outbox").await?,
        now,
        deliveries,
        row: EntryRow::new(summary, last, &endpoints, now),
        content,
        exchanges,
        place: page.destination.clone(),
        page,
    }))
}

/// At most `max_entries` entries of a query before the number `before`, or of all: the newest
/// first. Further, the number to go on before, if there may be more.
async fn newest(
    outbox: &dyn OutboxStore,
    query: &OutboxQuery,
    before: Option<u64>,
    max_entries: usize,
) -> Result<(Vec<OutboxSummary>, Option<u64>), StoreError> {
    let mut end = match before {
        Some(before) => before,
        None => last_number(outbox).await?.saturating_add(1),
    };
    let mut found: Vec<OutboxSummary> = Vec::new();
    while found.len() <= max_entries && end > 1 {
        // There are no more entries than numbers, so that no query leaves one out.
        let begin = end.saturating_sub(OutboxQuery::MAX_LIMIT.into()).max(1);
        let window = query.clone().after(EntryId::new(begin - 1));
        let entries = outbox.list(&window.limit(OutboxQuery::MAX_LIMIT)).await?;
        let entries = entries.into_iter().rev();
        found.extend(entries.filter(|entry| entry.id.get() < end));
        end = begin;
    }
    let more = found.len() > max_entries;
    found.truncate(max_entries);
    let next = found.last().filter(|_| more).map(|entry| entry.id.get());
    Ok((found, next))
}

/// The largest number of an entry; 0 without any.
async fn last_number(outbox: &dyn OutboxStore) -> Result<u64, StoreError> {
    // In growing steps, because no query of an outbox returns its newest number.
    let (mut last, mut step) = (0_u64, 1_u64);
    loop {
        let after = EntryId::new(last.saturating_add(step - 1));
        match outbox
            .list(&OutboxQuery::new().after(after).limit(1))
            .await?
            .first()
        {
            Some(entry) => {
                last = entry.id.get();
                step = step.saturating_mul(2);
            }
            None if step == 1 => return Ok(last),
            None => step = (step / 4).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail::mailbox::{
        Disposition, Fingerprint, Kind, Lease, LeaseOwner, LeaseRequest, Outgoing,
    };
    use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
    use bankrail::values::HyphenatedUuid;
    use std::time::Duration;

    fn now() -> Timestamp {
        Timestamp::parse("2021-07-29T01:02:03.450Z").unwrap()
    }

    async fn with_entries(count: u32) -> Box<dyn OutboxStore> {
        let store = SqliteStore::open_in_memory(SqliteOptions::new()).unwrap();
        let enqueued = store.transaction(move |transaction| -> Result<(), StoreError> {
            for _ in 0..count {
                let message = Outgoing {
                    endpoint: "acme".parse().expect("a short name"),
                    kind: Kind::from_static("query"),
                    message_id: HyphenatedUuid::random(),
                    fingerprint: Fingerprint::from_bytes([0; 32]),
                    attributes: Vec::new().into(),
                    body: Vec::new().into(),
                };
                transaction.enqueue(&message, now())?;
            }
            Ok(())
        });
        enqueued.await.unwrap();
        Box::new(store.outbox())
    }

    fn numbers(found: &[OutboxSummary]) -> Vec<u64> {
        found.iter().map(|entry| entry.id.get()).collect()
    }

    #[tokio::test]
    async fn pages_together_have_every_entry_once() {
        for count in [0, 1, 2, 3, 7, 8, 9, 64, 65] {
            let outbox = with_entries(count).await;
            assert_eq!(last_number(&*outbox).await.unwrap(), u64::from(count));
            let (mut all, mut before) = (Vec::new(), None);
            loop {
                let (page, next) = newest(&*outbox, &OutboxQuery::new(), before, 4)
                    .await
                    .unwrap();
                assert!(page.len() == 4 || next.is_none(), "{count}: {page:?}");
                all.extend(numbers(&page));
                before = next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(
                all,
                (1..=u64::from(count)).rev().collect::<Vec<_>>(),
                "{count}"
            );
        }
    }

    #[tokio::test]
    async fn the_few_of_a_state_are_found_among_many() {
        let outbox = with_entries(1500).await;
        let owner = LeaseOwner::from_random_bytes([1; 16]);
        let lease = Lease {
            owner,
            until: now().saturating_add(Duration::from_secs(60)),
        };
        for entry in outbox
            .lease(LeaseRequest::new(lease, 3), now())
            .await
            .unwrap()
        {
            let delivery = DeliveryRecord {
                started_at: now(),
                duration: Duration::ZERO,
                status: None,
                note: None,
            };
            assert!(
                outbox
                    .record(
                        entry.id,
                        owner,
                        &delivery,
                        Disposition::DeadLetter,
                        None,
                        now()
                    )
                    .await
                    .unwrap()
            );
        }
        let dead = OutboxQuery::new().state(OutboxState::DeadLetter);
        let (found, next) = newest(&*outbox, &dead, None, 2).await.unwrap();
        assert_eq!((numbers(&found), next), (vec![3, 2], Some(2)));
        let (found, next) = newest(&*outbox, &dead, next, 2).await.unwrap();
        assert_eq!((numbers(&found), next), (vec![1], None));
        let waiting = OutboxQuery::new().state(OutboxState::Pending);
        let (found, next) = newest(&*outbox, &waiting, Some(6), 50).await.unwrap();
        assert_eq!((numbers(&found), next), (vec![5, 4], None));
    }
}
