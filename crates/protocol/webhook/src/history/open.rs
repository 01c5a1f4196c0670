//! Outcomes that were announced and have not come.

use super::{Histories, HistoryId, KeptHistory};
use crate::message::MessageKind;
use bankrail_values::{StoreError, Timestamp};
use std::collections::BTreeMap;

/// The state of a payment or of an action on a mandate that another outcome follows.
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

    /// Returns the kind of message that is awaited. A notification ends the wait for an action,
    /// too.
    #[must_use]
    pub const fn kind(self) -> MessageKind {
        match self {
            Self::Pending => MessageKind::MandateOutcome,
            Self::Warehoused | Self::SettlementPending => MessageKind::PaymentOutcome,
        }
    }
}

/// An announcement of an outcome that has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct OpenOutcome {
    /// The state that was reported.
    pub state: OpenState,
    /// The earliest time at which the service reported it.
    pub since: Timestamp,
    /// The deadline that the message has itself (`resolution_requested_by`), or else its time. A
    /// message about a payment has none: the execution date of a warehoused payment is in the
    /// biller's own instruction only. A deadline more than a year after the message does not count.
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
/// Histories are the record of what is open: they change in the transaction that handles a message,
/// take messages in any order, and are not forgotten while something is open, as a message in an
/// inbox is. So nothing else is stored. A new value reads all histories once, in pages, and then
/// what has changed; only those with an open outcome stay in memory. That holds for several
/// processes over one store as well.
///
/// An outcome that names neither a mandate nor a payment is in no history, and an instruction that
/// the bank has never answered is not either. So an action whose end comes without its mandate,
/// which the message may leave out, stays open until a later message of that mandate reports
/// another state of the action: compare an overdue one with the messages of its `request_id`.
#[derive(Clone, Debug, Default)]
pub struct OpenOutcomes {
    change: u64,
    /// The open histories by scope and first name.
    open: BTreeMap<(String, HistoryId), (KeptHistory, Vec<OpenOutcome>)>,
}

impl OpenOutcomes {
    /// Begins before the first change.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what has changed since the last call.
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

    /// Returns the time since which the oldest outcome in this state is open.
    #[must_use]
    pub fn oldest(&self, state: OpenState) -> Option<Timestamp> {
        let open = self.iter().filter(|(_, one)| one.state == state);
        open.map(|(_, one)| one.since).min()
    }
}
