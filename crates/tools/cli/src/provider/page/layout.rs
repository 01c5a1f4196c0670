//! The frame of all views, and of their lists.

use super::text::encoded;
use askama::Template;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

/// The rows of a list on one page.
pub(super) const ROWS: usize = 50;

/// The sections, with the links to them at the top.
const SECTIONS: [(&str, &str); 5] = [
    ("/", "Overview"),
    ("/calls", "Calls"),
    ("/outbox", "Outbox"),
    ("/endpoints", "Endpoints"),
    ("/control", "Control"),
];

/// The top of a page.
pub(super) struct Head {
    pub(super) title: String,
    pub(super) links: Vec<NavLink>,
}

/// A link to a view.
pub(super) struct NavLink {
    pub(super) href: String,
    pub(super) name: String,
    pub(super) current: bool,
}

impl Head {
    /// The top of a page in the section of this path. A page without a section, such as an error,
    /// names none.
    pub(super) fn new(title: impl Into<String>, section: &str) -> Self {
        let link = |(href, name): (&str, &str)| NavLink {
            href: href.to_owned(),
            name: name.to_owned(),
            current: href == section,
        };
        Self {
            title: title.into(),
            links: SECTIONS.map(link).into(),
        }
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
    /// The links of a list at this path whose pages begin after a name.
    pub(super) fn after(path: &str, asked: &After, last: Option<&str>) -> Self {
        Self {
            first: asked.after.as_ref().map(|_| path.to_owned()),
            next: last.map(|name| address(path, &[("after", Some(name))])),
        }
    }
}

/// The query of a list whose pages begin after a name.
#[derive(Deserialize)]
pub(super) struct After {
    pub(super) after: Option<String>,
}

/// The first rows of a list, and the last of them if there are more.
pub(super) fn first_rows<T: Clone>(rows: impl IntoIterator<Item = T>) -> (Vec<T>, Option<T>) {
    let mut rows = rows.into_iter();
    let listed: Vec<T> = rows.by_ref().take(ROWS).collect();
    let last = rows.next().and(listed.last().cloned());
    (listed, last)
}

/// The address of a view that is asked for with these members.
pub(super) fn address(path: &str, members: &[(&str, Option<&str>)]) -> String {
    let given = members
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", encoded((*value)?))));
    let given: Vec<String> = given.collect();
    if given.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", given.join("&"))
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
