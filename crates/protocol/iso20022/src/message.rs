//! A whole message, and how it is read, streamed, written and checked.
//!
//! Each of these modules uses only those before it: `read`, `stream`, `output`, `check`, `write`.

mod check;
mod output;
mod read;
mod stream;
mod write;

pub use check::{check, check_schema};
pub use output::{WriteError, to_version};
pub use read::{
    Parsed, Source, finish, options_for, parse, parse_any, parse_counting, read, read_counting,
};
pub use stream::{Documents, Progress, StreamItem, UnitReader};
pub use write::{WriteOptions, append_json_content, to_xml, write_json_string, write_to};

use crate::field::Tag;
use crate::node::{Node, Record};
use crate::read::Shape;
use crate::version::Version;
use std::fmt;

/// A message, as the derive `Message` implements it.
pub trait Message: Node + Record + Clone + PartialEq + fmt::Debug + 'static {
    /// The part of the message before the groups.
    type Header;
    /// A group of units.
    type Group: Node + Record;
    /// The repeated element of a group, such as an entry.
    type Unit: Node;
    /// The names of the message for the cursor.
    const SHAPE: &'static Shape;
    /// The message's element.
    const ROOT: &'static Tag;
    /// The tags of a unit.
    const UNIT: &'static Tag;
    /// Returns the version of the document.
    fn version(&self) -> Version;
    /// Sets the version of the document.
    fn set_version(&mut self, version: Version);
    /// Returns the header, once it has been read.
    fn header(slots: &Self::Slots) -> Option<&Self::Header>;
}
