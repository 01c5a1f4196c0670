//! The reader over events: tokens, the open elements, findings and kept parts, and the cursor that puts them together.

mod attributes;
mod capture;
mod content;
mod cursor;
mod declaration;
mod decode;
mod document;
mod error;
mod events;
mod findings;
mod halt;
mod judge;
mod keep;
mod namespaces;
mod options;
mod path;
mod start;
mod strip;
mod tokens;
mod unknown;

pub(crate) use attributes::resolve;
pub(crate) use capture::is_one_element;
pub use cursor::{Cursor, Shape};
pub(crate) use decode::{Decoded, plain_text};
pub use error::{LimitKind, ReadError, ReadErrorKind};
pub(crate) use events::push_lines;
pub use halt::Halt;
pub(crate) use judge::{is_number_type, is_text_type, refused_document};
pub(crate) use keep::Sequence;
pub use options::{Mode, ReadLimits, ReadOptions};
pub(crate) use path::Step;
pub(crate) use strip::{ends_name, strip};
pub(crate) use tokens::StreamTokens;
pub use tokens::{Mark, TextTokens, Tokens};
