//! The values of a request that an outcome echoes.

use super::PaymentInstruction;
use crate::headers::{CORRELATION_ID, DeliveryHeaders, REQUEST_KEY};
use crate::message::Message;
use bankrail_values::HyphenatedUuid;

/// The keys of a mandate or payment instruction request, recorded when the request was acknowledged
/// (Specification: "Webhook receivers", header meanings).
///
/// ```
/// use bankrail_webhook::DeliveryHeaders;
/// use bankrail_webhook::sender::OriginalRequest;
/// let request = OriginalRequest::new("2d1e8c34-7f60-4b1f-8a3d-5b9c0e6f7a21".parse()?);
/// let headers = DeliveryHeaders::answering(&request, "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11".parse()?);
/// assert_eq!(headers.request_key, Some(request.request_key()));
/// # Ok::<(), bankrail_values::ValueError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct OriginalRequest {
    request_key: HyphenatedUuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    correlation_id: Option<HyphenatedUuid>,
}

impl OriginalRequest {
    /// Returns the record of a request whose acknowledgement had this `X-RequestKey`.
    #[must_use]
    pub fn new(request_key: HyphenatedUuid) -> Self {
        Self {
            request_key,
            correlation_id: None,
        }
    }

    /// Adds the `X-Correlation-Id` that the request had.
    #[must_use]
    pub fn with_correlation_id(mut self, id: HyphenatedUuid) -> Self {
        self.correlation_id = Some(id);
        self
    }

    /// Returns the `X-RequestKey` of the request's acknowledgement.
    #[must_use]
    pub fn request_key(&self) -> HyphenatedUuid {
        self.request_key
    }

    /// Returns the `X-Correlation-Id` of the request, if it had one.
    #[must_use]
    pub fn correlation_id(&self) -> Option<HyphenatedUuid> {
        self.correlation_id
    }

    /// Checks that headers echo this request: they need the same `X-RequestKey`, and may have no
    /// other `X-Correlation-Id` than the request.
    ///
    /// # Errors
    /// [`RequestMismatchError::Header`].
    pub fn check(&self, headers: &DeliveryHeaders) -> Result<(), RequestMismatchError> {
        if headers.request_key != Some(self.request_key) {
            return Err(RequestMismatchError::Header { name: REQUEST_KEY });
        }
        // The header may be absent, but must not have another value.
        if headers.correlation_id.is_some() && headers.correlation_id != self.correlation_id {
            return Err(RequestMismatchError::Header {
                name: CORRELATION_ID,
            });
        }
        Ok(())
    }
}

/// A request that an outcome answers, as the sender recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordedRequest {
    /// A mandate action.
    Mandate(OriginalRequest),
    /// A payment instruction.
    Payment(PaymentInstruction),
}

impl RecordedRequest {
    /// Returns the values that the outcomes of the request echo.
    #[must_use]
    pub fn original(&self) -> &OriginalRequest {
        match self {
            Self::Mandate(request) => request,
            Self::Payment(instruction) => instruction.request(),
        }
    }

    /// Checks that a message with these headers answers this request: the headers must echo it, and
    /// a payment outcome must have been made by [`PaymentInstruction::report`].
    ///
    /// # Errors
    /// [`RequestMismatchError`].
    pub fn check(
        &self,
        message: &Message,
        headers: &DeliveryHeaders,
    ) -> Result<(), RequestMismatchError> {
        match (self, message) {
            (Self::Mandate(request), Message::MandateOutcome(_)) => request.check(headers),
            (Self::Payment(instruction), Message::PaymentOutcome(outcome)) => {
                instruction.request().check(headers)?;
                instruction.check(outcome)
            }
            _ => Err(RequestMismatchError::Kind),
        }
    }
}

/// The reason why a message does not answer the recorded request. The error shows neither keys nor
/// identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestMismatchError {
    /// The message is of a kind other than the request's outcomes.
    #[error("expected an outcome of the request's kind, found another message")]
    Kind,
    /// A header does not echo the request.
    #[error("header {name}: expected the value of the original request, found another")]
    Header {
        /// The name of the header.
        name: &'static str,
    },
    /// The payment outcome is about another instruction.
    #[error("{pointer}: expected the value of the instruction, found another")]
    Instruction {
        /// The JSON pointer to the member that differs.
        pointer: &'static str,
    },
    /// The payment outcome has a status that was not reported, so it was not made by
    /// [`PaymentInstruction::report`](super::PaymentInstruction::report).
    #[error("/transaction_status: expected a status that was reported, found another")]
    Status,
}
