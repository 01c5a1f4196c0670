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

mod archive;
mod inbox;
mod key;
mod kind;
mod lease;
mod opaque;
mod outbox;
mod schedule;
#[cfg(feature = "testing")]
pub mod testing;

pub use archive::{ArchiveLabel, ArchiveRecord, ArchiveStore};
pub use inbox::{
    Completion, Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming, KnownEntry,
    ReceiveDecision, ReceiveOutcome, TransactionalInbox,
};
pub use key::{DuplicateKey, Fingerprint, KeyHash};
pub use kind::{Kind, KindError};
pub use lease::{EntryId, Lease, LeaseOwner, LeaseOwners};
pub use opaque::OpaqueBytes;
pub use outbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, DropOutcome, EndpointBacklog,
    EndpointCircuit, EndpointId, Enqueued, Intervention, InterventionReason, LeaseCandidate,
    LeaseRequest, OperatorName, Outbox, OutboxCounts, OutboxEntry, OutboxOperator, OutboxQuery,
    OutboxState, OutboxStore, OutboxSummary, Outgoing, StoppedEndpoint,
};
pub use schedule::{DEFAULT_DELAYS, DEFAULT_TIME_OUT, Schedule};
