//! A proxy for tests that makes tunnels by CONNECT and by SOCKS 5.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// A proxy on loopback, which resolves all names to loopback.
pub(crate) struct TestProxy {
    pub(crate) address: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl TestProxy {
    pub(crate) async fn start() -> Self {
        Self::answering("200 OK").await
    }

    /// Starts a proxy that answers this to CONNECT, and makes a tunnel only if the answer is a 200.
    pub(crate) async fn answering(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(tunnel(stream, Arc::clone(&log), answer));
            }
        });
        Self { address, seen }
    }

    /// Returns the requested tunnels: `CONNECT host:port credentials`, or `SOCKS …`.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

async fn tunnel(
    mut client: TcpStream,
    log: Arc<Mutex<Vec<String>>>,
    answer: &str,
) -> std::io::Result<()> {
    let first = client.read_u8().await?;
    let (asked, port) = if first == 5 {
        socks(&mut client).await?
    } else {
        connect(&mut client).await?
    };
    log.lock().unwrap().push(asked);
    let head = format!("HTTP/1.1 {answer}\r\n\r\n");
    if !answer.starts_with("200") {
        return client.write_all(head.as_bytes()).await;
    }
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    let answer: &[u8] = match first {
        5 => &[5, 0, 0, 1, 127, 0, 0, 1, 0, 0],
        _ => head.as_bytes(),
    };
    client.write_all(answer).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

async fn connect(client: &mut TcpStream) -> std::io::Result<(String, u16)> {
    let mut head = String::from("C");
    while !head.ends_with("\r\n\r\n") {
        head.push(client.read_u8().await?.into());
    }
    let target = head.split(' ').nth(1).unwrap().to_owned();
    let authorization = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("proxy-authorization")
            .then_some(value)
    });
    let port = target.rsplit(':').next().unwrap().parse().unwrap();
    let asked = format!("CONNECT {target} {}", authorization.unwrap_or_default());
    Ok((asked, port))
}

async fn socks(client: &mut TcpStream) -> std::io::Result<(String, u16)> {
    let methods = text(client).await?;
    let mut credentials = String::new();
    if methods.contains('\u{2}') {
        client.write_all(&[5, 2]).await?;
        assert_eq!(client.read_u8().await?, 1);
        credentials = format!("{}:{}", text(client).await?, text(client).await?);
        client.write_all(&[1, 0]).await?;
    } else {
        client.write_all(&[5, 0]).await?;
    }
    let mut request = [0; 4];
    client.read_exact(&mut request).await?;
    let host = match request[3] {
        1 => std::net::Ipv4Addr::from(client.read_u32().await?).to_string(),
        4 => std::net::Ipv6Addr::from(client.read_u128().await?).to_string(),
        _ => text(client).await?,
    };
    let port = client.read_u16().await?;
    Ok((format!("SOCKS {host}:{port} {credentials}"), port))
}

/// Answers to CONNECT that make no tunnel, each of which would have another meaning from a service.
pub(crate) const REFUSALS: [&str; 5] = [
    "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"company\"\r\nContent-Length: 0",
    "401 Unauthorized\r\nContent-Length: 0",
    "410 Gone\r\nContent-Length: 0",
    "429 Too Many Requests\r\nRetry-After: 86400\r\nContent-Length: 0",
    "502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
];

/// Reads a text that follows its length.
async fn text(client: &mut TcpStream) -> std::io::Result<String> {
    let mut bytes = vec![0; client.read_u8().await?.into()];
    client.read_exact(&mut bytes).await?;
    Ok(String::from_utf8(bytes).unwrap())
}
