//! `sandbox send`: one of each webhook message to a receiver.

use crate::data::Data;
use crate::delivery::{dispatcher, headers};
use crate::webhook_step::{deliver, others};
use bankrail::service::delivery::EndpointUrl;
use bankrail::stores::sqlite::SqliteStore;
use bankrail::values::SystemClock;
use bankrail::webhook::{Message, TransactionStatus, samples};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Delivers the messages one after the other, and stops at the first that is not answered 200. It stays in the outbox
/// of the folder.
pub(crate) async fn run(
    to: &str,
    folder: &Path,
    authority: Option<&Path>,
    api_key: &str,
    danger_allow_http: bool,
) -> Result<(), Box<dyn Error>> {
    let data = Data::open(folder)?;
    let base =
        if danger_allow_http { EndpointUrl::danger_allow_http_on_loopback(to)? } else { EndpointUrl::parse(to)? };
    let mut authorities = data.certificates.authority_pem.clone().into_bytes();
    if let Some(path) = authority {
        authorities.push(b'\n');
        authorities.extend(std::fs::read(path)?);
    }
    let outbox = Arc::new(SqliteStore::open(data.path("provider.sqlite"))?.outbox());
    let clock = Arc::new(SystemClock);
    let provider = dispatcher(base, api_key, &data.keys, authorities, outbox.clone(), clock)?;
    for status in [TransactionStatus::SettlementCompleted, TransactionStatus::Warehoused] {
        let message = Message::from(samples::payment_outcome(&status));
        deliver(&provider, &*outbox, &message, headers(message.kind())).await?;
    }
    for message in others()? {
        deliver(&provider, &*outbox, &message, headers(message.kind())).await?;
    }
    Ok(())
}
