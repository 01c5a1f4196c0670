//! The four webhook receivers, as an axum [`Router`](axum::Router) and as plain tower services, and
//! the worker that handles what they stored (Specification: "Webhook receivers").
//!
//! A delivery passes, in this order: the API key, the size limit, the headers, the envelope,
//! decryption and verification, the message of the receiver's own kind, the inbox. Then it is
//! answered 200 with the acknowledgement. After that, a [`Worker`] takes the message from the inbox
//! and handles it.
//!
//! | what | answer |
//! |---|---|
//! | the message is stored, by this delivery or an earlier one | 200, the stored acknowledgement |
//! | the same duplicate key with other content | 200, a new acknowledgement; the message goes to [`Handlers::on_conflict`] |
//! | the API key is wrong or absent | 401, empty |
//! | malformed, unauthentic, another kind of message, a required header absent | 400, always the same body |
//! | not `POST` | 405, empty |
//! | the body did not arrive in time | 408, empty |
//! | the body is larger than allowed | 413, empty |
//! | not `application/json` | 415, empty |
//! | the inbox or a remote decryption key failed | 500 |
//!
//! ```
//! # #[cfg(any(feature = "aws-lc", feature = "josekit"))]
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use bankrail_client::receivers::{
//!     Conflict, Delivery, HandlerError, Handlers, Receivers, ReceiversOptions, WorkerOptions,
//! };
//! use bankrail_jose::{RsaSize, SigningKey, DecryptionKey};
//! use bankrail_secured_payload::{OpenOptions, Opener};
//! use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
//! use bankrail_webhook::PaymentOutcome;
//! use std::sync::Arc;
//!
//! async fn paid(outcome: Delivery<PaymentOutcome>) -> Result<(), HandlerError> {
//!     println!("{}: {}", outcome.headers.message_id, outcome.message.transaction_status);
//!     Ok(())
//! }
//!
//! async fn contradicted(received: Delivery<Conflict>) -> Result<(), HandlerError> {
//!     eprintln!("message {} contradicts message {}", received.id, received.message.with);
//!     Ok(())
//! }
//!
//! let (mine, theirs) = (DecryptionKey::generate(RsaSize::Rsa2048)?, SigningKey::generate(RsaSize::Rsa2048)?);
//! let inbox = Arc::new(SqliteStore::open_in_memory(SqliteOptions::new())?.inbox());
//! let opener = Opener::new(mine, theirs.verifying_key(), OpenOptions::new())?;
//! let receivers = Receivers::new(opener, "our-api-key", inbox, ReceiversOptions::new())?;
//! let router: axum::Router = receivers.router();
//! // Without `on_conflict` a message that contradicts an earlier one becomes a dead letter.
//! let handlers = Handlers::new().on(paid).on_conflict(contradicted);
//! let worker = receivers.worker(handlers, WorkerOptions::new());
//! // `serve::Server` of `bankrail-http` serves the router, and beside it `worker.run(stop)` handles the messages.
//! # let _ = (router, worker);
//! # Ok(())
//! # }
//! # #[cfg(any(feature = "aws-lc", feature = "josekit"))]
//! # example().unwrap();
//! ```
//!
//! The history of a mandate or payment can be kept in the inbox's store, and changes in the
//! transaction that marks the message as handled. A message in conflict does not get there, because
//! another handler takes it:
//!
//! ```
//! use bankrail_client::receivers::{Delivery, Handlers};
//! use bankrail_stores::sqlite::{SqliteInbox, SqliteWork};
//! use bankrail_webhook::MandateNotification;
//!
//! # fn example() -> Handlers<SqliteInbox> {
//! Handlers::new().on_transactional(|received: Delivery<MandateNotification>| async move {
//!     let message = received.message.into();
//!     Ok(SqliteWork::new(move |transaction| transaction.apply_history("", &message, received.received_at).map(|_| ())))
//! })
//! # }
//! ```
//!
//! `SqliteStore::histories` then finds them by id, lists them by state, and reports changes. An
//! [`OutcomeWatch`] over them warns of outcomes that were announced and do not come.
//!
//! The sender learns no reason of a refusal. The operator finds it in the log.
//! [`ReceiversOptions::observe`] notifies a program of the outcome of each delivery, with the stage
//! that it did not pass.
//!
//! Handled messages are kept so that a duplicate is recognised. They are kept without end, unless
//! [`ReceiversOptions::retention`] or a retention of the inbox is set, or the caller runs
//! [`Inbox::forget`](bankrail_mailbox::Inbox::forget). Keep them longer than a sender delivers a
//! message: published schedules take some three days, and a sender may resend dead letters later.
//! Messages that are older than the retention are refused, because the inbox would take a forgotten
//! one for new. Dead letters of the inbox stay until they are resent.

mod all;
mod delivery;
mod handler;
pub mod keys;
mod observe;
mod options;
mod outcomes;
mod refusal;
mod service;
mod worker;

/// The crate of the router, with the requests of `http` that a [`Receiver`] takes.
pub use axum;

pub use all::Receivers;
pub use handler::{Conflict, Delivery, Handler, HandlerError, Handlers, TransactionalHandler};
pub use observe::{DeliveryStage, ObservedDelivery, ObservedOutcome};
pub use options::{ReceiversOptions, ReceiversOptionsError};
pub use outcomes::{OutcomeWatch, OutcomeWatchOptions};
pub use service::Receiver;
pub use worker::{Worker, WorkerCheckError, WorkerCounts, WorkerOptions};
