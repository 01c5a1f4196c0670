//! The receivers and their server.

use super::event::Event;
use super::journal::{Journal, Teller};
use super::keep::handlers;
use crate::connection::Receiving;
use crate::failure::{Failure, causes};
use crate::keys::file;
use axum::Router;
use axum::http::{StatusCode, Uri};
use bankrail::client::receivers::keys::KeyFolder;
use bankrail::client::receivers::{
    ObservedDelivery, ObservedOutcome, Receivers, ReceiversOptions, Worker, WorkerOptions,
};
use bankrail::http::serve::{CertificateFiles, Server, ServerOptions, Shutdown};
use bankrail::secured_payload::{OpenOptions, Opener};
use bankrail::stores::sqlite::{SqliteInbox, SqliteStore};
use bankrail::values::{Clock as _, SystemClock, excerpt};
use bankrail::webhook::MessageKind;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long messages are kept to recognise duplicates: longer than any sender delivers one.
const RETENTION: Duration = Duration::from_secs(90 * 86_400);
/// How often certificate and keys are read again.
const RELOAD: Duration = Duration::from_secs(60);
/// How long a message that was being handled waits after a kill. The folder's lock keeps other workers away.
const LEASE: Duration = Duration::from_secs(5);

/// Receivers that are ready.
pub(super) struct Ready {
    server: Server<Router>,
    worker: Worker<SqliteInbox>,
    certificate: CertificateFiles,
    keys: KeyFolder,
    address: SocketAddr,
}

/// The paths of the receivers.
pub(super) fn paths() -> Vec<String> {
    MessageKind::ALL.iter().map(|kind| kind.default_path().to_owned()).collect()
}

pub(super) async fn start(
    receiving: &Receiving,
    listen: Option<SocketAddr>,
    store: &SqliteStore,
    journal: Journal,
    teller: Teller,
) -> Result<Ready, Failure> {
    let wrong = |error: &dyn std::error::Error, next: &str| Failure::unable(causes(error), next);
    let decryption = file::decryption(&receiving.decryption_key.to_string_lossy()).map_err(Failure::into_unable)?;
    let (keys, unusable) = KeyFolder::open(&receiving.provider_keys)
        .map_err(|error| wrong(&error, "put the provider's public keys there, as PEM or JWK set"))?;
    for key in unusable {
        crate::log(key);
    }
    let opener = Opener::new(decryption, keys.keys(), OpenOptions::new())
        .map_err(|error| wrong(&error, "replace the provider's key"))?;
    let unknown = teller.clone();
    let options = ReceiversOptions::new()
        .retention(RETENTION)
        .sender_keys(Arc::new(keys.clone()))
        .observe(move |delivery| observed(delivery, &teller));
    let receivers = Receivers::new(opener, receiving.api_key.clone(), Arc::new(store.inbox()), options)
        .map_err(|error| wrong(&error, "correct the connection"))?;
    let worker = receivers.worker(handlers(&journal)).with_options(WorkerOptions::new().lease(LEASE));
    let certificate = CertificateFiles::open(&receiving.certificate, &receiving.certificate_key)
        .map_err(|error| wrong(&error, "name the certificate and its key as PEM"))?;
    let tls = certificate.server_config().map_err(|error| wrong(&error, "name another certificate"))?;
    let listen = listen.unwrap_or(receiving.listen);
    let listener = TcpListener::bind(listen).await.map_err(|error| not_bound(listen, &error))?;
    let address = listener.local_addr().map_err(|error| not_bound(listen, &error))?;
    let router = receivers.router().fallback(move |uri: Uri| {
        unknown.tell(no_receiver(&uri));
        std::future::ready(StatusCode::NOT_FOUND)
    });
    Ok(Ready { server: Server::new(listener, tls, router, ServerOptions::new()), worker, certificate, keys, address })
}

impl Ready {
    /// The address that is listened on.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves and handles until the program shall stop. Then what was accepted is answered and handled.
    pub(super) async fn run(self, shutdown: Shutdown) {
        let Self { server, worker, certificate, keys, .. } = self;
        let [served, handled, watched] = [0; 3].map(|_| shutdown.clone().wanted());
        let reloading = async {
            tokio::select! {
                () = watched => {}
                () = certificate.watch(RELOAD) => {}
                () = keys.reload_every(RELOAD, std::future::pending()) => {}
            }
        };
        tokio::join!(server.run(served), worker.run(handled), reloading);
    }
}

fn not_bound(listen: SocketAddr, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AddrInUse => Failure::unable(
            format_args!("{listen}: the port {} is taken", listen.port()),
            "stop the program that listens there, or pass another address with --listen",
        ),
        _ => Failure::unable(
            format_args!("{listen}: cannot be listened on: {error}"),
            "pass an address of this machine with --listen",
        ),
    }
}

/// Reports duplicates and refusals. New messages and conflicts are reported when they are handled.
fn observed(delivery: &ObservedDelivery, teller: &Teller) {
    let (at, kind) = (SystemClock.now(), delivery.kind.to_string());
    let message_id = delivery.headers.map(|headers| headers.message_id);
    match &delivery.outcome {
        ObservedOutcome::Duplicate { id, handled, .. } => {
            teller.tell(Event::Duplicate { at, kind, message_id, entry: id.get(), handled: *handled });
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
        reason: format!("expected the path of a receiver, found {}", excerpt(uri.path())),
        status: StatusCode::NOT_FOUND.as_u16(),
        message_id: None,
    }
}
