//! `sandbox serve`: keeps the provider running for other programs.

use crate::bank::{Bank, CUSTOMER};
use crate::data::Data;
use crate::files::{make_private_folder, write_private};
use crate::keys::BANK_KID;
use crate::server::{Server, base_url, listen};
use bankrail::client_assertion::token::names;
use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail::http::serve::Shutdown;
use bankrail::rate_limit::{CallType, Limiter, Policy};
use bankrail::service::{CursorSecret, Provider, ProviderOptions};
use bankrail::stores::sqlite::SqliteStore;
use bankrail::testing::TestAccount;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// The audience that assertions must name. It is a fixed value and not the address, whose port may change.
pub(crate) const AUDIENCE: &str = "https://localhost/v1.0/auth";

/// The folder of the bank's public keys.
const BANK_KEYS: &str = "bank-keys";

/// Whether calls are limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Limits {
    /// The limits of the specification.
    On,
    /// No limits.
    Off,
}

/// Serves until Ctrl-C.
pub(crate) async fn run(folder: &Path, port: u16, limits: Limits) -> Result<(), Box<dyn Error>> {
    let data = Data::open(folder)?;
    let api_key = data.secret("api-key")?;
    let store = Arc::new(SqliteStore::open(data.path("provider.sqlite"))?);
    let bank = Arc::new(Bank::new(&api_key, data.keys.assertion.verifying_key())?);
    let audience = Audience::parse(AUDIENCE)?;
    let listener = listen(port)?;
    let base_url = base_url(listener.local_addr()?);
    let options = ProviderOptions::new()
        .issuer(&base_url)
        .limiter(limiter(limits))
        .cursor_secret(cursor_secret(&data)?)
        .report_time_zone("Australia/Sydney")
        .rate_limit_headers(true);
    // Client libraries start from the issuer's address and need no further settings.
    let verifier = Verifier::new(audience.clone()).with_options(VerifierOptions::new().lenient_clients());
    let provider = Provider::new(bank.clone(), bank, store.clone(), store, verifier, options)?;
    let server = Server::start_on(listener, provider.router(), &data.certificates)?;
    let assertion = data.assertion(&audience)?;
    write_bank_key(&data)?;
    write_token_cache_key(&data)?;
    write_private(&data.path("customer.json"), &customer_file(&base_url, &audience, &api_key))?;
    let shutdown = Shutdown::on_signal()?;
    print_help(&data, &base_url, &api_key, &assertion);

    shutdown.wanted().await;
    println!("stopping");
    server.stop().await
}

/// A limiter that counts in this process's memory.
fn limiter(limits: Limits) -> Arc<Limiter> {
    let limiter = Limiter::default();
    if limits == Limits::Off {
        limiter.change_limits(|limits| {
            for call_type in CallType::ALL {
                limits.set_default(call_type, Policy::unlimited());
            }
        });
    }
    Arc::new(limiter)
}

/// Prints an assertion of the customer.
pub(crate) fn print_assertion(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("{}", Data::open(folder)?.assertion(&Audience::parse(AUDIENCE)?)?);
    Ok(())
}

/// A secret that is kept, so that cursors from before a restart are valid after it.
fn cursor_secret(data: &Data) -> Result<CursorSecret, Box<dyn Error>> {
    let text = data.secret("cursor-secret-a")? + &data.secret("cursor-secret-b")?;
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let mut secret = [0; 32];
    for (byte, pair) in secret.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair)?, 16)?;
    }
    Ok(CursorSecret::from_bytes(secret))
}

/// Writes the public key with which the bank's webhooks are verified. Its name is its `kid`.
fn write_bank_key(data: &Data) -> Result<(), Box<dyn Error>> {
    let folder = data.path(BANK_KEYS);
    make_private_folder(&folder)?;
    Ok(std::fs::write(folder.join(format!("{BANK_KID}.pem")), data.keys.signing.verifying_key().to_spki_pem())?)
}

/// Writes the secret under which the customer's programs keep their token, unless it is there.
fn write_token_cache_key(data: &Data) -> Result<(), Box<dyn Error>> {
    let path = data.path("token-cache.key");
    if !path.exists() {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        write_private(&path, &STANDARD.encode(secret))?;
    }
    Ok(())
}

/// The settings of a customer's program. File names are relative to the folder of this file.
fn customer_file(base_url: &str, audience: &Audience, api_key: &str) -> String {
    let file = json!({
        "customer_code": CUSTOMER,
        "api_key": api_key,
        "assertion_key": "customer-assertion.pem",
        "audience": audience.as_str(),
        "ca": "ca.pem",
        "bank_keys": BANK_KEYS,
        "base_url": base_url,
        "issuer": base_url,
        "token_url": format!("{base_url}/v1.0/auth"),
        "statement_url": format!("{base_url}/accounts/v2.0/statement"),
        "scope": names::STATEMENT_READ,
        "accounts": TestAccount::ALL.iter().map(|account| account.id().to_string()).collect::<Vec<_>>(),
    });
    format!("{file:#}\n")
}

fn print_help(data: &Data, base_url: &str, api_key: &str, assertion: &str) {
    let ca = data.path("ca.pem");
    let (ca, folder) = (ca.display(), data.folder.display());
    println!("provider       {base_url}");
    println!("contract       {base_url}/openapi.json");
    println!("metadata       {base_url}/.well-known/openid-configuration");
    println!("data           {folder}");
    println!("CA file        {ca}");
    println!("for programs   {}\n", data.path("customer.json").display());
    println!("test accounts");
    for account in TestAccount::ALL {
        println!("  {:<16} {}  {}", account.id().as_str(), account.opening().currency(), account.shows());
    }
    println!("  {:<16}      never found\n", TestAccount::UNKNOWN);
    let program = "cargo run -q -p bankrail-examples --example sandbox --";
    println!("a token (its assertion is valid for an hour; `{program} assertion --data '{folder}'` prints another):\n");
    println!(
        "TOKEN=$(curl -sS --cacert '{ca}' -H 'apikey: {api_key}' -d grant_type=client_credentials \
         -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer -d scope={} \
         -d client_assertion={assertion} {base_url}/v1.0/auth | tee /dev/stderr | sed -n \
         's/.*\"access_token\":\"\\([^\"]*\\)\".*/\\1/p')\n",
        names::STATEMENT_READ
    );
    let account = TestAccount::ALL.first().map(|account| account.id().to_string()).unwrap_or_default();
    println!("a statement:\n");
    println!(
        "curl -sS -i --cacert '{ca}' -H 'apikey: {api_key}' -H \"Authorization: Bearer $TOKEN\" \
         -H 'Content-Type: application/json' -d '{{\"accountId\":\"{account}\",\"includeNarrative\":true}}' \
         {base_url}/accounts/v2.0/statement\n"
    );
    println!("webhooks: a receiver, and one delivery of each message to it (or, with --to, to yours):\n");
    println!("{program} receive --data '{folder}'");
    println!("{program} send --data '{folder}' --to https://localhost:9443\n");
    println!("Ctrl-C stops.");
}
