//! Webhook delivery.

mod https;
mod transport;
mod url;

pub use self::https::{HttpsTransport, HttpsTransportError};
pub use self::transport::{
    Transport, TransportError, TransportErrorKind, TransportFuture, TransportRequest, TransportResponse,
};
pub use self::url::{EndpointUrl, EndpointUrlError};
