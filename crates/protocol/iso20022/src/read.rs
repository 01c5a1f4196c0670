//! The reader over events: tokens, the open elements, findings and kept parts, and the cursor that
//! puts them together.

mod around;
mod attributes;
mod cursor;
mod declaration;
mod decode;
mod error;
mod events;
mod findings;
mod foreign;
mod keep;
mod namespaces;
mod options;
mod path;
mod scan;
mod strip;
mod tokens;

pub use around::{AppHeader, Around};
pub(crate) use cursor::Child;
pub use cursor::{Ahead, Cursor, CursorOver, Shape};
pub(crate) use decode::{Decoded, plain_text};
pub use error::{Halt, LimitKind, ReadError, ReadErrorKind};
pub(crate) use events::is_one_element;
pub use findings::FurtherFindings;
pub(crate) use keep::Sequence;
pub use options::{Mode, ReadLimits, ReadOptions};
pub(crate) use scan::growth;
pub use scan::{Odd, Scanner};
pub(crate) use tokens::StreamTokens;
pub use tokens::{Mark, TextTokens, Tokens};
