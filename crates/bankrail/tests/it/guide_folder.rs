//! A customer can call a provider with the folders that the guide's page `provider` makes with
//! openssl.

use bankrail::bank::{CustomerFolder, CustomerFolderOptions, DirectoryFollower, SqliteLedger};
use bankrail::client::{CallError, Client, ClientOptions, Credentials, TlsRoots};
use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail::http::serve::{CertificateFiles, Server, ServerOptions};
use bankrail::jose::{DecryptionKey, SigningKey};
use bankrail::rate_limit::{Limiter, Limits};
use bankrail::service::{Provider, ProviderOptions};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use bankrail::values::causes;
use bankrail::webhook::{Message, MessageKind};
use std::fs;
use std::future::pending;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tokio::net::TcpListener;

const PAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/guide/provider.md"
));

/// Returns the block of the page in this language that has this text.
fn block(language: &str, with: &str) -> &'static str {
    let opening = format!("```{language}\n");
    let mut blocks = PAGE
        .split(&opening)
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    blocks.find(|block| block.contains(with)).unwrap()
}

fn run(folder: &Path, commands: &str) -> String {
    let output = Command::new("sh")
        .args(["-ec", commands])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{commands}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Serves the folder, and requests a statement as ACME twelve times, each with a new token: more
/// than the default limit allows in an hour.
async fn statements(folder: &Path) -> Result<(), CallError> {
    let (bank, acme) = (folder.join("bank"), folder.join("acme"));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let issuer = format!(
        "https://localhost:{}",
        listener.local_addr().unwrap().port()
    );
    let store = SqliteStore::open_in_memory(SqliteOptions::new()).unwrap();
    let ledger = Arc::new(SqliteLedger::new(store.clone()));
    let directory = Arc::new(
        CustomerFolder::open(bank.join("customers"), CustomerFolderOptions::new()).unwrap(),
    );
    let limiter = Arc::new(Limiter::new(Limits::new(), Arc::new(store.clone())));
    let mut follower = DirectoryFollower::new()
        .limiter(limiter.clone())
        .accounts(ledger.clone());
    follower.apply(&directory.current()).await.unwrap();
    let verifier = Verifier::new(Audience::parse(&issuer).unwrap(), VerifierOptions::new());
    let options = ProviderOptions::new().issuer(&issuer).limiter(limiter);
    let provider = Provider::new(directory, ledger, Arc::new(store), verifier, options).unwrap();
    let certificate =
        CertificateFiles::open(bank.join("server.pem"), bank.join("server-key.pem")).unwrap();
    let server = Server::new(
        listener,
        certificate.server_config().unwrap(),
        provider.router(),
        ServerOptions::new(),
    );
    let serving = tokio::spawn(server.run(pending()));

    let key =
        SigningKey::from_pem(&fs::read_to_string(acme.join("assertion.pem")).unwrap()).unwrap();
    let roots = fs::read(bank.join("server.pem")).unwrap();
    let asking = async {
        for _ in 0..12 {
            let credentials = Credentials::new("ACME".parse().unwrap(), key.clone(), "our-api-key");
            let options = ClientOptions::new().tls_roots(TlsRoots::OnlyPem(roots.clone()));
            let client = Client::new(credentials, &issuer, options).unwrap();
            client
                .statements()
                .statement(&"012003123456789".parse().unwrap())
                .await?;
        }
        Ok(())
    };
    let asked = asking.await;
    serving.abort();
    asked
}

#[tokio::test]
async fn the_commands_of_the_page_make_a_provider_that_its_customer_can_call() {
    if Command::new("openssl").arg("version").output().is_err() {
        eprintln!("skipped: openssl is not there");
        return;
    }
    let guard = tempfile::tempdir().unwrap();
    let folder = guard.path();
    let (provider, customer) = (block("sh", "openssl req"), block("toml", "code = \"ACME\""));
    run(folder, provider);
    let hash = run(folder, block("sh", "sha256sum"));
    assert!(customer.contains(hash.split(' ').next().unwrap()), "{hash}");
    fs::write(folder.join("bank/customers/acme.toml"), customer).unwrap();
    SigningKey::from_pem(&fs::read_to_string(folder.join("bank/signing.pem")).unwrap()).unwrap();
    DecryptionKey::from_pem(&fs::read_to_string(folder.join("acme/decryption.pem")).unwrap())
        .unwrap();
    statements(folder).await.unwrap();

    // Without `CA:FALSE`, the certificate is an authority's, as the page explains.
    let authority = provider.replacen("-addext basicConstraints=critical,CA:FALSE", "", 1);
    assert_ne!(authority, provider);
    run(folder, &authority);
    let said = causes(&statements(folder).await.unwrap_err());
    let page = PAGE.replace('\n', " ");
    let errors = [
        "CaUsedAsEndEntity",
        "the certificate is that of an authority, not of a server",
    ];
    assert!(errors.iter().all(|error| page.contains(error)));
    assert!(errors.iter().any(|error| said.contains(error)), "{said}");
}

#[tokio::test]
async fn the_bookings_and_the_message_of_the_page_are_accepted() {
    let between = |text: &'static str, from: &str, to: &str| -> &'static str {
        text.split_once(from).unwrap().1.split_once(to).unwrap().0
    };
    let commands = block("sh", "today.csv");
    let rows = between(commands, "<<END\n", "END\n").replace("$(date -u +%F)", "2027-01-15");
    let ledger = SqliteLedger::new(SqliteStore::open_in_memory(SqliteOptions::new()).unwrap());
    let account = "012003123456789".parse().unwrap();
    let opening = "0.00 AUD".parse().unwrap();
    ledger.open_account(&account, opening).await.unwrap();
    let loaded = ledger.load_csv(Cursor::new(rows)).await.unwrap();
    assert_eq!((loaded.booked, loaded.already), (2, 0));

    let outcome = between(commands, "echo '", "' >outcome.json");
    let kind = "payment_outcome".parse::<MessageKind>().unwrap();
    let read = Message::from_json(kind, outcome.as_bytes()).unwrap();
    assert_eq!(read.message.kind(), kind);
}
