//! The transport of this crate against receivers on loopback.

use super::world::{fresh_headers, sealer};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use bankrail_mailbox::{DeliveryNote, DeliveryRecord, EndpointId, OutboxOperator, OutboxStore};
use bankrail_service::delivery::{
    ClientCertificate, Dispatcher, DispatcherOptions, Endpoint, EndpointUrl, Endpoints,
    HttpsTransport, HttpsTransportOptions, TlsRoots, Transport as _,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{SecretString, SystemClock};
use bankrail_webhook::{Acknowledgement, samples};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Makes a transport that trusts one certificate, whose key no server has.
fn transport() -> HttpsTransport {
    let certificate = rcgen::generate_simple_self_signed(["receiver.example".to_owned()])
        .unwrap()
        .cert
        .pem();
    let roots = TlsRoots::OnlyPem(certificate.into_bytes());
    HttpsTransport::new(HttpsTransportOptions::new().tls_roots(roots)).unwrap()
}

async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address.to_string()
}

/// Makes one delivery to this base address.
async fn deliver(base: &str, timeout: Duration) -> DeliveryRecord {
    deliver_by(transport(), base, None, timeout).await
}

/// Makes one delivery by this transport, with the endpoint's own certificate if there is one.
pub(crate) async fn deliver_by(
    transport: HttpsTransport,
    base: &str,
    certificate: Option<ClientCertificate>,
    timeout: Duration,
) -> DeliveryRecord {
    let (outbox, endpoints) = (Arc::new(MemoryStore::new().outbox()), Endpoints::new());
    let id: EndpointId = "acme".parse().unwrap();
    let url = EndpointUrl::danger_allow_http_on_loopback(base).unwrap();
    let mut endpoint = Endpoint::new(id.clone(), url, sealer(0));
    if let Some(certificate) = certificate {
        endpoint = endpoint.with_client_certificate(certificate);
    }
    endpoints.insert(
        endpoint
            .with_api_key(&SecretString::from("hunter2"))
            .unwrap(),
    );
    let options = DispatcherOptions::new().timeout(timeout);
    let outbox_handle = Arc::clone(&outbox) as Arc<dyn OutboxStore>;
    let clock = Arc::new(SystemClock);
    let dispatcher = Dispatcher::new(
        outbox_handle,
        endpoints,
        Arc::new(transport),
        options.clock(clock),
    )
    .unwrap();
    let message = samples::all().remove(0);
    let stored = dispatcher
        .enqueue(&id, &message, fresh_headers(message.kind()))
        .await
        .unwrap();
    assert_eq!(dispatcher.run_once().await.unwrap(), 1);
    outbox.deliveries(stored.id()).await.unwrap().remove(0)
}

const PATH: &str = "/payto/mandates/outcomes";
const LONG: Duration = Duration::from_secs(15);

#[tokio::test]
async fn a_message_arrives_with_its_headers() {
    let seen: Arc<Mutex<Option<HeaderMap>>> = Arc::default();
    let router = Router::new().route(
        PATH,
        post({
            let seen = Arc::clone(&seen);
            move |headers: HeaderMap, body: String| async move {
                assert!(body.starts_with("{\"secured_payload\":\""));
                *seen.lock().unwrap() = Some(headers);
                Acknowledgement::from_random_bytes([1; 16]).to_json()
            }
        }),
    );
    let made = deliver(&format!("http://{}/", serve(router).await), LONG).await;
    assert_eq!((made.status, made.note), (Some(200), None));
    let headers = seen.lock().unwrap().take().unwrap();
    assert_eq!(
        (&headers["apikey"], &headers["content-type"]),
        (
            &"hunter2".parse().unwrap(),
            &"application/json".parse().unwrap()
        )
    );
    assert_eq!(headers["accept-encoding"], "identity");
    for absent in ["user-agent", "referer", "cookie"] {
        assert!(!headers.contains_key(absent), "{absent}");
    }
}

/// A receiver that refuses `HEAD` counts as up; one behind a gateway that answers in its place does
/// not.
#[tokio::test]
async fn a_receiver_is_up_if_it_answers_and_not_if_its_gateway_does() {
    let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let answering = |status: StatusCode| {
        let seen = Arc::clone(&seen);
        Router::new().fallback(move |method: http::Method, headers: HeaderMap| async move {
            assert_eq!(method, "HEAD");
            seen.lock().unwrap().push(headers);
            status
        })
    };
    let up = async |base: &str| {
        let url = EndpointUrl::danger_allow_http_on_loopback(base).unwrap();
        let endpoint = Endpoint::new("acme".parse().unwrap(), url, sealer(0));
        let endpoint = endpoint
            .with_api_key(&SecretString::from("hunter2"))
            .unwrap();
        transport().is_up(&endpoint).await
    };
    for (status, expected) in [
        (200, true),
        (401, true),
        (405, true),
        (500, true),
        (501, true),
        (502, false),
        (503, false),
        (504, false),
    ] {
        let address = serve(answering(StatusCode::from_u16(status).unwrap())).await;
        assert_eq!(
            up(&format!("http://{address}/")).await,
            expected,
            "{status}"
        );
    }
    for headers in &*seen.lock().unwrap() {
        assert!(!headers.contains_key("apikey"), "{headers:?}");
    }
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    assert!(!up(&format!("http://{address}/")).await);
}

#[tokio::test]
async fn a_redirection_is_not_followed() {
    let followed: Arc<Mutex<bool>> = Arc::default();
    let target = Router::new().fallback({
        let followed = Arc::clone(&followed);
        move || async move { *followed.lock().unwrap() = true }
    });
    let elsewhere = format!("http://{}/", serve(target).await);
    let router = Router::new().route(
        PATH,
        post(move || async move {
            (
                StatusCode::TEMPORARY_REDIRECT,
                [(header::LOCATION, elsewhere)],
            )
        }),
    );
    let made = deliver(&format!("http://{}/", serve(router).await), LONG).await;
    assert_eq!(
        (made.status, made.note),
        (Some(307), Some(DeliveryNote::Redirected))
    );
    assert!(!*followed.lock().unwrap());
}

#[tokio::test]
async fn an_endless_answer_is_cut() {
    let endless = || {
        let chunks =
            futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'x'; 8192]));
        Body::from_stream(chunks)
    };
    let router = Router::new().route(PATH, post(move || async move { endless() }));
    let made = deliver(&format!("http://{}/", serve(router).await), LONG).await;
    assert_eq!(
        (made.status, made.note),
        (Some(200), Some(DeliveryNote::Unacknowledged))
    );
}

#[tokio::test]
async fn no_answer_no_listener_and_no_tls() {
    let router = Router::new().route(PATH, post(|| async { std::future::pending::<()>().await }));
    let address = serve(router).await;
    let made = deliver(&format!("http://{address}/"), Duration::from_secs(1)).await;
    assert_eq!(made.note, Some(DeliveryNote::TimedOut));
    // The listener does not speak TLS.
    let made = deliver(&format!("https://{address}/"), LONG).await;
    assert_eq!(made.note, Some(DeliveryNote::Tls));
    let free = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let made = deliver(&format!("http://{free}/"), LONG).await;
    assert_eq!(made.note, Some(DeliveryNote::NoConnection));
}
