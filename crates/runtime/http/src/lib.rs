#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

mod body;
pub mod content;
mod cpu_pool;
mod endpoint;
#[cfg(feature = "endpoint-url")]
mod endpoint_url;
pub mod files;
mod head_bounds;
mod line_bound;
pub mod names;
#[cfg(feature = "operations")]
pub mod operations;
#[cfg(feature = "endpoint-url")]
mod proxy;
#[cfg(feature = "endpoint-url")]
mod public_address;
mod recurring;
mod request_key;
mod retry_after;
#[cfg(any(feature = "serve", feature = "tls"))]
mod rustls_parts;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "tls")]
pub mod tls;

pub use bankrail_values::RequestKey;
pub use body::{BodyError, BodyReader, DRAINING, Peer};
pub use cpu_pool::CpuPool;
pub use endpoint::{AnswerBy, Endpoint, EndpointFault, KnownCaller, serve};
#[cfg(feature = "endpoint-url")]
pub use endpoint_url::{AddressError, AddressFault, EndpointUrl};
pub use head_bounds::{
    HeadBounds, HeadBoundsFuture, HeadBoundsLayer, HeadBoundsService, HeadFault,
};
pub use line_bound::LineBound;
#[cfg(feature = "endpoint-url")]
pub use proxy::{Proxy, ProxyError};
#[cfg(feature = "endpoint-url")]
pub use public_address::is_public;
pub use recurring::{FORGET_EVERY, Recurring};
pub use request_key::{RequestKeyFuture, RequestKeyLayer, RequestKeyService};
pub use retry_after::RetryAfter;

/// The crate of bodies' bytes.
pub use bytes;
/// The crate of requests, answers and headers.
pub use http;
/// The crate of the configurations of TLS.
#[cfg(any(feature = "serve", feature = "tls"))]
pub use rustls;
/// The crate of the address that [`EndpointUrl::url`] returns.
#[cfg(feature = "endpoint-url")]
pub use url;
