//! Webhook delivery: what the outbox holds reaches the customers' receivers, at least once each (Specification: "Events").
//!
//! - [`Dispatcher`] enqueues and delivers. It refuses what is not to the letter of the specification, retries on a
//!   schedule with jitter, waits as long as a `Retry-After` asks (after 429 and 503 with all messages to the endpoint),
//!   stops an endpoint that answers 410, leaves alone for a while one that keeps failing, and records every attempt
//!   without payload.
//! - [`Endpoint`]s say where to, [`EndpointUrl`] which addresses are allowed: `https` only.
//! - [`Transport`] carries requests; [`HttpsTransport`] is the one of this crate.
//!
//! Delivered messages stay in the outbox, for support and so that nothing is enqueued twice: for ever, unless
//! [`DispatcherOptions::retention`] says how long, or the caller runs [`Outbox::forget`](bankrail_mailbox::Outbox::forget).
//! Messages lie in it as plain JSON and are sealed anew for each attempt, with the keys of that time.

mod attempt;
mod breaker;
mod dispatcher;
mod endpoint;
mod https;
mod transport;
mod url;

pub use self::breaker::BreakerPolicy;
pub use self::dispatcher::{Dispatcher, DispatcherOptions, EnqueueError, NoRandomness, Unacknowledged};
pub use self::endpoint::{Endpoint, EndpointError, Endpoints, SealFuture, SealPayload};
pub use self::https::{HttpsTransport, HttpsTransportError, HttpsTransportOptions};
pub use self::transport::{
    Transport, TransportError, TransportErrorKind, TransportFuture, TransportRequest, TransportResponse,
};
pub use self::url::{EndpointUrl, EndpointUrlError};
pub use bankrail_http::tls::TlsRoots;
