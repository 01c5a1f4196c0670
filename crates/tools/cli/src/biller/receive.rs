//! The receivers and their server.

use super::Event;
use super::journal::{Journal, Teller};
use super::keep::handlers;
use crate::connection::failure;
use crate::failure::Failure;
use axum::Router;
use axum::http::{StatusCode, Uri};
use bankrail::client::receivers::{
    ObservedDelivery, ObservedOutcome, OutcomeWatch, OutcomeWatchOptions, ReceiversOptions, Worker,
    WorkerOptions,
};
use bankrail::client::{Archive, Connection};
use bankrail::http::serve::{Server, ServerOptions, Shutdown};
use bankrail::stores::sqlite::{SqliteInbox, SqliteStore};
use bankrail::values::{Clock as _, SystemClock, excerpt};
use bankrail::webhook::MessageKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The time for which messages are kept to recognise duplicates, which is longer than any sender
/// repeats a delivery.
const RETENTION: Duration = Duration::from_secs(90 * 86_400);
/// The time after a kill until a message that was being handled is handled again. The folder's lock
/// keeps other workers away.
const LEASE: Duration = Duration::from_secs(5);

/// Receivers that are ready to serve.
pub(super) struct Ready {
    server: Server<Router>,
    worker: Worker<SqliteInbox>,
    watch: OutcomeWatch,
    address: SocketAddr,
}

/// Returns the paths of the receivers.
pub(super) fn paths() -> Vec<String> {
    MessageKind::ALL
        .iter()
        .map(|kind| kind.default_path().to_owned())
        .collect()
}

pub(super) async fn start(
    connection: &Connection,
    store: &SqliteStore,
    archive: Option<Archive>,
    journal: Journal,
    teller: Teller,
) -> Result<Ready, Failure> {
    let unknown = teller.clone();
    let mut options = ReceiversOptions::new()
        .retention(RETENTION)
        .observe(move |delivery| observed(delivery, &teller));
    if let Some(archive) = archive {
        options = options.archive(archive);
    }
    let receivers = connection
        .receivers(Arc::new(store.inbox()), options)
        .map_err(failure)?;
    let worker = receivers.worker(
        handlers(&journal),
        WorkerOptions::new().lease(LEASE).log_handler_errors(true),
    );
    let router = receivers.router().fallback(move |uri: Uri| {
        unknown.tell(no_receiver(&uri));
        std::future::ready(StatusCode::NOT_FOUND)
    });
    let server = connection
        .server(router, ServerOptions::new())
        .await
        .map_err(failure)?;
    let address = server
        .local_addr()
        .map_err(|error| Failure::unable(error, "try again"))?;
    Ok(Ready {
        server,
        worker,
        watch: OutcomeWatch::new(Arc::new(store.histories()), OutcomeWatchOptions::new()),
        address,
    })
}

impl Ready {
    /// Returns the address that the receivers listen on.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves deliveries and handles messages until the program is to stop, and then answers and
    /// handles the deliveries accepted so far.
    pub(super) async fn run(self, shutdown: Shutdown) {
        tokio::join!(
            self.server.run(shutdown.clone().wanted()),
            self.worker.run(shutdown.clone().wanted()),
            self.watch.run(shutdown.wanted())
        );
    }
}

/// Reports duplicates and refusals. New messages and conflicts are reported when they are handled.
fn observed(delivery: &ObservedDelivery, teller: &Teller) {
    let (at, kind) = (SystemClock.now(), delivery.kind.to_string());
    let message_id = delivery.headers.map(|headers| headers.message_id);
    match &delivery.outcome {
        ObservedOutcome::Duplicate { id, handled, .. } => {
            teller.tell(Event::Duplicate {
                at,
                kind,
                message_id,
                entry: id.get(),
                handled: *handled,
            });
        }
        ObservedOutcome::Refused { stage, reason, .. } => teller.tell(Event::Refusal {
            at,
            kind: Some(kind),
            stage: stage.to_string(),
            reason: reason.clone(),
            status: delivery.status,
            message_id,
        }),
        _ => {}
    }
}

fn no_receiver(uri: &Uri) -> Event {
    Event::Refusal {
        at: SystemClock.now(),
        kind: None,
        stage: "path".to_owned(),
        reason: format!(
            "expected the path of a receiver, found {}",
            excerpt(uri.path())
        ),
        status: StatusCode::NOT_FOUND.as_u16(),
        message_id: None,
    }
}
