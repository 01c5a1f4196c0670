//! The page for the people who run the provider: its data and its activity.
//!
//! - Every view is made on the server; the script only appends calls as they come and copies
//!   commands.
//! - What one may want to do next is shown as a command of this program. If the provider runs with
//!   its control, some of them are buttons too; otherwise the page changes nothing.
//! - It has no secret in it: no API key, no token, no private key. Calls and messages have their
//!   bodies if the provider runs with its control, which masks the secrets in them.

mod calls;
mod control;
mod endpoints;
mod exchange;
mod guard;
mod outbox;
mod overview;
#[cfg(test)]
mod tests;
mod text;

use self::control::{BUTTONS, Refusal, has_form};
use self::exchange::Destination;
use self::guard::Guard;
use self::text::{filters, quoted, shown};
use super::control::FolderData;
use crate::clock::readable;
use askama::Template;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bankrail::mailbox::OutboxStore;
use bankrail::values::{Clock as _, SecretString, StoreError, SystemClock, Timestamp};
use bankrail_emulator::{Arguments, Control, ControlError, Operation};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The data that the page shows.
#[derive(Clone)]
pub(super) struct PageData {
    pub(super) bank: Arc<FolderData>,
    pub(super) outbox: Arc<dyn OutboxStore>,
    pub(super) control: Control,
    /// True if the page has buttons, which the control carries out.
    pub(super) has_buttons: bool,
    /// The address of the provider.
    pub(super) issuer: String,
}

/// The state that all views share.
#[derive(Clone)]
struct PageState {
    data: PageData,
    /// The server to which commands send calls again.
    destination: Arc<Destination>,
    /// The token that buttons send, if there are buttons; no other site knows it.
    token: Option<SecretString>,
    since: Timestamp,
    /// The refused operation, in the answer to its button.
    refusal: Option<Refusal>,
}

type Page = Arc<PageState>;

/// Returns the router of the page. A browser can see the page after it has opened `/?token=…` with
/// this token, and only through a loopback address.
pub(super) fn router(data: PageData, token: &str) -> Router {
    let ca = data.bank.folders.config("ca.pem");
    let ca = ca.exists().then(|| {
        std::path::absolute(&ca)
            .unwrap_or(ca)
            .to_string_lossy()
            .into_owned()
    });
    let destination = Arc::new(Destination {
        issuer: data.issuer.clone(),
        ca,
    });
    let buttons = data
        .has_buttons
        .then(|| guard::derived("button", token).into());
    let page = Arc::new(PageState {
        data,
        destination,
        token: buttons,
        since: SystemClock.now(),
        refusal: None,
    });
    let views = Router::new()
        .route("/", get(overview::show))
        .route("/calls", get(calls::show))
        .route("/calls/later", get(calls::later))
        .route("/outbox", get(outbox::list))
        .route("/outbox/{entry}", get(outbox::show))
        .route("/endpoints", get(endpoints::list))
        .route("/control", get(control::show))
        .route(control::PATH, post(control::act));
    let assets = ASSETS.into_iter().fold(views, |views, (path, kind, text)| {
        views.route(path, get(async move || ([(CONTENT_TYPE, kind)], text)))
    });
    assets
        .fallback(async || PageError::NotFound)
        .layer(from_fn_with_state(
            Arc::new(Guard::new(token)),
            guard::guard,
        ))
        .with_state(page)
}

/// The style sheet, the script and the icon: the path, the type and the text of each.
const ASSETS: [(&str, &str, &str); 3] = [
    (
        "/page.css",
        "text/css; charset=utf-8",
        include_str!("page/page.css"),
    ),
    (
        "/page.js",
        "text/javascript; charset=utf-8",
        include_str!("page/page.js"),
    ),
    ("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

/// True if a path is that of an asset. Assets are the same for everybody.
fn is_asset(path: &str) -> bool {
    ASSETS.iter().any(|(own, ..)| *own == path)
}

/// The rows of a list on one page.
const ROWS: usize = 25;

/// The sections, with the links to them at the top.
const SECTIONS: [(&str, &str); 5] = [
    ("/", "Overview"),
    ("/calls", "Calls"),
    ("/outbox", "Outbox"),
    ("/endpoints", "Endpoints"),
    ("/control", "Control"),
];

/// The top of a page.
struct Head {
    title: String,
    /// The path of the page's section. A page without a section, such as an error, has none.
    section: &'static str,
    /// The clock and the faults of the bank; an error has none.
    steering: Option<Steering>,
    /// The reason why an operation of a button on this page was refused.
    refused: Option<String>,
}

/// A link to a selection of a list.
struct NavLink {
    href: String,
    name: String,
    current: bool,
}

/// The clock and the faults of the bank, which the operator controls.
struct Steering {
    now: String,
    rate: u32,
    /// True if the clock does not show the real time.
    is_set: bool,
    faults: Vec<OrderedFault>,
}

/// A fault in force.
#[derive(Deserialize)]
struct OrderedFault {
    number: u64,
    fault: String,
}

/// The links to the pages of a list before and after the present page.
#[derive(Default)]
struct Paging {
    /// The link to the first page, if that is not the present page.
    first: Option<String>,
    /// The link to the next page, if there is one.
    next: Option<String>,
}

impl Paging {
    /// Returns the links of a list at a path, whose pages begin after a name.
    fn after(path: &str, asked: &After, last: Option<&str>) -> Self {
        Self {
            first: asked.after.as_ref().map(|_| path.to_owned()),
            next: last.map(|name| address(path, [("after", name)])),
        }
    }
}

/// The query of a list whose pages begin after a name.
#[derive(Deserialize)]
struct After {
    after: Option<String>,
}

/// Returns the first rows of a list, and the last of these if there are more.
fn first_rows<T: Clone>(rows: impl IntoIterator<Item = T>) -> (Vec<T>, Option<T>) {
    let mut rows = rows.into_iter();
    let listed: Vec<T> = rows.by_ref().take(ROWS).collect();
    let last = rows.next().and(listed.last().cloned());
    (listed, last)
}

/// The address of a view that is asked for with these members.
fn address(path: &str, members: impl Serialize) -> String {
    let query = serde_urlencoded::to_string(members).expect("the members are texts and numbers");
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// Returns the answer with a rendered view.
fn html(view: &impl Template) -> Response {
    match view.render() {
        Ok(page) => ([(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response(),
        Err(error) => {
            tracing::error!(%error, "the page could not be made");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A command and its purpose.
struct Command {
    does: &'static str,
    line: String,
    button: Option<Button>,
}

/// The form that is sent in place of a command.
struct Button {
    token: String,
    operation: &'static str,
    member: &'static str,
    about: String,
}

/// A task of the operator: its purpose, the operation of the control, and the member that it takes.
#[derive(Clone, Copy)]
struct Task(&'static str, Operation, &'static str);

const SHOW_ENTRY: Task = Task(
    "Show the message and its deliveries",
    Operation::Message,
    "number",
);
const RESEND_ENTRY: Task = Task(
    "Resend, under the same X-Message-Id",
    Operation::Resend,
    "number",
);
const DROP_ENTRY: Task = Task("Drop: never deliver it", Operation::Drop, "number");
const LIST_STATE: Task = Task("List them", Operation::Messages, "state");
const PAUSE: Task = Task("Pause deliveries", Operation::Pause, "endpoint");
const RESUME: Task = Task(
    "Resume deliveries: send all waiting messages now",
    Operation::Resume,
    "endpoint",
);
const RESEND_ALL: Task = Task("Resend all dead letters", Operation::Resend, "endpoint");
const SEND: Task = Task("Send a sample message", Operation::Send, "endpoint");

/// The maximum difference that still counts as the real time, because two clocks are not read at
/// once.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(1);

impl PageState {
    /// Returns the top of a page in the section with this path.
    async fn head(&self, title: &str, section: &'static str) -> Result<Head, PageError> {
        let (clock, nothing) = (&self.data.bank.clock, <[(&str, &str); 0]>::default());
        let faults = Arguments::from_texts(Operation::Faults, nothing)?;
        let ordered = self.data.control.carry_out(&faults).await?;
        let (now, real) = (clock.now(), SystemClock.now());
        let refusal = self.refusal.as_ref();
        Ok(Head {
            title: title.to_owned(),
            section,
            steering: Some(Steering {
                now: readable(&now.to_string()),
                rate: clock.rate(),
                is_set: clock.rate() != 1
                    || now.saturating_since(real).max(real.saturating_since(now)) > CLOCK_TOLERANCE,
                faults: ordered
                    .get("faults")
                    .and_then(|faults| Deserialize::deserialize(faults).ok())
                    .unwrap_or_default(),
            }),
            refused: refusal
                .filter(|refusal| !has_form(refusal.operation))
                .map(|refusal| refusal.why.clone()),
        })
    }

    /// Returns the command of a task for the data folder of this provider.
    fn command(&self, task: Task, about: &str) -> Command {
        let Task(does, operation, member) = task;
        let folders = &self.data.bank.folders;
        let mut line = format!("bankrail provider --data {}", path(folders.root()));
        if let Some(config) = folders.other_config() {
            line.push_str(" --config ");
            line.push_str(&path(&config));
        }
        let operation_name = operation.name();
        line.push_str(&format!(
            " control {operation_name} --{member} {}",
            quoted(about)
        ));
        if operation == Operation::Send {
            line = format!("bankrail message sample query | {line} --message - --wait 20");
        }
        let token = self.token.as_ref().filter(|_| BUTTONS.contains(&operation));
        let button = token.map(|token| Button {
            token: token.expose_secret().to_owned(),
            operation: operation_name,
            member,
            about: about.to_owned(),
        });
        Command { does, line, button }
    }
}

/// Returns an absolute path, so that the command works in any folder.
fn path(path: &Path) -> String {
    quoted(
        &std::path::absolute(path)
            .unwrap_or_else(|_| path.to_owned())
            .to_string_lossy(),
    )
}

/// The reason why a view is not shown.
enum PageError {
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
struct Refused {
    what: &'static str,
    next: &'static str,
}

impl Refused {
    const TOKEN: Self = Self {
        what: "This page needs the link that bankrail provider printed when it started.",
        next: "Copy the whole link, with its token, to the address bar. After a restart there is a new one.",
    };
    const BUTTON: Self = Self {
        what: "This button was not pressed on the page of this provider.",
        next: "Reload the page, and press the button again. After a restart, open the new link first.",
    };
    const HOST: Self = Self {
        what: "This page is shown through a loopback address only.",
        next: "Open it on the machine that it runs on, as http://127.0.0.1 with its port.",
    };
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (StatusCode::FORBIDDEN, html(&self)).into_response()
    }
}
