//! JWT client assertions (RFC 7523) and the wire types of the client-credentials token exchange (RFC 6749)

#![forbid(unsafe_code)]

mod customer;
mod replay;
pub mod token;

pub use customer::{CustomerCode, CustomerCodeError};
pub use replay::{ReplayPolicy, ReplayStore};
