//! The payment schedule and amounts of a mandate, and their amendment.

use crate::MessageAmount;
use crate::codes::{AmountType, PaymentFrequency};
use crate::counts::{CountPerPeriod, PointInTime};
use crate::json::wire_object;
use crate::time_of_day::TimeOfDay;
use bankrail_values::Date;

wire_object! {
    /// The payment schedule and amounts of a mandate (Specification: "QueryNotification message",
    /// `payment_information`).
    #[derive(Default)]
    pub struct PaymentInformation {
        /// How often payments fall due.
        optional payment_frequency: PaymentFrequency = "payment_frequency",
        /// No payment before this time of day.
        optional payment_execute_not_before_time: TimeOfDay = "payment_execute_not_before_time",
        /// The number of payments in a period.
        optional count_per_period: CountPerPeriod = "count_per_period",
        /// The day or week within the period.
        optional point_in_time: PointInTime = "point_in_time",
        /// How the amount of each payment is set.
        optional payment_amount_type: AmountType = "payment_amount_type",
        /// The first payment's amount.
        optional first_payment_amount: MessageAmount = "first_payment_amount",
        /// The last payment's amount.
        optional last_payment_amount: MessageAmount = "last_payment_amount",
        /// Each payment's amount.
        optional amount: MessageAmount = "amount",
        /// The maximum amount of a payment.
        optional maximum_amount: MessageAmount = "maximum_amount",
    }
}

wire_object! {
    /// A bilateral amendment's changes of the payment schedule and amounts (Default: as in a query,
    /// plus two dates).
    #[derive(Default)]
    pub struct AmendedPaymentInformation {
        /// How often payments fall due.
        amended payment_frequency: PaymentFrequency = "payment_frequency",
        /// No payment before this time of day.
        amended payment_execute_not_before_time: TimeOfDay = "payment_execute_not_before_time",
        /// The number of payments in a period.
        amended count_per_period: CountPerPeriod = "count_per_period",
        /// The day or week within the period.
        amended point_in_time: PointInTime = "point_in_time",
        /// How the amount of each payment is set.
        amended payment_amount_type: AmountType = "payment_amount_type",
        /// The day of the first payment.
        amended first_payment_date: Date = "first_payment_date",
        /// The first payment's amount.
        amended first_payment_amount: MessageAmount = "first_payment_amount",
        /// The day of the last payment.
        amended last_payment_date: Date = "last_payment_date",
        /// The last payment's amount.
        amended last_payment_amount: MessageAmount = "last_payment_amount",
        /// Each payment's amount.
        amended amount: MessageAmount = "amount",
        /// The maximum amount of a payment.
        amended maximum_amount: MessageAmount = "maximum_amount",
    }
}
