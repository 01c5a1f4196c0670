//! The calls that the provider answered, the newest first.

use super::layout::{Head, NavLink, Paging, ROWS, address, html};
use super::text::{filters, shown};
use super::{Page, Shared};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use bankrail::emulator::Call;
use serde::Deserialize;

/// Which calls are asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Filter {
    /// Those that were refused only, whatever the value.
    refused: Option<String>,
    /// Those of this customer only.
    customer: Option<String>,
}

impl Filter {
    pub(super) fn refused() -> Self {
        Self { refused: Some("yes".to_owned()), customer: None }
    }

    pub(super) fn matches(&self, call: &Call) -> bool {
        (self.refused.is_none() || is_refused(call))
            && self.customer.as_ref().is_none_or(|code| call.customer.as_ref() == Some(code))
    }

    /// An address with this filter.
    fn address(&self, path: &str, (name, value): (&str, Option<u64>)) -> String {
        let (refused, value) = (self.refused.as_ref().map(|_| "yes"), value.map(|value| value.to_string()));
        address(path, &[("refused", refused), ("customer", self.customer.as_deref()), (name, value.as_deref())])
    }
}

pub(super) fn is_refused(call: &Call) -> bool {
    call.status.is_none_or(|status| status >= 400) || call.reason.is_some()
}

#[derive(Debug, Deserialize)]
pub(super) struct Place {
    /// The number of the call above which the page begins.
    before: Option<u64>,
}

/// A row alone, for the stream of events.
#[derive(Template)]
#[template(path = "page/call.html")]
pub(super) struct OneCall<'a> {
    pub(super) call: &'a Call,
}

/// Rows, and the address of the stream of later ones.
pub(super) struct CallList {
    pub(super) rows: Vec<Call>,
    /// The stream of later calls, unless the list shows earlier ones.
    pub(super) events: Option<String>,
}

impl CallList {
    /// The newest calls of a filter, at most so many.
    pub(super) fn newest(shared: &Shared, filter: &Filter, most: usize) -> Self {
        Self::before(shared, filter, None, most).0
    }

    /// Calls before the one of this number, and the number to go on before.
    fn before(shared: &Shared, filter: &Filter, before: Option<u64>, most: usize) -> (Self, Option<u64>) {
        let newest = shared.data.calls.newest();
        let last = newest.first().map_or(0, |call| call.number);
        let mut found =
            newest.into_iter().filter(|call| before.is_none_or(|before| call.number < before) && filter.matches(call));
        let rows: Vec<Call> = found.by_ref().take(most).collect();
        let next = found.next().and(rows.last()).map(|call| call.number);
        let events = before.is_none().then(|| filter.address("/calls/events", ("after", Some(last))));
        (Self { rows, events }, next)
    }
}

#[derive(Template)]
#[template(path = "page/calls.html")]
struct CallsView {
    head: Head,
    customer: Option<String>,
    filters: Vec<NavLink>,
    calls: CallList,
    paging: Paging,
}

pub(super) async fn show(
    State(page): State<Page>,
    Query(filter): Query<Filter>,
    Query(place): Query<Place>,
) -> Response {
    let (calls, next) = CallList::before(&page, &filter, place.before, ROWS);
    let with = |refused: bool| Filter { refused: refused.then(|| "yes".to_owned()), ..filter.clone() };
    let link = |name: &str, refused| NavLink {
        href: with(refused).address("/calls", ("before", None)),
        name: name.to_owned(),
        current: refused == filter.refused.is_some(),
    };
    let address = |number: Option<u64>| filter.address("/calls", ("before", number));
    html(&CallsView {
        head: Head::new("Calls", "/calls"),
        customer: filter.customer.as_deref().map(shown),
        filters: vec![link("All", false), link("Refused", true)],
        calls,
        paging: Paging { first: place.before.map(|_| address(None)), next: next.map(|number| address(Some(number))) },
    })
}
