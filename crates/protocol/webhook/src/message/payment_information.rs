//! The payment schedule and amounts of a mandate, and their amendment.

use crate::codes::{AmountType, PaymentFrequency};
use crate::counts::{CountPerPeriod, PointInTime};
use crate::json::{ExtraMembers, Wire};
use crate::time_of_day::TimeOfDay;
use crate::{Amended, MessageAmount};
use bankrail_values::Date;

/// The payment schedule and amounts of a mandate (Specification: "QueryNotification message",
/// `payment_information`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct PaymentInformation {
    /// The frequency of payments.
    pub payment_frequency: Option<PaymentFrequency>,
    /// No payment before this time of day.
    pub payment_execute_not_before_time: Option<TimeOfDay>,
    /// The number of payments in a period.
    pub count_per_period: Option<CountPerPeriod>,
    /// The day or week within the period.
    pub point_in_time: Option<PointInTime>,
    /// The way in which the amount of each payment is set.
    pub payment_amount_type: Option<AmountType>,
    /// The first payment's amount.
    pub first_payment_amount: Option<MessageAmount>,
    /// The last payment's amount.
    pub last_payment_amount: Option<MessageAmount>,
    /// Each payment's amount.
    pub amount: Option<MessageAmount>,
    /// The maximum amount of a payment.
    pub maximum_amount: Option<MessageAmount>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// A bilateral amendment's changes of the payment schedule and amounts (Default: as in a query,
/// plus two dates).
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct AmendedPaymentInformation {
    /// The frequency of payments.
    pub payment_frequency: Amended<PaymentFrequency>,
    /// No payment before this time of day.
    pub payment_execute_not_before_time: Amended<TimeOfDay>,
    /// The number of payments in a period.
    pub count_per_period: Amended<CountPerPeriod>,
    /// The day or week within the period.
    pub point_in_time: Amended<PointInTime>,
    /// The way in which the amount of each payment is set.
    pub payment_amount_type: Amended<AmountType>,
    /// The day of the first payment.
    pub first_payment_date: Amended<Date>,
    /// The first payment's amount.
    pub first_payment_amount: Amended<MessageAmount>,
    /// The day of the last payment.
    pub last_payment_date: Amended<Date>,
    /// The last payment's amount.
    pub last_payment_amount: Amended<MessageAmount>,
    /// Each payment's amount.
    pub amount: Amended<MessageAmount>,
    /// The maximum amount of a payment.
    pub maximum_amount: Amended<MessageAmount>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}
