//! The first view: what this provider is, how much there is of everything, and what a person must
//! look at.

use super::Page;
use super::calls::{CallList, Filter};
use super::error::PageError;
use super::text::{encoded, filters, intervention, shown};
use super::{Command, LIST_STATE, RESUME};
use super::{Head, html};
use crate::text::counted;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use bankrail::service::delivery::CircuitState;
use bankrail::values::Timestamp;

/// The refused calls that are shown.
const MAX_CALLS: usize = 10;

/// The faults and endpoints that are shown.
const MAX_CONCERNS: usize = 20;

/// Something that a person must look at.
struct Concern {
    what: String,
    /// Where it is shown.
    href: Option<String>,
    commands: Vec<Command>,
}

/// A count, and a link to the list.
struct Tile {
    count: u64,
    what: &'static str,
    href: &'static str,
    /// Since when, of the oldest.
    since: Option<Timestamp>,
}

impl Tile {
    fn new(
        count: impl TryInto<u64>,
        one: &'static str,
        several: &'static str,
        href: &'static str,
    ) -> Self {
        let count = count.try_into().unwrap_or(u64::MAX);
        Self {
            count,
            what: if count == 1 { one } else { several },
            href,
            since: None,
        }
    }
}

#[derive(Template)]
#[template(path = "page/overview.html")]
struct OverviewView {
    head: Head,
    issuer: String,
    data: String,
    since: String,
    concerns: Vec<Concern>,
    tiles: Vec<Tile>,
    refusals: CallList,
}

pub(super) async fn show(State(page): State<Page>) -> Result<Response, PageError> {
    let data = &page.data;
    let snapshot = data.dispatcher.snapshot().await?;
    let mut concerns = Vec::new();
    if let Some(rejected) = data.directory.rejected() {
        concerns.extend(
            rejected
                .faults
                .iter()
                .take(MAX_CONCERNS)
                .map(|fault| Concern {
                    what: format!(
                        "A change of the customers' files is not in force: {}",
                        shown(&fault.to_string())
                    ),
                    href: None,
                    commands: Vec::new(),
                }),
        );
    }
    if snapshot.outbox.dead_letters > 0 {
        concerns.push(Concern {
            what: counted(
                snapshot.outbox.dead_letters,
                "dead letter is",
                "dead letters are",
            ) + " no longer delivered",
            href: Some("/outbox?state=dead_letter".to_owned()),
            commands: vec![page.command(LIST_STATE, "dead_letter")],
        });
    }
    concerns.extend(snapshot.stopped.iter().take(MAX_CONCERNS).map(|stopped| {
        let (name, by) = (
            stopped.endpoint.as_str(),
            shown(&intervention(&stopped.intervention)),
        );
        Concern {
            what: format!(
                "Nothing is delivered to the endpoint {}: stopped by {by}",
                shown(name)
            ),
            href: Some(format!("/outbox?endpoint={}", encoded(name))),
            commands: vec![page.command(RESUME, name)],
        }
    }));
    concerns.extend(
        snapshot
            .endpoints
            .iter()
            .take(MAX_CONCERNS)
            .filter_map(|endpoint| {
                let CircuitState::Open { until } = endpoint.circuit else {
                    return None;
                };
                let (name, until) = (endpoint.endpoint.as_str(), crate::clock::instant(until));
                Some(Concern {
                    what: format!(
                        "Deliveries to the endpoint {} keep failing: the next one is at {until}",
                        shown(name)
                    ),
                    href: Some(format!("/outbox?endpoint={}", encoded(name))),
                    commands: vec![page.command(RESUME, name)],
                })
            }),
    );
    let newest = data.calls.newest();
    let refused = Filter::refused();
    let (calls, refusals) = (
        newest.first().map_or(0, |call| call.number),
        newest.iter().filter(|call| refused.matches(call)).count(),
    );
    if refusals > 0 {
        concerns.push(Concern {
            what: format!("{refusals} of the newest 500 calls refused"),
            href: Some("/calls?refused=yes".to_owned()),
            commands: Vec::new(),
        });
    }
    let outbox = &snapshot.outbox;
    let waiting = Tile::new(
        outbox.pending,
        "message waiting",
        "messages waiting",
        "/outbox?state=pending",
    );
    let tiles = vec![
        match &page.buttons {
            // The journal numbers both.
            Some(_) => Tile::new(
                calls,
                "call or delivery since the start",
                "calls and deliveries since the start",
                "/calls",
            ),
            None => Tile::new(
                calls,
                "call since the start",
                "calls since the start",
                "/calls",
            ),
        },
        Tile::new(
            refusals,
            "refused of the newest 500",
            "refused of the newest 500",
            "/calls?refused=yes",
        ),
        Tile {
            since: snapshot.oldest_pending,
            ..waiting
        },
        Tile::new(
            outbox.delivered,
            "message delivered",
            "messages delivered",
            "/outbox?state=delivered",
        ),
        Tile::new(
            outbox.dead_letters,
            "dead letter",
            "dead letters",
            "/outbox?state=dead_letter",
        ),
        Tile::new(
            outbox.dropped,
            "message dropped",
            "messages dropped",
            "/outbox?state=dropped",
        ),
        Tile::new(
            snapshot.endpoints.len(),
            "endpoint",
            "endpoints",
            "/endpoints",
        ),
    ];
    Ok(html(&OverviewView {
        head: Head::new("Overview", "/"),
        issuer: shown(&data.issuer),
        data: shown(&data.data.to_string_lossy()),
        since: crate::clock::instant(page.since),
        concerns,
        tiles,
        refusals: CallList {
            none: "No call was refused.",
            ..CallList::newest(&page, &refused, MAX_CALLS)
        },
    }))
}
