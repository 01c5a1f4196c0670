//! Whole servers on loopback.

use bankrail_http::KnownCaller;
use bankrail_http::serve::{
    CertificateError, HttpService, RequestBody, Server, ServerOptions, server_config,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

const LAST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

/// Counts requests.
#[derive(Clone, Default)]
pub(super) struct Counter(Arc<AtomicUsize>);

impl tower_service::Service<Request<RequestBody>> for Counter {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Full<Bytes>>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<RequestBody>) -> Self::Future {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        ready(Ok(Response::new(Full::from(format!("number {number}")))))
    }
}

pub(super) struct Running {
    pub(super) address: SocketAddr,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) server: JoinHandle<()>,
}

pub(super) async fn start<S>(
    tls: Option<rustls::ServerConfig>,
    options: ServerOptions,
    service: S,
) -> Running
where
    S: HttpService<Full<Bytes>, Future: Send>,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = match tls {
        Some(tls) => Server::new(listener, tls, service, options),
        None => Server::without_tls(listener, service, options),
    };
    let address = server.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let server = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    Running {
        address,
        stop,
        server,
    }
}

/// Makes a certificate for localhost, as configurations of both sides.
fn tls() -> (rustls::ServerConfig, rustls::ClientConfig) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = CertificateDer::from(made.cert.der().to_vec());
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.into())
        .unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (server, client)
}

pub(super) async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    stream.write_all(LAST).await.unwrap();
    let mut text = Vec::new();
    // A peer may end TLS without a close notification.
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn certificates_and_keys_come_as_pem() {
    let [made, other] =
        [0, 1].map(|_| rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap());
    let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let config = |chain: &str, key: &str| server_config(chain.as_bytes(), key.as_bytes());
    assert!(config(&chain, &key).is_ok());
    assert!(matches!(
        config(&key, &key),
        Err(CertificateError::NoCertificate)
    ));
    assert!(matches!(
        config(&chain, &chain),
        Err(CertificateError::Key(_))
    ));
    assert!(matches!(
        config(&chain, &other.signing_key.serialize_pem()),
        Err(CertificateError::Unusable(_))
    ));
    let broken = "-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n";
    assert!(matches!(
        config(broken, &key),
        Err(CertificateError::Certificate(_))
    ));
}

const FEW: &str = "BANKRAIL_FEW_DESCRIPTORS";

/// Serves in a process that may open 48 files, with more places than that.
#[tokio::test]
#[ignore = "the next test starts it"]
async fn with_few_descriptors() {
    if std::env::var_os(FEW).is_none() {
        return;
    }
    let an_hour = Duration::from_secs(3600);
    let options = ServerOptions::new()
        .header_timeout(an_hour)
        .idle_timeout(an_hour);
    let Running {
        address,
        stop,
        server,
    } = start(None, options, Counter::default()).await;
    println!("address {address}.");
    server.await.unwrap();
    drop(stop);
}

#[cfg(unix)]
#[tokio::test]
async fn without_descriptors_strangers_give_up_theirs() {
    struct Killed(std::process::Child);
    impl Drop for Killed {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }
    let child = std::process::Command::new("sh")
        .args(["-c", r#"ulimit -n 48 && exec "$0" --exact serve::with_few_descriptors --ignored --nocapture"#])
        .arg(std::env::current_exe().unwrap())
        .env(FEW, "")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Killed(child);
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.0.stdout.take().unwrap()));
    let address = lines.map_while(Result::ok).find_map(|line| {
        let (_, address) = line.split_once("address ")?;
        address.strip_suffix('.')?.parse::<SocketAddr>().ok()
    });
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(address.unwrap()).await.unwrap());
    }
    let answer = tokio::time::timeout(Duration::from_secs(60), async {
        exchange(TcpStream::connect(address.unwrap()).await.unwrap()).await
    });
    let answer = answer.await;
    assert!(
        answer
            .as_ref()
            .is_ok_and(|text| text.starts_with("HTTP/1.1 200")),
        "{answer:?}"
    );
}

#[tokio::test]
async fn a_handshake_that_does_not_begin_does_not_delay_a_stop() {
    let options = ServerOptions::new()
        .header_timeout(Duration::MAX)
        .shutdown_timeout(Duration::MAX);
    let running = start(Some(tls().0), options, Counter::default()).await;
    let silent = TcpStream::connect(running.address).await.unwrap();
    // Connections are accepted in their order, so the silent one has been accepted once this one is
    // refused.
    exchange(TcpStream::connect(running.address).await.unwrap()).await;
    running.stop.send(()).unwrap();
    running.server.await.unwrap();
    drop(silent);
}

#[tokio::test]
async fn plain_http_is_not_answered_over_tls() {
    let (server, client) = tls();
    let service = Counter::default();
    let running = start(Some(server), ServerOptions::new(), service.clone()).await;
    let plain = exchange(TcpStream::connect(running.address).await.unwrap()).await;
    assert!(!plain.contains("HTTP"), "{plain:?}");
    assert_eq!(service.0.load(Ordering::SeqCst), 0);

    let connector = tokio_rustls::TlsConnector::from(Arc::new(client.clone()));
    let stream = TcpStream::connect(running.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let text = exchange(connector.connect(name.clone(), stream).await.unwrap()).await;
    assert!(
        text.starts_with("HTTP/1.1 200 ") && text.ends_with("number 0"),
        "{text}"
    );

    // The client offers HTTP/2.
    let mut client = client;
    client.alpn_protocols = vec![b"h2".to_vec()];
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let stream = connector
        .connect(name, TcpStream::connect(running.address).await.unwrap())
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    drop(stream);
    running.stop.send(()).unwrap();
    running.server.await.unwrap();
}

/// A service that knows every caller, and answers when the semaphore permits.
#[derive(Clone)]
struct Gate(Arc<Semaphore>);

impl tower_service::Service<Request<RequestBody>> for Gate {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        request.extensions().get::<KnownCaller>().unwrap().tell();
        let gate = Arc::clone(&self.0);
        Box::pin(async move {
            gate.acquire().await.unwrap().forget();
            Ok(Response::new(Full::from("passed")))
        })
    }
}

#[tokio::test]
async fn in_a_full_server_a_known_caller_waits_for_those_whose_requests_are_under_way() {
    let gate = Gate(Arc::new(Semaphore::new(0)));
    let running = start(None, ServerOptions::new().max_connections(1), gate.clone()).await;
    let mut first = TcpStream::connect(running.address).await.unwrap();
    first
        .write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    while Arc::strong_count(&gate.0) < 4 {
        tokio::task::yield_now().await;
    }
    let second = tokio::spawn(exchange(TcpStream::connect(running.address).await.unwrap()));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!second.is_finished());
    gate.0.add_permits(2);
    assert!(
        second.await.unwrap().ends_with("passed"),
        "the first is idle, and gives up its place"
    );
    let mut text = String::new();
    first.read_to_string(&mut text).await.unwrap();
    assert!(text.ends_with("passed"), "after its answer");
    // A stop does not wait for connections without a place.
    let third = tokio::spawn(exchange(TcpStream::connect(running.address).await.unwrap()));
    let fourth = tokio::spawn(exchange(TcpStream::connect(running.address).await.unwrap()));
    tokio::time::sleep(Duration::from_millis(50)).await;
    running.stop.send(()).unwrap();
    gate.0.add_permits(1);
    running.server.await.unwrap();
    let answered = [third.await.unwrap(), fourth.await.unwrap()]
        .iter()
        .filter(|text| text.ends_with("passed"))
        .count();
    assert_eq!(answered, 1);
}

#[tokio::test]
async fn in_a_full_server_who_has_proved_nothing_gives_up_its_place() {
    let service = Counter::default();
    let running = start(
        None,
        ServerOptions::new().max_connections(1),
        service.clone(),
    )
    .await;
    let mut silent = TcpStream::connect(running.address).await.unwrap();
    for number in 0..3 {
        let text = exchange(TcpStream::connect(running.address).await.unwrap()).await;
        assert!(text.ends_with(&format!("number {number}")), "{text}");
    }
    assert_eq!(
        silent.read(&mut [0; 1]).await.unwrap_or_default(),
        0,
        "it was closed"
    );
    running.stop.send(()).unwrap();
    running.server.await.unwrap();
}

#[tokio::test]
async fn a_stopped_server_accepts_nothing() {
    let running = start(None, ServerOptions::new(), Counter::default()).await;
    let idle = TcpStream::connect(running.address).await.unwrap();
    assert!(
        exchange(TcpStream::connect(running.address).await.unwrap())
            .await
            .ends_with("number 0")
    );
    running.stop.send(()).unwrap();
    running.server.await.unwrap();
    assert!(TcpStream::connect(running.address).await.is_err());
    drop(idle);
}
