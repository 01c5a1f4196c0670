//! The receiver's process: takes deliveries over HTTPS and handles them within the inbox's transaction.

use super::{LaterClock, Surroundings, print, read};
use crate::both::{API_KEY, Keys};
use axum_server::tls_rustls::RustlsConfig;
use bankrail_client::receivers::{Delivery, Handlers, Receivers, ReceiversOptions};
use bankrail_stores::sqlite::{SqliteInbox, SqliteStore, Work, rusqlite};
use bankrail_webhook::QueryNotification;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by nothing_is_lost_and_effects_happen_once"]
async fn process() {
    let Surroundings { folder, keys, port, clock } = Surroundings::find();
    let (receivers, handlers) = open(&folder, &keys, clock).await;
    let worker = tokio::spawn(receivers.worker(handlers).run(std::future::pending()));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let tls = RustlsConfig::from_config(server_config(&folder));
    print("ready now.\n".to_owned());
    axum_server::from_tcp_rustls(listener, tls).unwrap().serve(receivers.router().into_make_service()).await.unwrap();
    worker.await.unwrap();
}

/// Handles all that is in the inbox.
pub(super) async fn work_off(folder: &Path, clock: LaterClock) {
    let keys = Keys::generate();
    let (receivers, handlers) = open(folder, &keys, clock).await;
    receivers.worker(handlers).run_due().await.unwrap();
}

async fn open(folder: &Path, keys: &Keys, clock: LaterClock) -> (Receivers<SqliteInbox>, Handlers<SqliteInbox>) {
    let store = SqliteStore::open(folder.join("inbox.db")).unwrap();
    let inbox = Arc::new(store.inbox());
    let table = "CREATE TABLE IF NOT EXISTS effect (case_id TEXT NOT NULL) STRICT";
    store.transaction(move |transaction| transaction.connection().execute_batch(table)).await.unwrap();
    let options = ReceiversOptions::new().clock(Arc::new(clock));
    let receivers = Receivers::new(keys.opener(), API_KEY, inbox, options).unwrap();
    let handlers = Handlers::new().transactional(|received: Delivery<QueryNotification>| async move {
        let case = received.message.case_id.to_string();
        Ok(Work::new(move |transaction| {
            transaction.connection().execute("INSERT INTO effect VALUES (?1)", [case])?;
            // The parent may kill before the commit, which is still to come.
            print("handling now.\n".to_owned());
            Ok::<_, rusqlite::Error>(())
        }))
    });
    (receivers, handlers)
}

fn server_config(folder: &Path) -> Arc<rustls::ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(read(folder, "certificate.pem").as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(read(folder, "key.pem").as_bytes()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(config)
}
