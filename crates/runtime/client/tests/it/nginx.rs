//! Client certificates for nginx, which checks them with OpenSSL.

use crate::authority::Authority;
use bankrail_client::{Client, ClientCertificate, ClientOptions, Credentials, TlsRoots};
use bankrail_client_assertion::CustomerCode;
use bankrail_values::causes;
use std::process::{Child, Command};
use std::time::Duration;
use tokio::net::TcpStream;

struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts nginx, which demands a certificate of the authority and answers 404.
async fn nginx(folder: &std::path::Path, port: u16) -> Nginx {
    let at = folder.display();
    let configuration = format!(
        "daemon off; master_process off; pid {at}/pid; error_log {at}/log; events {{}}
        http {{
            access_log off; client_body_temp_path {at}/body; proxy_temp_path {at}/proxy;
            fastcgi_temp_path {at}/fastcgi; uwsgi_temp_path {at}/uwsgi; scgi_temp_path {at}/scgi;
            server {{
                listen 127.0.0.1:{port} ssl;
                ssl_certificate {at}/server.pem; ssl_certificate_key {at}/server.pem;
                ssl_client_certificate {at}/ca.pem; ssl_verify_client on;
                location / {{ return 404; }}
            }}
        }}"
    );
    std::fs::write(folder.join("nginx.conf"), configuration).unwrap();
    let mut command = Command::new("nginx");
    command
        .arg("-c")
        .arg(folder.join("nginx.conf"))
        .arg("-e")
        .arg(folder.join("log"));
    let mut running = Nginx(command.spawn().unwrap());
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        assert_eq!(running.0.try_wait().unwrap(), None, "nginx runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running
}

#[tokio::test]
#[ignore = "needs nginx"]
async fn nginx_lets_a_client_with_its_certificate_in() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    std::fs::write(
        folder.path().join("server.pem"),
        authority.issue_in_one("localhost"),
    )
    .unwrap();
    std::fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let _running = nginx(folder.path(), port).await;
    let shown = |by: &Authority| ClientCertificate::from_pem(&by.issue_in_one("client")).unwrap();
    for (shown, expected) in [
        (Some(shown(&authority)), Some(404)),
        // nginx itself answers so without a certificate, or with another authority's.
        (None, Some(400)),
        (Some(shown(&Authority::new())), Some(400)),
    ] {
        let mut options = ClientOptions::new().tls_roots(TlsRoots::OnlyPem(authority.pem()));
        if let Some(shown) = shown {
            options = options.client_certificate(shown);
        }
        let credentials = Credentials::new(
            CustomerCode::parse("CUSTOMER").unwrap(),
            crate::provider::KEY.clone(),
            crate::provider::API_KEY,
        );
        let url = format!("https://localhost:{port}");
        let client = Client::new(credentials, &url, options).unwrap();
        let error = client.tokens().token().await.unwrap_err();
        assert_eq!(error.status, expected, "{}", causes(&error));
    }
}
