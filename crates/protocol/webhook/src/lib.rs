#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

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
#[doc(hidden)]
pub mod schema;
pub mod sender;
#[cfg(feature = "testing")]
pub mod testing;

pub use acknowledgement::Acknowledgement;
pub use amended::Amended;
pub use amount::MessageAmount;
pub use bankrail_values::{Decimal, UnknownCode};
pub use codes::*;
pub use counts::{CountPerPeriod, PointInTime};
pub use error::MessageError;
pub use finding::{MessageFinding, Rule, RuleClass};
pub use headers::{DeliveryHeaderError, DeliveryHeaders, Priority};
pub use ids::{ActionId, MandateId, Uetr};
pub use json::ExtraMembers;
pub use mailbox::{MAX_OUTGOING_BYTES, OutgoingError, OutgoingOptions};
pub use mask::AccountMask;
pub use message::details::{Amendment, BilateralAmendment, Change, Details, StatusChange};
pub use message::mandate_notification::{MandateNotification, ResolutionEvent};
pub use message::mandate_outcome::{MandateActionOutcome, OutcomeErrorDetails};
pub use message::parties::{AmendedDebtor, CreditorInformation, DebtorInformation};
pub use message::payment_information::{AmendedPaymentInformation, PaymentInformation};
pub use message::payment_outcome::{OriginalTransaction, PaymentOutcome};
pub use message::query_notification::{
    MandateDetails, PaymentDetails, QueryNotification, ReminderError,
};
pub use message::{
    EachKind, Message, MessageKind, MessageReadOptions, ParsedMessage, WebhookMessage,
};
pub use time_of_day::TimeOfDay;
