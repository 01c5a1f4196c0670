//! A receiver of webhooks whose answers tests choose.

use super::bank::Bank;
use axum::Router;
use axum::http::StatusCode;
use bankrail::http::serve::{Server, server_config};
use std::future::pending;
use std::path::Path;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// Returns a listener on loopback, and its port.
pub(super) async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// A receiver on loopback that counts its messages.
#[derive(Clone)]
pub(super) struct Receiver {
    status: Arc<AtomicU16>,
    got: Arc<AtomicUsize>,
    last: Arc<Mutex<String>>,
}

impl Receiver {
    /// Returns a receiver with the certificate of the demo customer.
    pub(super) fn start(listener: TcpListener, data: &Path) -> Self {
        let home = data.join("demo/democustomer");
        let file = |name: &str| std::fs::read(home.join(name)).unwrap();
        Self::start_with(listener, &file("receiver.pem"), &file("receiver-key.pem"))
    }

    pub(super) fn start_with(listener: TcpListener, chain: &[u8], key: &[u8]) -> Self {
        let receiver = Self {
            status: Arc::new(AtomicU16::new(200)),
            got: Arc::default(),
            last: Arc::default(),
        };
        let state = receiver.clone();
        let answer = move |body: String| {
            *state.last.lock().unwrap() = body;
            state.got.fetch_add(1, Ordering::SeqCst);
            let status = StatusCode::from_u16(state.status.load(Ordering::SeqCst)).unwrap();
            let body = r#"{"id":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","status":"RCVD"}"#;
            let body = if status == StatusCode::OK { body } else { "" };
            async move { (status, [("content-type", "application/json")], body) }
        };
        let server = Server::new(
            listener,
            server_config(chain, key).unwrap(),
            Router::new().fallback(answer),
            Default::default(),
        );
        tokio::spawn(server.run(pending()));
        receiver
    }

    /// Answers with this status from now on; 200 has the acknowledgement.
    pub(super) fn answer(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// Returns the body of the last message.
    pub(super) fn last(&self) -> String {
        self.last.lock().unwrap().clone()
    }

    pub(super) fn got(&self) -> usize {
        self.got.load(Ordering::SeqCst)
    }
}

/// Returns a provider whose demo customer receives at this port.
pub(super) fn bank_for(port: u16, data: &Path) -> Bank {
    let file = data.join("customers/democustomer.toml");
    let customer = std::fs::read_to_string(&file).unwrap();
    assert!(customer.contains("https://127.0.0.1:9443"));
    std::fs::write(
        &file,
        customer.replace("127.0.0.1:9443", &format!("127.0.0.1:{port}")),
    )
    .unwrap();
    Bank::start(data, &[])
}
