//! A biller without a mistake: what the cases are measured against.
use bankrail::client::SealingSecret;
use bankrail::client::receivers::{
    Conflict, Delivery, HandlerError, Handlers, ReceiversOptions, WorkerOptions,
};
use bankrail::client::{
    ClientOptions, Connection, LedgerChange, NewEntries, PolledAccount, Poller, PollerOptions,
};
use bankrail::http::serve::{ServerOptions, Shutdown};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore, SqliteWork};
use bankrail::values::MainError;
use bankrail::webhook::Message;
use std::error::Error;
use std::sync::Arc;

fn main() {
    drop(run());
}

async fn run() -> Result<(), MainError> {
    let shutdown = Shutdown::on_signal()?;
    let bank = Connection::open("bank")?;
    let store = Arc::new(SqliteStore::open("biller.sqlite", SqliteOptions::new())?);
    let secret = SealingSecret::open_or_create("token-cache.key")?;
    let client = bank.client(
        ClientOptions::new()
            .counters(store.clone())
            .token_cache((store.clone(), secret)),
    )?;
    let accounts = [PolledAccount::new("999001400100101".parse()?)];
    let poller = Poller::transactional(
        client.statements(),
        store.clone(),
        accounts,
        import,
        PollerOptions::new(),
    );
    let receivers = bank.receivers(Arc::new(store.inbox()), ReceiversOptions::new())?;
    let handlers = Handlers::new()
        .on_any_transactional(keep)
        .on_conflict(contradicted);
    let worker = receivers.worker(handlers, WorkerOptions::new());
    let server = bank
        .server(receivers.router(), ServerOptions::new())
        .await?;
    let stop = || shutdown.clone().wanted();
    poller.run(stop()).await;
    worker.run(stop()).await;
    server.run(stop()).await;
    store.close().await;
    Ok(())
}

async fn import(new: NewEntries) -> Result<SqliteWork, Box<dyn Error + Send + Sync>> {
    let (account, changes) = (new.account.clone(), new.changes());
    Ok(SqliteWork::new(move |sql| {
        changes.iter().try_for_each(|change| match change {
            LedgerChange::Remove { id, .. } => {
                let row = (account.as_str(), id.as_bytes());
                sql.connection()
                    .execute("DELETE FROM ledger WHERE account = ?1 AND id = ?2", row)
                    .map(drop)
            }
            LedgerChange::Add(one) => {
                let row = (account.as_str(), one.id.as_bytes(), one.amount.to_string());
                sql.connection()
                    .execute("INSERT INTO ledger VALUES (?1, ?2, ?3)", row)
                    .map(drop)
            }
        })
    }))
}

async fn keep(received: Delivery<Message>) -> Result<SqliteWork, HandlerError> {
    Ok(SqliteWork::new(move |sql| {
        sql.apply_history("", &received.message, received.received_at)
            .map(drop)
    }))
}

async fn contradicted(received: Delivery<Conflict>) -> Result<(), HandlerError> {
    println!(
        "message {} contradicts message {}",
        received.id, received.message.with
    );
    Ok(())
}
