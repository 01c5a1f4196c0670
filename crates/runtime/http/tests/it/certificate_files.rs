//! A certificate that is replaced while a server runs.

use super::serve::{Counter, Running, exchange, start};
use bankrail_http::serve::{CertificateError, CertificateFiles, ClientAuthorities, ServerOptions};
use bankrail_http::tls::{ClientCertificate, TlsError, TlsRoots, client_config};
use rustls::pki_types::{CertificateDer, ServerName};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

struct Made {
    chain: String,
    key: String,
    der: CertificateDer<'static>,
}

fn make() -> Made {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let der = CertificateDer::from(made.cert.der().to_vec());
    Made {
        chain: made.cert.pem(),
        key: made.signing_key.serialize_pem(),
        der,
    }
}

fn write(folder: &Path, chain: &str, key: &str) {
    std::fs::write(folder.join("chain.pem"), chain).unwrap();
    std::fs::write(folder.join("key.pem"), key).unwrap();
}

/// Returns true if a client that trusts only this certificate is served.
async fn is_shown(running: &Running, certificate: &Made) -> bool {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(running.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    match TlsConnector::from(Arc::new(client))
        .connect(name, stream)
        .await
    {
        Ok(stream) => exchange(stream).await.starts_with("HTTP/1.1 200 "),
        Err(_) => false,
    }
}

#[tokio::test]
async fn new_files_are_shown_and_bad_ones_leave_the_old() {
    let (folder, first, second) = (tempfile::tempdir().unwrap(), make(), make());
    write(folder.path(), &first.chain, &first.key);
    let (chain, key) = (
        folder.path().join("chain.pem"),
        folder.path().join("key.pem"),
    );
    let files = CertificateFiles::open(&chain, &key).unwrap();
    let running = start(
        Some(files.server_config().unwrap()),
        ServerOptions::new(),
        Counter::default(),
    )
    .await;
    assert!(is_shown(&running, &first).await && !is_shown(&running, &second).await);
    assert!(!files.reload().unwrap() && files.is_current());

    // Only one of two files has been replaced yet.
    std::fs::write(&chain, &second.chain).unwrap();
    assert!(matches!(files.reload(), Err(CertificateError::Unusable(_))));
    assert!(!files.is_current() && is_shown(&running, &first).await);
    std::fs::remove_file(&key).unwrap();
    let error = files.reload().unwrap_err();
    assert!(
        matches!(error, CertificateError::File { .. })
            && error.to_string().ends_with("key.pem: cannot be read")
    );
    std::fs::write(&key, "-----BEGIN").unwrap();
    assert!(files.reload().is_err() && is_shown(&running, &first).await);

    std::fs::write(&key, &second.key).unwrap();
    assert!(files.reload().unwrap() && files.is_current());
    assert!(is_shown(&running, &second).await && !is_shown(&running, &first).await);
    running.stop.send(()).unwrap();
    running.server.await.unwrap();
}

#[test]
fn files_are_bounded_and_shown_without_their_contents() {
    let (folder, made) = (tempfile::tempdir().unwrap(), make());
    write(folder.path(), &made.chain, &made.key);
    let (chain, key) = (
        folder.path().join("chain.pem"),
        folder.path().join("key.pem"),
    );
    let shown = format!("{:?}", CertificateFiles::open(&chain, &key).unwrap());
    assert!(
        shown.contains("chain.pem") && !shown.contains("PRIVATE"),
        "{shown}"
    );
    std::fs::write(&key, "x".repeat((1 << 20) + 1)).unwrap();
    assert!(matches!(
        CertificateFiles::open(&chain, &key),
        Err(CertificateError::File { .. })
    ));
}

/// Returns the certificate that a server sees of a client, on a new connection.
async fn seen(
    server: &Arc<rustls::ServerConfig>,
    client: &Arc<rustls::ClientConfig>,
) -> CertificateDer<'static> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let name = ServerName::try_from("localhost").unwrap();
    let (connected, accepted) = tokio::join!(
        TlsConnector::from(client.clone()).connect(name, near),
        TlsAcceptor::from(server.clone()).accept(far)
    );
    let (mut connected, mut accepted) = (connected.unwrap(), accepted.unwrap());
    // The client has the tickets of the session when it has read the bytes after them.
    accepted.write_all(b"x").await.unwrap();
    accepted.flush().await.unwrap();
    connected.read_exact(&mut [0]).await.unwrap();
    let shown = accepted.get_ref().1.peer_certificates().unwrap();
    shown[0].clone().into_owned()
}

#[tokio::test]
async fn a_renewed_client_certificate_is_shown_on_the_next_connection() {
    let (folder, server, first, second) = (tempfile::tempdir().unwrap(), make(), make(), make());
    write(folder.path(), &server.chain, &server.key);
    let files = CertificateFiles::open(
        folder.path().join("chain.pem"),
        folder.path().join("key.pem"),
    );
    let clients = ClientAuthorities::from_pem((first.chain.clone() + &second.chain).as_bytes());
    let tls = Arc::new(files.unwrap().server_config_for(&clients.unwrap()).unwrap());

    let certificate = ClientCertificate::from_pem(&(first.chain.clone() + &first.key)).unwrap();
    let roots = TlsRoots::OnlyPem(server.chain.into_bytes());
    let client = Arc::new(client_config(Some(&roots), Some(&certificate)).unwrap());
    assert_eq!(seen(&tls, &client).await, first.der);
    let same = certificate.replace(&(first.key.clone() + &first.chain));
    assert!(!same.unwrap());
    assert!(
        certificate
            .clone()
            .replace(&(second.chain.clone() + &second.key))
            .unwrap()
    );
    assert_eq!(seen(&tls, &client).await, second.der);
    // Half of the new certificate is written.
    let refused = certificate.replace(&(first.chain + &second.key));
    assert!(
        matches!(refused, Err(TlsError::ClientCertificate(_))),
        "{refused:?}"
    );
    assert_eq!(seen(&tls, &client).await, second.der);
}
