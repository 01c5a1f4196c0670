//! Answers that are no view.

use super::text::{filters, shown};
use super::{Head, html};
use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bankrail::values::StoreError;
use bankrail_emulator::ControlError;

/// The reason why a view is not shown.
pub(super) enum PageError {
    /// Nothing exists at this address.
    NotFound,
    /// The store, directory or control that the view shows failed: the causes.
    Failed(String),
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self::Failed(crate::failure::causes(&error))
    }
}

impl From<ControlError> for PageError {
    fn from(error: ControlError) -> Self {
        Self::Failed(error.to_string())
    }
}

#[derive(Template)]
#[template(path = "page/error.html")]
struct ErrorView {
    head: Head,
    what: String,
    next: &'static str,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, title, what, next) = match self {
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "Not found",
                "There is nothing at this address.".to_owned(),
                "It may have been removed or forgotten since the link to it was made.",
            ),
            Self::Failed(causes) => {
                tracing::error!(error = %causes, "the page could not be made");
                (
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "Cannot be read",
                    shown(&causes),
                    "Reload the page to try again.",
                )
            }
        };
        let head = Head {
            title: title.to_owned(),
            section: "",
            steering: None,
            refused: None,
        };
        (status, html(&ErrorView { head, what, next })).into_response()
    }
}

/// The short page for those who may not see the others.
#[derive(Template)]
#[template(path = "page/refused.html")]
pub(super) struct Refused {
    what: &'static str,
    next: &'static str,
}

impl Refused {
    pub(super) const TOKEN: Self = Self {
        what: "This page needs the link that bankrail provider printed when it started.",
        next: "Copy the whole link, with its token, to the address bar. After a restart there is a new one.",
    };
    pub(super) const BUTTON: Self = Self {
        what: "This button was not pressed on the page of this provider.",
        next: "Reload the page, and press the button again. After a restart, open the new link first.",
    };
    pub(super) const HOST: Self = Self {
        what: "This page is shown through a loopback address only.",
        next: "Open it on the machine that it runs on, as http://127.0.0.1 with its port.",
    };
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (StatusCode::FORBIDDEN, html(&self)).into_response()
    }
}
