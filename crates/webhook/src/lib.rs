//! Webhook messages about mandates, payments and queries: typed, validated, each processed once, in the right order.
//!
//! What it is: the four messages with every member ([`MandateActionOutcome`], [`MandateNotification`],
//! [`PaymentOutcome`], [`QueryNotification`]) and what a receiver and a sender must do with them.
//!
//! What it is not: it seals and opens nothing (that is `bankrail-secured-payload`), sends and receives nothing, and stores
//! nothing (that is `bankrail-mailbox`).
//!
//! ```
//! use bankrail_values::HyphenatedUuid;
//! use bankrail_webhook::{Message, MessageKind, PaymentOutcome, Rule, TransactionStatus};
//!
//! // What a receiver does with an opened message.
//! let json = br#"{
//!     "creation_date_time": "2021-07-29T01:02:03.450Z",
//!     "transaction_status": "RJCT",
//!     "instruction_identification": "I-42",
//!     "member_of_a_later_release": 1
//! }"#;
//! let parsed = Message::from_json(MessageKind::PaymentOutcome, json)?;
//! let rules: Vec<Rule> = parsed.findings.iter().map(|finding| finding.rule).collect();
//! assert_eq!(rules, [Rule::UnknownMember, Rule::RejectionReason]);
//! let message_id: HyphenatedUuid = "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11".parse()?;
//! let key = parsed.message.duplicate_key("CUSTOMERCODE", message_id);
//! assert_eq!(key.hashes().len(), 1);
//!
//! // What a sender builds: the same rules, before anything is sent.
//! let outcome = PaymentOutcome::new("2021-07-29T01:02:03.450Z".parse()?, TransactionStatus::Warehoused)
//!     .uetr(bankrail_webhook::Uetr::parse("ba5eba11-0000-4000-8000-00000000002a")?)
//!     .checked()?;
//! assert!(outcome.to_json().starts_with(br#"{"creation_date_time":"2021-07-29T01:02:03.450Z","transaction_status":"PDNG""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Strict out, tolerant in
//!
//! A received message is refused ([`MessageError`]) if it is not JSON, has duplicate members, is over a bound, or
//! breaks a format or bound of the specification. Everything else odd about it is a [`Finding`]: bounds that are only
//! documented defaults, `null` for an optional member, other than three fractional digits, unknown codes and members,
//! values that do not agree. Unknown codes and members are kept and written back. [`ReadOptions::deny_findings`]
//! refuses findings too, those of consistency excepted. What is sent has none but of consistency: [`Message::outgoing`]
//! sees to it.
//!
//! Read values are kept, spellings are not: timestamps are written with three fractional digits, UUIDs in lower case,
//! amounts without leading zeros, and `null` members not at all.
//!
//! # The nouns
//!
//! | | |
//! |---|---|
//! | [`Message`], [`MessageKind`] | any of the four, and which; the path each is received at |
//! | [`alias`] | payment aliases, plain and strict, and the ABN and ACN checksums |
//! | [`headers`] | the headers that go with each kind |
//! | [`Message::duplicate_key`], [`Message::fingerprint`] | the same message again, or another under the same key |
//! | [`Message::incoming`], [`Message::outgoing`] | into an inbox, into an outbox |
//! | [`Acknowledgement`] | the answer |
//! | [`history`] | where a payment or a mandate stands, from messages in any order |
//! | [`samples`] | one good message for each status, trigger and kind of case |
//!
//! # Security
//!
//! - Reading allocates in proportion to the message, which is bounded ([`ReadOptions::max_bytes`], 256 members an
//!   object, 32 levels).
//! - Errors and findings quote a piece of the message, cut to 40 characters and escaped, in `found`: where payload must
//!   stay out of logs, log `rule` and `pointer`. Messages themselves print in `Debug`; stored entries do not.
//! - [`Message::incoming`] must get a payload that was opened and verified: nothing here tells a forged message from a
//!   true one.
//! - The outbox holds plain JSON, and so does the inbox: protect both as the ledger is protected.

#![forbid(unsafe_code)]

mod acknowledgement;
mod amended;
mod amount;
mod codes;
mod counts;
mod duplicate;
mod error;
mod finding;
mod ids;
mod json;
mod mailbox;
mod mask;
mod time_of_day;

pub mod alias;
pub mod headers;
pub mod history;
pub mod message;
pub mod samples;

pub use acknowledgement::Acknowledgement;
pub use amended::Amended;
pub use amount::Amount;
pub use codes::*;
pub use counts::{CountPerPeriod, PointInTime};
pub use error::{BuildError, MessageError};
pub use finding::{Finding, Rule, RuleClass, Severity};
pub use headers::{DeliveryHeaders, HeaderError, Priority};
pub use ids::{ActionId, IdError, MandateId, Uetr};
pub use json::ExtraMembers;
pub use mailbox::{MAX_OUTGOING_BYTES, OutgoingError};
pub use mask::AccountMask;
pub use message::details::{Amendment, BilateralAmendment, Change, Details, StatusChange};
pub use message::mandate_notification::{MandateNotification, ResolutionEvent};
pub use message::mandate_outcome::{MandateActionOutcome, OutcomeError};
pub use message::parties::{AmendedDebtor, CreditorInformation, DebtorInformation};
pub use message::payment_information::{AmendedPaymentInformation, PaymentInformation};
pub use message::payment_outcome::{OriginalTransaction, PaymentOutcome};
pub use message::query_notification::{MandateDetails, PaymentDetails, QueryNotification};
pub use message::{Message, MessageKind, Parsed, ReadOptions, WebhookMessage};
pub use time_of_day::{TimeOfDay, TimeOfDayError};
