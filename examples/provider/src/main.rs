//! A provider from a folder, which has these files.
//!
//! - `customers/`: a TOML file for each customer, with its keys, accounts, limits and webhook
//!   endpoints.
//! - `server.pem` and `server-key.pem`: the certificate and its key, replaced while the provider
//!   runs.
//! - `signing.pem`: the private key that signs webhooks.
//! - `cursor.key`: the secret that seals cursors, made if it is not there. Machines share it.
//!
//! Its state is in `provider.sqlite`, and its grants and answers are in `audit.jsonl`.
//! `provider FOLDER book FILE` books the rows of a CSV file, and
//! `provider FOLDER send ENDPOINT KIND FILE` delivers a message, both while it serves.
//!
//! With `--postgres`, the ledger, the customers and the messages are there, for instances on
//! several machines: `provider FOLDER --postgres … customers` makes its customers those of the
//! folder `customers/`. The connection is not encrypted: it is for a socket or a protected network.
//! Across another one, connect with a TLS connector in place of `NoTls`, and read the password from
//! a file: others of the machine see arguments.
//!
//! With `--valkey`, tokens, used assertions and counters are there. Given twice or more, it names
//! nodes of a cluster, from which the others are learnt. Set `cluster-require-full-coverage no`
//! there, so that only what is on a lost node is refused until its replica has taken over.

use bankrail::bank::{
    AccountRegistrar, CustomerFolder, CustomerFolderOptions, CustomerSource, DirectoryFollower,
    PostgresDirectory, PostgresLedger, SqlDirectoryOptions, SqliteLedger,
};
use bankrail::client_assertion::token::TokenStore;
use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail::http::operations::{Operations, OperationsOptions, Prometheus};
use bankrail::http::serve::{CertificateFiles, IpNet, Server, ServerOptions, Shutdown};
use bankrail::jose::SigningKey;
use bankrail::mailbox::OutboxStore;
use bankrail::rate_limit::{CounterStore, Limiter, Limits};
use bankrail::secured_payload::{SealOptions, Sealer};
use bankrail::service::audit::{AuditFile, AuditFileOptions, AuditOptions};
use bankrail::service::delivery::{
    Dispatcher, DispatcherOptions, Endpoints, HttpsTransport, HttpsTransportOptions, SealPayload,
    TlsRoots,
};
use bankrail::service::{CursorSecret, Ledger, Provider, ProviderOptions};
use bankrail::stores::postgres::{PostgresOptions, PostgresStore, tokio_postgres::NoTls};
use bankrail::stores::redis::{
    RedisCounters, RedisCountersOptions, RedisStore, RedisStoreOptions, RenewedConnection,
};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use bankrail::values::{Clock, Date, HyphenatedUuid, MainError, SystemClock};
use bankrail::webhook::{DeliveryHeaders, Message, MessageKind};
use clap::{Parser, Subcommand};
use redis::cluster::ClusterClientBuilder;
use std::fs::{self, File};
use std::future::pending;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// A provider from a folder.
#[derive(Parser)]
struct Arguments {
    folder: PathBuf,
    /// Keep ledger, customers and messages to deliver in this PostgreSQL: `host=… dbname=…`.
    #[arg(long)]
    postgres: Option<String>,
    /// PostgreSQL is behind a pooler that gives each transaction another session, as PgBouncer with
    /// `pool_mode = transaction`.
    #[arg(long, requires = "postgres")]
    transaction_pooling: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves until Ctrl-C or SIGTERM.
    Serve {
        /// The address that customers know, such as `https://bank.example`.
        issuer: String,
        #[arg(long, default_value = "127.0.0.1:8443")]
        listen: SocketAddr,
        /// Health and metrics, for supervisors.
        #[arg(long, default_value = "127.0.0.1:9090")]
        operations: SocketAddr,
        /// Keep tokens, used assertions and counters in this Valkey or Redis: `redis://…`. Once for
        /// each of some nodes of a cluster.
        #[arg(long)]
        valkey: Vec<String>,
        /// Trust these certificate authorities of customers' receivers, not those of the system.
        #[arg(long)]
        roots: Option<PathBuf>,
        /// A network of proxies that customers' connections come through, such as `10.0.0.0/24`;
        /// once for each.
        #[arg(long)]
        trusted_proxy: Vec<IpNet>,
        /// Take assertions without `typ`, too, as many client libraries make them, and with a clock
        /// 30 s off.
        #[arg(long)]
        lenient_clients: bool,
    },
    /// Makes the customers in PostgreSQL those of the folder.
    Customers,
    /// Books the rows of a CSV file.
    Book { file: PathBuf },
    /// Deletes the entries of the booking days before this one, while instances serve.
    ForgetBefore {
        #[arg(value_parser = Date::parse)]
        day: Date,
    },
    /// Delivers the message in a file to a customer's endpoint.
    Send {
        endpoint: String,
        kind: String,
        file: PathBuf,
    },
}

#[tokio::main]
async fn main() -> Result<(), MainError> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let Arguments {
        folder,
        postgres,
        transaction_pooling,
        command,
    } = Arguments::parse();
    let sqlite = || SqliteStore::open(folder.join("provider.sqlite"), SqliteOptions::new());
    let customers = || CustomerFolder::open(folder.join("customers"), CustomerFolderOptions::new());
    let store = match postgres {
        Some(config) => {
            let options = PostgresOptions::new().transaction_pooling(transaction_pooling);
            Store::Postgres(PostgresStore::connect(&config, NoTls, options).await?)
        }
        None => Store::Sqlite(sqlite()?),
    };
    match command {
        Command::Customers => {
            let Store::Postgres(store) = store else {
                Err("customers: expected --postgres, found none")?
            };
            let (customers_of_files, directory) = (
                customers()?.current(),
                PostgresDirectory::new(store, SqlDirectoryOptions::new()),
            );
            // First, because an API key or an endpoint may have gone from one customer to another.
            for code in directory
                .list()
                .await?
                .iter()
                .filter(|code| customers_of_files.get(code).is_none())
            {
                directory.remove(code).await?;
                println!("{code} removed");
            }
            directory.import(customers_of_files.clone()).await?;
            println!("{} customers", customers_of_files.len());
        }
        Command::Book { file } => {
            let rows = File::open(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let loaded = match store {
                Store::Sqlite(store) => SqliteLedger::new(store).load_csv(rows).await?,
                Store::Postgres(store) => PostgresLedger::new(store).load_csv(rows).await?,
            };
            println!("{} booked, {} booked before", loaded.booked, loaded.already);
        }
        Command::ForgetBefore { day } => {
            let forgotten = match store {
                Store::Sqlite(store) => SqliteLedger::new(store).forget_before(day).await?,
                Store::Postgres(store) => PostgresLedger::new(store).forget_before(day).await?,
            };
            println!("{forgotten} entries forgotten");
        }
        Command::Send {
            endpoint,
            kind,
            file,
        } => {
            let kind: MessageKind = kind.parse()?;
            let message = Message::from_json(kind, &read(&file)?)?.message;
            let mut headers = DeliveryHeaders::new(HyphenatedUuid::random());
            headers.request_key = kind.answers_a_request().then(HyphenatedUuid::random);
            store
                .outbox()
                .enqueue(
                    &message.outgoing(endpoint.parse()?, &headers)?,
                    SystemClock.now(),
                )
                .await?;
        }
        Command::Serve {
            issuer,
            listen,
            operations,
            valkey,
            roots,
            trusted_proxy,
            lenient_clients,
        } => {
            // The store of this machine alone: for everything, or for what no server keeps.
            let local = match (&store, &valkey[..]) {
                (Store::Sqlite(store), _) => Some(store.clone()),
                (Store::Postgres(_), []) => Some(sqlite()?),
                (Store::Postgres(_), _) => None,
            };
            let (stored, counted) = (RedisStoreOptions::new(), RedisCountersOptions::new());
            let keys: (Arc<dyn TokenStore>, Arc<dyn CounterStore>) = match (&valkey[..], &local) {
                ([], Some(local)) => (Arc::new(local.clone()), Arc::new(local.clone())),
                ([], None) => unreachable!("without Valkey there is a local store"),
                ([url], _) => (
                    Arc::new(RedisStore::open(url, stored)?),
                    Arc::new(RedisCounters::open(url, counted)?),
                ),
                (nodes, _) => {
                    // A repeated request may charge twice.
                    let client = ClusterClientBuilder::new(nodes.iter().map(String::as_str))
                        .retries(0)
                        .build()?;
                    let cluster = client.get_async_connection().await?;
                    let cluster = RenewedConnection::new(cluster, move || {
                        let client = client.clone();
                        async move { client.get_async_connection().await }
                    });
                    (
                        Arc::new(RedisStore::over(cluster.clone(), stored)),
                        Arc::new(RedisCounters::over(cluster, counted)),
                    )
                }
            };
            let directory: Arc<dyn CustomerSource> = match &store {
                Store::Sqlite(_) => Arc::new(customers()?),
                Store::Postgres(store) => Arc::new(PostgresDirectory::new(
                    store.clone(),
                    SqlDirectoryOptions::new(),
                )),
            };
            let (ledger, registrar) = store.ledger();
            let shutdown = Shutdown::on_signal()?;
            let limiter = Arc::new(Limiter::new(Limits::new(), keys.1));
            let endpoints = Endpoints::new();
            let signing = SigningKey::open(folder.join("signing.pem"))?;
            let mut follower = DirectoryFollower::new()
                .limiter(limiter.clone())
                .accounts(registrar)
                .endpoints(endpoints.clone(), move |endpoint| -> Arc<dyn SealPayload> {
                    Arc::new(Sealer::new(
                        signing.clone(),
                        endpoint.encryption_key().clone(),
                        SealOptions::new(),
                    ))
                });
            // Accounts that the ledger refuses are logged with their customer, and all others are
            // served.
            let _ = follower.apply(&*directory.customers().await?).await;

            let roots = roots
                .as_deref()
                .map(read)
                .transpose()?
                .map_or(TlsRoots::Platform, TlsRoots::OnlyPem);
            let transport = Arc::new(HttpsTransport::new(
                HttpsTransportOptions::new().tls_roots(roots),
            )?);
            let dispatcher = Dispatcher::new(
                store.outbox(),
                endpoints,
                transport,
                DispatcherOptions::new(),
            )?;

            let audit = AuditFile::open(folder.join("audit.jsonl"), AuditFileOptions::new())?;
            let claims = VerifierOptions::new();
            let claims = if lenient_clients {
                claims.lenient_clients()
            } else {
                claims
            };
            let options = ProviderOptions::new()
                .issuer(&issuer)
                .limiter(limiter)
                .cursor_secret(CursorSecret::open_or_create(folder.join("cursor.key"))?)
                .audit(Arc::new(audit), AuditOptions::new());
            let verifier = Verifier::new(Audience::parse(&format!("{issuer}/v1.0/auth"))?, claims);
            let provider = Provider::new(directory.clone(), ledger, keys.0, verifier, options)?;

            let certificate =
                CertificateFiles::open(folder.join("server.pem"), folder.join("server-key.pem"))?;
            let (listener, tls) = (
                TcpListener::bind(listen).await?,
                certificate.server_config()?,
            );
            let options = ServerOptions::new().trusted_proxies(&trusted_proxy);
            let server = Server::new(listener, tls, provider.router(), options);
            let mut health = OperationsOptions::new()
                .prometheus(Prometheus::install()?)
                .not_ready_from(shutdown.clone().wanted());
            if let Some(local) = local.clone() {
                health = health.check("database", move || local.check());
            }
            if let Store::Postgres(store) = &store {
                let store = store.clone();
                health = health.check("postgresql", move || store.check());
            }
            tokio::spawn(Operations::listen(operations, health).await?.run(pending()));
            tokio::spawn(async move { certificate.watch(Duration::from_secs(60)).await });
            tokio::spawn(async move { follower.run(&*directory, pending()).await });
            println!("{issuer} on {listen}");
            tokio::join!(
                server.run(shutdown.clone().wanted()),
                dispatcher.run(shutdown.wanted())
            );
            if let Some(local) = local {
                local.close().await;
            }
        }
    }
    Ok(())
}

/// Reads a file; an error names it.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The store of ledger and messages.
enum Store {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

impl Store {
    fn outbox(&self) -> Arc<dyn OutboxStore> {
        match self {
            Self::Sqlite(store) => Arc::new(store.outbox()),
            Self::Postgres(store) => Arc::new(store.outbox()),
        }
    }

    /// The ledger, and as what it learns the customers' accounts.
    fn ledger(&self) -> (Arc<dyn Ledger>, Arc<dyn AccountRegistrar>) {
        match self {
            Self::Sqlite(store) => {
                let ledger = Arc::new(SqliteLedger::new(store.clone()));
                (ledger.clone(), ledger)
            }
            Self::Postgres(store) => {
                let ledger = Arc::new(PostgresLedger::new(store.clone()));
                (ledger.clone(), ledger)
            }
        }
    }
}
