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
#[doc(hidden)]
pub mod content;
mod cpu_pool;
mod endpoint;
#[cfg(feature = "endpoint-url")]
mod endpoint_url;
#[doc(hidden)]
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
#[cfg(feature = "secret")]
mod secret;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "tls")]
pub mod tls;

pub use bankrail_values::RequestKey;
pub use cpu_pool::CpuPool;
pub use endpoint::{AnswerBy, KnownCaller};
#[cfg(feature = "endpoint-url")]
pub use endpoint_url::{AddressError, AddressErrorKind, EndpointUrl};
pub use head_bounds::{
    HeadBounds, HeadBoundsFuture, HeadBoundsLayer, HeadBoundsService, HeadError,
};
#[cfg(feature = "endpoint-url")]
pub use proxy::{Proxy, ProxyError};
pub use request_key::{RequestKeyFuture, RequestKeyLayer, RequestKeyService};
#[cfg(feature = "secret")]
pub use secret::{SecretError, SecretFileError};

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

/// Items for the sibling crates of exactly this version. They change without notice.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "endpoint-url")]
    pub use crate::public_address::is_public;
    #[cfg(feature = "secret")]
    pub use crate::secret::{open_or_create_secret, secret_from_base64};
    pub use crate::{
        body::{BodyError, BodyReader, DRAINING, Peer},
        endpoint::{Endpoint, EndpointFault, serve},
        line_bound::LineBound,
        recurring::{FORGET_EVERY, Recurring},
        retry_after::RetryAfter,
    };
}
