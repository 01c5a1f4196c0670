//! A biller: `biller FOLDER ACCOUNT...`, with the folder of `sandbox serve`. It imports each new entry of the accounts
//! once, receives the bank's webhooks on port 9443, keeps the histories of mandates and payments, and prints each
//! change, until Ctrl-C. All it knows is in `biller.sqlite`, so that it may be killed at any time and started again.

use bankrail::client::receivers::keys::KeyFolder;
use bankrail::client::receivers::{Delivery, HandlerError, Handlers, Receivers, ReceiversOptions};
use bankrail::client::{
    Client, ClientOptions, Credentials, NewEntries, PolledAccount, Poller, TlsRoots, TokenCacheSecret,
};
use bankrail::http::serve::{Server, Shutdown, server_config};
use bankrail::jose::{DecryptionKey, SigningKey};
use bankrail::secured_payload::{OpenOptions, Opener};
use bankrail::stores::sqlite::{SqliteHistories, SqliteStore, Work};
use bankrail::values::StoreError;
use bankrail::webhook::history::Histories as _;
use bankrail::webhook::{MandateActionOutcome, MandateNotification, Message, PaymentOutcome, QueryNotification};
use serde_json::Value;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: biller FOLDER ACCOUNT...")?);
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    let bank: Value = serde_json::from_str(&file("customer.json")?)?;
    let text = |name: &str| bank.get(name).and_then(Value::as_str).ok_or_else(|| format!("customer.json: no {name}"));
    let store = Arc::new(SqliteStore::open(folder.join("biller.sqlite"))?);
    let table = "CREATE TABLE IF NOT EXISTS imported (id BLOB, amount TEXT)";
    store.transaction(|sql| sql.connection().execute_batch(table)).await?;

    let key = SigningKey::from_pem(&file("customer-assertion.pem")?)?;
    let credentials = Credentials::new(text("customer_code")?.parse()?, key, text("api_key")?);
    let secret = TokenCacheSecret::from_base64(file("token-cache.key")?.trim())?;
    let options = ClientOptions::new().audience(text("audience")?).counters(store.clone());
    let options = options.tls_roots(TlsRoots::OnlyPem(file("ca.pem")?.into())).token_cache(store.clone(), secret);
    let client = Client::new(credentials, text("base_url")?, options)?;
    let accounts: Result<Vec<_>, _> = std::env::args().skip(2).map(|id| id.parse().map(PolledAccount::new)).collect();
    let poller = Poller::transactional(client.statements(), store.clone(), accounts?, import);

    let (bank_keys, unusable) = KeyFolder::open(folder.join("bank-keys"))?;
    unusable.iter().for_each(|key| eprintln!("{key}"));
    let opener = Opener::new(DecryptionKey::from_pem(&file("customer-decryption.pem")?)?, bank_keys.keys());
    let options = ReceiversOptions::new().sender_keys(Arc::new(bank_keys));
    let receivers =
        Receivers::new(opener.with_options(OpenOptions::customer()), "receiver-key", Arc::new(store.inbox()), options)?;
    let handlers = Handlers::new()
        .transactional(keep::<MandateActionOutcome>)
        .transactional(keep::<MandateNotification>)
        .transactional(keep::<PaymentOutcome>)
        .transactional(keep::<QueryNotification>);
    let tls = server_config(file("server.pem")?.as_bytes(), file("server-key.pem")?.as_bytes())?;
    let server = Server::new(TcpListener::bind("127.0.0.1:9443").await?, tls, receivers.router());

    let shutdown = Shutdown::on_signal()?;
    let [one, two, three] = [0; 3].map(|_| shutdown.clone().wanted());
    let all = async { tokio::join!(poller.run(one), receivers.worker(handlers).run(two), server.run(three)) };
    tokio::select! {
        _ = all => Ok(()),
        Err(error) = print_changes(store.histories()) => Err(error.into()),
    }
}

/// Imports the new entries in the transaction that records them.
async fn import(new: NewEntries) -> Result<Work, Box<dyn Error + Send + Sync>> {
    let rows: Vec<_> = new.entries.iter().map(|new| (new.id, new.entry.amount.to_string())).collect();
    let insert = "INSERT INTO imported VALUES (?1, ?2)";
    Ok(Work::new(move |sql| rows.into_iter().try_for_each(|row| sql.connection().execute(insert, row).map(drop))))
}

/// Folds a message into the history of its mandate or payment, in the transaction that marks it as handled.
async fn keep<M: Into<Message>>(received: Delivery<M>) -> Result<Work, HandlerError> {
    let (message, at) = (received.message.into(), received.received_at);
    Ok(Work::new(move |sql| sql.apply_history("", &message, at).map(drop)))
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
