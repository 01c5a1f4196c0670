//! The classification of a received message: the rule that every engine follows.

use super::{InboxState, Incoming, ReceiveOutcome};
use crate::key::Fingerprint;
use crate::lease::EntryId;
use crate::opaque::OpaqueBytes;

/// A stored entry that has a hash in common with a received message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct KnownEntry {
    /// The number of the entry.
    pub id: EntryId,
    /// The fingerprint of the stored message.
    pub fingerprint: Fingerprint,
    /// True if the stored message is an interim one.
    pub interim: bool,
    /// The state of the entry.
    pub state: InboxState,
    /// The acknowledgement that was answered.
    pub acknowledgement: OpaqueBytes,
    /// The entry that this one contradicts.
    pub conflicts_with: Option<EntryId>,
}

/// The instruction to an engine for a received message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "engines act on each")]
pub enum ReceiveDecision {
    /// No entry holds the message. Store it, pending and due, and answer
    /// [`ReceiveOutcome::stored`].
    Store {
        /// The entry that it contradicts.
        conflicts_with: Option<EntryId>,
        /// The entry that it follows.
        follows: Option<EntryId>,
        /// An entry that arrived earlier, is not completed, and follows it: store the new entry's
        /// number there as [`InboxEntry::follows`](super::InboxEntry::follows), also if the entry is
        /// a dead letter, because it may be resent.
        followed_by: Option<EntryId>,
    },
    /// An entry holds the message. Change nothing, and answer this.
    Answer(ReceiveOutcome),
}

impl ReceiveDecision {
    /// Decides on a message. `known` are all entries that have a hash in common with it, in any
    /// order.
    ///
    /// - The earliest entry with the same content ([`Incoming::has_content`]) holds the message. If
    ///   it is pending, the message is in progress, else it is a duplicate.
    /// - If no entry holds it, it is in conflict with the earliest entry of the same kind of
    ///   content: an interim message with an interim one, a result with a result.
    /// - Without such an entry it is new. A result follows the earliest interim message. If the
    ///   result arrived first and is not completed, it follows the interim message that arrives
    ///   late.
    #[must_use]
    pub fn of(message: &Incoming, known: Vec<KnownEntry>) -> Self {
        let same = known
            .iter()
            .filter(|entry| message.has_content(entry.fingerprint));
        match same.min_by_key(|entry| entry.id).cloned() {
            None => Self::store(message, &known),
            Some(KnownEntry {
                id,
                acknowledgement,
                state: InboxState::Pending,
                ..
            }) => Self::Answer(ReceiveOutcome::InProgress {
                id,
                acknowledgement,
            }),
            Some(KnownEntry {
                id,
                acknowledgement,
                ..
            }) => Self::Answer(ReceiveOutcome::Duplicate {
                id,
                acknowledgement,
            }),
        }
    }

    /// Decides on a message that no entry holds.
    fn store(message: &Incoming, known: &[KnownEntry]) -> Self {
        let (alike, other): (Vec<_>, Vec<_>) = known
            .iter()
            .partition(|entry| entry.interim == message.interim);
        let conflicts_with = alike.iter().map(|entry| entry.id).min();
        if conflicts_with.is_some() {
            return Self::Store {
                conflicts_with,
                follows: None,
                followed_by: None,
            };
        }
        let other = other
            .into_iter()
            .filter(|entry| entry.conflicts_with.is_none());
        if message.interim {
            let waiting = other.filter(|entry| entry.state != InboxState::Completed);
            Self::Store {
                conflicts_with,
                follows: None,
                followed_by: waiting.map(|entry| entry.id).min(),
            }
        } else {
            Self::Store {
                conflicts_with,
                follows: other.map(|entry| entry.id).min(),
                followed_by: None,
            }
        }
    }
}
