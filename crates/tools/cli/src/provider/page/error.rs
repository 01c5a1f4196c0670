//! Answers that are no view.

use super::{Head, html};
use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bankrail::values::StoreError;

/// Why a view is not shown.
pub(super) enum PageError {
    /// Nothing exists at this address.
    NotFound,
    /// A button's operation was refused: the reason.
    NotDone(String),
    /// The store or directory that the view shows failed.
    Store(StoreError),
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
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
            Self::NotDone(why) => (
                StatusCode::CONFLICT,
                "Not done",
                crate::text::shown(&why).into_owned(),
                "Go back, and change what you asked for.",
            ),
            Self::Store(error) => {
                let causes = crate::failure::causes(&error);
                tracing::error!(error = %causes, "the page could not be made");
                let what = super::text::shown(&causes);
                (
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "Cannot be read",
                    what,
                    "Reload the page to try again.",
                )
            }
        };
        (
            status,
            html(&ErrorView {
                head: Head::new(title, ""),
                what,
                next,
            }),
        )
            .into_response()
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
