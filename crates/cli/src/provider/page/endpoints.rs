//! The customers' webhook receivers, and whether messages are delivered to them.

use super::command::{Command, PAUSE, RESEND_ALL, RESUME, SEND};
use super::error::PageError;
use super::layout::{After, Head, Paging, Section, first_rows, html};
use super::text::{When, encoded, shown};
use super::{Page, Shared};
use crate::provider::outbox::words::intervention;
use crate::text::counted;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use bankrail::mailbox::{EndpointBacklog, EndpointId, OutboxQuery, StoppedEndpoint};
use bankrail::service::delivery::{CircuitState, DispatcherSnapshot, EndpointSnapshot};
use std::collections::BTreeMap;

/// What is known of an endpoint, from each place that knows of it.
#[derive(Clone, Default)]
struct Known {
    customer: Option<String>,
    url: Option<String>,
    stopped: Option<StoppedEndpoint>,
    snapshot: Option<EndpointSnapshot>,
    backlog: Option<EndpointBacklog>,
}

/// Whether messages are delivered to an endpoint.
enum Condition {
    /// Messages are delivered. The number counts the failures in a row.
    Well { failures: u32 },
    /// Nothing is delivered until an operator resumes the endpoint.
    Stopped { since: When, by: String },
    /// Nothing is delivered before a time, because deliveries kept failing.
    LeftAlone { until: When },
    /// Nothing is delivered before a time, because the endpoint asked for a pause.
    Resting { until: When },
    /// One message is delivered as a trial after failures.
    Trial,
    /// Nothing is delivered, because no customer has the endpoint any more.
    Unknown,
}

struct EndpointRow {
    name: String,
    href: String,
    customer: Option<(String, String)>,
    url: String,
    condition: Condition,
    slow: bool,
    pending: u64,
    dead_letters: String,
    oldest_due: Option<When>,
    commands: Vec<Command>,
}

impl EndpointRow {
    fn new(shared: &Shared, name: &str, known: Known) -> Self {
        let (pending, dead_letters) = known.backlog.as_ref().map_or((0, 0), |of| (of.pending, of.dead_letters));
        let (is_stopped, has_customer) = (known.stopped.is_some(), known.customer.is_some());
        let tasks = [
            (RESEND_ALL, dead_letters > 0),
            (RESUME, is_stopped),
            (PAUSE, has_customer && !is_stopped),
            (SEND, has_customer),
        ];
        let commands = tasks.iter().filter(|(_, fits)| *fits).map(|(task, _)| shared.command(*task, name)).collect();
        Self {
            name: shown(name),
            href: format!("/outbox?endpoint={}", encoded(name)),
            customer: known.customer.as_ref().map(|code| (format!("/customers/{}", encoded(code)), shown(code))),
            url: known.url.as_deref().map(shown).unwrap_or_default(),
            slow: known.snapshot.as_ref().is_some_and(|endpoint| endpoint.is_slow),
            oldest_due: known.backlog.as_ref().and_then(|of| of.oldest_due).map(When::new),
            condition: condition(&known),
            pending,
            dead_letters: counted(dead_letters, "dead letter", "dead letters"),
            commands,
        }
    }
}

fn condition(known: &Known) -> Condition {
    if let Some(stopped) = &known.stopped {
        let by = shown(&intervention(&stopped.intervention));
        return Condition::Stopped { since: When::new(stopped.since), by };
    }
    match known.snapshot.as_ref().map(|endpoint| endpoint.circuit) {
        Some(CircuitState::Open { until }) => Condition::LeftAlone { until: When::new(until) },
        Some(CircuitState::Resting { until }) => Condition::Resting { until: When::new(until) },
        Some(CircuitState::Trial) => Condition::Trial,
        Some(CircuitState::Closed { failures }) => Condition::Well { failures },
        Some(_) => Condition::Well { failures: 0 },
        None => Condition::Unknown,
    }
}

/// All endpoints by their names: those that customers have, and those of which the outbox still has something.
async fn all(shared: &Shared, snapshot: &DispatcherSnapshot) -> Result<BTreeMap<String, Known>, PageError> {
    let mut all: BTreeMap<String, Known> = BTreeMap::new();
    for record in shared.data.directory.book().records() {
        for endpoint in &record.endpoints {
            let known = all.entry(endpoint.id().to_string()).or_default();
            known.customer = Some(record.customer.code.to_string());
            known.url = Some(endpoint.url().as_str().to_owned());
        }
    }
    for endpoint in &snapshot.endpoints {
        all.entry(endpoint.endpoint.to_string()).or_default().snapshot = Some(endpoint.clone());
    }
    for stopped in &snapshot.stopped {
        all.entry(stopped.endpoint.to_string()).or_default().stopped = Some(stopped.clone());
    }
    let mut after: Option<EndpointId> = None;
    loop {
        let backlogs = shared.data.outbox.backlogs(after.as_ref(), OutboxQuery::MAX_LIMIT).await?;
        let Some(last) = backlogs.last() else { return Ok(all) };
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
    now: When,
    rows: Vec<EndpointRow>,
    paging: Paging,
}

pub(super) async fn list(State(page): State<Page>, Query(asked): Query<After>) -> Result<Response, PageError> {
    let snapshot = page.data.dispatcher.snapshot().await?;
    let mut later = all(&page, &snapshot).await?;
    if let Some(after) = &asked.after {
        later = later.split_off(after);
        later.remove(after);
    }
    let (listed, last) = first_rows(later);
    Ok(html(&EndpointsView {
        head: Head::new("Endpoints", Section::Endpoints),
        now: When::new(snapshot.at),
        rows: listed.into_iter().map(|(name, known)| EndpointRow::new(&page, &name, known)).collect(),
        paging: Paging::after("/endpoints", &asked, last.as_ref().map(|(name, _)| name.as_str())),
    }))
}
