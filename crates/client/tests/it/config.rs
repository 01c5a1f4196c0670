use crate::provider::{KEY, Provider};
use bankrail_client::{AddressFault, BuildError, Client, Customer, StatementClient, TlsError, TlsRoots, TokenSource};
use bankrail_client_assertion::CustomerCode;
use std::time::Duration;

fn customer(api_key: &str) -> Customer {
    Customer::new(CustomerCode::parse("CUSTOMER").unwrap(), KEY.clone(), api_key)
}

#[test]
fn http_is_refused_unless_it_is_loopback_and_was_asked_for() {
    let build = |url: &str| Client::builder(customer("k"), url).build();
    for url in ["http://127.0.0.1:1", "http://api.example.com"] {
        let Err(BuildError::BaseUrl(error)) = build(url) else { panic!("{url}") };
        assert_eq!(error.reason, AddressFault::NotHttps);
    }
    let beyond = Client::builder(customer("k"), "http://api.example.com").danger_allow_http_on_loopback().build();
    assert!(matches!(beyond, Err(BuildError::BaseUrl(error)) if error.reason == AddressFault::HttpBeyondLoopback));
    let auth = Client::builder(customer("k"), "http://[::1]:1").danger_allow_http_on_loopback();
    assert!(auth.clone().build().is_ok());
    assert!(matches!(auth.auth_url("http://auth.example.com").build(), Err(BuildError::AuthUrl(_))));
}

#[test]
fn settings_that_make_no_client() {
    let build = |key: &str| Client::builder(customer(key), "http://127.0.0.1:1").danger_allow_http_on_loopback();
    for key in ["", "a\nb"] {
        assert!(matches!(build(key).build(), Err(BuildError::ApiKey)), "{key:?}");
    }
    assert!(matches!(build("k").audience("two words").build(), Err(BuildError::Audience(_))));
    for seconds in [0, 3601] {
        let lifetime = build("k").assertion_lifetime(Duration::from_secs(seconds)).build();
        assert!(matches!(lifetime, Err(BuildError::AssertionLifetime { .. })), "{seconds}");
    }
    let none = build("k").tls_roots(TlsRoots::OnlyPem(Vec::new())).build();
    assert!(matches!(none, Err(BuildError::Tls(TlsError::NoCertificate))));
}

#[test]
fn shared_between_threads() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug + 'static>() {}
    shared::<Client>();
    shared::<TokenSource>();
    shared::<StatementClient>();
    shared::<Customer>();
    fn sends<T: Send>(_: T) {}
    let client = Client::builder(customer("k"), "http://127.0.0.1:1").danger_allow_http_on_loopback().build().unwrap();
    sends(client.statements().page(&crate::provider::request()));
    sends(client.statements().pages(crate::provider::request()).collect());
    sends(client.tokens().token());
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused() {
    // The provider speaks no TLS at all: what matters is that nothing is sent to it in the clear.
    let provider = Provider::start().await;
    let url = provider.url().replace("http://", "https://");
    let pem = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap().cert.pem();
    let client = Client::builder(customer("k"), url).tls_roots(TlsRoots::OnlyPem(pem.into_bytes())).build().unwrap();
    let error = client.tokens().token().await.unwrap_err();
    assert!(error.is_retryable() && error.status().is_none(), "{error:?}");
    assert!(provider.calls().is_empty());
}
