//! The sender's side of outcomes: records of the requests that they answer, and the choice of the
//! next outcome.
//!
//! - [`OriginalRequest`] keeps the values that each outcome echoes in its headers.
//! - [`PaymentInstruction`] keeps the stage of a payment instruction and makes its outcomes
//!   (Specification: "Payment instruction (MPIR) outcome rules").
//! - [`RecordedRequest`] is either, and [`RecordedRequest::check`] refuses a message that does not
//!   answer it.
//!
//! Keep these values where the requests are kept; with serde they are stored.

mod instruction;
mod request;

pub use instruction::{PaymentCondition, PaymentInstruction, ReportError};
pub use request::{OriginalRequest, RecordedRequest, RequestMismatchError};
