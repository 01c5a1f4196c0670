//! Histories in a store: folded message by message, read by id, listed by state, with the sequence
//! of their changes.

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
    /// Returns the names of the mandate or payment that a message is about. There is one for a
    /// mandate, one or two for a payment, and none for a query and for an outcome that names
    /// neither.
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

/// A name for stores, such as `mandate:` and the id.
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
    /// A stable name, for stores.
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

    /// True for the states that a further message changes only if it contradicts earlier ones: a
    /// cancelled mandate, a payment that is settled or rejected.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Mandate(MandateState::Cancelled)
                | Self::Payment(PaymentState::Settled | PaymentState::Rejected)
        )
    }
}

/// The history of a mandate or a payment. Serialized, it can be kept in a store.
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
    /// The state.
    #[must_use]
    pub fn state(&self) -> HistoryState {
        match self {
            Self::Mandate(history) => HistoryState::Mandate(history.state()),
            Self::Payment(history) => HistoryState::Payment(history.state()),
        }
    }

    /// True when the rules reach the state without a gap ([`MandateHistory::is_complete`]). A
    /// payment's always is.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Mandate(history) => history.is_complete(),
            Self::Payment(_) => true,
        }
    }

    /// Returns the outcomes that were announced and have not come: at most one for a payment, one
    /// for each pending action of a mandate.
    #[must_use]
    pub fn open(&self) -> Vec<OpenOutcome> {
        match self {
            Self::Mandate(history) => history.open(),
            Self::Payment(history) => history.open().into_iter().collect(),
        }
    }

    /// Applies a message. The caller selects the messages of this mandate or payment; one about
    /// something else is [`Observation::NotApplicable`].
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

    /// Reads what [`History::to_json`] wrote. `None` for another text.
    #[must_use]
    pub fn from_json(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}

/// A history in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptHistory {
    /// The number that the store gave it. Never used twice.
    pub number: u64,
    /// The receiver that its messages are for, as in a duplicate key. Empty unless receivers share
    /// the store.
    pub scope: String,
    /// The names of its subject in ascending order: those of one mandate or one payment.
    pub ids: Vec<HistoryId>,
    /// The messages, and the state that follows from them.
    pub history: History,
    /// When its state or its open outcomes changed last, by the caller's clock.
    pub changed_at: Timestamp,
    /// The number of its last change: it rises with each change of any history in the store.
    pub change: u64,
}

impl KeptHistory {
    /// Returns a history without a scope, in its first change. An engine sets the fields that
    /// differ.
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

    /// The state.
    #[must_use]
    pub fn state(&self) -> HistoryState {
        self.history.state()
    }
}

/// The effect of a message on the kept histories: the rule that every engine follows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines act on each member")]
pub struct Fold {
    /// The history to replace; `None` for a new one.
    pub number: Option<u64>,
    /// The names from now on.
    pub ids: Vec<HistoryId>,
    /// The content from now on.
    pub history: History,
    /// True when state, completeness or open outcomes differ from before: store a new number of a
    /// change, and the time.
    pub changed: bool,
    /// Further histories that turned out to be of the same payment: delete them. Their messages are
    /// in this one.
    pub merged: Vec<u64>,
    /// The effect of the message.
    pub observation: Observation,
}

impl Fold {
    /// Folds a message into the kept histories that have a name of it, in any order. `None` if
    /// nothing is to be stored: the message is about neither a mandate nor a payment, or has a
    /// status that this version does not know and is the first of its kind.
    ///
    /// A message that is dated more than a day after `now`, by the caller's clock, counts as
    /// processed at `now`: a date of the year 9999 would prevail over every later report.
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
        // A message that changes no history does not begin one either.
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

/// Returns the message, with `now` as its time if that is too far ahead to be true.
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
/// - [`Histories::apply`] folds a message in a separate transaction. Engines with transactions also
///   fold it within the caller's, so that the history changes together with the inbox and with the
///   caller's own tables.
/// - The suite of the `testing` feature checks the rules for engines. [`Fold::of`] decides. Numbers
///   of histories and of changes rise and are never used twice. A reader that has seen a change has
///   seen all those with lower numbers.
/// - Each mandate and payment has a row until [`Histories::forget`], with about 200 bytes for each
///   different message about it.
/// - A message in conflict with an earlier one makes a history contradictory: do not fold it until
///   a person has decided.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep histories of mandates and payments",
    label = "not a store of `Histories`",
    note = "pass `store.histories()` of `SqliteStore`, `PostgresStore` or `MemoryStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `webhook`, which `bankrail` switches on by itself"
)]
pub trait Histories: fmt::Debug + Send + Sync {
    /// Folds a message. Returns what it did: [`Observation::NotApplicable`] if it is about neither
    /// a mandate nor a payment. Folding it again changes nothing.
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
    /// in the order of those numbers. Begin with 0 and go on with [`KeptHistory::change`] of the
    /// last one. A history that changed several times in between is listed once, as it is now.
    fn changes_after(&self, change: u64, limit: u32) -> StoreFuture<'_, Vec<KeptHistory>>;

    /// Waits until there is a change with a number above `change`. A change made through this store
    /// in this process wakes it at once, others within a second. Needs a Tokio runtime with time.
    fn changed_after(&self, change: u64) -> StoreFuture<'_, ()>;

    /// Forgets histories in a final state ([`HistoryState::is_final`]) that changed last before
    /// `before`. Returns their number. A later message about one of them begins a new history: keep
    /// them longer than messages are delivered.
    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64>;
}

/// Hands over each history that has changed after the change with this number, in the order of the
/// changes and as it is then, and waits for further ones, until the store fails. Begin with 0, or
/// with the [`KeptHistory::change`] that was handed over last.
pub async fn follow_changes(
    histories: &(impl Histories + ?Sized),
    mut after: u64,
    mut tell: impl FnMut(KeptHistory),
) -> StoreError {
    loop {
        // In pages, so that many changes at once do not fill the memory.
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
