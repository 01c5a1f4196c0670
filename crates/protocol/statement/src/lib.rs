#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

mod account;
mod cursor;
mod document;
mod error_body;
mod finding;
mod identity;
mod narrative;
mod poll;
mod position;
mod reply;
mod request;
mod response;
mod seen;
mod stored;
#[cfg(feature = "testing")]
pub mod testing;
mod walk;

pub use account::AccountId;
pub use cursor::{Cursor, CursorError};
pub use error_body::{ErrorCode, StatementErrorBody};
pub use finding::ReplyFinding;
pub use identity::EntryLinks;
pub use narrative::{AccountKind, EntryChannel, VirtualAccount, apply_narrative, strip_narrative};
pub use poll::{
    AccountNotice, AccountPoll, EntryRelation, HandedOver, PageDecision, PollCommit, PollOptions,
    PollPosition, PollPositionError, PollStep, PolledPage, StatedAccount, StatementDay,
};
pub use position::PagePosition;
pub use reply::{
    ReceivedErrorBody, ReceivedNextPage, ReceivedStatement, ReplyError, StatementReply,
};
pub use request::{Extract, MaxEntries, RequestError, SortOrder, StatementRequest};
pub use response::{NextPage, StatementResponse};
pub use seen::{
    EntryIdentity, EntryKey, MAX_POSITION_BYTES, PageRecord, PositionChange, Recorded, SeenEntries,
    SeenEntry, SeenEntryId, TransactionalSeenEntries, check_position, find_new,
};
pub use walk::{Checkpoint, CheckpointError, PageWalk, PendingPage, Step, WalkError};
