//! The simple values of messages.

pub(crate) mod amount;
pub(crate) mod boolean;
pub(crate) mod date;
pub(crate) mod envelope;
pub(crate) mod identifier;
pub(crate) mod number;
pub(crate) mod text;
