//! The history of one mandate.

use super::{Observation, OpenOutcome, OpenState};
use crate::codes::{ActionStatus, ActionType, MandateStatus, OutcomeStatus, StatusChangeCode};
use crate::ids::ActionId;
use crate::message::WebhookMessage;
use crate::message::details::Change;
use crate::message::mandate_notification::MandateNotification;
use crate::message::mandate_outcome::MandateActionOutcome;
use bankrail_mailbox::Fingerprint;
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The state of a mandate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MandateState {
    /// No message has shown the state yet.
    Unknown,
    /// `CRTD`: created, waiting for the payer.
    Created,
    /// `ACTV`: active.
    Active,
    /// `SUSD`: suspended.
    Suspended,
    /// `CNCD`: cancelled, final.
    Cancelled,
    /// The messages cannot all be true: a person must decide.
    Contradictory,
}

/// The outcomes and notifications of one mandate, applied in any order.
///
/// - A creation comes first.
/// - A creation that was declined, recalled or timed out is final, and so is a cancellation.
/// - The latest suspension or release counts, by the sender's time.
/// - Suspensions and releases alternate from the confirmed creation on. If they do not alternate,
///   one is missing or the times are wrong, and [`MandateHistory::is_complete`] is false: the state
///   is not certain.
/// - An action that is reported as pending and as finished is finished.
/// - An action with two different ends makes the history contradictory.
///
/// ```
/// use bankrail_webhook::history::{MandateHistory, MandateState, Observation};
/// use bankrail_webhook::{ActionStatus, ActionType, Trigger, samples};
/// let confirmed = samples::mandate_notification(&Trigger::CreationConfirmed).unwrap();
/// let pending = samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending);
/// let mut history = MandateHistory::new();
/// assert_eq!(history.apply_notification(&confirmed), Observation::Advanced);
/// assert_eq!(history.apply_outcome(&pending), Observation::Stale);
/// assert_eq!(history.state(), MandateState::Active);
/// ```
///
/// A history is serialized as the set of its events, so that it can be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct MandateHistory {
    /// The reports by fingerprint, each with the earliest time at which it was processed.
    events: BTreeMap<Fingerprint, Event>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Event {
    at: Timestamp,
    /// The id of the action, which all its reports share. A report without an id counts as a
    /// separate action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<ActionId>,
    /// The id of the biller's request, which all outcomes of the action share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<HyphenatedUuid>,
    /// The time at which the end of the action is due; `None` for a report of an end, and for
    /// reports stored by versions without this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<Timestamp>,
    effect: Effect,
}

/// The maximum time from a message to a deadline in it that counts.
const LONGEST_DEADLINE: Duration = Duration::from_secs(366 * 86_400);

impl Event {
    /// Returns the time at which the end of the action is due; `None` if this report is of the end.
    fn awaited(&self) -> Option<Timestamp> {
        let waits = matches!(self.effect, Effect::Waiting | Effect::CreationPending);
        self.due.or_else(|| waits.then_some(self.at))
    }

    /// Returns the names of the action, at least one of which another report of the same action
    /// also has.
    fn action_names(&self) -> Vec<(Option<ActionId>, Option<HyphenatedUuid>)> {
        match (self.action, self.request) {
            (Some(_), Some(_)) => vec![(self.action, None), (None, self.request)],
            one => vec![one],
        }
    }
}

/// Returns the deadline of an action that is reported as pending; `None` in other states. The
/// deadline is the message's own if that is within a year, and otherwise the time of the message.
fn due(
    status: Option<&ActionStatus>,
    deadline: Option<Timestamp>,
    at: Timestamp,
) -> Option<Timestamp> {
    let deadline = deadline.filter(|due| *due <= at.saturating_add(LONGEST_DEADLINE));
    (status == Some(&ActionStatus::Pending)).then(|| deadline.unwrap_or(at))
}

/// The effect of a report on the mandate.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
enum Effect {
    /// A pending action other than a creation, which has no effect yet.
    Waiting,
    CreationPending,
    CreationRefused,
    Activated,
    Suspended,
    Released,
    Cancelled,
    /// An action that ended without a change of status, or was refused.
    None,
    /// The mandate status in a message without an action, or in one about an amendment.
    SeenCreated,
    SeenActive,
    SeenSuspended,
    SeenCancelled,
}

impl Effect {
    fn seen(status: Option<&MandateStatus>) -> Self {
        match status {
            Some(MandateStatus::Created) => Self::SeenCreated,
            Some(MandateStatus::Active) => Self::SeenActive,
            Some(MandateStatus::Suspended) => Self::SeenSuspended,
            Some(MandateStatus::Cancelled) => Self::SeenCancelled,
            Some(MandateStatus::Unknown(_)) | None => Self::None,
        }
    }

    fn of(
        action: Option<&ActionType>,
        status: Option<&ActionStatus>,
        mandate: Option<&MandateStatus>,
        change: Option<&StatusChangeCode>,
    ) -> Self {
        use ActionStatus::{Completed, Declined, Pending, Recalled, TimedOut};
        match (action, status) {
            (Some(ActionType::Create), Some(Pending)) => Self::CreationPending,
            (Some(ActionType::Create), Some(Completed)) => Self::Activated,
            (Some(ActionType::Create), Some(Declined | Recalled | TimedOut)) => {
                Self::CreationRefused
            }
            // Without an action status, the mandate status decides.
            (Some(ActionType::Create), _) => match mandate {
                Some(MandateStatus::Created) => Self::CreationPending,
                Some(MandateStatus::Active) => Self::Activated,
                Some(MandateStatus::Cancelled) => Self::CreationRefused,
                other => Self::seen(other),
            },
            (Some(ActionType::StatusChange), Some(Completed) | None) => {
                match (change, mandate) {
                    (Some(StatusChangeCode::Cancel), _)
                    | (None, Some(MandateStatus::Cancelled)) => Self::Cancelled,
                    (Some(StatusChangeCode::Suspend), _)
                    | (None, Some(MandateStatus::Suspended)) => Self::Suspended,
                    (Some(StatusChangeCode::Release), _) | (None, Some(MandateStatus::Active)) => {
                        Self::Released
                    }
                    (_, other) => Self::seen(other),
                }
            }
            (Some(_), Some(Pending)) => Self::Waiting,
            _ => Self::seen(mandate),
        }
    }

    fn state(self) -> MandateState {
        match self {
            Self::CreationPending | Self::SeenCreated => MandateState::Created,
            Self::Activated | Self::Released | Self::SeenActive => MandateState::Active,
            Self::Suspended | Self::SeenSuspended => MandateState::Suspended,
            Self::CreationRefused | Self::Cancelled | Self::SeenCancelled => {
                MandateState::Cancelled
            }
            Self::Waiting | Self::None => MandateState::Unknown,
        }
    }

    /// Returns true for the effects that exclude each other as the end of one action.
    fn is_end(self) -> bool {
        matches!(
            self,
            Self::CreationRefused
                | Self::Activated
                | Self::Suspended
                | Self::Released
                | Self::Cancelled
        )
    }
}

/// A derived state, which the rules reach without a gap or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Derived {
    state: MandateState,
    complete: bool,
}

impl MandateHistory {
    /// Returns an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies the outcome of an action on this mandate. The caller selects the outcomes of this
    /// mandate.
    pub fn apply_outcome(&mut self, outcome: &MandateActionOutcome) -> Observation {
        let status = outcome.action_status.as_ref();
        let at = outcome.creation_date_time;
        // A rejected action changes nothing.
        let (effect, due) = match outcome.status {
            OutcomeStatus::Succeeded => (
                Effect::of(
                    outcome.action_type.as_ref(),
                    status,
                    outcome.mandate_status.as_ref(),
                    None,
                ),
                due(status, outcome.resolution_requested_by, at),
            ),
            OutcomeStatus::Rejected => (Effect::None, None),
            OutcomeStatus::Unknown(_) => return Observation::NotApplicable,
        };
        let event = Event {
            at,
            action: outcome.action_identification,
            request: outcome.request_id,
            due,
            effect,
        };
        self.apply(outcome.fingerprint(), event)
    }

    /// Applies a notification about this mandate. The caller selects the notifications of this
    /// mandate.
    pub fn apply_notification(&mut self, notification: &MandateNotification) -> Observation {
        let details = notification.details.as_ref();
        let (change, deadline) = match details.map(|details| &details.change) {
            Some(Change::StatusChange(change)) => (change.change.as_ref(), None),
            Some(Change::BilateralAmendment(change)) => (None, change.resolution_requested_by),
            _ => (None, None),
        };
        let at = notification.creation_date_time;
        let effect = Effect::of(
            Some(&notification.action_type),
            Some(&notification.action_status),
            notification.mandate_status.as_ref(),
            change,
        );
        let event = Event {
            at,
            action: Some(notification.action_identification),
            request: None,
            due: due(Some(&notification.action_status), deadline, at),
            effect,
        };
        self.apply(notification.fingerprint(), event)
    }

    /// Returns the state of the mandate.
    #[must_use]
    pub fn state(&self) -> MandateState {
        self.derive().state
    }

    /// Returns true when the rules reach the state without a gap: suspensions and releases
    /// alternate from a confirmed creation on.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.derive().complete
    }

    /// Returns the actions that were reported as pending and whose end was not reported.
    /// `action_identification` or `request_id` connects the report of an end with its action. A
    /// creation has also ended when the mandate no longer waits for the payer, and all actions have
    /// when the mandate is cancelled.
    #[must_use]
    pub fn open(&self) -> Vec<OpenOutcome> {
        let state = self.state();
        if state == MandateState::Cancelled {
            return Vec::new();
        }
        let ends = self.events.values().filter(|e| e.awaited().is_none());
        let ended: BTreeSet<_> = ends.flat_map(Event::action_names).collect();
        let mut open = BTreeMap::new();
        for event in self.events.values() {
            let Some(due) = event.awaited() else { continue };
            let names = event.action_names();
            let created = event.effect == Effect::CreationPending && state != MandateState::Created;
            if created || names.iter().any(|name| ended.contains(name)) {
                continue;
            }
            // Several reports of one action are one open outcome.
            let reported = OpenOutcome {
                state: OpenState::Pending,
                since: event.at,
                due,
            };
            let one = open.entry(names.first().copied()).or_insert(reported);
            one.since = one.since.min(reported.since);
            one.due = one.due.max(reported.due);
        }
        open.into_values().collect()
    }

    fn apply(&mut self, fingerprint: Fingerprint, event: Event) -> Observation {
        let before = self.derive();
        if let Some(known) = self.events.get_mut(&fingerprint) {
            // Keeps the earliest time, so that the order of arrival makes no difference.
            known.at = known.at.min(event.at);
            known.due = known.due.min(event.due);
            return Observation::Repeated;
        }
        self.events.insert(fingerprint, event);
        let after = self.derive();
        if after.state == MandateState::Contradictory {
            return Observation::Contradictory;
        }
        if after.state != before.state {
            return if after.complete {
                Observation::Advanced
            } else {
                Observation::OutOfSequence
            };
        }
        match event.effect.state() {
            MandateState::Unknown => Observation::Unchanged,
            state if state == after.state => Observation::Unchanged,
            _ => Observation::Stale,
        }
    }

    fn derive(&self) -> Derived {
        // Each action has one end, even if it was reported several times.
        let mut ends: BTreeMap<(Option<ActionId>, Option<Fingerprint>), (Effect, Timestamp)> =
            BTreeMap::new();
        for (fingerprint, event) in self
            .events
            .iter()
            .filter(|(_, event)| event.effect.is_end())
        {
            // Reports without the id of an action cannot be connected.
            let alone = event.action.is_none().then_some(*fingerprint);
            let (end, at) = ends
                .entry((event.action, alone))
                .or_insert((event.effect, event.at));
            if *end != event.effect {
                return Derived {
                    state: MandateState::Contradictory,
                    complete: false,
                };
            }
            *at = event.at.min(*at);
        }
        let count = |effect| ends.values().filter(|(end, _)| *end == effect).count();
        let (activated, refused) = (
            count(Effect::Activated) > 0,
            count(Effect::CreationRefused) > 0,
        );
        let (suspended, released) = (count(Effect::Suspended), count(Effect::Released));
        // A refused creation excludes a confirmation, a suspension and a release.
        if refused && (activated || suspended > 0 || released > 0) {
            return Derived {
                state: MandateState::Contradictory,
                complete: false,
            };
        }
        if refused || count(Effect::Cancelled) > 0 {
            return Derived {
                state: MandateState::Cancelled,
                complete: true,
            };
        }
        // A cancellation is final even if a message only mentions it, but then the report of the
        // action is missing.
        if self
            .events
            .values()
            .any(|event| event.effect == Effect::SeenCancelled)
        {
            return Derived {
                state: MandateState::Cancelled,
                complete: false,
            };
        }
        // A mentioned status counts only if no later change of status is known; the latest mention
        // counts.
        let seen = self
            .events
            .values()
            .filter(|e| matches!(e.effect, Effect::SeenActive | Effect::SeenSuspended));
        let running = seen.map(|event| (event.at, event.effect)).max();
        if suspended + released > 0 {
            let mut turns: Vec<(Timestamp, Effect)> = ends
                .values()
                .filter(|(end, _)| matches!(end, Effect::Suspended | Effect::Released))
                .map(|(end, at)| (*at, *end))
                .collect();
            turns.sort_unstable();
            // An active mandate is suspended first, and then released.
            let expected = [Effect::Suspended, Effect::Released].into_iter().cycle();
            let alternate = turns
                .iter()
                .zip(expected)
                .all(|((_, turn), expected)| *turn == expected);
            let (last, turn) = turns
                .last()
                .copied()
                .unwrap_or((Timestamp::MIN, Effect::None));
            return match running {
                // The change between the last known one and the mention is missing.
                Some((at, seen)) if at > last && seen.state() != turn.state() => Derived {
                    state: seen.state(),
                    complete: false,
                },
                _ => Derived {
                    state: turn.state(),
                    complete: activated && alternate,
                },
            };
        }
        let running = running.map(|(_, seen)| seen);
        let state = if let Some(effect) = running {
            effect.state()
        } else if activated {
            MandateState::Active
        } else if self
            .events
            .values()
            .any(|e| matches!(e.effect, Effect::CreationPending | Effect::SeenCreated))
        {
            MandateState::Created
        } else {
            MandateState::Unknown
        };
        Derived {
            state,
            complete: running != Some(Effect::SeenSuspended),
        }
    }
}
