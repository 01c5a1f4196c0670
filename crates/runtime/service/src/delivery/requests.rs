//! The provider's record of the requests that outcomes answer.

use bankrail_mailbox::EndpointId;
use bankrail_values::StoreFuture;
use bankrail_webhook::Message;
use bankrail_webhook::sender::RecordedRequest;
use std::fmt;

/// Finds the request that an outcome answers. The provider implements this over its existing
/// records of mandate and payment requests.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not find the requests that outcomes answer",
    label = "not a `RecordedRequests`",
    note = "implement `RecordedRequests` over the records of your mandate and payment requests"
)]
pub trait RecordedRequests: fmt::Debug + Send + Sync {
    /// Returns the request of the customer with this endpoint that an outcome answers, or `None` if
    /// there is none.
    ///
    /// A mandate outcome names its request by `request_id`, a payment outcome by
    /// `instruction_identification` or `uetr`. Other messages are not looked up.
    fn find<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        outcome: &'a Message,
    ) -> StoreFuture<'a, Option<RecordedRequest>>;
}
