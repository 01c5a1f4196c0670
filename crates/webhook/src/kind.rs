//! The four kinds of message and where each is received.

use std::fmt;

/// A kind of message (Specification: "Webhook receivers").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the specification has four receivers; a fifth is a new version")]
pub enum MessageKind {
    /// The outcome of a mandate action that the biller started.
    MandateOutcome,
    /// A payer's action on a mandate.
    MandateNotification,
    /// The outcome of a payment instruction that the biller started.
    PaymentOutcome,
    /// A payer's query.
    Query,
}

impl MessageKind {
    /// All four.
    pub const ALL: [Self; 4] = [Self::MandateOutcome, Self::MandateNotification, Self::PaymentOutcome, Self::Query];

    /// The path below the customer's base address. Default: `/payto/mandates/outcomes`,
    /// `/payto/mandates/notifications`, `/payto/mpirs/outcomes`, `/payto/queries`.
    #[must_use]
    pub const fn default_path(self) -> &'static str {
        match self {
            Self::MandateOutcome => "/payto/mandates/outcomes",
            Self::MandateNotification => "/payto/mandates/notifications",
            Self::PaymentOutcome => "/payto/mpirs/outcomes",
            Self::Query => "/payto/queries",
        }
    }

    /// A stable name, for stores and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MandateOutcome => "mandate_outcome",
            Self::MandateNotification => "mandate_notification",
            Self::PaymentOutcome => "payment_outcome",
            Self::Query => "query",
        }
    }

    /// The kind of a stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// True where `X-RequestKey` is required: the two kinds that answer a request (Specification: "Webhook receivers").
    #[must_use]
    pub const fn answers_a_request(self) -> bool {
        matches!(self, Self::MandateOutcome | Self::PaymentOutcome)
    }
}

impl fmt::Display for MessageKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::MandateOutcome => "mandate action outcome",
            Self::MandateNotification => "mandate notification",
            Self::PaymentOutcome => "payment instruction outcome",
            Self::Query => "query notification",
        })
    }
}
