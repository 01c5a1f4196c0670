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
    /// No entry has the message. Store the message, pending and due, and answer
    /// [`ReceiveOutcome::stored`].
    Store {
        /// The entry that the message contradicts.
        conflicts_with: Option<EntryId>,
        /// The entry that the message follows.
        follows: Option<EntryId>,
        /// An entry that arrived earlier, is not completed, and follows this message: store the new
        /// entry's number there as [`InboxEntry::follows`](super::InboxEntry::follows), also if the
        /// entry is a dead letter, because it may be resent.
        followed_by: Option<EntryId>,
    },
    /// An entry has the message already. Change nothing, and answer this.
    Answer(ReceiveOutcome),
}

impl ReceiveDecision {
    /// Decides on a message. `known` are all entries that have a hash in common with the message,
    /// in any order.
    ///
    /// - The earliest entry with the same content ([`Incoming::has_content`]) has the message. If
    ///   that entry is pending, the message is in progress, otherwise a duplicate.
    /// - If no entry has the message, it is in conflict with the earliest entry of the same sort:
    ///   an interim message with an interim one, a result with a result.
    /// - Without such an entry the message is new. A result follows the earliest interim message.
    ///   If the result arrived first and is not completed, it follows the interim message that
    ///   arrives late.
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

    /// Decides on a message that no entry has.
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
