//! Deliveries through proxies, with client certificates, and to public addresses only.

use super::https::deliver_by;
use crate::authority::Authority;
use crate::capture::Capture;
use crate::proxy::{REFUSALS, TestProxy};
use axum::Router;
use axum::routing::post;
use bankrail_http::serve::{
    CertificateFiles, ClientAuthorities, Server, ServerOptions, server_config,
};
use bankrail_mailbox::DeliveryNote;
use bankrail_service::delivery::{
    ClientCertificate, HttpsTransport, HttpsTransportOptions, Proxy, TlsRoots,
};
use bankrail_webhook::Acknowledgement;
use std::time::Duration;
use tokio::net::TcpListener;

const LONG: Duration = Duration::from_secs(15);

/// Starts a receiver over TLS under this name, which requires certificates of these authorities.
/// Returns its port.
async fn receiver(authority: &Authority, name: &str, clients: Option<ClientAuthorities>) -> u16 {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = authority.issue(name);
    let (chain_file, key_file) = (folder.path().join("a.pem"), folder.path().join("k.pem"));
    std::fs::write(&chain_file, certificate).unwrap();
    std::fs::write(&key_file, key).unwrap();
    let files = CertificateFiles::open(chain_file, key_file).unwrap();
    let tls = match &clients {
        Some(clients) => files.server_config_for(clients),
        None => files.server_config(),
    };
    let acknowledged = || async { Acknowledgement::from_random_bytes([1; 16]).to_json() };
    let router = Router::new().route("/payto/mandates/outcomes", post(acknowledged));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Server::new(listener, tls.unwrap(), router, ServerOptions::new());
    tokio::spawn(server.run(std::future::pending()));
    port
}

fn options(authority: &Authority) -> HttpsTransportOptions {
    HttpsTransportOptions::new().tls_roots(TlsRoots::OnlyPem(authority.pem()))
}

fn proxy(text: &str) -> Proxy {
    Proxy::parse(text).unwrap()
}

#[tokio::test]
async fn deliveries_go_through_the_proxy_of_the_options() {
    let (authority, tunnels) = (Authority::new(), TestProxy::start().await);
    let port = receiver(&authority, "biller.example", None).await;
    let base = format!("https://biller.example:{port}/");
    for scheme in ["http", "socks5h"] {
        let through = proxy(&format!("{scheme}://bank:secret@{}", tunnels.address));
        let transport = HttpsTransport::new(options(&authority).proxy(through)).unwrap();
        assert!(
            !format!("{transport:?}").contains("secret"),
            "{transport:?}"
        );
        let made = deliver_by(transport, &base, None, LONG).await;
        assert_eq!((made.status, made.note), (Some(200), None), "{scheme}");
        let [tunnel] = &tunnels.take()[..] else {
            panic!("one tunnel")
        };
        assert!(
            tunnel.contains(&format!(" biller.example:{port} ")),
            "{tunnel}"
        );
    }
}

/// A proxy's answer to CONNECT is no answer of the receiver: a 410 does not stop its endpoint, and
/// a `Retry-After` delays nothing.
#[tokio::test]
async fn a_proxy_that_refuses_is_not_the_receiver() {
    for answer in REFUSALS {
        let tunnels = TestProxy::answering(answer).await;
        let through = proxy(&format!("http://bank:secret@{}", tunnels.address));
        let transport = HttpsTransport::new(HttpsTransportOptions::new().proxy(through)).unwrap();
        let made = deliver_by(transport, "https://biller.example/", None, LONG).await;
        let expected = (None, Some(DeliveryNote::NoConnection));
        assert_eq!((made.status, made.note), expected, "{answer}");
        assert_eq!(tunnels.take().len(), 2, "the delivery, then a look");
    }
}

#[tokio::test]
async fn a_receiver_gets_the_certificate_of_its_endpoint_or_that_of_all() {
    let (authority, other) = (Authority::new(), Authority::new());
    let clients = ClientAuthorities::from_pem(&authority.pem()).unwrap();
    let port = receiver(&authority, "localhost", Some(clients)).await;
    let base = format!("https://localhost:{port}/");
    let shown = |by: &Authority| ClientCertificate::from_pem(&by.issue_in_one("bank")).unwrap();
    let of_all = |certificate| {
        HttpsTransport::new(options(&authority).client_certificate(certificate)).unwrap()
    };
    let none = || HttpsTransport::new(options(&authority)).unwrap();
    for (transport, own, expected) in [
        (none(), None, Some(DeliveryNote::Tls)),
        (of_all(shown(&authority)), None, None),
        (of_all(shown(&other)), None, Some(DeliveryNote::Tls)),
        (of_all(shown(&other)), Some(shown(&authority)), None),
        (
            of_all(shown(&authority)),
            Some(shown(&other)),
            Some(DeliveryNote::Tls),
        ),
    ] {
        let made = deliver_by(transport, &base, own, LONG).await;
        assert_eq!(made.note, expected);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_certificate_of_openssl_without_options_is_named_in_the_log() {
    let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap().pem();
    let tls = server_config(certificate.as_bytes(), key.serialize_pem().as_bytes()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Server::new(listener, tls, Router::new(), ServerOptions::new());
    tokio::spawn(server.run(std::future::pending()));
    let roots = TlsRoots::OnlyPem(certificate.into_bytes());
    let transport = HttpsTransport::new(HttpsTransportOptions::new().tls_roots(roots)).unwrap();
    let log = Capture::start();
    let base = format!("https://localhost:{port}/");
    let made = deliver_by(transport, &base, None, LONG).await;
    assert_eq!(made.note, Some(DeliveryNote::Tls));
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("no secure connection to a receiver"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.contains("that of an authority") && line.contains("CA:FALSE"),
        "{line}"
    );
}

#[tokio::test]
async fn only_public_addresses_are_delivered_to_however_they_are_spelled() {
    let (authority, tunnels) = (Authority::new(), TestProxy::start().await);
    let port = receiver(&authority, "localhost", None).await;
    let base = format!("https://localhost:{port}/");
    let transport = |options: HttpsTransportOptions| HttpsTransport::new(options).unwrap();
    let made = deliver_by(transport(options(&authority)), &base, None, LONG).await;
    assert_eq!(made.note, None);
    let through = proxy(&format!("socks5://{}", tunnels.address));
    for options in [options(&authority), options(&authority).proxy(through)] {
        let transport = transport(options.only_public_addresses(true));
        for host in [
            "localhost",
            "127.0.0.1",
            "2130706433",
            "0x7f.1",
            "169.254.169.254",
            "[::ffff:127.0.0.1]",
            "[::1]",
        ] {
            let base = format!("https://{host}:{port}/");
            let made = deliver_by(transport.clone(), &base, None, LONG).await;
            assert_eq!(made.note, Some(DeliveryNote::NoConnection), "{host}");
        }
    }
    assert!(tunnels.take().is_empty());
}

#[test]
fn a_proxy_that_resolves_names_cannot_be_held_to_public_addresses() {
    let options = |scheme: &str| {
        let proxy = proxy(&format!("{scheme}://10.0.0.1:1080"));
        HttpsTransportOptions::new()
            .proxy(proxy)
            .only_public_addresses(true)
    };
    assert!(HttpsTransport::new(options("socks5")).is_ok());
    for scheme in ["http", "https", "socks5h"] {
        let refused = HttpsTransport::new(options(scheme)).unwrap_err();
        assert!(
            bankrail_values::causes(&refused).contains("found a proxy that resolves names"),
            "{refused:?}"
        );
    }
}
