use bankrail::bank::{
    CustomerFolder, CustomerFolderOptions, DirectoryFollower, EndpointRecord, SqliteLedger,
};
use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail::http::operations::{Operations, OperationsOptions, Prometheus};
use bankrail::http::serve::{CertificateFiles, Server, ServerOptions, Shutdown};
use bankrail::jose::SigningKey;
use bankrail::mailbox::Outbox;
use bankrail::rate_limit::{Limiter, Limits};
use bankrail::secured_payload::{SealOptions, Sealer};
use bankrail::service::audit::{AuditFile, AuditFileOptions, AuditOptions};
use bankrail::service::delivery::{Dispatcher, DispatcherOptions, Endpoints, SealPayload};
use bankrail::service::delivery::{HttpsTransport, HttpsTransportOptions, TlsRoots};
use bankrail::service::{CursorSecret, Provider, ProviderOptions};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use bankrail::values::{Clock, HyphenatedUuid, MainError, SystemClock};
use bankrail::webhook::{DeliveryHeaders, Message, MessageKind};
use std::{env, fs, future::pending, path::Path, sync::Arc, time::Duration};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), MainError> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let (folder, arguments) = (Path::new("bank"), env::args().skip(1).collect::<Vec<_>>());
    let store = SqliteStore::open(folder.join("provider.sqlite"), SqliteOptions::new())?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => serve(folder, &store).await?,
        ["book", file] => book(&store, Path::new(file)).await?,
        ["send", endpoint, kind, file] => send(&store, endpoint, kind, Path::new(file)).await?,
        _ => return Err("usage: provider [book FILE | send ENDPOINT KIND FILE]".into()),
    }
    store.close().await;
    Ok(())
}

/// Serves until Ctrl-C or SIGTERM, and ends what is under way.
async fn serve(folder: &Path, store: &SqliteStore) -> Result<(), MainError> {
    let shutdown = Shutdown::on_signal()?;
    let (listen, operations) = ("127.0.0.1:8443", "127.0.0.1:9090"); // the latter not reachable from outside
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| format!("{listen}: {error}"))?;
    let issuer = "https://localhost:8443"; // the address that customers know

    // Customers, and where their limits, accounts and endpoints are used.
    let directory = Arc::new(CustomerFolder::open(
        folder.join("customers"),
        CustomerFolderOptions::new(),
    )?);
    let ledger = Arc::new(SqliteLedger::new(store.clone()));
    let limiter = Arc::new(Limiter::new(Limits::new(), Arc::new(store.clone())));
    let signing = SigningKey::open(folder.join("signing.pem"))?;
    let sealer = move |endpoint: &EndpointRecord| -> Arc<dyn SealPayload> {
        Arc::new(Sealer::new(
            signing.clone(),
            endpoint.encryption_key().clone(),
            SealOptions::new(),
        ))
    };
    let (follower, endpoints) = (
        DirectoryFollower::new().limiter(limiter.clone()),
        Endpoints::new(),
    );
    let mut follower = follower
        .accounts(ledger.clone())
        .endpoints(endpoints.clone(), sealer);
    // Before the first call. An account that the ledger refuses is in the log, and all others are
    // served.
    let _ = follower.apply(&directory.current()).await;

    // Tokens and statements.
    let audit = AuditFile::open(folder.join("audit.jsonl"), AuditFileOptions::new())?;
    let options = ProviderOptions::new()
        .issuer(issuer)
        .limiter(limiter)
        .cursor_secret(CursorSecret::open_or_create(folder.join("cursor.key"))?)
        .audit(Arc::new(audit), AuditOptions::new());
    let verifier = Verifier::new(
        Audience::parse(&format!("{issuer}/v1.0/auth"))?,
        VerifierOptions::new(),
    );
    let provider = Provider::new(
        directory.clone(),
        ledger,
        Arc::new(store.clone()),
        verifier,
        options,
    )?;
    let certificate =
        CertificateFiles::open(folder.join("server.pem"), folder.join("server-key.pem"))?;
    let server = Server::new(
        listener,
        certificate.server_config()?,
        provider.router(),
        ServerOptions::new(),
    );

    // Webhooks.
    let roots = TlsRoots::Platform; // for trials: `TlsRoots::OnlyPem(read(Path::new("receiver.pem"))?)`
    let transport = Arc::new(HttpsTransport::new(
        HttpsTransportOptions::new().tls_roots(roots),
    )?);
    let outbox = Arc::new(store.outbox());
    let dispatcher = Dispatcher::new(outbox, endpoints, transport, DispatcherOptions::new())?;

    // `/livez`, `/readyz` and `/metrics`.
    let (database, stopping) = (store.clone(), shutdown.clone().wanted());
    let health = OperationsOptions::new()
        .prometheus(Prometheus::install()?)
        .not_ready_from(stopping);
    let health = health.check("database", move || database.check());
    tokio::spawn(Operations::listen(operations, health).await?.run(pending()));

    // Files that change while the program runs: customers and the certificate.
    tokio::spawn(async move { follower.run(&*directory, pending()).await });
    tokio::spawn(async move { certificate.watch(Duration::from_secs(60)).await });
    println!("{issuer} on {listen}");
    tokio::join!(
        server.run(shutdown.clone().wanted()),
        dispatcher.run(shutdown.wanted())
    );
    Ok(())
}

/// Books the rows of a CSV file, also while the provider serves.
async fn book(store: &SqliteStore, file: &Path) -> Result<(), MainError> {
    let rows = std::io::Cursor::new(read(file)?);
    let loaded = SqliteLedger::new(store.clone()).load_csv(rows).await;
    let loaded = loaded.map_err(|error| format!("{}: {error}", file.display()))?;
    println!("{} booked, {} booked before", loaded.booked, loaded.already);
    Ok(())
}

/// Enqueues the message in a JSON file, which the provider that serves delivers.
async fn send(
    store: &SqliteStore,
    endpoint: &str,
    kind: &str,
    file: &Path,
) -> Result<(), MainError> {
    let kind: MessageKind = kind.parse()?;
    let read = Message::from_json(kind, &read(file)?)
        .map_err(|error| format!("{}: {error}", file.display()))?;
    let mut headers = DeliveryHeaders::new(HyphenatedUuid::random());
    // An outcome echoes the key of the request that it answers. Nobody made one here.
    headers.request_key = kind.answers_a_request().then(HyphenatedUuid::random);
    let outgoing = read.message.outgoing(endpoint.parse()?, &headers)?;
    store.outbox().enqueue(&outgoing, SystemClock.now()).await?;
    Ok(())
}

/// Reads a file, or says which one it is that cannot be read.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
