//! A new connection and its first request, against the idle connections that the server holds.

use crate::Curve;
use bankrail_http::serve::{Server, ServerOptions, server_config};
use bankrail_http::tls::{TlsRoots, client_config};
use rustls::pki_types::ServerName;
use std::net::Ipv4Addr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

type Connection = TlsStream<TcpStream>;

/// The server's process: prints its port and its certificate.
pub(crate) async fn serve() {
    let key = rcgen::KeyPair::generate().unwrap();
    let own = rcgen::CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let tls = server_config(own.pem().as_bytes(), key.serialize_pem().as_bytes()).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    println!("{}", own.pem());
    let router = axum::Router::new().route("/", axum::routing::get(async || "here"));
    // The peers count as known: what is measured is not the defence against strangers.
    let proxies = ["127.0.0.0/8".parse().unwrap()];
    let options = ServerOptions::new()
        .max_connections(20_000)
        .trusted_proxies(&proxies);
    Server::new(
        listener,
        tls,
        router,
        options.idle_timeout(Duration::from_secs(3600)),
    )
    .run(std::future::pending())
    .await;
}

pub(crate) async fn measure(curve: &Curve<'_>) {
    let program = std::env::current_exe().unwrap();
    let mut serving = Command::new(program);
    serving
        .args(["serve", "0"])
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut serving = serving.spawn().unwrap();
    let mut lines = BufReader::new(serving.stdout.take().unwrap()).lines();
    let port: u16 = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    let mut pem = String::new();
    while !pem.ends_with("-----END CERTIFICATE-----\n") {
        pem += &(lines.next_line().await.unwrap().unwrap() + "\n");
    }
    let mut tls = client_config(Some(&TlsRoots::OnlyPem(pem.into_bytes())), None).unwrap();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    let tls = TlsConnector::from(Arc::new(tls));
    drop(connect(&tls, port).await);
    let memory = || resident_of(serving.id().unwrap());
    let (before, mut held) = (memory(), Vec::<Connection>::new());
    for size in curve.sizes() {
        let mut opening = JoinSet::new();
        for _ in u64::try_from(held.len()).unwrap()..size {
            if opening.len() >= 64 {
                held.push(opening.join_next().await.unwrap().unwrap());
            }
            let tls = tls.clone();
            opening.spawn(async move { connect(&tls, port).await });
        }
        held.extend(opening.join_all().await);
        curve
            .time("a new connection and a request", size, 51, async || {
                drop(connect(&tls, port).await)
            })
            .await;
        let mut last = held.pop().unwrap();
        curve
            .time("a request", size, 101, async || ask(&mut last).await)
            .await;
        held.push(last);
        if size >= 1000 {
            let bytes = memory().saturating_sub(before) as f64 / size as f64;
            curve.point("memory of the server, a connection", size, "bytes", bytes);
        }
    }
}

async fn connect(tls: &TlsConnector, port: u16) -> Connection {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .await
        .unwrap();
    let mut connection = tls
        .connect(ServerName::try_from("localhost").unwrap(), stream)
        .await
        .unwrap();
    ask(&mut connection).await;
    connection
}

async fn ask(connection: &mut Connection) {
    connection
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"here") {
        assert!(
            connection.read_buf(&mut answer).await.unwrap() > 0,
            "the server answers"
        );
    }
}

fn resident_of(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim()
        .strip_suffix(" kB")
        .unwrap()
        .parse::<u64>()
        .unwrap()
        * 1024
}
