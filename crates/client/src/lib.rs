//! The customer's side over HTTP: tokens, statements, webhook receivers

#![forbid(unsafe_code)]

mod endpoint;
mod transport;

pub use endpoint::{AddressError, AddressFault};
pub use transport::{TlsError, TlsRoots, TransportError};
