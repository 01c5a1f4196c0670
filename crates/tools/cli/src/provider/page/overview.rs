//! The first view: facts about the provider, the numbers of everything, and what needs the
//! operator's attention.

use super::calls::{CallList, Filter, tone};
use super::text::{filters, intervention};
use super::{Head, Page, PageError, html};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use bankrail::mailbox::{EndpointId, OutboxQuery, OutboxState};
use bankrail::service::delivery::{CircuitState, DispatcherSnapshot};
use bankrail::webhook::headers::MESSAGE_ID;
use bankrail_emulator::{Call, Endpoint};

/// The maximum number of refused calls that are shown.
const MAX_CALLS: usize = 10;

/// The maximum number of faults and of endpoints that are shown.
const MAX_CONCERNS: usize = 20;

#[derive(Template)]
#[template(path = "page/overview.html")]
struct OverviewView {
    head: Head,
    page: Page,
    snapshot: DispatcherSnapshot,
    /// The faults of customers' files that were rejected and are not in force.
    rejected: Vec<String>,
    /// The endpoints whose newest delivery failed, with the failures.
    failing: Vec<(EndpointId, String)>,
    /// The number of calls since the start, including deliveries if the provider has a control.
    calls: u64,
    refused: usize,
    /// The number of refused calls and dead letters without an ordered fault.
    unexpected_refusals: usize,
    unexpected_dead_letters: u64,
    refusals: CallList,
}

pub(super) async fn show(State(page): State<Page>) -> Result<Response, PageError> {
    let data = &page.data;
    let snapshot = data.bank.emulator.dispatcher().snapshot().await?;
    let rejected = data.bank.directory.rejected();
    let rejected = rejected.iter().flat_map(|rejected| &rejected.errors);
    let newest = data.bank.emulator.calls().newest();
    let refused = Filter::refused();
    let refusals: Vec<_> = newest.iter().filter(|call| refused.matches(call)).collect();
    let deliveries: Vec<_> = newest
        .iter()
        .filter(|call| call.endpoint == Endpoint::Webhook)
        .collect();
    let dead_letters = OutboxQuery::new()
        .state(OutboxState::DeadLetter)
        .limit(OutboxQuery::MAX_LIMIT);
    let mut dead_letters = data.outbox.list(&dead_letters).await?;
    dead_letters.retain(|dead| {
        let id = dead.message_id.to_string();
        let is_of = |call: &&&Call| call.headers.get(MESSAGE_ID).is_some_and(|own| *own == *id);
        is_ordered(deliveries.iter().find(is_of))
    });
    let customers = data.bank.directory.current();
    let mut failing = Vec::new();
    for endpoint in &snapshot.endpoints {
        let failures = match endpoint.circuit {
            CircuitState::Open { until } => {
                format!(
                    "keep failing: the next one is at {}",
                    crate::clock::instant(until)
                )
            }
            CircuitState::Trial => "kept failing: the next one is a trial".to_owned(),
            CircuitState::Closed { failures } if failures > 0 => {
                format!("fail: {failures} in a row")
            }
            _ => continue,
        };
        let owner = customers.records().find(|record| {
            let mut own = record.endpoints.iter();
            own.any(|own| own.id() == &endpoint.endpoint)
        });
        let owner = owner.map(|record| record.customer.code.as_str());
        let is_of = |call: &&&Call| call.customer.as_deref() == owner;
        if !is_ordered(deliveries.iter().find(is_of)) {
            failing.push((endpoint.endpoint.clone(), failures));
        }
    }
    failing.truncate(MAX_CONCERNS);
    Ok(html(&OverviewView {
        head: page.head("Overview", "/").await?,
        rejected: rejected
            .take(MAX_CONCERNS)
            .map(ToString::to_string)
            .collect(),
        failing,
        calls: newest.first().map_or(0, |call| call.number),
        refused: refusals.len(),
        unexpected_refusals: refusals.iter().filter(|call| tone(call) == "bad").count(),
        unexpected_dead_letters: snapshot
            .outbox
            .dead_letters
            .saturating_sub(u64::try_from(dead_letters.len()).unwrap_or(0)),
        refusals: CallList {
            none: "No call was refused.",
            ..CallList::newest(&page, &refused, MAX_CALLS)
        },
        snapshot,
        page,
    }))
}

/// Returns true if the newest delivery of a message, or to a customer, met a fault that somebody
/// ordered.
fn is_ordered(newest: Option<&&Call>) -> bool {
    newest.is_some_and(|call| call.fault.is_some())
}
