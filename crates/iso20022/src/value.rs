//! What leaves of the message hold.

pub(crate) mod amount;
pub(crate) mod boolean;
pub(crate) mod code;
mod countries;
pub(crate) mod date;
pub(crate) mod envelope;
pub(crate) mod identifier;
pub(crate) mod number;
pub(crate) mod text;
