//! Runs all steps.

use crate::bank::{Bank, CUSTOMER};
use crate::keys::Keys;
use crate::server::Server;
use crate::tls::Certificates;
use crate::{limits_step, statement_step, token_step, webhook_step};
use bankrail::client::{Client, ClientOptions, Credentials, Pacing, TlsRoots};
use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail::rate_limit::Policy;
use bankrail::service::{Provider, ProviderOptions};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use bankrail::values::{Clock, ManualClock, SystemClock};
use std::error::Error;
use std::sync::Arc;

/// The API key of the sandbox's customer.
const API_KEY: &str = "sandbox-api-key-0b7c2f6e8a1d41eb8dcd0242ac130003";

/// A running provider and its customer.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) base_url: String,
    pub(crate) audience: Audience,
    pub(crate) api_key: &'static str,
    pub(crate) keys: Keys,
    pub(crate) certificates: Certificates,
    pub(crate) client: Client,
    /// A plain HTTP client, for headers that the bank's client does not show.
    pub(crate) http: reqwest::Client,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) folder: tempfile::TempDir,
}

/// Runs every step. The first step that fails ends the run with an error that names it.
pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    println!("starting both sides with new keys and certificates");
    let (sandbox, server) = start()
        .await
        .map_err(|error| format!("the start failed: {error}"))?;
    println!("provider at {}\n", sandbox.base_url);

    println!("== 1. an access token");
    named("1. an access token", token_step::run(&sandbox).await)?;
    println!("\n== 2. statements");
    let calls = named("2. statements", statement_step::run(&sandbox).await)?;
    println!("\n== 3. webhooks");
    named("3. webhooks", webhook_step::run(&sandbox).await)?;
    println!("\n== 4. the rate limit");
    named("4. the rate limit", limits_step::run(&sandbox, calls).await)?;

    server.stop().await?;
    println!("\nall steps did what the specification says");
    Ok(())
}

fn named<T>(step: &str, outcome: Result<T, Box<dyn Error>>) -> Result<T, Box<dyn Error>> {
    outcome.map_err(|error| format!("step {step} failed: {}", with_causes(&*error)).into())
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

/// Returns an error that names what was expected, unless it holds.
pub(crate) fn expect(holds: bool, expected: &str) -> Result<(), Box<dyn Error>> {
    if holds {
        Ok(())
    } else {
        Err(format!("expected {expected}").into())
    }
}

async fn start() -> Result<(Sandbox, Server), Box<dyn Error>> {
    let keys = Keys::generate()?;
    let certificates = Certificates::generate()?;
    // The sandbox's clock is set to the current time and then stands still, so that no hour ends
    // between two steps.
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let audience = Audience::parse("https://localhost/v1.0/auth")?;
    let folder = tempfile::tempdir()?;
    let store = Arc::new(SqliteStore::open(
        folder.path().join("provider.sqlite"),
        SqliteOptions::new(),
    )?);
    let bank = Arc::new(Bank::new(API_KEY, keys.assertion.verifying_key())?);
    let options = ProviderOptions::new()
        .clock(clock.clone())
        .report_time_zone("Australia/Sydney");
    let verifier = Verifier::new(audience.clone(), VerifierOptions::new());
    let provider = Provider::new(bank.clone(), bank, store, verifier, options)?;
    let server = Server::start(provider.router(), &certificates).await?;
    let base_url = server.base_url();
    let credentials = Credentials::new(CUSTOMER.parse()?, keys.assertion.clone(), API_KEY);
    let roots = TlsRoots::OnlyPem(certificates.authority_pem.clone().into_bytes());
    // The client has no limits, because the sandbox shows those of the provider.
    let options = ClientOptions::new()
        .audience(audience.as_str())
        .tls_roots(roots)
        .pacing(Pacing::Fail)
        .token_limits(Policy::unlimited())
        .statement_limits(Policy::unlimited())
        .clock(clock.clone());
    let client = Client::new(credentials, &base_url, options)?;
    let authority = reqwest::Certificate::from_pem(certificates.authority_pem.as_bytes())?;
    let http = reqwest::Client::builder()
        .tls_certs_only([authority])
        .https_only(true)
        .build()?;
    Ok((
        Sandbox {
            base_url,
            audience,
            api_key: API_KEY,
            keys,
            certificates,
            client,
            http,
            clock,
            folder,
        },
        server,
    ))
}
