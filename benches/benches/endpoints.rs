//! The provider's two endpoints over HTTPS on loopback, compared with bare axum routes that do the
//! same heavy work.
//!
//! - The bare token route looks up the customer, verifies one RSA signature, claims a replay key,
//!   then stores a grant and answers as many bytes. Ours claims and stores in one transaction.
//! - The bare statement route looks up the grant, asks the ledger and writes the same report once
//!   into its answer. Ours is measured over the same ledger, and over one in the store's file
//!   (`statement_1000_stored`). No route is faster than one that only sends the report
//!   (`statement_1000/ready`).
//! - All routes have the same server, the same store (one SQLite file whose commits reach the disk)
//!   and the same client, which runs on the same two threads.
//!
//! Rounds alternate. The output is medians and their ratio.

// A benchmark that fails panics.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use axum_server::tls_rustls::RustlsConfig;
use bankrail_bank::{Booking, BookingKind, SqliteLedger};
use bankrail_camt052::Document;
use bankrail_client_assertion::token::{
    AccessToken, ScopeSet, TokenGrant, TokenRequest, TokenStore, names,
};
use bankrail_client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, JwtId, ReplayKey, ReplayStore,
    Verifier, VerifierOptions,
};
use bankrail_jose::{KeySet, RsaSize, SigningKey, VerifyingKey};
use bankrail_rate_limit::{CallType, Limiter, Limits, MemoryCounters, Policy};
use bankrail_service::{
    ApiKeyHash, Customer, Directory, Ledger, LedgerAnswer, LedgerEntry, LedgerPage, Provider,
    ProviderOptions, RegisteredAccount, StatementQuery,
};
use bankrail_statement::EntryChannel;
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{Clock as _, Currency, StoreFuture, SystemClock};
use rustls::pki_types::PrivateKeyDer;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::JoinSet;

/// The calls at once, each on its own connection.
const AT_ONCE: usize = 32;
const AUDIENCE: &str = "https://localhost/v1.0/auth";
const ACCOUNT: &str = "011222814766538";

fn main() {
    let measure = bankrail_benches::measuring();
    let (rounds, tokens, statements) = if measure { (5, 3000, 600) } else { (1, 4, 4) };
    let entries = if measure { 1000 } else { 10 };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let mut rates = [const { Vec::new() }; 6];
    runtime.block_on(async {
        let world = World::start(entries).await;
        for _ in 0..rounds {
            for (rate, path) in [(0, "/bare/auth"), (1, "/v1.0/auth")] {
                let forms = (0..tokens).map(|_| world.form()).collect();
                rates[rate].push(world.calls(path, forms).await);
            }
            let [path, bare] = ["/accounts/v2.0/statement", "/bare/statement"];
            let stored = "/stored/accounts/v2.0/statement";
            for (rate, path) in [(2, bare), (3, path), (4, stored), (5, "/bare/ready")] {
                let body = format!(r#"{{"accountId":"{ACCOUNT}","maxEntries":1000}}"#);
                rates[rate].push(world.calls(path, vec![body; statements]).await);
            }
        }
    });
    let [bare_token, token, bare_statement, statement, stored, ready] =
        rates.each_mut().map(|rates| {
            rates.sort_by(f64::total_cmp);
            rates[rates.len() / 2]
        });
    println!("endpoints on {}", bankrail_benches::processor());
    println!("endpoints/token/bare              {bare_token:>8.0} /s");
    println!(
        "endpoints/token                   {token:>8.0} /s  {:.2} of bare",
        token / bare_token
    );
    println!("endpoints/statement_1000/bare     {bare_statement:>8.0} /s");
    println!(
        "endpoints/statement_1000          {statement:>8.0} /s  {:.2} of bare",
        statement / bare_statement
    );
    println!(
        "endpoints/statement_1000/ready    {ready:>8.0} /s  {:.2} of bare",
        ready / bare_statement
    );
    println!(
        "endpoints/statement_1000_stored   {stored:>8.0} /s  {:.2} of bare",
        stored / bare_statement
    );
}

/// The bank: one customer, one account.
#[derive(Debug)]
struct Bank {
    customer: Arc<Customer>,
    page: LedgerPage,
}

impl Directory for Bank {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        let known = (key == ApiKeyHash::of(b"api-key")).then(|| self.customer.clone());
        Box::pin(std::future::ready(Ok(known)))
    }
}

impl Ledger for Bank {
    fn statement<'a>(&'a self, _: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(std::future::ready(Ok(self.page.clone().into())))
    }
}

/// The state of the bare routes.
struct Bare {
    bank: Arc<Bank>,
    store: SqliteStore,
    key: VerifyingKey,
    signature: Vec<u8>,
    document: Document,
    /// The report, written once: what sending and receiving it costs.
    ready: Bytes,
}

impl Bare {
    async fn customer(&self, headers: &HeaderMap) -> Arc<Customer> {
        let key = ApiKeyHash::of(headers["apikey"].as_bytes());
        self.bank.customer_by_api_key(key).await.unwrap().unwrap()
    }
}

async fn bare_token(State(bare): State<Arc<Bare>>, headers: HeaderMap, body: Bytes) -> Vec<u8> {
    let customer = bare.customer(&headers).await;
    // As many bytes as an assertion's claims.
    bare.key.verify(&[b'x'; 400], &bare.signature).unwrap();
    let (token, now) = (AccessToken::generate().unwrap(), SystemClock.now());
    let until = now.saturating_add(Duration::from_secs(3600));
    let key: [u8; 32] = *token.hash().as_bytes();
    assert!(
        bare.store
            .claim(ReplayKey::new(key, until), now)
            .await
            .unwrap()
            && body.len() > 400
    );
    let grant = TokenGrant::new(customer.code.clone(), customer.scopes.clone(), now, until);
    bare.store.insert(token.hash(), grant).await.unwrap();
    format!(
        r#"{{"access_token":"{}","token_type":"Bearer","expires_in":3600}}"#,
        token.expose_secret()
    )
    .into_bytes()
}

async fn bare_statement(State(bare): State<Arc<Bare>>, headers: HeaderMap, body: Bytes) -> String {
    let customer = bare.customer(&headers).await;
    let token =
        AccessToken::from_authorization(headers["authorization"].to_str().unwrap()).unwrap();
    assert!(
        bare.store
            .find(token.hash(), SystemClock.now())
            .await
            .unwrap()
            .is_some()
            && !body.is_empty()
    );
    let page = bare.bank.page.clone();
    assert!(page.next.is_none() && *customer.code.as_str() == *"ACME");
    bare.document.to_xml().unwrap()
}

struct World {
    client: reqwest::Client,
    base: String,
    token: String,
    signing: SigningKey,
    /// Removed with the store's file at the end.
    _folder: TempDir,
}

impl World {
    async fn start(entries: u64) -> Self {
        let signing = SigningKey::generate(RsaSize::Rsa2048).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store =
            SqliteStore::open(folder.path().join("provider.db"), Default::default()).unwrap();
        let scopes: ScopeSet = names::STATEMENT_READ.parse().unwrap();
        let keys = KeySet::new([signing.verifying_key()]).unwrap();
        let customer = Arc::new(Customer::new("ACME".parse().unwrap(), keys, scopes.clone()));
        let document = Document::parse(bankrail_benches::report::report(entries))
            .unwrap()
            .document;
        let held = document.reports[0].entries.iter();
        let held = held.map(|entry| LedgerEntry::new(entry.clone(), EntryChannel::FastPayment));
        let facts = RegisteredAccount::new(Currency::AUD);
        let page = LedgerPage::new(
            facts,
            "1245500.00".parse().unwrap(),
            "2021-07-29".parse().unwrap(),
        );
        let stored = stored(&store, held.clone()).await;
        let bank = Arc::new(Bank {
            customer,
            page: page.with_entries(held),
        });
        let mut limits = Limits::default();
        limits.set_default(CallType::Token, Policy::unlimited());
        limits.set_default(CallType::Statement, Policy::unlimited());
        let limiter = Limiter::new(limits, Arc::new(MemoryCounters::default()));
        let limiter = Arc::new(limiter);
        let provider = |ledger: Arc<dyn Ledger>| {
            let verifier =
                Verifier::new(Audience::parse(AUDIENCE).unwrap(), VerifierOptions::new());
            let options = ProviderOptions::new().limiter(limiter.clone());
            Provider::new(
                bank.clone(),
                ledger,
                Arc::new(store.clone()),
                verifier,
                options,
            )
            .unwrap()
            .router()
        };
        let over_file = axum::Router::new().nest("/stored", provider(stored));
        let provider = provider(bank.clone());
        let (token, now) = (AccessToken::generate().unwrap(), SystemClock.now());
        let until = now.saturating_add(Duration::from_secs(3600));
        store
            .insert(
                token.hash(),
                TokenGrant::new("ACME".parse().unwrap(), scopes, now, until),
            )
            .await
            .unwrap();
        let signature = signing.sign(&[b'x'; 400]).unwrap();
        let bare = Bare {
            bank,
            store,
            key: signing.verifying_key(),
            signature,
            ready: document.to_xml().unwrap().into(),
            document,
        };
        let bare = axum::Router::new()
            .route("/bare/auth", post(bare_token))
            .route("/bare/statement", post(bare_statement))
            .route(
                "/bare/ready",
                post(async |State(bare): State<Arc<Bare>>| bare.ready.clone()),
            )
            .with_state(Arc::new(bare));
        let (base, client) = serve(provider.merge(over_file).merge(bare));
        Self {
            client,
            base,
            token: token.expose_secret().to_owned(),
            signing,
            _folder: folder,
        }
    }

    fn form(&self) -> String {
        let assertion = AssertionBuilder::new(
            CustomerCode::parse("ACME").unwrap(),
            Audience::parse(AUDIENCE).unwrap(),
            AssertionOptions::new().jwt_id(JwtId::Random),
        )
        .sign(&self.signing, SystemClock.now())
        .unwrap();
        TokenRequest::new(assertion, names::STATEMENT_READ.parse().unwrap()).to_form()
    }

    /// Makes the calls, and returns how many were answered per second.
    async fn calls(&self, path: &str, bodies: Vec<String>) -> f64 {
        let media = if path.ends_with("auth") {
            "application/x-www-form-urlencoded"
        } else {
            "application/json"
        };
        let prepared = bodies.len();
        let mut lanes = [const { Vec::new() }; AT_ONCE];
        for (number, body) in bodies.into_iter().enumerate() {
            let request = self
                .client
                .post(format!("{}{path}", self.base))
                .header("apikey", "api-key");
            lanes[number % AT_ONCE].push(
                request
                    .bearer_auth(&self.token)
                    .header("content-type", media)
                    .body(body),
            );
        }
        let begun = Instant::now();
        let mut running = JoinSet::new();
        for lane in lanes {
            running.spawn(async move {
                for request in lane {
                    let response = request.send().await.unwrap();
                    assert_eq!(response.status(), 200);
                    assert!(!response.bytes().await.unwrap().is_empty());
                }
            });
        }
        while let Some(ended) = running.join_next().await {
            ended.unwrap();
        }
        f64::from(u32::try_from(prepared).unwrap()) / begun.elapsed().as_secs_f64()
    }
}

/// A ledger in the file with the same entries, booked today.
async fn stored(
    store: &SqliteStore,
    entries: impl Iterator<Item = LedgerEntry>,
) -> Arc<dyn Ledger> {
    let (ledger, account) = (SqliteLedger::new(store.clone()), ACCOUNT.parse().unwrap());
    ledger
        .open_account(&account, "0.00 AUD".parse().unwrap())
        .await
        .unwrap();
    let accounts = vec![(account.clone(), RegisteredAccount::new(Currency::AUD))];
    ledger
        .register(&"ACME".parse().unwrap(), accounts)
        .await
        .unwrap();
    let today = Booking::new(
        BookingKind::Fee,
        "1.00 AUD".parse().unwrap(),
        SystemClock.now().date(),
    )
    .to_entry();
    let today = today.unwrap().entry.booking_date;
    for mut held in entries {
        held.entry.booking_date = today.clone();
        ledger.book_entry(&account, &held, None).await.unwrap();
    }
    Arc::new(ledger)
}

/// Starts a server with a self-signed certificate, and makes a client that trusts it.
fn serve(router: axum::Router) -> (String, reqwest::Client) {
    let key = rcgen::KeyPair::generate().unwrap();
    let own = rcgen::CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let server = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let server = server
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key)
        .unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(own.der().clone()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let client = client.with_root_certificates(roots).with_no_client_auth();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(client)
        .http1_only()
        .no_proxy()
        .build()
        .unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let base = format!(
        "https://localhost:{}",
        listener.local_addr().unwrap().port()
    );
    let server =
        axum_server::from_tcp_rustls(listener, RustlsConfig::from_config(Arc::new(server)))
            .unwrap();
    tokio::spawn(server.serve(router.into_make_service()));
    (base, client)
}
