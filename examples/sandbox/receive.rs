//! `sandbox receive`: the customer's webhook receivers, until Ctrl-C.

use crate::data::Data;
use crate::server::Server;
use bankrail::client::receivers::{Delivery, HandlerError, Handlers, Receivers, ReceiversOptions};
use bankrail::http::serve::Shutdown;
use bankrail::secured_payload::{OpenOptions, Opener};
use bankrail::stores::sqlite::SqliteStore;
use bankrail::webhook::{MandateActionOutcome, MandateNotification, MessageKind, PaymentOutcome, QueryNotification};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Receives until Ctrl-C. Messages and acknowledgements are stored in the folder's database.
pub(crate) async fn run(folder: &Path, port: u16, api_key: &str) -> Result<(), Box<dyn Error>> {
    let data = Data::open(folder)?;
    let inbox = Arc::new(SqliteStore::open(data.path("customer.sqlite"))?.inbox());
    let opener = Opener::new(data.keys.decryption.clone(), data.keys.signing.verifying_key())
        .with_options(OpenOptions::customer());
    let options = ReceiversOptions::new().retention(Duration::from_secs(90 * 86_400));
    let receivers = Receivers::new(opener, api_key, inbox, options)?;
    let handlers = Handlers::new()
        .mandate_outcome(mandate_outcome)
        .mandate_notification(mandate_notification)
        .payment_outcome(payment_outcome)
        .query(query);
    let worker = receivers.worker(handlers);
    let shutdown = Shutdown::on_signal()?;
    let server = Server::start(receivers.router(), &data.certificates, port)?;
    println!("receivers at   {}", server.base_url());
    for kind in MessageKind::ALL {
        println!("  POST {:<32} {kind}", kind.default_path());
    }
    println!("Ctrl-C stops.");
    worker.run(shutdown.wanted()).await;
    println!("stopping");
    server.stop().await
}

async fn mandate_outcome(received: Delivery<MandateActionOutcome>) -> Result<(), HandlerError> {
    let message = &received.message;
    println!("mandate outcome       {} of {}", message.status, message.creation_date_time);
    Ok(())
}

async fn mandate_notification(received: Delivery<MandateNotification>) -> Result<(), HandlerError> {
    let message = &received.message;
    println!("mandate notification  {} of {}", message.trigger, message.creation_date_time);
    Ok(())
}

async fn payment_outcome(received: Delivery<PaymentOutcome>) -> Result<(), HandlerError> {
    let message = &received.message;
    println!("payment outcome       {} of {}", message.transaction_status, message.creation_date_time);
    Ok(())
}

async fn query(received: Delivery<QueryNotification>) -> Result<(), HandlerError> {
    let message = &received.message;
    println!("payer query           {} of {}", message.case_id, message.creation_date_time);
    Ok(())
}
