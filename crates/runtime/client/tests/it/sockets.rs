//! Receivers behind a real server.

use crate::receivers::{UUID, options, receivers_with};
use axum::http::{StatusCode, Version};
use bankrail_stores::memory::MemoryStore;
use bankrail_webhook::MessageKind;
use std::sync::Arc;

/// Returns a client that trusts no certificate, because none is needed on loopback.
fn client() -> reqwest::ClientBuilder {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(config)
        .no_proxy()
}

#[tokio::test]
async fn a_sender_of_too_much_gets_its_answer() {
    let router = receivers_with(Arc::new(MemoryStore::new().inbox()), options()).router();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "http://{}{}",
        listener.local_addr().unwrap(),
        MessageKind::Query.default_path()
    );
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    for (client, version) in [
        (client().http1_only(), Version::HTTP_11),
        (client().http2_prior_knowledge(), Version::HTTP_2),
    ] {
        let request = client
            .build()
            .unwrap()
            .post(&url)
            .header("apikey", "our-key")
            .header("x-message-id", UUID);
        let request = request
            .header("content-type", "application/json")
            .body(vec![b'x'; 3_000_000]);
        let answer = request.send().await.unwrap();
        assert_eq!(
            (answer.status(), answer.version()),
            (StatusCode::PAYLOAD_TOO_LARGE, version)
        );
    }
}
