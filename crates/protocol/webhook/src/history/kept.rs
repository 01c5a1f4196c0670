//! Histories in a store, which are updated message by message, found by id, listed by state, and
//! listed in the sequence of their changes.

use super::{MandateHistory, MandateState, Observation, OpenOutcome, PaymentHistory, PaymentState};
use crate::ids::{MandateId, Uetr};
use crate::message::{Message, Text35};
use bankrail_values::{StoreError, StoreFuture, Timestamp, ValueError};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// An identifier of a mandate or a payment in messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "a further id is another meaning of stored names"
)]
pub enum HistoryId {
    /// A mandate, by `mandate_identification`.
    Mandate(MandateId),
    /// A payment, by `instruction_identification`.
    Instruction(Text35),
    /// A payment, by `uetr`.
    Uetr(Uetr),
}

impl HistoryId {
    /// Returns the names of the mandate or payment that a message is about. A mandate has one name
    /// and a payment one or two. A query has none, and neither has an outcome that names no mandate
    /// or payment.
    #[must_use]
    pub fn of(message: &Message) -> Vec<Self> {
        match message {
            Message::MandateOutcome(outcome) => outcome
                .mandate_identification
                .map(Self::Mandate)
                .into_iter()
                .collect(),
            Message::MandateNotification(notification) => {
                vec![Self::Mandate(notification.mandate_identification)]
            }
            Message::PaymentOutcome(outcome) => {
                let instruction = outcome
                    .instruction_identification
                    .clone()
                    .map(Self::Instruction);
                instruction
                    .into_iter()
                    .chain(outcome.uetr.map(Self::Uetr))
                    .collect()
            }
            Message::Query(_) => Vec::new(),
        }
    }
}

impl FromStr for HistoryId {
    type Err = ValueError;

    /// Reads the stored name, which `Display` writes.
    fn from_str(name: &str) -> Result<Self, ValueError> {
        let known = match name.split_once(':') {
            Some(("mandate", id)) => MandateId::parse(id).ok().map(Self::Mandate),
            Some(("instruction", id)) => id.parse().ok().map(Self::Instruction),
            Some(("uetr", id)) => Uetr::parse(id).ok().map(Self::Uetr),
            _ => None,
        };
        known.ok_or_else(|| ValueError::new("the stored name of a history", name))
    }
}

/// Writes the name for stores, such as `mandate:` and the id.
impl fmt::Display for HistoryId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mandate(id) => write!(out, "mandate:{id}"),
            Self::Instruction(id) => write!(out, "instruction:{}", id.as_str()),
            Self::Uetr(id) => write!(out, "uetr:{id}"),
        }
    }
}

/// The state of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the two sorts of histories")]
pub enum HistoryState {
    /// The state of a mandate.
    Mandate(MandateState),
    /// The state of a payment.
    Payment(PaymentState),
}

impl fmt::Display for HistoryState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl HistoryState {
    /// Returns a stable name, for stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mandate(MandateState::Unknown) => "mandate_unknown",
            Self::Mandate(MandateState::Created) => "mandate_created",
            Self::Mandate(MandateState::Active) => "mandate_active",
            Self::Mandate(MandateState::Suspended) => "mandate_suspended",
            Self::Mandate(MandateState::Cancelled) => "mandate_cancelled",
            Self::Mandate(MandateState::Contradictory) => "mandate_contradictory",
            Self::Payment(PaymentState::Unknown) => "payment_unknown",
            Self::Payment(PaymentState::Warehoused) => "payment_warehoused",
            Self::Payment(PaymentState::SettlementPending) => "payment_settlement_pending",
            Self::Payment(PaymentState::Settled) => "payment_settled",
            Self::Payment(PaymentState::Rejected) => "payment_rejected",
            Self::Payment(PaymentState::Contradictory) => "payment_contradictory",
        }
    }

    /// Returns true for the states that a further message changes only if it contradicts earlier
    /// ones: a cancelled mandate, a payment that is settled or rejected.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Mandate(MandateState::Cancelled)
                | Self::Payment(PaymentState::Settled | PaymentState::Rejected)
        )
    }
}

/// The history of a mandate or a payment. Stores keep its serialized form.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "the two sorts of histories")]
pub enum History {
    /// The history of a mandate.
    Mandate(MandateHistory),
    /// The history of a payment.
    Payment(PaymentHistory),
}

impl History {
    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> HistoryState {
        match self {
            Self::Mandate(history) => HistoryState::Mandate(history.state()),
            Self::Payment(history) => HistoryState::Payment(history.state()),
        }
    }

    /// Returns true when the rules reach the state without a gap ([`MandateHistory::is_complete`]).
    /// For a payment it always returns true.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Mandate(history) => history.is_complete(),
            Self::Payment(_) => true,
        }
    }

    /// Returns the outcomes that were announced and have not arrived: at most one for a payment,
    /// one for each pending action of a mandate.
    #[must_use]
    pub fn open(&self) -> Vec<OpenOutcome> {
        match self {
            Self::Mandate(history) => history.open(),
            Self::Payment(history) => history.open().into_iter().collect(),
        }
    }

    /// Applies a message. The caller selects the messages of this mandate or payment; any other is
    /// [`Observation::NotApplicable`].
    pub fn apply(&mut self, message: &Message) -> Observation {
        match (message, self) {
            (Message::MandateOutcome(outcome), Self::Mandate(history)) => {
                history.apply_outcome(outcome)
            }
            (Message::MandateNotification(message), Self::Mandate(history)) => {
                history.apply_notification(message)
            }
            (Message::PaymentOutcome(outcome), Self::Payment(history)) => history.apply(outcome),
            (Message::MandateOutcome(_) | Message::MandateNotification(_), Self::Payment(_))
            | (Message::PaymentOutcome(_), Self::Mandate(_))
            | (Message::Query(_), _) => Observation::NotApplicable,
        }
    }

    /// Writes the history as JSON, for a store.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a history is JSON")
    }

    /// Reads the JSON that [`History::to_json`] wrote. Returns `None` for any other text.
    #[must_use]
    pub fn from_json(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}

/// A history in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptHistory {
    /// The number that the store gave the history. It is never used twice.
    pub number: u64,
    /// The receiver of the messages, as in a duplicate key; empty unless receivers share the store.
    pub scope: String,
    /// The names of the mandate or payment in ascending order.
    pub ids: Vec<HistoryId>,
    /// The messages, and the state that follows from them.
    pub history: History,
    /// The time at which the state or the open outcomes changed last, by the caller's clock.
    pub changed_at: Timestamp,
    /// The number of the last change. Each change of any history in the store gets a higher number.
    pub change: u64,
}

impl KeptHistory {
    /// Returns a history without a scope, with the number of the first change. An engine then sets
    /// the fields that differ.
    #[must_use]
    pub fn new(number: u64, ids: Vec<HistoryId>, history: History, changed_at: Timestamp) -> Self {
        Self {
            number,
            scope: String::new(),
            ids,
            history,
            changed_at,
            change: 1,
        }
    }

    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> HistoryState {
        self.history.state()
    }
}

/// The effect of a message on the histories in a store, which is the rule that every engine
/// follows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines act on each member")]
pub struct Fold {
    /// The history to replace; `None` for a new one.
    pub number: Option<u64>,
    /// The new names of the history.
    pub ids: Vec<HistoryId>,
    /// The new content of the history.
    pub history: History,
    /// True when state, completeness or open outcomes differ from before: store a new number of the
    /// change, and the time.
    pub changed: bool,
    /// The numbers of further histories of the same payment, which the engine deletes: their
    /// messages are merged into this one.
    pub merged: Vec<u64>,
    /// The effect of the message.
    pub observation: Observation,
}

impl Fold {
    /// Folds a message into the stored histories that share a name with it; their order does not
    /// matter. Returns `None` if there is nothing to store: the message is about neither a mandate
    /// nor a payment, or has a status that this version does not know and is the first of its kind.
    ///
    /// A message dated more than a day after `now`, by the caller's clock, counts as processed at
    /// `now`, because a date in the year 9999 would otherwise prevail over every later report.
    #[must_use]
    pub fn of(message: &Message, mut known: Vec<KeptHistory>, now: Timestamp) -> Option<Self> {
        let mut ids = HistoryId::of(message);
        // The oldest history keeps its number, which programs may have stored.
        known.sort_unstable_by_key(|kept| kept.number);
        let mut known = known.into_iter();
        let first = known.next();
        let (number, before) = (
            first.as_ref().map(|kept| kept.number),
            first.as_ref().map(|kept| Self::position(&kept.history)),
        );
        let mut history = match (first, ids.first()?) {
            (Some(kept), _) => {
                ids.extend(kept.ids);
                kept.history
            }
            (None, HistoryId::Mandate(_)) => History::Mandate(MandateHistory::new()),
            (None, HistoryId::Instruction(_) | HistoryId::Uetr(_)) => {
                History::Payment(PaymentHistory::new())
            }
        };
        let mut merged = Vec::new();
        for other in known {
            merged.push(other.number);
            ids.extend(other.ids);
            if let (History::Payment(history), History::Payment(other)) =
                (&mut history, other.history)
            {
                history.merge(other);
            }
        }
        let observation = history.apply(&credibly_dated(message, now));
        // A message that changes no history does not start one either.
        if number.is_none() && observation == Observation::NotApplicable {
            return None;
        }
        ids.sort_unstable();
        ids.dedup();
        let changed = !merged.is_empty() || before != Some(Self::position(&history));
        Some(Self {
            number,
            ids,
            history,
            changed,
            merged,
            observation,
        })
    }

    fn position(history: &History) -> (HistoryState, bool, Vec<OpenOutcome>) {
        (history.state(), history.is_complete(), history.open())
    }
}

/// Returns the message, with `now` as its time if its own time is implausibly far ahead.
fn credibly_dated(message: &Message, now: Timestamp) -> Cow<'_, Message> {
    /// Further than any clock is ahead.
    const MAX_AHEAD: Duration = Duration::from_secs(86_400);
    if message.creation_date_time() <= now.saturating_add(MAX_AHEAD) {
        return Cow::Borrowed(message);
    }
    let mut message = message.clone();
    *match &mut message {
        Message::MandateOutcome(message) => &mut message.creation_date_time,
        Message::MandateNotification(message) => &mut message.creation_date_time,
        Message::PaymentOutcome(message) => &mut message.creation_date_time,
        Message::Query(message) => &mut message.creation_date_time,
    } = now;
    Cow::Owned(message)
}

/// A store of the histories of mandates and payments. Each operation is durable before it returns.
///
/// - [`Histories::apply`] folds a message in a separate transaction. Engines with transactions can
///   also fold it within the caller's transaction, so that the history changes together with the
///   inbox and with the caller's own tables.
/// - The suite of the `testing` feature checks the rules for engines. [`Fold::of`] decides. Numbers
///   of histories and of changes rise and are never used twice. When a reader sees a change, all
///   changes with lower numbers are visible as well.
/// - Each mandate and payment has a row until [`Histories::forget`], of about 200 bytes for each
///   different message.
/// - A message in conflict with an earlier one makes a history contradictory: do not fold it until
///   a person has decided.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep histories of mandates and payments",
    label = "not a store of `Histories`",
    note = "pass `store.histories()` of `SqliteStore`, `PostgresStore` or `MemoryStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `webhook`, which `bankrail` switches on by itself"
)]
pub trait Histories: fmt::Debug + Send + Sync {
    /// Folds a message and returns its effect, which is [`Observation::NotApplicable`] if the
    /// message is about neither a mandate nor a payment. Folding a message again changes nothing.
    fn apply<'a>(
        &'a self,
        scope: &'a str,
        message: &'a Message,
        now: Timestamp,
    ) -> StoreFuture<'a, Observation>;

    /// Returns the history of a mandate or payment.
    fn find<'a>(
        &'a self,
        scope: &'a str,
        id: &'a HistoryId,
    ) -> StoreFuture<'a, Option<KeptHistory>>;

    /// Returns up to `limit` histories in this state, after the one with the number `after`, in the
    /// order of their numbers.
    fn list<'a>(
        &'a self,
        scope: &'a str,
        state: HistoryState,
        after: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<KeptHistory>>;

    /// Returns up to `limit` histories of all scopes whose last change has a number above `change`,
    /// in the order of those numbers. Begin with 0 and continue with the [`KeptHistory::change`] of
    /// the last one. A history that changed several times in between is listed once, in its present
    /// state.
    fn changes_after(&self, change: u64, limit: u32) -> StoreFuture<'_, Vec<KeptHistory>>;

    /// Waits until there is a change with a number above `change`. A change made through this store
    /// in this process ends the wait at once, other changes within a second. The method needs a
    /// Tokio runtime with time enabled.
    fn changed_after(&self, change: u64) -> StoreFuture<'_, ()>;

    /// Forgets histories in a final state ([`HistoryState::is_final`]) that changed last before
    /// `before`. Returns their number. A later message about one of them starts a new history, so
    /// keep histories longer than messages may be delivered.
    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64>;
}

/// Calls `tell` with each history that changed after the change `after`, in the order of the
/// changes and in its present state, and then waits for further changes, until the store fails.
/// Begin with 0, or with the [`KeptHistory::change`] that was passed last.
pub async fn follow_changes(
    histories: &(impl Histories + ?Sized),
    mut after: u64,
    mut tell: impl FnMut(KeptHistory),
) -> StoreError {
    loop {
        // Reads in pages, so that many changes at once do not fill the memory.
        match histories.changes_after(after, 100).await {
            Ok(changes) => {
                for kept in changes {
                    after = kept.change;
                    tell(kept);
                }
            }
            Err(error) => return error,
        }
        if let Err(error) = histories.changed_after(after).await {
            return error;
        }
    }
}
