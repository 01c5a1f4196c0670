//! The view of the customers' webhook receivers and the state of their deliveries.

use super::text::filters;
use super::{After, Head, Page, PageError, PageState, Paging, first_rows, html};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use bankrail::mailbox::{EndpointBacklog, EndpointId, OutboxQuery, StoppedEndpoint};
use bankrail::service::delivery::{CircuitState, DispatcherSnapshot, EndpointSnapshot};
use bankrail::values::Timestamp;
use std::collections::BTreeMap;

/// The facts of an endpoint, from customers, dispatcher and outbox.
#[derive(Clone, Default)]
pub(super) struct EndpointFacts {
    customer: Option<String>,
    url: Option<String>,
    stopped: Option<StoppedEndpoint>,
    snapshot: Option<EndpointSnapshot>,
    backlog: Option<EndpointBacklog>,
}

impl EndpointFacts {
    /// True if messages wait that a resumed endpoint would get now, or deliveries are held back.
    fn may_resume(&self) -> bool {
        let is_well = CircuitState::Closed { failures: 0 };
        let (snapshot, backlog) = (self.snapshot.as_ref(), self.backlog.as_ref());
        self.stopped.is_some()
            || snapshot.is_some_and(|endpoint| endpoint.circuit != is_well)
            || backlog.is_some_and(|backlog| backlog.pending > 0)
    }
}

/// Returns all endpoints by name: those of customers, and others that still have messages in the
/// outbox.
pub(super) async fn all(
    page: &PageState,
    snapshot: &DispatcherSnapshot,
) -> Result<BTreeMap<String, EndpointFacts>, PageError> {
    let mut all: BTreeMap<String, EndpointFacts> = BTreeMap::new();
    for record in page.data.bank.directory.current().records() {
        for endpoint in &record.endpoints {
            let known = all.entry(endpoint.id().to_string()).or_default();
            known.customer = Some(record.customer.code.to_string());
            known.url = Some(endpoint.url().as_str().to_owned());
        }
    }
    for endpoint in &snapshot.endpoints {
        all.entry(endpoint.endpoint.to_string())
            .or_default()
            .snapshot = Some(endpoint.clone());
    }
    for stopped in &snapshot.stopped {
        all.entry(stopped.endpoint.to_string()).or_default().stopped = Some(stopped.clone());
    }
    let mut after: Option<EndpointId> = None;
    loop {
        let backlogs = page
            .data
            .outbox
            .backlogs(after.as_ref(), OutboxQuery::MAX_LIMIT)
            .await?;
        let Some(last) = backlogs.last() else {
            return Ok(all);
        };
        after = Some(last.endpoint.clone());
        for backlog in backlogs {
            let known = all.entry(backlog.endpoint.to_string()).or_default();
            known.backlog = Some(backlog);
        }
    }
}

#[derive(Template)]
#[template(path = "page/endpoints.html")]
struct EndpointsView {
    head: Head,
    page: Page,
    now: Timestamp,
    rows: Vec<(String, EndpointFacts)>,
    paging: Paging,
}

pub(super) async fn list(
    State(page): State<Page>,
    Query(asked): Query<After>,
) -> Result<Response, PageError> {
    let snapshot = page.data.bank.emulator.dispatcher().snapshot().await?;
    let mut later = all(&page, &snapshot).await?;
    if let Some(after) = &asked.after {
        later = later.split_off(after);
        later.remove(after);
    }
    let (listed, last) = first_rows(later);
    Ok(html(&EndpointsView {
        head: page.head("Endpoints", "/endpoints").await?,
        now: snapshot.at,
        paging: Paging::after(
            "/endpoints",
            &asked,
            last.as_ref().map(|(name, _)| name.as_str()),
        ),
        rows: listed,
        page,
    }))
}
