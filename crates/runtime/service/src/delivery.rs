//! Webhook delivery: each message of the outbox is delivered to a customer's receiver at least once
//! (Specification: "Events").
//!
//! - [`Dispatcher`] enqueues and delivers messages:
//!   - It refuses a message that breaks the specification.
//!   - It repeats a failed delivery on a schedule with jitter, and not before a `Retry-After`,
//!     which after 429 and 503 applies to all messages to the endpoint.
//!   - It stops an endpoint that answers 410, and pauses one that keeps failing, until it
//!     answers. The outbox stores both states, so that all dispatchers over it act alike.
//!   - It sends all waiting messages to an endpoint on request: [`Dispatcher::resume`].
//!   - It records every delivery, without payload.
//!   - It reports its deliveries and its outbox: [`Dispatcher::snapshot`].
//! - [`RecordedRequests`] is the provider's record of the requests that outcomes answer.
//! - [`Endpoint`] is a customer's receiver; [`EndpointUrl`] is its address, `https` only.
//! - [`Transport`] sends requests; [`HttpsTransport`] does so over HTTPS.
//!
//! Delivered messages stay in the outbox, for support and so that no message is enqueued twice,
//! until [`DispatcherOptions::retention`] has passed or the caller runs
//! [`Outbox::forget`](bankrail_mailbox::Outbox::forget). The outbox has messages as plain JSON.
//! Each delivery seals its message with the endpoint's current keys.

mod breaker;
mod dispatcher;
mod endpoint;
mod https;
mod requests;
mod snapshot;
mod transport;

pub use self::breaker::BreakerPolicy;
pub use self::dispatcher::{Dispatcher, DispatcherOptions, EnqueueError, MissingAcknowledgement};
pub use self::endpoint::{Endpoint, EndpointError, Endpoints, SealFuture, SealPayload};
pub use self::https::{HttpsTransport, HttpsTransportError, HttpsTransportOptions};
pub use self::requests::RecordedRequests;
pub use self::snapshot::{CircuitState, DispatcherSnapshot, EndpointSnapshot, RunningDelivery};
pub use self::transport::{
    Transport, TransportError, TransportErrorKind, TransportFuture, TransportRequest,
    TransportResponse, UpFuture,
};
pub use bankrail_http::CpuPool;
pub use bankrail_http::tls::{ClientCertificate, TlsRoots};
pub use bankrail_http::{AddressError, AddressErrorKind, EndpointUrl, Proxy, ProxyError};
/// The crates whose types are in [`TransportRequest`] and [`TransportResponse`].
pub use bankrail_http::{bytes, http, url};
