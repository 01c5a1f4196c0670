//! The kinds of call that have limits of their own, and those limits.

mod own;

pub use own::{OwnCallType, OwnCallTypeError};

use crate::{Algorithm, Counting, Policy, Window};
use std::fmt;

/// Declares the call types: for each its documentation, its variant, its name and its windows,
/// longest first. Everything else about call types is derived from this list.
macro_rules! call_types {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal [$($window:expr),+];)+) => {
        /// A kind of call with limits of its own: the rows of the specification's table
        /// (Specification: "Limits"), two budgets for requests that prove nothing (Default), and
        /// those of other services ([`CallType::own`]).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum CallType {
            $($(#[$doc])+ $variant,)+
            /// A kind of call that the specification does not have: see [`CallType::own`].
            Own(OwnCallType),
        }

        /// The rows of the table by number.
        enum Row {
            $($variant,)+
        }

        impl CallType {
            /// All call types: the twelve of the specification's table in its order, then the two
            /// budgets for failures.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// A short name for keys, metrics and configuration, such as `mandate-creation`. It
            /// never changes.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Own(own) => own.name(),
                }
            }

            /// The windows of the specification's table, or of the budget for failures, longest
            /// first. None for a call type of one's own: [`default_limits`] has its policy.
            #[must_use]
            pub const fn default_windows(self) -> &'static [Window] {
                match self {
                    $(Self::$variant => const { &[$($window),+] },)+
                    Self::Own(_) => &[],
                }
            }

            pub(crate) const fn index(self) -> usize {
                match self {
                    $(Self::$variant => Row::$variant as usize,)+
                    Self::Own(own) => Self::ALL.len() + own.place(),
                }
            }
        }
    };
}

call_types! {
    /// GraphQL calls: 10,000 an hour, 5 a second.
    GraphQl = "graphql" [per_hour(10_000), per_second(5)];
    /// Authorisation (token): 10 an hour, 2 a second.
    Token = "token" [per_hour(10), per_second(2)];
    /// Foreign-exchange quote request: 500 an hour, 10 a second.
    FxQuote = "fx-quote" [per_hour(500), per_second(10)];
    /// Fast single payment: 30 a minute, 2 a second.
    FastPayment = "fast-payment" [per_minute(30), per_second(2)];
    /// Mandate status change: 10 a second.
    MandateStatusChange = "mandate-status-change" [per_second(10)];
    /// Mandate creation: 10 a second.
    MandateCreation = "mandate-creation" [per_second(10)];
    /// Payment instruction creation (MPIR): 5 a second.
    PaymentInstruction = "payment-instruction" [per_second(5)];
    /// Mandate details retrieval: 5 a second.
    MandateDetails = "mandate-details" [per_second(5)];
    /// Query resolution: 5 a second.
    QueryResolution = "query-resolution" [per_second(5)];
    /// Payments: 30 a minute, 2 a second.
    Payment = "payment" [per_minute(30), per_second(2)];
    /// Payment enquiry: 90 a minute, 2 a second.
    PaymentEnquiry = "payment-enquiry" [per_minute(90), per_second(2)];
    /// Statement / balance and transaction reporting: 25 an hour.
    Statement = "statement" [per_hour(25)];
    /// Token requests that prove nothing, such as one without a valid signature: 60 an hour, 5 a
    /// second (Default). They are not charged to [`CallType::Token`], so that an API key alone
    /// cannot use up a customer's tokens.
    TokenFailure = "token-failure" [per_hour(60), per_second(5)];
    /// Requests without a valid access token of the customer: 60 an hour, 5 a second (Default).
    BearerFailure = "bearer-failure" [per_hour(60), per_second(5)];
}

impl CallType {
    /// How many call types there can be.
    pub(crate) const PLACES: usize = Self::ALL.len() + OwnCallType::MOST;
}

/// The default limits of a call type: [`CallType::default_windows`] under [`Algorithm::Sliding`]
/// and [`Counting::Attempts`] (Default: which algorithm applies to which type is not shown); of
/// one's own, its policy.
///
/// ```
/// use bankrail_rate_limit::{CallType, default_limits};
/// let statement = default_limits(CallType::Statement);
/// assert_eq!(statement.windows().len(), 1);
/// assert_eq!(statement.windows()[0].limit(), 25);
/// ```
#[must_use]
pub fn default_limits(call_type: CallType) -> Policy {
    if let CallType::Own(own) = call_type {
        return *own.policy();
    }
    Policy::new(
        Algorithm::Sliding,
        Counting::Attempts,
        call_type.default_windows(),
    )
    .expect("the table's windows differ in length and are at most three")
}

impl fmt::Display for CallType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl std::str::FromStr for CallType {
    type Err = CallTypeError;
    fn from_str(text: &str) -> Result<Self, CallTypeError> {
        Self::ALL
            .into_iter()
            .find(|known| known.as_str() == text)
            .ok_or_else(|| CallTypeError {
                found: bankrail_values::excerpt(text),
            })
    }
}

/// A text that is not the name of a call type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a call type, found {found}")]
#[non_exhaustive]
pub struct CallTypeError {
    /// The text, cut and escaped.
    pub found: String,
}

const fn per_second(limit: u32) -> Window {
    checked(1_000, limit)
}

const fn per_minute(limit: u32) -> Window {
    checked(60_000, limit)
}

const fn per_hour(limit: u32) -> Window {
    checked(3_600_000, limit)
}

const fn checked(millis: u32, limit: u32) -> Window {
    match Window::from_millis(millis, limit) {
        Ok(window) => window,
        Err(_) => panic!("evaluated at compile time only, for the table's own numbers"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_type_is_at_its_index() {
        assert_eq!(
            CallType::ALL.map(CallType::index),
            std::array::from_fn(|at| at)
        );
        assert_eq!(size_of::<CallType>(), 1, "keys have no room for more");
    }
}
