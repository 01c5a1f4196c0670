//! The log line of a failed call: its endpoint, phase, cause and advice.

use crate::log::Log;
use crate::provider::{API_KEY, KEY, Provider, Reply, start};
use axum::Router;
use bankrail_client::{Client, ClientOptions, Credentials, TlsRoots};
use bankrail_client_assertion::CustomerCode;
use bankrail_http::serve::{Server, ServerOptions, server_config};
use bankrail_rate_limit::Policy;
use bankrail_values::ManualClock;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Starts a server that reads a request, sends this answer, and then waits or ends.
async fn server(answer: &'static [u8], ends: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let _ = connection.read(&mut [0; 16_384]).await;
            let _ = connection.write_all(answer).await;
            if !ends {
                std::future::pending::<()>().await;
            }
        }
    });
    address.to_string()
}

/// Starts a server over TLS whose certificate is that of `openssl req -x509` without further
/// options, which is an authority's.
async fn server_with_the_certificate_of_an_authority() -> (String, String) {
    let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap().pem();
    let config = server_config(certificate.as_bytes(), key.serialize_pem().as_bytes()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Server::new(listener, config, Router::new(), ServerOptions::new());
    tokio::spawn(server.run(std::future::pending()));
    (format!("localhost:{port}"), certificate)
}

fn client(token_url: &str) -> Client {
    client_that_trusts(
        rcgen::generate_simple_self_signed(["localhost".to_owned()])
            .unwrap()
            .cert
            .pem(),
        token_url,
    )
}

fn client_that_trusts(certificate: String, token_url: &str) -> Client {
    let options = ClientOptions::new()
        .danger_allow_http_on_loopback(token_url.starts_with("http://"))
        .tls_roots(TlsRoots::OnlyPem(certificate.into_bytes()))
        .timeout(Duration::from_millis(500))
        .auth_url(token_url);
    let credentials = Credentials::new(
        CustomerCode::parse("CUSTOMER").unwrap(),
        KEY.clone(),
        API_KEY,
    );
    Client::new(credentials, "https://127.0.0.1:1", options).unwrap()
}

#[tokio::test(flavor = "current_thread")]
async fn a_call_without_an_answer_says_at_what_it_failed_and_what_to_check() {
    let closed = server(b"", true).await;
    let silent = server(b"", false).await;
    let half = server(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", false).await;
    let broken = server(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", true).await;
    let plain = server(b"HTTP/1.1 400 Bad Request\r\n\r\n", true).await;
    let (authority, certificate) = server_with_the_certificate_of_an_authority().await;
    for (url, phase, cause, advice) in [
        (
            format!("https://{authority}/auth"),
            "tls",
            "that of an authority",
            "CA:FALSE",
        ),
        (
            "https://nobody.invalid/auth".to_owned(),
            "name",
            "is not known",
            "check the name in the address",
        ),
        (
            "http://127.0.0.1:9/auth".to_owned(),
            "connect",
            "was refused",
            "its address and port",
        ),
        (
            format!("https://{plain}/auth"),
            "tls",
            "the answer is not TLS",
            "those of https",
        ),
        (
            format!("http://{closed}/auth"),
            "answer",
            "was closed",
            "such as a proxy",
        ),
        (
            format!("http://{silent}/auth"),
            "answer",
            "no answer in time",
            "allow more time",
        ),
        (
            format!("http://{half}/auth"),
            "read",
            "stopped half way",
            "allow more time",
        ),
        (
            format!("http://{broken}/auth"),
            "read",
            "was closed",
            "such as a proxy",
        ),
    ] {
        let log = Log::start();
        let trusts_it = url.contains(&authority);
        let client = if trusts_it {
            client_that_trusts(certificate.clone(), &url)
        } else {
            client(&url)
        };
        client.tokens().token().await.unwrap_err();
        let text = log.text();
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("no token"))
            .collect();
        let [line] = lines[..] else {
            panic!("{url}: {text}")
        };
        for part in [
            &format!("url={url}"),
            &format!("phase={phase}"),
            cause,
            advice,
            "failures=1",
            "WARN",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn what_fails_again_is_said_ever_less_often_and_that_it_works_again_once() {
    let log = Log::start();
    let (provider, _, clock) = Provider::client().await;
    let client = provider.client_with(provider.options(&clock).token_limits(Policy::unlimited()));
    provider.tokens(
        (0..5)
            .map(|_| Reply::new(503, ""))
            .chain([Reply::new(302, ""), Reply::token(1, 3600)]),
    );
    for _ in 0..6 {
        client.tokens().token().await.unwrap_err();
    }
    client.tokens().token().await.unwrap();
    let text = log.text();
    let said = |level: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter(|line| line.contains(level) && line.contains("no token"));
        lines
            .map(|line| {
                line.split("failures=")
                    .nth(1)
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(
        (said("WARN"), said("DEBUG")),
        (
            vec!["1".into(), "2".into(), "4".into(), "1".into()],
            vec!["3".into(), "5".into()]
        )
    );
    let again: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("calls succeed again"))
        .collect();
    assert!(
        matches!(again[..], [line] if line.contains("endpoint=\"token\" failures=1")),
        "{text}"
    );
}

#[tokio::test(flavor = "current_thread")]
async fn a_401_under_a_wrong_clock_names_the_clock() {
    for (date, advice) in [
        (
            "Sat, 21 Nov 2026 05:00:00 GMT",
            "it is 3600 s ahead of the service's",
        ),
        (
            "Sat, 21 Nov 2026 06:02:00 GMT",
            "it is 120 s behind the service's",
        ),
        (
            "Sat, 21 Nov 2026 06:00:59 GMT",
            "check customer code, audience, signing key",
        ),
        ("yesterday", "check customer code, audience, signing key"),
    ] {
        let (provider, _, _) = Provider::client().await;
        let client = provider.client_with(provider.options(&Arc::new(ManualClock::new(start()))));
        let refused = Reply::new(401, r#"{"error":"invalid_client"}"#).header("date", date);
        provider.tokens([refused]);
        let error = client.tokens().token().await.unwrap_err();
        assert!(
            error.advice().contains(advice),
            "{date}: {}",
            error.advice()
        );
    }
}

#[tokio::test]
async fn a_call_that_did_not_reach_the_service_does_not_count() {
    let provider = Provider::start().await;
    let clock = Arc::new(ManualClock::new(start()));
    let client = provider.client_with(provider.options(&clock).auth_url("http://127.0.0.1:9/auth"));
    for _ in 0..30 {
        let error = client.tokens().token().await.unwrap_err();
        assert_eq!(error.kind(), "transport", "{error}");
    }
}
