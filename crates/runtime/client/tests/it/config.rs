use crate::provider::{KEY, Provider};
use bankrail_client::{
    AddressErrorKind, Client, ClientOptions, ClientOptionsError, Credentials, HttpClientError,
    StatementClient, TlsError, TlsRoots, TokenSource,
};
use bankrail_client_assertion::CustomerCode;
use std::time::Duration;

fn credentials(api_key: &str) -> Credentials {
    Credentials::new(
        CustomerCode::parse("CUSTOMER").unwrap(),
        KEY.clone(),
        api_key,
    )
}

fn loopback() -> ClientOptions {
    ClientOptions::new().danger_allow_http_on_loopback(true)
}

#[test]
fn http_is_refused_unless_it_is_loopback_and_allowed() {
    for url in ["http://127.0.0.1:1", "http://api.example.com"] {
        let refused = Client::new(credentials("k"), url, ClientOptions::new());
        let Err(ClientOptionsError::BaseUrl(error)) = refused else {
            panic!("{url}")
        };
        assert_eq!(error.reason, AddressErrorKind::NotHttps);
    }
    let beyond = Client::new(credentials("k"), "http://api.example.com", loopback());
    assert!(
        matches!(beyond, Err(ClientOptionsError::BaseUrl(error)) if error.reason == AddressErrorKind::HttpBeyondLoopback)
    );
    assert!(Client::new(credentials("k"), "http://[::1]:1", loopback()).is_ok());
    let auth = loopback().auth_url("http://auth.example.com");
    let refused = Client::new(credentials("k"), "http://[::1]:1", auth);
    assert!(matches!(refused, Err(ClientOptionsError::AuthUrl(_))));
}

#[test]
fn unusable_credentials_and_options_are_refused() {
    let refused = |key: &str, options| {
        Client::new(credentials(key), "http://127.0.0.1:1", options).unwrap_err()
    };
    for key in ["", "a\nb"] {
        assert!(
            matches!(refused(key, loopback()), ClientOptionsError::ApiKey),
            "{key:?}"
        );
    }
    assert!(matches!(
        refused("k", loopback().audience("two words")),
        ClientOptionsError::Audience(_)
    ));
    for name in [
        "",
        "two words",
        "a:b",
        "Authorization",
        "Host",
        "content-length",
        "TE",
    ] {
        let refused = refused("k", loopback().api_key_header(name));
        assert!(
            matches!(refused, ClientOptionsError::ApiKeyHeader { .. }),
            "{name:?}: {refused}"
        );
    }
    for seconds in [0, 3601] {
        let options = loopback().assertion_lifetime(Duration::from_secs(seconds));
        assert!(
            matches!(
                refused("k", options),
                ClientOptionsError::AssertionLifetime { .. }
            ),
            "{seconds}"
        );
    }
    let none = refused("k", loopback().tls_roots(TlsRoots::OnlyPem(Vec::new())));
    assert!(matches!(
        none,
        ClientOptionsError::Http(HttpClientError::Tls(TlsError::NoCertificate))
    ));
}

#[test]
fn shared_between_threads() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug + 'static>() {}
    shared::<Client>();
    shared::<TokenSource>();
    shared::<StatementClient>();
    shared::<Credentials>();
    fn sends<T: Send>(_: T) {}
    let client = Client::new(credentials("k"), "http://127.0.0.1:1", loopback()).unwrap();
    sends(client.statements().page(&crate::provider::request()));
    sends(
        client
            .statements()
            .pages(crate::provider::request())
            .collect(),
    );
    sends(client.tokens().token());
}

#[tokio::test]
async fn a_server_without_tls_gets_nothing() {
    // The provider does not speak TLS. Nothing must be sent to it unencrypted.
    let provider = Provider::start().await;
    let url = provider.url().replace("http://", "https://");
    let pem = rcgen::generate_simple_self_signed(["localhost".to_owned()])
        .unwrap()
        .cert
        .pem();
    let options = ClientOptions::new().tls_roots(TlsRoots::OnlyPem(pem.into_bytes()));
    let client = Client::new(credentials("k"), &url, options).unwrap();
    let error = client.tokens().token().await.unwrap_err();
    assert!(error.is_retryable() && error.status.is_none(), "{error:?}");
    assert!(provider.calls().is_empty());
}
