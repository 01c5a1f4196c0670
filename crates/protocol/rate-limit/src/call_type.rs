//! The kinds of call that are limited separately, and their limits.

use crate::{Algorithm, Counting, Policy, Window};
use bankrail_values::ValueError;
use std::fmt;

/// A kind of call that is limited and counted separately: the rows of the specification's table
/// (Specification: "Limits"), two budgets for requests that prove nothing (Default), and eight for
/// other services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CallType {
    /// GraphQL calls: 10,000 an hour, 5 a second.
    GraphQl,
    /// Authorisation (token): 10 an hour, 2 a second.
    Token,
    /// Foreign-exchange quote request: 500 an hour, 10 a second.
    FxQuote,
    /// Fast single payment: 30 a minute, 2 a second.
    FastPayment,
    /// Mandate status change: 10 a second.
    MandateStatusChange,
    /// Mandate creation: 10 a second.
    MandateCreation,
    /// Payment instruction creation (MPIR): 5 a second.
    PaymentInstruction,
    /// Mandate details retrieval: 5 a second.
    MandateDetails,
    /// Query resolution: 5 a second.
    QueryResolution,
    /// Payments: 30 a minute, 2 a second.
    Payment,
    /// Payment enquiry: 90 a minute, 2 a second.
    PaymentEnquiry,
    /// Statement / balance and transaction reporting: 25 an hour.
    Statement,
    /// Token requests that prove nothing, such as one without a valid signature: 60 an hour, 5 a
    /// second (Default). They are not charged to [`CallType::Token`], so that an API key alone
    /// cannot use up a customer's tokens.
    TokenFailure,
    /// Requests without a valid access token of the customer: 60 an hour, 5 a second (Default).
    BearerFailure,
    /// A kind of call for another service, which the specification does not have. One call an hour
    /// is allowed until [`Limits::set_default`](crate::Limits::set_default) sets other limits, so
    /// that a missing call of it is noticed at once.
    Own1,
    /// A kind of call for another service, like [`CallType::Own1`].
    Own2,
    /// A kind of call for another service, like [`CallType::Own1`].
    Own3,
    /// A kind of call for another service, like [`CallType::Own1`].
    Own4,
    /// A kind of call for another service, like [`CallType::Own1`].
    Own5,
    /// A kind of call for another service, like [`CallType::Own1`].
    Own6,
    /// A kind of call for another service, like [`CallType::Own1`].
    Own7,
    /// A kind of call for another service, like [`CallType::Own1`].
    Own8,
}

impl CallType {
    /// The call types of this crate: the twelve of the specification's table in its order, then the
    /// two budgets for failures, without [`CallType::Own1`] to `Own8`.
    pub const ALL: [Self; 14] = [
        Self::GraphQl,
        Self::Token,
        Self::FxQuote,
        Self::FastPayment,
        Self::MandateStatusChange,
        Self::MandateCreation,
        Self::PaymentInstruction,
        Self::MandateDetails,
        Self::QueryResolution,
        Self::Payment,
        Self::PaymentEnquiry,
        Self::Statement,
        Self::TokenFailure,
        Self::BearerFailure,
    ];

    /// The number of all call types.
    pub(crate) const COUNT: usize = Self::Own8.index() + 1;

    /// Returns the name and the windows, longest first.
    const fn row(self) -> (&'static str, &'static [Window]) {
        match self {
            Self::GraphQl => ("graphql", const { &[per_hour(10_000), per_second(5)] }),
            Self::Token => ("token", const { &[per_hour(10), per_second(2)] }),
            Self::FxQuote => ("fx-quote", const { &[per_hour(500), per_second(10)] }),
            Self::FastPayment => ("fast-payment", const { &[per_minute(30), per_second(2)] }),
            Self::MandateStatusChange => ("mandate-status-change", const { &[per_second(10)] }),
            Self::MandateCreation => ("mandate-creation", const { &[per_second(10)] }),
            Self::PaymentInstruction => ("payment-instruction", const { &[per_second(5)] }),
            Self::MandateDetails => ("mandate-details", const { &[per_second(5)] }),
            Self::QueryResolution => ("query-resolution", const { &[per_second(5)] }),
            Self::Payment => ("payment", const { &[per_minute(30), per_second(2)] }),
            Self::PaymentEnquiry => (
                "payment-enquiry",
                const { &[per_minute(90), per_second(2)] },
            ),
            Self::Statement => ("statement", const { &[per_hour(25)] }),
            Self::TokenFailure => ("token-failure", const { &[per_hour(60), per_second(5)] }),
            Self::BearerFailure => ("bearer-failure", const { &[per_hour(60), per_second(5)] }),
            Self::Own1 => ("own-1", ONE_AN_HOUR),
            Self::Own2 => ("own-2", ONE_AN_HOUR),
            Self::Own3 => ("own-3", ONE_AN_HOUR),
            Self::Own4 => ("own-4", ONE_AN_HOUR),
            Self::Own5 => ("own-5", ONE_AN_HOUR),
            Self::Own6 => ("own-6", ONE_AN_HOUR),
            Self::Own7 => ("own-7", ONE_AN_HOUR),
            Self::Own8 => ("own-8", ONE_AN_HOUR),
        }
    }

    /// Returns the short name for keys, metrics and configuration, such as `mandate-creation`,
    /// which never changes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// Returns the windows of the specification's table, or of the budget for failures, longest
    /// first.
    #[must_use]
    pub const fn default_windows(self) -> &'static [Window] {
        self.row().1
    }

    pub(crate) const fn index(self) -> usize {
        // The discriminants count from 0, so they are the indexes in arrays by call type.
        self as usize
    }
}

/// The limit of [`CallType::Own1`] to `Own8` until another one is set.
const ONE_AN_HOUR: &[Window] = &[per_hour(1)];

/// Returns the default limits of a call type: [`CallType::default_windows`] under
/// [`Algorithm::Sliding`] and [`Counting::Attempts`] (Default: the specification does not state
/// which algorithm applies to which type).
///
/// ```
/// use bankrail_rate_limit::{CallType, default_limits};
/// let statement = default_limits(CallType::Statement);
/// assert_eq!(statement.windows().len(), 1);
/// assert_eq!(statement.windows()[0].limit(), 25);
/// ```
#[must_use]
pub fn default_limits(call_type: CallType) -> Policy {
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
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::ALL
            .into_iter()
            .find(|known| known.as_str() == text)
            .ok_or_else(|| ValueError::new("the name of a call type", text))
    }
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
        assert_eq!(CallType::Own1.index(), CallType::ALL.len());
        assert_eq!(size_of::<CallType>(), 1, "keys have no room for more");
    }
}
