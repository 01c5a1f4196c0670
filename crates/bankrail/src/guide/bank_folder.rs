// For the guide's blocks: the folder that the page `provider` makes with openssl, and what the customer ACME has.

/// The customer's side of the folder, which is removed with it.
#[allow(dead_code, reason = "each block uses a part")]
struct Acme {
    assertion_key: bankrail::jose::SigningKey,
    decryption_key: bankrail::jose::DecryptionKey,
    authority: bankrail::emulator::CertificateAuthority,
    _guard: tempfile::TempDir,
}

/// A folder `bank` with the customer ACME, whose receivers are at this port.
fn bank_folder(receivers: u16) -> (std::path::PathBuf, Acme) {
    use bankrail::emulator::CertificateAuthority;
    use bankrail::jose::{DecryptionKey, RsaSize, SigningKey};
    use bankrail::service::ApiKeyHash;

    let guard = tempfile::tempdir().unwrap();
    let folder = guard.path().to_owned();
    let key = || SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let (assertion_key, signing, authority) = (key(), key(), CertificateAuthority::new().unwrap());
    let decryption_key = DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    std::fs::create_dir(folder.join("customers")).unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(folder.join(name), text).unwrap();
    let server = authority.certificate_for("localhost").unwrap();
    write("server.pem", server.chain_pem.as_bytes());
    write("server-key.pem", server.key_pem.as_bytes());
    write("signing.pem", signing.to_pkcs8_pem().as_bytes());
    write("cursor.key", &[7; 32]);
    write("customers/acme.pem", assertion_key.verifying_key().to_spki_pem().as_bytes());
    write("customers/acme-encryption.pem", decryption_key.encryption_key().to_spki_pem().as_bytes());
    let customer = format!(
        r#"code = "ACME"
scopes = ["GBL.INSTO.ACCOUNTS.STATEMENT.READ"]
keys = [{{ file = "acme.pem" }}]
api_keys = [{{ sha256 = "{}" }}]
accounts = [{{ id = "012003123456789", currency = "AUD" }}]
limits = [{{ call_type = "statement", per_hour = 2 }}]

[[endpoints]]
id = "acme"
url = "https://localhost:{receivers}"
encryption_key = {{ file = "acme-encryption.pem" }}
api_key = {{ header = "apikey", value = "acmes-receiver-key" }}
"#,
        ApiKeyHash::of(b"our-api-key"),
    );
    write("customers/acme.toml", customer.as_bytes());
    (folder, Acme { assertion_key, decryption_key, authority, _guard: guard })
}

/// ACME's receivers at this listener, with the certificate of the folder's server.
#[allow(dead_code, reason = "for one block")]
async fn receive(folder: &std::path::Path, acme: &Acme, listener: tokio::net::TcpListener) {
    use bankrail::client::receivers::{Receivers, ReceiversOptions};
    use bankrail::http::serve::{CertificateFiles, Server, ServerOptions};
    use bankrail::secured_payload::{OpenOptions, Opener};
    use bankrail::stores::memory::MemoryStore;

    let signing = std::fs::read_to_string(folder.join("signing.pem")).unwrap();
    let signing = bankrail::jose::SigningKey::from_pem(&signing).unwrap();
    let opener = Opener::new(acme.decryption_key.clone(), signing.verifying_key(), OpenOptions::new()).unwrap();
    let inbox = std::sync::Arc::new(MemoryStore::new().inbox());
    let receivers = Receivers::new(opener, "acmes-receiver-key", inbox, ReceiversOptions::new()).unwrap();
    let certificate = CertificateFiles::open(folder.join("server.pem"), folder.join("server-key.pem")).unwrap();
    let tls = certificate.server_config().unwrap();
    let server = Server::new(listener, tls, receivers.router(), ServerOptions::new());
    tokio::spawn(server.run(std::future::pending()));
}

/// The provider and the dispatcher of the page's steps before, over this folder.
#[allow(dead_code, reason = "for one block")]
async fn provider_of(
    folder: &std::path::Path,
    issuer: &str,
    options: bankrail::service::ProviderOptions,
) -> (bankrail::service::Provider, bankrail::service::delivery::Dispatcher, bankrail::stores::sqlite::SqliteStore) {
    use bankrail::bank::{CustomerFolder, CustomerFolderOptions, DirectoryFollower, SqliteLedger};
    use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
    use bankrail::service::Provider;
    use bankrail::service::delivery::{
        Dispatcher, DispatcherOptions, Endpoints, HttpsTransport, HttpsTransportOptions,
    };
    use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
    use std::sync::Arc;

    let store = SqliteStore::open(folder.join("provider.sqlite"), SqliteOptions::new()).unwrap();
    let ledger = Arc::new(SqliteLedger::new(store.clone()));
    let directory = CustomerFolder::open(folder.join("customers"), CustomerFolderOptions::new()).unwrap();
    DirectoryFollower::new().accounts(ledger.clone()).apply(&directory.book()).await.unwrap();
    let verifier = Verifier::new(Audience::parse(issuer).unwrap(), VerifierOptions::new());
    let options = options.issuer(issuer);
    let provider = Provider::new(Arc::new(directory), ledger, Arc::new(store.clone()), verifier, options).unwrap();
    let transport = Arc::new(HttpsTransport::new(HttpsTransportOptions::new()).unwrap());
    let (outbox, clock) = (Arc::new(store.outbox()), Arc::new(bankrail::values::SystemClock));
    let dispatcher = Dispatcher::new(outbox, Endpoints::new(), transport, clock, DispatcherOptions::new()).unwrap();
    (provider, dispatcher, store)
}

/// Asks a provider at this port for a statement, and then ends this program as a supervisor does.
#[allow(dead_code, reason = "for one block")]
async fn ask_and_stop(acme: &Acme, url: &str) {
    use bankrail::client::{Client, ClientOptions, Credentials, TlsRoots};

    let credentials = Credentials::new("ACME".parse().unwrap(), acme.assertion_key.clone(), "our-api-key");
    let roots = TlsRoots::OnlyPem(acme.authority.pem().into_bytes());
    let client = Client::new(credentials, url, ClientOptions::new().tls_roots(roots)).unwrap();
    client.statements().statement(&"012003123456789".parse().unwrap()).await.unwrap();
    let me = std::process::id().to_string();
    std::process::Command::new("kill").args(["-TERM", &me]).status().unwrap();
}
