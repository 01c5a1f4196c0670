//! A biller: `biller FOLDER ACCOUNT...`, with a folder that `bankrail provider` makes for a demo customer. Its file
//! `connection.toml` says what the biller and its bank have arranged. The biller imports each new entry of the accounts
//! once, receives the bank's webhooks, keeps the histories of mandates and payments, and prints each change, until
//! Ctrl-C. All it knows is in `biller.sqlite`, so that it may be killed at any time and started again.

use bankrail::client::receivers::keys::KeyFolder;
use bankrail::client::receivers::{Delivery, HandlerError, Handlers, Receivers, ReceiversOptions};
use bankrail::client::{
    Client, ClientOptions, Credentials, NewEntries, PolledAccount, Poller, PollerOptions, TlsRoots, TokenCacheSecret,
};
use bankrail::http::serve::{Server, ServerOptions, Shutdown, server_config};
use bankrail::jose::{DecryptionKey, SigningKey};
use bankrail::secured_payload::{OpenOptions, Opener};
use bankrail::stores::sqlite::{SqliteHistories, SqliteOptions, SqliteStore, SqliteWork};
use bankrail::values::StoreError;
use bankrail::webhook::Message;
use bankrail::webhook::history::Histories as _;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;
use toml::{Table, Value};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: biller FOLDER ACCOUNT...")?);
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    let bank = connection(&file("connection.toml")?)?;
    let text = |name: &str| member(&bank, name).ok_or_else(|| format!("connection.toml: no {name}"));
    let store = Arc::new(SqliteStore::open(folder.join("biller.sqlite"), SqliteOptions::new())?);
    let table =
        "CREATE TABLE IF NOT EXISTS imported (account TEXT, id BLOB, amount TEXT, currency TEXT, booked_on TEXT)";
    store.transaction(|sql| sql.connection().execute_batch(table)).await?;

    let key = SigningKey::from_pem(&file(text("signing_key")?)?)?;
    let credentials = Credentials::new(text("customer")?.parse()?, key, text("api_key")?);
    let secret = token_secret(&folder)?;
    let options = ClientOptions::new().audience(text("audience")?).counters(store.clone());
    let options =
        options.tls_roots(TlsRoots::OnlyPem(file(text("roots")?)?.into())).token_cache((store.clone(), secret));
    let client = Client::new(credentials, text("base_url")?, options)?;
    let accounts: Result<Vec<_>, _> = std::env::args().skip(2).map(|id| id.parse().map(PolledAccount::new)).collect();
    let poller = Poller::transactional(client.statements(), store.clone(), accounts?, import, PollerOptions::new());

    let (bank_keys, unusable) = KeyFolder::open(folder.join(text("receivers.provider_keys")?))?;
    unusable.iter().for_each(|key| eprintln!("{key}"));
    let key = DecryptionKey::from_pem(&file(text("receivers.decryption_key")?)?)?;
    let opener = Opener::new(key, bank_keys.keys(), OpenOptions::new())?;
    let options = ReceiversOptions::new().sender_keys(Arc::new(bank_keys));
    let receivers = Receivers::new(opener, text("receivers.api_key")?, Arc::new(store.inbox()), options)?;
    let handlers = Handlers::new().on_any_transactional(keep);
    let (chain, key) = (file(text("receivers.certificate")?)?, file(text("receivers.certificate_key")?)?);
    let tls = server_config(chain.as_bytes(), key.as_bytes())?;
    let listener = TcpListener::bind(text("receivers.listen")?).await?;
    let server = Server::new(listener, tls, receivers.router(), ServerOptions::new());

    let shutdown = Shutdown::on_signal()?;
    let [one, two, three] = [0; 3].map(|_| shutdown.clone().wanted());
    let all = async { tokio::join!(poller.run(one), receivers.worker(handlers).run(two), server.run(three)) };
    tokio::select! {
        _ = all => {}
        Err(error) = print_changes(store.histories()) => return Err(error.into()),
    }
    SqliteStore::clone(&store).close().await;
    Ok(())
}

/// What the biller and its bank have arranged. An error does not quote it, because it holds secrets.
fn connection(text: &str) -> Result<Value, String> {
    let table: Table =
        text.parse().map_err(|error: toml::de::Error| format!("connection.toml: {}", error.message()))?;
    Ok(Value::Table(table))
}

/// The text of a member, such as `receivers.listen`.
fn member<'a>(connection: &'a Value, name: &str) -> Option<&'a str> {
    name.split('.').try_fold(connection, |table, name| table.get(name))?.as_str()
}

/// The secret that seals the token in the store. It is made once, and readable by its owner alone.
fn token_secret(folder: &Path) -> Result<TokenCacheSecret, Box<dyn Error>> {
    let file = folder.join("token-cache.key");
    if !file.exists() {
        let mut secret = [0; TokenCacheSecret::LEN];
        getrandom::fill(&mut secret)?;
        let mut whole = tempfile::NamedTempFile::new_in(folder)?;
        whole.write_all(&secret)?;
        whole.persist(&file)?;
    }
    let secret = std::fs::read(file)?.try_into().map_err(|_| "token-cache.key: expected 32 bytes")?;
    Ok(TokenCacheSecret::from_bytes(secret))
}

/// Imports the new booked entries in the transaction that records them. An amount is negative for a debit.
async fn import(new: NewEntries) -> Result<SqliteWork, Box<dyn Error + Send + Sync>> {
    let movements = new.movements()?;
    let insert = "INSERT INTO imported VALUES (?1, ?2, ?3, ?4, ?5)";
    Ok(SqliteWork::new(move |sql| {
        movements.iter().try_for_each(|one| {
            let (amount, currency) = (one.amount.amount().to_string(), one.amount.currency());
            let booked_on = one.booked_on.map(|day| day.to_string());
            let row = (one.account.as_str(), one.id, amount, currency.as_str(), booked_on);
            sql.connection().execute(insert, row).map(drop)
        })
    }))
}

/// Folds a message into the history of its mandate or payment, in the transaction that marks it as handled.
async fn keep(received: Delivery<Message>) -> Result<SqliteWork, HandlerError> {
    let (message, at) = (received.message, received.received_at);
    Ok(SqliteWork::new(move |sql| sql.apply_history("", &message, at).map(drop)))
}

async fn print_changes(histories: SqliteHistories) -> Result<(), StoreError> {
    let mut last = 0;
    loop {
        for kept in histories.changes_after(last, 100).await? {
            kept.ids.iter().for_each(|id| println!("{id} {}", kept.state()));
            last = kept.change;
        }
        histories.changed_after(last).await?;
    }
}
