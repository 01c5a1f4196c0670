// For the guide's blocks: what the commands of the page `provider` make with openssl, and ACME's
// receivers.

/// The folders `bank` and `acme`, which end with the guard. ACME's receivers are at this port.
fn bank_folder(receivers: u16) -> (std::path::PathBuf, std::path::PathBuf, tempfile::TempDir) {
    use bankrail::jose::{DecryptionKey, RsaSize, SigningKey};
    use bankrail::service::ApiKeyHash;

    let guard = tempfile::tempdir().unwrap();
    let (bank, acme) = (guard.path().join("bank"), guard.path().join("acme"));
    std::fs::create_dir_all(bank.join("customers")).unwrap();
    std::fs::create_dir(&acme).unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(guard.path().join(name), text).unwrap();
    let key = || SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let (assertion, signing) = (key(), key());
    let decryption = DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    let server_key = rcgen::KeyPair::generate().unwrap();
    let mut server = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    server.is_ca = rcgen::IsCa::ExplicitNoCa;
    write(
        "bank/server.pem",
        server.self_signed(&server_key).unwrap().pem().as_bytes(),
    );
    write("bank/server-key.pem", server_key.serialize_pem().as_bytes());
    write("bank/signing.pem", signing.to_pkcs8_pem().as_bytes());
    write("bank/cursor.key", &[7; 32]);
    write("acme/assertion.pem", assertion.to_pkcs8_pem().as_bytes());
    write("acme/decryption.pem", decryption.to_pkcs8_pem().as_bytes());
    write(
        "bank/customers/acme.pem",
        assertion.verifying_key().to_spki_pem().as_bytes(),
    );
    write(
        "bank/customers/acme-encryption.pem",
        decryption.encryption_key().to_spki_pem().as_bytes(),
    );
    let customer = format!(
        r#"code = "ACME"
scopes = ["GBL.INSTO.ACCOUNTS.STATEMENT.READ"]
keys = [{{ file = "acme.pem" }}]
api_keys = [{{ sha256 = "{}" }}]
accounts = [{{ id = "012003123456789", currency = "AUD" }}]
limits = [{{ call_type = "token", unlimited = true }}, {{ call_type = "statement", per_hour = 1000 }}]

[[endpoints]]
id = "acme"
url = "https://localhost:{receivers}"
encryption_key = {{ file = "acme-encryption.pem" }}
api_key = {{ header = "apikey", value = "acmes-receiver-key" }}
"#,
        ApiKeyHash::of(b"our-api-key"),
    );
    write("bank/customers/acme.toml", customer.as_bytes());
    (bank, acme, guard)
}

/// ACME's receivers at this listener, with the certificate of the bank's server.
#[allow(dead_code, reason = "each block uses a part")]
fn receive(bank: &std::path::Path, acme: &std::path::Path, listener: tokio::net::TcpListener) {
    use bankrail::client::receivers::{Receivers, ReceiversOptions};
    use bankrail::http::serve::{CertificateFiles, Server, ServerOptions};
    use bankrail::jose::{DecryptionKey, SigningKey};
    use bankrail::secured_payload::{OpenOptions, Opener};
    use bankrail::stores::memory::MemoryStore;

    let signing =
        SigningKey::from_pem(&std::fs::read_to_string(bank.join("signing.pem")).unwrap()).unwrap();
    let key =
        DecryptionKey::from_pem(&std::fs::read_to_string(acme.join("decryption.pem")).unwrap())
            .unwrap();
    let opener = Opener::new(key, signing.verifying_key(), OpenOptions::new()).unwrap();
    let inbox = std::sync::Arc::new(MemoryStore::new().inbox());
    let receivers =
        Receivers::new(opener, "acmes-receiver-key", inbox, ReceiversOptions::new()).unwrap();
    let certificate =
        CertificateFiles::open(bank.join("server.pem"), bank.join("server-key.pem")).unwrap();
    let tls = certificate.server_config().unwrap();
    let server = Server::new(listener, tls, receivers.router(), ServerOptions::new());
    tokio::spawn(server.run(std::future::pending()));
}

/// Asks the provider at this address for a statement of two entries, waits for the delivery of the
/// one message that is in its outbox, and then ends this program as a supervisor does.
#[allow(dead_code, reason = "each block uses a part")]
async fn ask_and_stop(bank: std::path::PathBuf, acme: std::path::PathBuf, url: String) {
    use bankrail::client::{Client, ClientOptions, Credentials, TlsRoots};
    use bankrail::mailbox::OutboxOperator;
    use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};

    let key = std::fs::read_to_string(acme.join("assertion.pem")).unwrap();
    let key = bankrail::jose::SigningKey::from_pem(&key).unwrap();
    let credentials = Credentials::new("ACME".parse().unwrap(), key, "our-api-key");
    let roots = TlsRoots::OnlyPem(std::fs::read(bank.join("server.pem")).unwrap());
    let client = Client::new(credentials, &url, ClientOptions::new().tls_roots(roots)).unwrap();
    let statement = client
        .statements()
        .statement(&"012003123456789".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(statement.entries().count(), 2);
    let store = SqliteStore::open(bank.join("provider.sqlite"), SqliteOptions::new()).unwrap();
    while store.outbox().counts(None).await.unwrap().delivered == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let me = std::process::id().to_string();
    std::process::Command::new("kill")
        .args(["-TERM", &me])
        .status()
        .unwrap();
}
