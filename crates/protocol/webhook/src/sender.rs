//! The sender's side of outcomes: what is kept of the requests that they answer, and which outcome
//! comes next.
//!
//! - [`OriginalRequest`] keeps what each outcome echoes in its headers.
//! - [`PaymentInstruction`] keeps where a payment instruction stands and makes its outcomes
//!   (Specification: "Payment instruction (MPIR) outcome rules").
//! - [`RecordedRequest`] is either, and [`RecordedRequest::check`] tells whether a message answers
//!   it.
//!
//! Keep these values where the requests are kept; with serde they are stored.

mod instruction;
mod request;

pub use instruction::{PaymentCondition, PaymentInstruction, ReportError};
pub use request::{OriginalRequest, RecordedRequest, RequestMismatchError};
