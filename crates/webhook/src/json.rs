//! JSON in and out, one level at a time: values stay raw text until their type is known.

mod bound;
mod context;
mod extra;
mod raw;
mod slot;
mod wire;

pub(crate) use bound::Bound;
pub(crate) use context::Context;
pub use extra::ExtraMembers;
pub(crate) use raw::{Members, canonical, root, text, write_text};
pub(crate) use slot::{check, read, write};
pub(crate) use wire::{ObjectOut, Wire, wire_object};
