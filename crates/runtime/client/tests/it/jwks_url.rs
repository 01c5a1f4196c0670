//! Senders' keys from an address.

use crate::keys::{NEXT, deliver_signed, jwk, kids, receivers};
use crate::receivers::SIGNING;
use axum::http::{HeaderMap, Response};
use bankrail_client::ExchangeError;
use bankrail_client::receivers::keys::{JwksUrl, JwksUrlError, JwksUrlOptions, SenderKeys};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The answers of the address, and the number of requests.
#[derive(Default)]
struct Address {
    status: u16,
    etag: Option<&'static str>,
    body: String,
    asked: u32,
    unchanged: u32,
    hangs: bool,
}

type Shared = Arc<Mutex<Address>>;

fn set(keys: &[String]) -> String {
    format!(r#"{{"keys":[{}]}}"#, keys.join(","))
}

async fn serve(body: String) -> (Shared, String) {
    let address = Shared::new(Mutex::new(Address {
        status: 200,
        body,
        ..Address::default()
    }));
    let shared = address.clone();
    let answer = move |headers: HeaderMap| async move {
        if shared.lock().unwrap().hangs {
            std::future::pending::<()>().await;
        }
        let mut address = shared.lock().unwrap();
        address.asked += 1;
        let response = Response::builder().header("cache-control", "max-age=600");
        let Some(etag) = address.etag else {
            return response
                .status(address.status)
                .body(address.body.clone())
                .unwrap();
        };
        if headers
            .get("if-none-match")
            .is_some_and(|known| known == etag)
        {
            address.unchanged += 1;
            return response.status(304).body(String::new()).unwrap();
        }
        response
            .status(address.status)
            .header("etag", etag)
            .body(address.body.clone())
            .unwrap()
    };
    let router = axum::Router::new().route("/keys", axum::routing::get(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, url)
}

fn options() -> JwksUrlOptions {
    JwksUrlOptions::new().danger_allow_http_on_loopback(true)
}

/// Advances the paused clock by this time.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn an_unknown_kid_fetches_the_keys_once_in_a_while() {
    let (address, url) = serve(set(&[jwk(&SIGNING, "old")])).await;
    let keys = JwksUrl::fetch(&url, options()).await.unwrap();
    let receivers = receivers(keys.keys(), Arc::new(keys.clone()));
    assert_eq!(deliver_signed(&receivers, &SIGNING, "old").await, 200);
    address.lock().unwrap().body = set(&[jwk(&SIGNING, "old"), jwk(&NEXT, "new")]);
    assert_eq!(
        deliver_signed(&receivers, &NEXT, "new").await,
        400,
        "fetched a moment ago"
    );
    pass(Duration::from_secs(10)).await;
    assert_eq!(deliver_signed(&receivers, &NEXT, "new").await, 200);
    assert_eq!(kids(&keys.keys()), ["old", "new"]);
    for _ in 0..5 {
        assert_eq!(deliver_signed(&receivers, &NEXT, "unknown").await, 400);
    }
    assert_eq!(address.lock().unwrap().asked, 2);
}

#[tokio::test]
async fn keys_at_hand_are_used_while_the_address_fails() {
    let (address, url) = serve(set(&[jwk(&SIGNING, "old")])).await;
    let keys = JwksUrl::fetch(&url, options()).await.unwrap();
    for (status, body) in [
        (500, String::new()),
        (200, "no set".to_owned()),
        (200, set(&[])),
        (200, "x".repeat(300_000)),
    ] {
        {
            let mut address = address.lock().unwrap();
            (address.status, address.body) = (status, body);
        }
        pass(Duration::from_secs(60)).await;
        assert!(
            !keys.renew(tokio::time::Instant::now().into_std()).await,
            "{status}"
        );
        assert_eq!(kids(&keys.keys()), ["old"]);
    }
    assert_eq!(address.lock().unwrap().asked, 5);
}

#[tokio::test]
async fn keys_are_fetched_again_when_they_are_too_old() {
    let (address, url) = serve(set(&[jwk(&SIGNING, "old")])).await;
    address.lock().unwrap().etag = Some("\"1\"");
    let keys = JwksUrl::fetch(&url, options()).await.unwrap();
    let until = async |asked: u32| {
        while address.lock().unwrap().asked < asked {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    pass(Duration::from_secs(600)).await;
    keys.run(until(2)).await;
    // The run may have been stopped before it had read the answer.
    pass(Duration::from_secs(600)).await;
    {
        let mut address = address.lock().unwrap();
        (address.etag, address.body) = (Some("\"2\""), set(&[jwk(&NEXT, "new")]));
    }
    let fetched = async {
        while kids(&keys.keys()) != ["new"] {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    keys.run(fetched).await;
    assert_eq!(address.lock().unwrap().unchanged, 1);
}

/// A sender that goes back to its earlier keys serves them under their earlier tag again.
#[tokio::test]
async fn the_tag_of_the_keys_at_hand_is_sent_also_after_a_second_change() {
    let (address, url) = serve(set(&[jwk(&SIGNING, "old")])).await;
    address.lock().unwrap().etag = Some("\"1\"");
    let keys = JwksUrl::fetch(&url, options()).await.unwrap();
    for (tag, key, kid, unchanged) in [
        ("\"2\"", &NEXT, "new", 0),
        ("\"1\"", &SIGNING, "old", 0),
        ("\"1\"", &SIGNING, "old", 1),
        ("\"2\"", &NEXT, "new", 1),
    ] {
        {
            let mut address = address.lock().unwrap();
            (address.etag, address.body) = (Some(tag), set(&[jwk(key, kid)]));
        }
        pass(Duration::from_secs(60)).await;
        keys.renew(tokio::time::Instant::now().into_std()).await;
        assert_eq!(kids(&keys.keys()), [kid]);
        assert_eq!(address.lock().unwrap().unchanged, unchanged);
    }
    // Without a tag, none is sent.
    address.lock().unwrap().etag = None;
    for kid in ["a", "b"] {
        address.lock().unwrap().body = set(&[jwk(&NEXT, kid)]);
        pass(Duration::from_secs(60)).await;
        keys.renew(tokio::time::Instant::now().into_std()).await;
        assert_eq!(kids(&keys.keys()), [kid]);
    }
}

#[tokio::test]
async fn a_key_that_was_replaced_under_its_old_name_is_fetched() {
    let (address, url) = serve(set(&[jwk(&SIGNING, "bank")])).await;
    let keys = JwksUrl::fetch(&url, options()).await.unwrap();
    let receivers = receivers(keys.keys(), Arc::new(keys.clone()));
    // With a byte order mark, as some programs write it.
    address.lock().unwrap().body = format!("\u{feff}{}", set(&[jwk(&NEXT, "bank")]));
    pass(Duration::from_secs(10)).await;
    assert_eq!(deliver_signed(&receivers, &NEXT, "bank").await, 200);
    assert_eq!(deliver_signed(&receivers, &SIGNING, "bank").await, 400);
    assert_eq!(address.lock().unwrap().asked, 2);
}

/// Deliveries that wait share one fetch. Paused time passes only while all wait, so the elapsed
/// time is that of the fetches.
#[tokio::test]
async fn deliveries_that_wait_for_an_address_that_hangs_wait_for_one_fetch() {
    let (address, url) = serve(set(&[jwk(&SIGNING, "old")])).await;
    let options = options().refetch(Duration::from_secs(1));
    let keys = JwksUrl::fetch(&url, options).await.unwrap();
    address.lock().unwrap().hangs = true;
    pass(Duration::from_secs(1)).await;
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let keys = keys.clone();
        waiting.spawn(async move { keys.renew(began.into_std()).await });
    }
    assert_eq!(waiting.join_all().await, [false; 8]);
    let waited = began.elapsed();
    assert!(waited < Duration::from_secs(6), "{waited:?}");
}

#[tokio::test]
async fn only_good_addresses_and_answers_are_accepted() {
    let (address, url) = serve(set(&[r#"{"kty":"EC"}"#.to_owned()])).await;
    let fault = async |url: &str, options| JwksUrl::fetch(url, options).await.unwrap_err();
    assert!(matches!(
        fault(&url, JwksUrlOptions::new()).await,
        JwksUrlError::Address(_)
    ));
    assert!(matches!(
        fault("https://bank.example/?x=1", options()).await,
        JwksUrlError::Address(_)
    ));
    assert!(matches!(
        fault(&url, options()).await,
        JwksUrlError::KeySet(_)
    ));
    address.lock().unwrap().status = 302;
    assert!(matches!(
        fault(&url, options()).await,
        JwksUrlError::Status { found: 302 }
    ));
    {
        let mut address = address.lock().unwrap();
        (address.status, address.body) = (200, "x".repeat(300_000));
    }
    assert!(matches!(
        fault(&url, options()).await,
        JwksUrlError::Exchange(ExchangeError::TooLarge { limit: 262_144, .. })
    ));
    let closed = "http://127.0.0.1:9/keys";
    assert!(matches!(
        fault(closed, options()).await,
        JwksUrlError::Exchange(ExchangeError::Connect(_))
    ));
}
