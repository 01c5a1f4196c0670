//! The page for the people who run the provider: what it knows and what it does.
//!
//! - Every view is made on the server; the script only appends calls as they come and copies
//!   commands.
//! - What one may want to do next is shown as a command of this program. If the provider runs with
//!   its control, some of them are buttons too; otherwise the page changes nothing.
//! - It has no secret in it: no API key, no token, no private key. Calls and messages have their
//!   bodies if the provider runs with its control, which masks the secrets in them.

mod assets;
mod calls;
mod command;
mod control;
mod endpoints;
mod error;
mod events;
mod exchange;
mod guard;
mod layout;
mod outbox;
mod overview;
#[cfg(test)]
mod tests;
mod text;

use self::control::Buttons;
use self::error::PageError;
use self::exchange::Destination;
use self::guard::Guard;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use bankrail::bank::CustomerFolder;
use bankrail::emulator::{Calls, Control};
use bankrail::http::serve::Shutdown;
use bankrail::mailbox::OutboxStore;
use bankrail::service::delivery::Dispatcher;
use bankrail::values::{Clock as _, SystemClock, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The subjects of the page.
pub(crate) struct PageData {
    pub(crate) calls: Calls,
    pub(crate) directory: Arc<CustomerFolder>,
    pub(crate) outbox: Arc<dyn OutboxStore>,
    pub(crate) dispatcher: Dispatcher,
    /// The control that carries out buttons; without it there are no buttons.
    pub(crate) control: Option<Control>,
    /// The address of the provider.
    pub(crate) issuer: String,
    /// The folder of its data, and that of its configuration if this is another one: the commands
    /// name them.
    pub(crate) data: PathBuf,
    pub(crate) config: Option<PathBuf>,
    /// Ends the streams of events, which would otherwise keep the server from stopping.
    pub(crate) shutdown: Shutdown,
}

/// State that all views share.
struct Shared {
    data: PageData,
    /// Where calls are sent again.
    destination: Arc<Destination>,
    buttons: Option<Buttons>,
    since: Timestamp,
    /// One permit for each stream of events.
    streams: Arc<Semaphore>,
}

type Page = Arc<Shared>;

/// The page. Whoever opens `/?token=…` with this token sees it, with the browser that did so,
/// through a loopback address only.
///
/// Each stream of events ends by itself after [`events::LONGEST`], so that a server's time for a
/// request holds.
pub(crate) fn router(data: PageData, token: &str) -> Router {
    let streams = Arc::new(Semaphore::new(events::MOST_STREAMS));
    let ca = data.config.as_ref().unwrap_or(&data.data).join("ca.pem");
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
    let buttons = data.control.clone().map(|control| Buttons {
        control,
        token: guard::derived("button", token).into(),
    });
    let page = Arc::new(Shared {
        data,
        destination,
        buttons,
        since: SystemClock.now(),
        streams,
    });
    let views = Router::new()
        .route("/", get(overview::show))
        .route("/calls", get(calls::show))
        .route("/calls/events", get(events::stream))
        .route("/outbox", get(outbox::list))
        .route("/outbox/{entry}", get(outbox::show))
        .route("/endpoints", get(endpoints::list))
        .route("/control", get(control::show))
        .route(control::PATH, post(control::act));
    let assets = assets::ASSETS
        .into_iter()
        .fold(views, |views, (path, kind, text)| {
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
