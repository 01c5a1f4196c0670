//! What all views have around them, and around their lists.

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};

/// The rows of a list on one page.
pub(super) const ROWS: usize = 50;

/// The links at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Overview,
    Calls,
    Outbox,
    Endpoints,
    Customers,
    Accounts,
    /// None of them.
    None,
}

const SECTIONS: [(Section, &str, &str); 6] = [
    (Section::Overview, "/", "Overview"),
    (Section::Calls, "/calls", "Calls"),
    (Section::Outbox, "/outbox", "Outbox"),
    (Section::Endpoints, "/endpoints", "Endpoints"),
    (Section::Customers, "/customers", "Customers"),
    (Section::Accounts, "/accounts", "Accounts"),
];

/// The top of a page.
pub(super) struct Head {
    pub(super) title: String,
    pub(super) links: Vec<NavLink>,
}

/// One of several views to choose from.
pub(super) struct NavLink {
    pub(super) href: String,
    pub(super) name: String,
    pub(super) current: bool,
}

impl Head {
    pub(super) fn new(title: impl Into<String>, section: Section) -> Self {
        let link = |(own, href, name): (Section, &str, &str)| NavLink {
            href: href.to_owned(),
            name: name.to_owned(),
            current: own == section,
        };
        Self { title: title.into(), links: SECTIONS.map(link).into() }
    }
}

/// The links to the pages of a list before and after this one.
#[derive(Default)]
pub(super) struct Paging {
    /// To its first page, if this is another one.
    pub(super) first: Option<String>,
    /// To the next page, if there is one.
    pub(super) next: Option<String>,
}

impl Paging {
    pub(super) fn new(first: Option<String>, next: Option<String>) -> Self {
        Self { first, next }
    }
}

/// The answer with a page.
pub(super) fn html(view: &impl Template) -> Response {
    match view.render() {
        Ok(page) => ([(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response(),
        Err(error) => {
            tracing::error!(%error, "the page could not be made");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
