//! The sender's side of outcomes: records of the requests that outcomes answer, and the choice of
//! the next outcome.
//!
//! - [`OriginalRequest`] keeps the values that each outcome echoes in its headers.
//! - [`PaymentInstruction`] records the stage of a payment instruction and makes its outcomes
//!   (Specification: "Payment instruction (MPIR) outcome rules").
//! - [`RecordedRequest`] is one of the two, and [`RecordedRequest::check`] refuses a message that
//!   does not answer it.
//!
//! Store these values together with the requests; they implement serde's traits.

mod instruction;
mod request;

pub use instruction::{PaymentCondition, PaymentInstruction, ReportError};
pub use request::{OriginalRequest, RecordedRequest, RequestMismatchError};
