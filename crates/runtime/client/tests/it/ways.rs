//! Calls through proxies, and with certificates on both sides.

use crate::authority::Authority;
use crate::provider::{API_KEY, KEY, request, token_text};
use crate::proxy::{REFUSALS, TestProxy};
use axum::Router;
use bankrail_client::{
    CallErrorKind, Client, ClientCertificate, ClientOptions, Credentials, ExchangeError, Proxy,
    TlsError, TlsRoots,
};
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::AccessToken;
use bankrail_http::serve::{
    CertificateFiles, ClientAuthorities, Server, ServerOptions, server_config,
};
use bankrail_values::{Timestamp, causes};
use std::time::Duration;
use tokio::net::TcpListener;

/// Starts a service over TLS that answers 404. Returns its port.
pub(crate) async fn service(tls: rustls::ServerConfig) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Server::new(listener, tls, Router::new(), ServerOptions::new());
    tokio::spawn(server.run(std::future::pending()));
    port
}

fn client(host: &str, port: u16, options: ClientOptions) -> Client {
    let customer = CustomerCode::parse("CUSTOMER").unwrap();
    let credentials = Credentials::new(customer, KEY.clone(), API_KEY);
    let options = options.timeout(Duration::from_secs(20));
    Client::new(credentials, &format!("https://{host}:{port}"), options).unwrap()
}

/// Makes a call. Returns the status of the answer.
async fn call(client: &Client) -> Result<u16, String> {
    let error = client.tokens().token().await.unwrap_err();
    error.status.ok_or_else(|| causes(&error))
}

#[tokio::test]
async fn calls_go_through_a_proxy_that_sees_neither_key_nor_path() {
    let (authority, proxy) = (Authority::new(), TestProxy::start().await);
    let (certificate, key) = authority.issue("bank.example");
    let port = service(server_config(certificate.as_bytes(), key.as_bytes()).unwrap()).await;
    let at = &proxy.address;
    for (url, host, expected) in [
        (
            format!("http://{at}"),
            "bank.example",
            format!("CONNECT bank.example:{port} "),
        ),
        (
            // "us er:s@cret"
            format!("http://us%20er:s%40cret@{at}"),
            "bank.example",
            format!("CONNECT bank.example:{port} Basic dXMgZXI6c0BjcmV0"),
        ),
        (
            format!("socks5h://{at}"),
            "bank.example",
            format!("SOCKS bank.example:{port} "),
        ),
        (
            format!("socks5h://us%20er:s%40cret@{at}"),
            "bank.example",
            format!("SOCKS bank.example:{port} us er:s@cret"),
        ),
    ] {
        let options = ClientOptions::new()
            .tls_roots(TlsRoots::OnlyPem(authority.pem()))
            .proxy(
                Proxy::parse(&url)
                    .unwrap()
                    .except("localhost, other.example")
                    .unwrap(),
            );
        let client = client(host, port, options);
        assert!(!format!("{client:?}").contains("cret"), "{client:?}");
        assert_eq!(call(&client).await, Ok(404), "{url}");
        assert_eq!(proxy.take(), [expected], "{url}");
    }
}

#[tokio::test]
async fn socks5_resolves_here_and_exceptions_are_called_without_the_proxy() {
    let (authority, proxy) = (Authority::new(), TestProxy::start().await);
    let (certificate, key) = authority.issue("localhost");
    let port = service(server_config(certificate.as_bytes(), key.as_bytes()).unwrap()).await;
    let through = Proxy::parse(&format!("socks5://{}", proxy.address)).unwrap();
    let roots = || ClientOptions::new().tls_roots(TlsRoots::OnlyPem(authority.pem()));
    let here = client("localhost", port, roots().proxy(through.clone()));
    assert_eq!(call(&here).await, Ok(404));
    let seen = proxy.take();
    assert!(
        seen == [format!("SOCKS 127.0.0.1:{port} ")] || seen == [format!("SOCKS ::1:{port} ")],
        "{seen:?}"
    );
    let except = through.except("localhost").unwrap();
    assert_eq!(
        call(&client("localhost", port, roots().proxy(except))).await,
        Ok(404)
    );
    assert!(proxy.take().is_empty());
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_not_the_service() {
    let free = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let options =
        ClientOptions::new().proxy(Proxy::parse(&format!("http://u:secret@{free}")).unwrap());
    let error = client("bank.example", 443, options)
        .tokens()
        .token()
        .await
        .unwrap_err();
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Transport(ExchangeError::Connect(_))
        ),
        "{error:?}"
    );
    assert!(
        error.advice().contains("those of the proxy"),
        "{}",
        error.advice()
    );
    assert!(
        !format!("{error:?}{}", causes(&error)).contains("secret"),
        "{error:?}"
    );
}

/// A proxy's answer to CONNECT is no answer of the service: the token stays, and nobody waits.
#[tokio::test]
async fn a_proxy_that_refuses_is_not_the_service() {
    for answer in REFUSALS {
        let proxy = TestProxy::answering(answer).await;
        let through = Proxy::parse(&format!("http://u:secret@{}", proxy.address)).unwrap();
        let client = client("bank.example", 443, ClientOptions::new().proxy(through));
        let given = AccessToken::parse(&token_text(1)).unwrap();
        let end = Timestamp::saturating_from_unix_millis(i64::MAX);
        client.tokens().adopt(given.clone(), end);
        let error = client.statements().page(&request()).await.unwrap_err();
        let shown = format!("{error:?} {} {}", causes(&error), error.advice());
        assert!(
            matches!(&error.reason, CallErrorKind::Transport(fault @ ExchangeError::Connect(_)) if fault.cause().contains("a proxy refuses")),
            "{shown}"
        );
        assert_eq!((error.status, error.retry_at), (None, None), "{shown}");
        assert!(error.is_retryable(), "{shown}");
        assert!(
            shown.contains("takes the user name and the password"),
            "{shown}"
        );
        assert!(!shown.contains("secret"), "{shown}");
        assert_eq!(proxy.take().len(), 1, "neither a token call nor a retry");
        let kept = client.tokens().token().await.unwrap();
        assert_eq!(kept.access_token, given);
    }
}

#[tokio::test]
async fn a_service_asks_for_a_client_certificate() {
    let (authority, other) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = authority.issue("localhost");
    let (chain_file, key_file) = (folder.path().join("a.pem"), folder.path().join("k.pem"));
    std::fs::write(&chain_file, certificate).unwrap();
    std::fs::write(&key_file, key).unwrap();
    let files = CertificateFiles::open(chain_file, key_file).unwrap();
    let clients = [
        ClientAuthorities::from_pem(&authority.pem()).unwrap(),
        ClientAuthorities::from_pem(&authority.pem())
            .unwrap()
            .optional(true),
    ];
    let mut ports = Vec::new();
    for clients in &clients {
        ports.push(service(files.server_config_for(clients).unwrap()).await);
    }
    let shown = |by: &Authority| ClientCertificate::from_pem(&by.issue_in_one("client")).unwrap();
    let cases = [
        (ports[0], Some(shown(&authority)), true),
        (ports[0], None, false),
        (ports[0], Some(shown(&other)), false),
        (ports[1], Some(shown(&authority)), true),
        (ports[1], None, true),
        (ports[1], Some(shown(&other)), false),
    ];
    for (at, (port, shown, expected)) in cases.into_iter().enumerate() {
        let mut options = ClientOptions::new().tls_roots(TlsRoots::OnlyPem(authority.pem()));
        if let Some(shown) = shown {
            options = options.client_certificate(shown);
        }
        let client = client("localhost", port, options);
        let error = client.tokens().token().await.unwrap_err();
        assert_eq!(error.status.is_some(), expected, "{at}: {}", causes(&error));
        let advice = error.advice();
        assert!(
            expected || advice.contains("client certificates"),
            "{at}: {advice} {error:?}"
        );
    }
}

#[test]
fn a_client_certificate_without_its_key_is_refused_and_none_is_shown() {
    let authority = Authority::new();
    let (certificate, key) = authority.issue("client");
    let (_, other) = authority.issue("client");
    for pem in ["", &certificate, &key, &(certificate.clone() + &other)] {
        let refused = ClientCertificate::from_pem(pem);
        assert!(
            matches!(refused, Err(TlsError::ClientCertificate(_))),
            "{refused:?}"
        );
    }
    let shown = ClientCertificate::from_pem(&(key + &certificate)).unwrap();
    assert_eq!(format!("{shown:?}"), "ClientCertificate(1 certificates)");
    assert!(ClientAuthorities::from_pem(b"").is_err());
}

#[tokio::test]
async fn the_authorities_of_the_system_and_own_ones_are_trusted_together() {
    let authority = Authority::new();
    let (certificate, key) = authority.issue("localhost");
    let port = service(server_config(certificate.as_bytes(), key.as_bytes()).unwrap()).await;
    for (roots, expected) in [
        (TlsRoots::PlatformAndPem(authority.pem()), true),
        (TlsRoots::PlatformAndPem(Authority::new().pem()), false),
    ] {
        let client = client("localhost", port, ClientOptions::new().tls_roots(roots));
        let status = call(&client).await;
        assert_eq!(status.is_ok(), expected, "{status:?}");
    }
}
