//! `sandbox serve`: keeps the provider running for other programs.

use crate::accounts::{ACCOUNTS, UNKNOWN_ACCOUNT};
use crate::bank::{Bank, CUSTOMER};
use crate::data::Data;
use crate::files::write_private;
use crate::server::Server;
use bankrail::client_assertion::token::names;
use bankrail::client_assertion::{Audience, Verifier};
use bankrail::service::{CursorSecret, Provider, ProviderOptions};
use bankrail::stores::sqlite::SqliteStore;
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// The audience that assertions must name. It is a fixed value and not the address, whose port may change.
pub(crate) const AUDIENCE: &str = "https://localhost/v1.0/auth";

/// Serves until Ctrl-C.
pub(crate) async fn run(folder: &Path, port: u16) -> Result<(), Box<dyn Error>> {
    let data = Data::open(folder)?;
    let api_key = data.secret("api-key")?;
    let store = Arc::new(SqliteStore::open(data.path("provider.sqlite"))?);
    let bank = Arc::new(Bank::new(&api_key, data.keys.assertion.verifying_key())?);
    let audience = Audience::parse(AUDIENCE)?;
    let options =
        ProviderOptions::new().cursor_secret(cursor_secret(&data)?).report_offset_minutes(600).rate_limit_headers(true);
    let verifier = Verifier::new(audience.clone());
    let provider = Provider::new(bank.clone(), bank, store.clone(), store, verifier, options)?;
    let server = Server::start(provider.router(), &data.certificates, port)?;
    let base_url = server.base_url();
    let assertion = data.assertion(&audience)?;
    write_private(&data.path("customer.json"), &customer_file(&base_url, &audience, &api_key))?;
    print_help(&data, &base_url, &api_key, &assertion);

    stopped().await?;
    println!("stopping");
    server.stop().await
}

/// Prints an assertion of the customer.
pub(crate) fn print_assertion(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("{}", Data::open(folder)?.assertion(&Audience::parse(AUDIENCE)?)?);
    Ok(())
}

/// Waits for Ctrl-C, or for the signal with which a supervisor ends a service.
pub(crate) async fn stopped() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            outcome = tokio::signal::ctrl_c() => outcome,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
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

/// The settings of a customer's program. File names are relative to the folder of this file.
fn customer_file(base_url: &str, audience: &Audience, api_key: &str) -> String {
    let file = json!({
        "customer_code": CUSTOMER,
        "api_key": api_key,
        "assertion_key": "customer-assertion.pem",
        "audience": audience.as_str(),
        "ca": "ca.pem",
        "token_url": format!("{base_url}/v1.0/auth"),
        "statement_url": format!("{base_url}/accounts/v2.0/statement"),
        "scope": names::STATEMENT_READ,
        "accounts": ACCOUNTS.iter().map(|account| account.id).collect::<Vec<_>>(),
    });
    format!("{file:#}\n")
}

fn print_help(data: &Data, base_url: &str, api_key: &str, assertion: &str) {
    let ca = data.path("ca.pem");
    let (ca, folder) = (ca.display(), data.folder.display());
    println!("provider       {base_url}");
    println!("data           {folder}");
    println!("CA file        {ca}");
    println!("for programs   {}\n", data.path("customer.json").display());
    println!("test accounts");
    for account in &ACCOUNTS {
        println!("  {:<16} {}  {}", account.id, account.currency, account.shows);
    }
    println!("  {UNKNOWN_ACCOUNT:<16}      never found\n");
    let program = "cargo run -q -p bankrail-examples --example sandbox --";
    println!("a token (its assertion is valid for an hour; `{program} assertion --data '{folder}'` prints another):\n");
    println!(
        "TOKEN=$(curl -sS --cacert '{ca}' -H 'apikey: {api_key}' -d grant_type=client_credentials \
         -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer -d scope={} \
         -d client_assertion={assertion} {base_url}/v1.0/auth | tee /dev/stderr | sed -n \
         's/.*\"access_token\":\"\\([^\"]*\\)\".*/\\1/p')\n",
        names::STATEMENT_READ
    );
    let account = ACCOUNTS.first().map_or("", |account| account.id);
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
