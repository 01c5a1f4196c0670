//! The customer's side over HTTP: tokens, statements, webhook receivers

#![forbid(unsafe_code)]

mod client;
mod endpoint;
mod pace;
pub mod receivers;
mod statement;
mod token;
mod transport;

pub use client::{BuildError, Client, ClientBuilder, Customer};
pub use endpoint::{AddressError, AddressFault};
pub use pace::Pacing;
pub use statement::{FetchedPage, Pages, Statement, StatementClient, StatementError, StatementPage, UnreadablePayload};
pub use token::{Token, TokenError, TokenSource};
pub use transport::{TlsError, TlsRoots, TransportError};
