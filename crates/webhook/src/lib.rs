//! Mandate, payment and query webhook messages: types, validators, duplicate keys and ordering

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
mod kind;
mod mask;
mod time_of_day;

pub mod alias;
pub mod headers;
pub mod history;
pub mod message;
pub mod samples;
pub mod schedule;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;

pub use acknowledgement::Acknowledgement;
pub use amended::Amended;
pub use amount::Amount;
pub use codes::*;
pub use counts::{CountPerPeriod, PointInTime};
pub use duplicate::{DuplicateKey, Fingerprint, KeyHash, KeySource};
pub use error::{BuildError, MessageError};
pub use finding::{Finding, Rule, RuleClass, Severity};
pub use headers::{DeliveryHeaders, HeaderError, Priority};
pub use ids::{ActionId, IdError, MandateId, Uetr};
pub use json::ExtraMembers;
pub use kind::MessageKind;
pub use mask::AccountMask;
pub use message::details::{Amendment, BilateralAmendment, Change, Details, StatusChange};
pub use message::mandate_notification::{MandateNotification, ResolutionEvent};
pub use message::mandate_outcome::{MandateActionOutcome, OutcomeError};
pub use message::parties::{AmendedDebtor, CreditorInformation, DebtorInformation};
pub use message::payment_information::{AmendedPaymentInformation, PaymentInformation};
pub use message::payment_outcome::{OriginalTransaction, PaymentOutcome};
pub use message::query_notification::{MandateDetails, PaymentDetails, QueryNotification};
pub use message::{Message, Parsed, ReadOptions, WebhookMessage};
pub use store::inbox::{Inbox, InboxEntry, InboxState, Incoming, Verdict};
pub use store::outbox::{Attempt, AttemptNote, EndpointId, Outbox, OutboxEntry, Outgoing, OutgoingError};
pub use store::{EntryId, Lease, Owner};
pub use time_of_day::{TimeOfDay, TimeOfDayError};
