//! The values made of `connection.toml`.

use crate::authority::Authority;
use crate::log::Log;
use crate::receivers::{DECRYPTION, SIGNING, deliver, message};
use crate::ways::service;
use bankrail_client::receivers::ReceiversOptions;
use bankrail_client::{
    Client, ClientCertificate, ClientOptions, Connection, ConnectionError, TlsRoots,
};
use bankrail_http::serve::{CertificateFiles, ClientAuthorities, ServerOptions};
use bankrail_jose::{RsaSize, SigningKey};
use bankrail_mailbox::Inbox;
use bankrail_stores::memory::MemoryStore;
use bankrail_values::causes;
use bankrail_webhook::MessageKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const WHOLE: &str = r#"
base_url = "https://bank.example"
customer = "BILLER"
api_key = "the-secret"
signing_key = "signing.pem"
accounts = ["012003123456789"]

[receivers]
listen = "127.0.0.1:0"
certificate = "receiver.pem"
certificate_key = "receiver-key.pem"
api_key = "our-key"
decryption_key = "decryption.pem"
provider_keys = "provider.pub.pem"
"#;

static OTHER: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());

/// A folder with the files that `bankrail provider` writes.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.file("connection.toml", WHOLE);
        home.file("signing.pem", OTHER.to_pkcs8_pem().as_bytes());
        home.file("signing.pub.pem", OTHER.verifying_key().to_spki_pem());
        home.file("decryption.pem", DECRYPTION.to_pkcs8_pem().as_bytes());
        home.file(
            "encryption.pub.pem",
            DECRYPTION.encryption_key().to_spki_pem(),
        );
        home.file("provider.pub.pem", SIGNING.verifying_key().to_spki_pem());
        home.certificate("receiver.pem", "receiver-key.pem");
        home
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    fn certificate(&self, certificate: &str, key: &str) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        self.file(certificate, made.cert.pem());
        self.file(key, made.signing_key.serialize_pem());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self) -> Result<Connection, ConnectionError> {
        Connection::open(self.0.path())
    }
}

fn inbox() -> Arc<dyn Inbox> {
    Arc::new(MemoryStore::new().inbox())
}

/// Returns the sentence of an error, after a check that it has each of these names.
fn said(error: &ConnectionError, names: &[&str]) -> String {
    let sentence = causes(error);
    assert!(
        names.iter().all(|name| sentence.contains(name)),
        "{sentence}"
    );
    assert!(
        !sentence.contains("secret") && !sentence.contains("12345678"),
        "{sentence}"
    );
    sentence
}

#[test]
fn files_are_named_relative_to_the_folder_of_the_file_and_secrets_are_not_shown() {
    let home = Home::new();
    home.file(
        "connection.toml",
        WHOLE.replace("\"receiver-key.pem", "\"/elsewhere/receiver-key.pem"),
    );
    for path in [home.0.path().to_owned(), home.path("connection.toml")] {
        let connection = Connection::open(path).unwrap();
        assert_eq!(connection.signing_key, home.path("signing.pem"));
        assert_eq!(connection.accounts[0].as_str(), "012003123456789");
        let receivers = connection.receivers.as_ref().unwrap();
        assert_eq!(receivers.provider_keys, home.path("provider.pub.pem"));
        assert_eq!(
            receivers.certificate_key,
            Path::new("/elsewhere/receiver-key.pem")
        );
        let shown = format!("{connection:?}");
        assert!(
            !shown.contains("secret") && !shown.contains("our-key"),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn proxy_and_certificates_of_a_connection_are_used_and_faults_name_the_file() {
    let (home, authority) = (Home::new(), Authority::new());
    let file = |client: &str, receivers: &str| {
        let (before, after) = WHOLE.split_once("[receivers]").unwrap();
        let text = format!("{before}{client}\n[receivers]{after}{receivers}\n");
        home.file("connection.toml", text);
        home.open()
    };
    home.file("own.pem", authority.issue_in_one("client"));
    home.file("ca.pem", authority.pem());
    home.file("empty.pem", "");
    let all = "roots = 'ca.pem'\nsystem_roots = true\nproxy = 'socks5h://u:secret@proxy.example'\n\
        no_proxy = 'localhost'\nclient_certificate = 'own.pem'";
    let connection = file(
        all,
        "client_roots = 'ca.pem'\nclient_certificate_optional = true",
    )
    .unwrap();
    let shown = format!("{connection:?}");
    assert!(!shown.contains("secret@"), "{shown}");
    let client = connection.client(ClientOptions::new()).unwrap();
    let shown = format!("{client:?}");
    assert!(
        shown.contains("proxy.example") && !shown.contains("secret@"),
        "{shown}"
    );
    let text = toml::to_string(&connection).unwrap();
    let again = Connection::from_toml(&text, "again").unwrap();
    assert_eq!(
        again.proxy.unwrap().expose_secret(),
        "socks5h://u:secret@proxy.example"
    );

    let refused = file("proxy = 'ftp://u:secret@proxy.example'", "").unwrap_err();
    said(&refused, &["line 8: proxy: expected a proxy such as"]);
    for (members, named) in [
        (
            "proxy = 'proxy.example'\nno_proxy = 'a b'",
            "expected hosts without proxy",
        ),
        (
            "client_certificate = 'empty.pem'",
            "empty.pem: expected a client certificate",
        ),
        (
            "client_certificate = 'absent.pem'",
            "absent.pem: cannot be read",
        ),
    ] {
        let refused = file(members, "").unwrap().client(ClientOptions::new());
        said(&refused.unwrap_err(), &[named]);
    }
    let connection = file("", "client_roots = 'empty.pem'").unwrap();
    let refused = connection
        .server(axum::Router::<()>::new(), ServerOptions::new())
        .await;
    said(
        &refused.unwrap_err(),
        &["empty.pem: expected certificate authorities of clients"],
    );
}

#[tokio::test]
async fn a_renewed_client_certificate_is_shown_without_a_restart() {
    let (home, authority, other) = (Home::new(), Authority::new(), Authority::new());
    let (certificate, key) = authority.issue("localhost");
    home.file("service.pem", certificate);
    home.file("service-key.pem", key);
    let files =
        CertificateFiles::open(home.path("service.pem"), home.path("service-key.pem")).unwrap();
    let clients = ClientAuthorities::from_pem(&authority.pem()).unwrap();
    let port = service(files.server_config_for(&clients).unwrap()).await;
    home.file("ca.pem", authority.pem());
    home.file("own.pem", other.issue_in_one("client"));
    let mut connection = home.open().unwrap();
    connection.base_url = format!("https://localhost:{port}");
    connection.roots = Some(home.path("ca.pem"));
    connection.client_certificate = Some(home.path("own.pem"));
    let client = || connection.client(ClientOptions::new()).unwrap();
    let status = async |client: &Client| client.tokens().token().await.unwrap_err().status;
    let long_lived = client();
    assert_eq!(status(&client()).await, None, "an unknown authority");

    let log = Log::start();
    tokio::time::pause();
    for content in ["", "nonsense", &authority.issue_in_one("client")] {
        home.file("own.pem", content);
        tokio::time::sleep(Duration::from_secs(61)).await;
    }
    tokio::time::resume();
    let lines = log.text();
    // Once for each client, although two readings failed.
    for said in ["was not replaced", "was replaced"] {
        let count = lines
            .matches(&format!("the client certificate {said}"))
            .count();
        assert_eq!(count, 2, "{lines}");
    }
    assert_eq!(status(&long_lived).await, Some(404));
}

#[tokio::test]
async fn receivers_ask_for_the_providers_certificate() {
    let (home, authority) = (Home::new(), Authority::new());
    home.file(
        "connection.toml",
        WHOLE.to_owned() + "client_roots = 'ca.pem'\n",
    );
    home.file("ca.pem", authority.pem());
    let connection = home.open().unwrap();
    let server = connection
        .server(axum::Router::<()>::new(), ServerOptions::new())
        .await
        .unwrap();
    let port = server.local_addr().unwrap().port();
    tokio::spawn(server.run(std::future::pending()));
    let roots = TlsRoots::OnlyPem(std::fs::read(home.path("receiver.pem")).unwrap());
    let shown = ClientCertificate::from_pem(&authority.issue_in_one("bank")).unwrap();
    for (shown, expected) in [(Some(shown), true), (None, false)] {
        let tls = bankrail_http::tls::client_config(Some(&roots), shown.as_ref()).unwrap();
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy();
        let answer = http
            .build()
            .unwrap()
            .get(format!("https://localhost:{port}/"))
            .send()
            .await;
        assert_eq!(answer.is_ok(), expected, "{answer:?}");
    }
}

#[test]
fn an_error_of_the_file_names_file_line_and_member_and_no_secret() {
    let home = Home::new();
    for (from, to, expected) in [
        ("\"https://bank.example\"", "https", "line 2: base_url: "),
        ("customer = \"BILLER\"\n", "", "missing field `customer`"),
        ("\"BILLER\"", "\"b\"", "line 3: customer: expected"),
        ("accounts", "acounts", "line 6: unknown field `acounts`"),
        (
            "\"012003123456789\"",
            "\"012-003\"",
            "line 6: accounts: expected",
        ),
        (
            "\"the-secret\"",
            "12345678",
            "line 4: api_key: expected an API key in quotation marks",
        ),
        (
            "\"our-key\"",
            "[12345678]",
            "line 12: api_key: expected an API key in quotation marks",
        ),
        ("\"the-secret\"", "\"the-secret", "line 4: api_key: "),
        (
            "\"127.0.0.1:0\"",
            "\"localhost\"",
            "line 9: listen: invalid socket address",
        ),
        (
            "[receivers]",
            "[receivers]\ntrusted_proxies = [\"10.0.0.0/33\"]",
            "line 9: trusted_proxies: invalid IP",
        ),
    ] {
        home.file("connection.toml", WHOLE.replace(from, to));
        said(
            &home.open().unwrap_err(),
            &["connection.toml: line ", expected],
        );
    }
    home.file("connection.toml", format!("{WHOLE}#{}", "x".repeat(65_536)));
    said(
        &home.open().unwrap_err(),
        &["connection.toml: ", "expected at most 65536 bytes"],
    );
    home.file("connection.toml", b"\xff");
    said(
        &home.open().unwrap_err(),
        &["connection.toml: ", "expected UTF-8"],
    );
    said(
        &Connection::open("/nowhere/connection.toml").unwrap_err(),
        &["/nowhere/connection.toml: cannot be read: "],
    );
}

#[test]
fn keys_that_do_not_belong_together_are_refused_with_both_names() {
    let (other, own) = (
        SIGNING.verifying_key().to_spki_pem(),
        OTHER.verifying_key().to_spki_pem(),
    );
    for (private, public) in [
        ("signing.pem", "signing.pub.pem"),
        ("decryption.pem", "decryption.pub.pem"),
        ("decryption.pem", "encryption.pub.pem"),
    ] {
        let home = Home::new();
        home.file(public, &other);
        let error = home.open().unwrap_err();
        assert!(
            matches!(error, ConnectionError::NotPublicHalf { .. }),
            "{error}"
        );
        let [private, public] = [private, public].map(|name| home.path(name).display().to_string());
        assert_eq!(
            said(&error, &[]),
            format!("{public}: expected the public half of {private}, found another key")
        );
    }
    // Files of other names are nobody's other half.
    let home = Home::new();
    home.file("encryption-of-others.pub.pem", &other);
    home.open().unwrap();
    home.file("signing.pub.pem", "no key");
    said(&home.open().unwrap_err(), &["signing.pub.pem: expected "]);
    home.file("signing.pub.pem", own);
    home.file("decryption.pem", OTHER.to_pkcs8_pem().as_bytes());
    home.file("encryption.pub.pem", OTHER.verifying_key().to_spki_pem());
    let error = home.open().unwrap_err();
    assert!(matches!(error, ConnectionError::SameKey { .. }), "{error}");
    said(
        &error,
        &[
            "decryption.pem: expected another key than that of ",
            "signing.pem, found the same",
        ],
    );
    // Whoever needs an absent key says so, and nobody else.
    std::fs::remove_file(home.path("decryption.pem")).unwrap();
    let connection = home.open().unwrap();
    connection.client(ClientOptions::new()).unwrap();
}

#[tokio::test]
async fn client_receivers_and_server_are_made_of_it() {
    let home = Home::new();
    let connection = home.open().unwrap();
    connection.client(ClientOptions::new()).unwrap();
    let receivers = connection
        .receivers(inbox(), ReceiversOptions::new())
        .unwrap();
    deliver(&receivers, MessageKind::Query, &message(MessageKind::Query)).await;
    let server = connection
        .server(receivers.router(), ServerOptions::new())
        .await
        .unwrap();
    let address = server.local_addr().unwrap();
    assert!(address.ip().is_loopback() && address.port() > 0);

    let mut second = home.open().unwrap();
    second.receivers.as_mut().unwrap().listen = address;
    let error = second
        .server(receivers.router(), ServerOptions::new())
        .await
        .unwrap_err();
    said(
        &error,
        &[
            "connection.toml: ",
            &format!("{address} cannot be listened on: "),
        ],
    );
}

#[tokio::test]
async fn connections_of_trusted_proxies_do_not_take_the_place_of_each_other() {
    for (proxies, stays) in [
        ("", false),
        ("trusted_proxies = [\"10.0.0.0/8\", \"127.0.0.0/8\"]", true),
    ] {
        let home = Home::new();
        home.file("connection.toml", format!("{WHOLE}{proxies}"));
        let options = ServerOptions::new().max_connections_per_address(1);
        let server = home
            .open()
            .unwrap()
            .server(axum::Router::<()>::new(), options)
            .await
            .unwrap();
        let address = server.local_addr().unwrap();
        tokio::spawn(server.run(std::future::pending()));
        let mut first = TcpStream::connect(address).await.unwrap();
        let mut second = TcpStream::connect(address).await.unwrap();
        // What is no TLS is answered with an alert, by a connection that has its place.
        assert!(is_answered(&mut second).await);
        assert_eq!(is_answered(&mut first).await, stays, "{proxies}");
    }
}

async fn is_answered(connection: &mut TcpStream) -> bool {
    let _ = connection.write_all(b"no TLS at all").await;
    connection
        .read(&mut [0; 8])
        .await
        .is_ok_and(|bytes| bytes > 0)
}

#[tokio::test]
async fn what_cannot_be_used_is_named() {
    let home = Home::new();
    let connection = home.open().unwrap();
    let server = async || {
        connection
            .server(axum::Router::<()>::new(), ServerOptions::new())
            .await
            .unwrap_err()
    };
    let receivers = || {
        connection
            .receivers(inbox(), ReceiversOptions::new())
            .unwrap_err()
    };
    let client = || connection.client(ClientOptions::new()).unwrap_err();

    home.certificate("other.pem", "receiver-key.pem");
    let sentence = said(
        &server().await,
        &[
            "receiver.pem and ",
            "receiver-key.pem: certificate and private key",
        ],
    );
    assert!(sentence.contains("KeyMismatch"), "{sentence}");
    std::fs::remove_file(home.path("receiver.pem")).unwrap();
    said(&server().await, &["receiver.pem: cannot be read: "]);

    home.file("provider.pub.pem", "no key");
    said(
        &receivers(),
        &["provider.pub.pem: expected at least one usable key"],
    );
    home.file("decryption.pem", DECRYPTION.encryption_key().to_spki_pem());
    said(
        &receivers(),
        &["decryption.pem: expected a private key, found a public one"],
    );
    let key = DECRYPTION.clone().with_kid("ours").to_jwk();
    let five = [&**key; 5].join(",");
    home.file("decryption.pem", format!("{{\"keys\":[{five}]}}"));
    home.file("provider.pub.pem", SIGNING.verifying_key().to_spki_pem());
    let log = Log::start();
    connection
        .receivers(inbox(), ReceiversOptions::new())
        .unwrap();
    let logged = log.text();
    assert!(
        logged.contains("a key was left out") && logged.contains("index=4"),
        "{logged}"
    );

    let several = [OTHER.clone().with_kid("1"), SIGNING.clone().with_kid("2")]
        .map(|key| key.to_jwk().to_string());
    home.file(
        "signing.pem",
        format!("{{\"keys\":[{}]}}", several.join(",")),
    );
    said(
        &client(),
        &["signing.pem: expected one key, found a JWK set"],
    );
    std::fs::remove_file(home.path("signing.pem")).unwrap();
    said(&client(), &["signing.pem: cannot be read: "]);

    let home = Home::new();
    home.file("connection.toml", WHOLE.replace("https:", "http:"));
    let error = home
        .open()
        .unwrap()
        .client(ClientOptions::new())
        .unwrap_err();
    said(&error, &["connection.toml: the base address is refused: "]);
    home.file(
        "connection.toml",
        WHOLE.replace("accounts", "scopes = [\" \"]\naccounts"),
    );
    said(
        &home
            .open()
            .unwrap()
            .client(ClientOptions::new())
            .unwrap_err(),
        &["connection.toml: expected a scope "],
    );
    home.file(
        "connection.toml",
        WHOLE.split("[receivers]").next().unwrap(),
    );
    let error = home
        .open()
        .unwrap()
        .receivers(inbox(), ReceiversOptions::new())
        .unwrap_err();
    said(
        &error,
        &["connection.toml: expected [receivers], found none"],
    );
}
