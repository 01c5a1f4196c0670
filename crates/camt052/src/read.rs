//! The reader: XML events with namespaces and positions, directed by the statements of the schema.

mod ahead;
mod attributes;
mod capture;
mod content;
mod cursor;
mod declaration;
mod decode;
mod document;
mod entries;
mod error;
mod events;
mod keep;
mod names;
mod namespaces;
mod nested;
mod options;
mod parts;
mod report;
mod scan;
mod start;
mod strip;
mod tokens;

pub(crate) use capture::is_one_element;
pub(crate) use cursor::{Cursor, Halt, Record};
pub use document::Parsed;
pub use entries::{EntryReader, StreamItem};
pub use error::{LimitKind, ReadError, ReadErrorKind};
pub(crate) use nested::refused_document;
pub use options::{Limits, Mode, ReadOptions};
pub(crate) use scan::{Odd, Scanner};
pub(crate) use tokens::Tokens;
