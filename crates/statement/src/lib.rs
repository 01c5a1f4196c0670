//! The intraday statement exchange: request, response, errors, cursors, paging and entry de-duplication

#![forbid(unsafe_code)]

mod account;
mod cursor;
mod error_body;
mod finding;
mod json;
mod paging;
mod reply;
mod request;
mod response;
mod seen;
mod walk;

pub use account::{AccountId, AccountIdError};
pub use cursor::{Cursor, CursorError};
pub use error_body::{ErrorCode, StatementErrorBody};
pub use finding::Finding;
pub use json::JsonError;
pub use paging::{PageRequest, Position};
pub use reply::{ReceivedError, ReceivedPage, ReceivedStatement, ReplyError, StatementReply};
pub use request::{Extract, MaxEntries, RequestError, SortOrder, StatementRequest};
pub use response::{Page, StatementResponse};
pub use seen::{EntryCounter, EntryIdentity, EntryKey, SeenEntries, SeenEntry, find_new};
pub use walk::{Checkpoint, CheckpointError, PageWalk, PendingPage, Step, WalkError};
