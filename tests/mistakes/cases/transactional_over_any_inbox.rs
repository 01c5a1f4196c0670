//! An inbox that is chosen when the program runs has no transaction.
//! says: use the type itself, not `dyn Inbox`
use bankrail::client::receivers::{
    Delivery, HandlerError, Handlers, Receivers, Worker, WorkerOptions,
};
use bankrail::stores::sqlite::{SqliteWork, rusqlite};
use bankrail::webhook::Message;

async fn keep(_: Delivery<Message>) -> Result<SqliteWork, HandlerError> {
    Ok(SqliteWork::new(|_| Ok::<_, rusqlite::Error>(())))
}

fn work(receivers: &Receivers) -> Worker {
    receivers.worker(
        Handlers::new().on_any_transactional(keep),
        WorkerOptions::new(),
    )
}

fn main() {}
