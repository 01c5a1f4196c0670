//! The calls that the provider answered, and its deliveries, the newest first.

use super::exchange::Destination;
use super::text::filters;
use super::{Head, NavLink, Page, PageError, PageState, Paging, ROWS, address, html};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use bankrail::values::Timestamp;
use bankrail_emulator::{Call, Endpoint};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The filter of a list of calls. Members that are empty, as those of a form, ask for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Filter {
    /// Selects refused calls only, if present with any value.
    refused: Option<String>,
    /// Selects deliveries only, if present with any value.
    deliveries: Option<String>,
    /// Selects calls of this customer.
    #[serde(default, deserialize_with = "text")]
    customer: Option<String>,
    /// Selects calls with this text in their request key.
    #[serde(default, deserialize_with = "text")]
    key: Option<String>,
    /// Selects calls at this time or later.
    #[serde(default, deserialize_with = "time")]
    from: Option<Timestamp>,
    /// Selects calls within the second of this time or earlier.
    #[serde(default, deserialize_with = "time")]
    until: Option<Timestamp>,
}

fn text<'a, D: Deserializer<'a>>(given: D) -> Result<Option<String>, D::Error> {
    Ok(Some(String::deserialize(given)?.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// Reads a time in UTC: a timestamp, or the value of a browser's date and time field, with or
/// without seconds.
fn time<'a, D: Deserializer<'a>>(given: D) -> Result<Option<Timestamp>, D::Error> {
    let parsed = text(given)?.map(|text| {
        let rest = match text.len() {
            16 => ":00Z",
            19 => "Z",
            _ => "",
        };
        Timestamp::parse_with_precision(&format!("{text}{rest}"))
    });
    let parsed = parsed.transpose().map_err(D::Error::custom)?;
    Ok(parsed.map(|(at, _)| at))
}

/// Returns the value of a time for a browser's date and time field.
fn field(at: &Option<Timestamp>) -> String {
    at.map(|at| at.to_string().chars().take(19).collect())
        .unwrap_or_default()
}

impl Filter {
    pub(super) fn refused() -> Self {
        Self {
            refused: Some("yes".to_owned()),
            ..Self::default()
        }
    }

    pub(super) fn matches(&self, call: &Call) -> bool {
        let has = |key: &String| {
            call.request_key
                .is_some_and(|own| own.to_string().contains(&key.to_ascii_lowercase()))
        };
        (self.refused.is_none() || is_refused(call))
            && (self.deliveries.is_none() || call.endpoint == Endpoint::Webhook)
            && self
                .customer
                .as_ref()
                .is_none_or(|code| call.customer.as_ref() == Some(code))
            && self.key.as_ref().is_none_or(has)
            && self.from.is_none_or(|from| from <= call.at)
            && self
                .until
                // The field has whole seconds, so the whole last second counts.
                .is_none_or(|until| call.at < until.saturating_add(Duration::from_secs(1)))
    }

    /// Returns true if the filter leaves out some calls.
    fn leaves_out(&self) -> bool {
        *self != Self::default()
    }

    /// The address of the list of these calls, before the one of this number.
    fn list(&self, before: Option<u64>) -> String {
        let filter = self;
        address("/calls", ListQuery { filter, before })
    }
}

#[derive(Serialize)]
struct ListQuery<'a> {
    #[serde(flatten)]
    filter: &'a Filter,
    before: Option<u64>,
}

#[derive(Serialize)]
struct LaterQuery<'a> {
    #[serde(flatten)]
    filter: &'a Filter,
    after: u64,
}

pub(super) fn is_refused(call: &Call) -> bool {
    call.endpoint != Endpoint::Webhook && tone(call) != "good"
}

/// Returns the style class of an answer. Errors that somebody ordered as faults are no cause for
/// concern.
pub(super) fn tone(call: &Call) -> &'static str {
    let is_good = call.status.is_some_and(|status| status < 400) && call.reason.is_none();
    match call.fault {
        _ if is_good => "good",
        Some(_) => "wait",
        None => "bad",
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Paged {
    /// The page has calls with smaller numbers than this.
    before: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct After {
    /// The number of the newest call that the page has seen.
    after: u64,
}

/// The maximum number of later calls that a page adds at once.
const MAX_LATER: usize = 200;

/// A list of calls, with the address of later ones.
pub(super) struct CallList {
    pub(super) rows: Vec<Call>,
    pub(super) place: Arc<Destination>,
    /// The text in place of an empty list.
    pub(super) none: &'static str,
    /// The address of later calls, unless the list is not the newest page.
    pub(super) later: Option<String>,
}

impl CallList {
    /// Returns the newest calls of a filter, at most this many.
    pub(super) fn newest(page: &PageState, filter: &Filter, max_calls: usize) -> Self {
        Self::before(page, filter, None, max_calls).0
    }

    /// Returns the calls before a number, and the number for the next page.
    fn before(
        page: &PageState,
        filter: &Filter,
        before: Option<u64>,
        max_calls: usize,
    ) -> (Self, Option<u64>) {
        let newest = page.data.bank.emulator.calls().newest();
        let mut found = newest.iter().filter(|call| {
            before.is_none_or(|before| call.number < before) && filter.matches(call)
        });
        let rows: Vec<Call> = found.by_ref().take(max_calls).cloned().collect();
        let next = found.next().and(rows.last()).map(|call| call.number);
        let later = before.is_none().then(|| {
            let after = newest.first().map_or(0, |call| call.number);
            address("/calls/later", LaterQuery { filter, after })
        });
        let none = if filter.leaves_out() {
            "No calls match the filter."
        } else {
            "No calls yet."
        };
        (
            Self {
                rows,
                place: page.destination.clone(),
                none,
                later,
            },
            next,
        )
    }
}

#[derive(Template)]
#[template(path = "page/call_list.html")]
struct LaterView {
    calls: CallList,
}

/// Returns the calls since the page was made, which the page requests while it is visible.
pub(super) async fn later(
    State(page): State<Page>,
    Query(filter): Query<Filter>,
    Query(seen): Query<After>,
) -> Response {
    let mut calls = CallList::newest(&page, &filter, MAX_LATER);
    calls.rows.retain(|call| call.number > seen.after);
    html(&LaterView { calls })
}

#[derive(Template)]
#[template(path = "page/calls.html")]
struct CallsView {
    head: Head,
    filter: Filter,
    choices: Vec<NavLink>,
    calls: CallList,
    paging: Paging,
}

pub(super) async fn show(
    State(page): State<Page>,
    Query(filter): Query<Filter>,
    Query(place): Query<Paged>,
) -> Result<Response, PageError> {
    let (calls, next) = CallList::before(&page, &filter, place.before, ROWS);
    let choices = [
        ("All", [false, false]),
        ("Refused", [true, false]),
        ("Deliveries", [false, true]),
    ];
    let choices = choices.map(|(name, chosen)| {
        let [refused, deliveries] = chosen.map(|chosen| chosen.then(|| "yes".to_owned()));
        let with = Filter {
            refused,
            deliveries,
            ..filter.clone()
        };
        NavLink {
            href: with.list(None),
            name: name.to_owned(),
            current: chosen == [filter.refused.is_some(), filter.deliveries.is_some()],
        }
    });
    Ok(html(&CallsView {
        head: page.head("Calls", "/calls").await?,
        choices: choices.into(),
        calls,
        paging: Paging {
            first: place.before.map(|_| filter.list(None)),
            next: next.map(|number| filter.list(Some(number))),
        },
        filter,
    }))
}
