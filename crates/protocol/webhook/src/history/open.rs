//! Outcomes that were announced and have not arrived.

use super::{Histories, HistoryId, KeptHistory};
use crate::message::MessageKind;
use bankrail_values::{StoreError, Timestamp};
use std::collections::BTreeMap;

/// The state of a payment, or of an action on a mandate, after which another outcome follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "a further state is another promise of the service"
)]
pub enum OpenState {
    /// `PEND`: an action on a mandate that waits to be resolved.
    Pending,
    /// `PDNG`: a warehoused payment.
    Warehoused,
    /// `ACSP`: a payment whose settlement is pending.
    SettlementPending,
}

impl OpenState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Warehoused, Self::SettlementPending];

    /// Returns the code in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PEND",
            Self::Warehoused => "PDNG",
            Self::SettlementPending => "ACSP",
        }
    }

    /// Returns the kind of the awaited message. A notification ends the wait for an action, too.
    #[must_use]
    pub const fn kind(self) -> MessageKind {
        match self {
            Self::Pending => MessageKind::MandateOutcome,
            Self::Warehoused | Self::SettlementPending => MessageKind::PaymentOutcome,
        }
    }
}

/// An announcement of an outcome that has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct OpenOutcome {
    /// The state that was reported.
    pub state: OpenState,
    /// The earliest time at which the service reported it.
    pub since: Timestamp,
    /// The deadline in the message (`resolution_requested_by`), or the time of the message without
    /// one. A message about a payment has no deadline, because the execution date of a warehoused
    /// payment is only in the biller's instruction. A deadline more than a year after the message
    /// is ignored.
    pub due: Timestamp,
}

impl OpenOutcome {
    /// Returns an announcement without a deadline.
    #[must_use]
    pub const fn new(state: OpenState, since: Timestamp) -> Self {
        Self {
            state,
            since,
            due: since,
        }
    }
}

/// The open outcomes of a store of histories, found by following its changes.
///
/// Nothing is stored in addition to the histories. They change in the transaction that handles a
/// message, take messages in any order, and, unlike messages in an inbox, are kept while an outcome
/// is open. A new value reads all histories once, in pages, and later only the changes; only
/// histories with an open outcome stay in memory. Several processes may do this over one store.
///
/// An outcome that names neither a mandate nor a payment is in no history, and neither is an
/// instruction that the bank has never answered. An action whose end is reported without naming the
/// mandate, which the message may omit, therefore stays open until a later message about that
/// mandate reports another state of the action. Compare an overdue action with the messages of its
/// `request_id`.
#[derive(Clone, Debug, Default)]
pub struct OpenOutcomes {
    change: u64,
    /// The open histories by scope and first name.
    open: BTreeMap<(String, HistoryId), (KeptHistory, Vec<OpenOutcome>)>,
}

impl OpenOutcomes {
    /// Returns a value that has read no change yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the changes since the last call.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails. The next call continues where this one ended.
    pub async fn refresh(
        &mut self,
        histories: &(impl Histories + ?Sized),
    ) -> Result<(), StoreError> {
        loop {
            let changes = histories.changes_after(self.change, 100).await?;
            if changes.is_empty() {
                return Ok(());
            }
            for kept in changes {
                self.change = kept.change;
                // Two histories of one payment become one, under the names of both.
                for id in &kept.ids {
                    self.open.remove(&(kept.scope.clone(), id.clone()));
                }
                let open = kept.history.open();
                if let (Some(id), false) = (kept.ids.first(), open.is_empty()) {
                    let key = (kept.scope.clone(), id.clone());
                    self.open.insert(key, (kept, open));
                }
            }
        }
    }

    /// Returns each open outcome with the history that it belongs to.
    pub fn iter(&self) -> impl Iterator<Item = (&KeptHistory, OpenOutcome)> {
        let histories = self.open.values();
        histories.flat_map(|(kept, open)| open.iter().map(move |one| (kept, *one)))
    }

    /// Returns the earliest time since which an outcome in this state is open.
    #[must_use]
    pub fn oldest(&self, state: OpenState) -> Option<Timestamp> {
        let open = self.iter().filter(|(_, one)| one.state == state);
        open.map(|(_, one)| one.since).min()
    }
}
