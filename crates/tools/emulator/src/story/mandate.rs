//! The story of a mandate.

use super::{NamedSteps, Teller, user};
use crate::webhook::Webhook;
use bankrail_values::{Clock, HyphenatedUuid, Timestamp};
use bankrail_webhook::history::MandateState;
use bankrail_webhook::message::query_notification::ReminderCount;
use bankrail_webhook::sender::OriginalRequest;
use bankrail_webhook::{
    ActionId, ActionStatus, ActionType, AmendedDebtor, Amendment, BilateralAmendment, CaseType,
    MandateActionOutcome, MandateDetails, MandateId, MandateNotification, MandateStatus,
    OutcomeStatus, QueryNotification, ResolutionEvent, StatusChange, StatusChangeCode, Trigger,
};
use std::sync::Arc;

/// The life of a mandate that a biller creates, as the messages that the biller receives: each step
/// is the next message.
///
/// - All messages are about one mandate. Messages about one action share its identifier, and the
///   outcomes of one request its `request_id` and its headers.
/// - Each message is later than the one before: the clock's time, and if the clock stands still, a
///   millisecond later.
/// - A step that the mandate's state does not allow panics at the caller's line.
///
/// ```
/// use bankrail_emulator::MandateStory;
/// use bankrail_values::{ManualClock, Timestamp};
/// use bankrail_webhook::history::MandateState;
///
/// let mut mandate = MandateStory::new(7, std::sync::Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH)));
/// let (pending, confirmed) = (mandate.created(), mandate.confirmed_by_payer());
/// assert_eq!(mandate.state(), MandateState::Active);
/// assert!(pending.message.creation_date_time() < confirmed.message.creation_date_time());
/// ```
#[derive(Debug)]
pub struct MandateStory {
    teller: Teller,
    id: MandateId,
    registered: Timestamp,
    state: MandateState,
    creation: Option<BillerRequest>,
    amendment: Option<BillerRequest>,
    case: Option<Case>,
    cases: u32,
}

/// A request of the biller, which waits for the payer or has ended.
#[derive(Clone, Debug)]
struct BillerRequest {
    request: OriginalRequest,
    request_id: HyphenatedUuid,
    action: ActionId,
    status: ActionStatus,
}

#[derive(Clone, Debug)]
struct Case {
    id: String,
    reminders: u32,
    is_reopened: bool,
}

/// The stories of mandates that [`story`](super::story) tells.
pub(super) const STORIES: [NamedSteps<MandateStory>; 6] = [
    (
        "mandate",
        &[
            MandateStory::created,
            MandateStory::confirmed_by_payer,
            MandateStory::creation_completed,
            MandateStory::amended_by_payer,
            MandateStory::queried,
            MandateStory::reminded,
            MandateStory::suspended_by_payer,
            MandateStory::released_by_payer,
            MandateStory::suspended,
            MandateStory::released,
            MandateStory::cancelled_by_payer,
        ],
    ),
    (
        "mandate-declined",
        &[
            MandateStory::created,
            MandateStory::declined_by_payer,
            MandateStory::creation_completed,
        ],
    ),
    // The payer never answers.
    (
        "mandate-expired",
        &[
            MandateStory::created,
            MandateStory::expired,
            MandateStory::creation_completed,
        ],
    ),
    // The biller amends twice: the payer confirms the one and declines the other.
    (
        "mandate-amended",
        &[
            MandateStory::created,
            MandateStory::confirmed_by_payer,
            MandateStory::amendment_asked,
            MandateStory::amendment_confirmed_by_payer,
            MandateStory::amendment_completed,
            MandateStory::amendment_asked,
            MandateStory::amendment_declined_by_payer,
            MandateStory::amendment_completed,
        ],
    ),
    (
        "mandate-ported",
        &[
            MandateStory::created,
            MandateStory::confirmed_by_payer,
            MandateStory::ported,
            MandateStory::cancelled_by_payer,
        ],
    ),
    // Two reminders, and the case is opened again.
    (
        "mandate-queried",
        &[
            MandateStory::created,
            MandateStory::confirmed_by_payer,
            MandateStory::queried,
            MandateStory::reminded,
            MandateStory::reminded,
            MandateStory::query_reopened,
            MandateStory::reminded,
        ],
    ),
];

impl MandateStory {
    /// Returns a mandate that is not created yet, with identifiers from a seed.
    #[must_use]
    pub fn new(seed: u64, clock: Arc<dyn Clock>) -> Self {
        let teller = Teller::new(seed, clock);
        let registered = teller.now();
        let id = MandateId::from_uuid(teller.ids.timed(registered)).expect("a UUID of version 1");
        let state = MandateState::Unknown;
        Self {
            teller,
            id,
            registered,
            state,
            creation: None,
            amendment: None,
            case: None,
            cases: 0,
        }
    }

    /// The mandate.
    #[must_use]
    pub fn id(&self) -> MandateId {
        self.id
    }

    /// Returns the state after the last step.
    #[must_use]
    pub fn state(&self) -> MandateState {
        self.state
    }

    /// The biller's creation waits for the payer: an outcome `CREA`, `PEND`.
    ///
    /// # Panics
    /// If the mandate is created already.
    #[track_caller]
    pub fn created(&mut self) -> Webhook {
        self.only(&[MandateState::Unknown], "created");
        self.creation = Some(self.new_request());
        self.state = MandateState::Created;
        self.creation_outcome()
    }

    /// Returns the outcome of the creation after its end: it is about the same request as that of
    /// [`MandateStory::created`], which has left `PEND`. A receiver handles it as a new result, not
    /// as a conflict.
    ///
    /// # Panics
    /// If the creation has not ended.
    #[track_caller]
    pub fn creation_completed(&mut self) -> Webhook {
        let ended = self
            .creation
            .as_ref()
            .is_some_and(|creation| creation.status != ActionStatus::Pending);
        assert!(
            ended,
            "the creation of a mandate that is {:?} is not completed",
            self.state
        );
        self.creation_outcome()
    }

    /// The payer confirms the creation: `MCRC`.
    ///
    /// # Panics
    /// If the creation does not wait for the payer.
    #[track_caller]
    pub fn confirmed_by_payer(&mut self) -> Webhook {
        self.only(&[MandateState::Created], "confirmed");
        self.creation_ended(
            Trigger::CreationConfirmed,
            ActionStatus::Completed,
            MandateState::Active,
        )
    }

    /// The payer declines the creation: `MCRD`.
    ///
    /// # Panics
    /// If the creation does not wait for the payer.
    #[track_caller]
    pub fn declined_by_payer(&mut self) -> Webhook {
        self.only(&[MandateState::Created], "declined");
        self.creation_ended(
            Trigger::CreationDeclined,
            ActionStatus::Declined,
            MandateState::Cancelled,
        )
    }

    /// The payer did not answer in time: `MCRX`.
    ///
    /// # Panics
    /// If the creation does not wait for the payer.
    #[track_caller]
    pub fn expired(&mut self) -> Webhook {
        self.only(&[MandateState::Created], "expired");
        self.creation_ended(
            Trigger::CreationExpired,
            ActionStatus::TimedOut,
            MandateState::Cancelled,
        )
    }

    /// The payer changes their reference: `MAMN`.
    ///
    /// # Panics
    /// If the mandate is neither active nor suspended.
    #[track_caller]
    pub fn amended_by_payer(&mut self) -> Webhook {
        self.only(&[MandateState::Active, MandateState::Suspended], "amended");
        let reference = format!("REF-{:04}", self.teller.ids.number() % 10_000);
        let amendment =
            Amendment::new().debtor_information(AmendedDebtor::new().party_reference(reference));
        let notification = self.notification(Trigger::AmendedUnilaterally, self.action());
        let notification = notification
            .mandate_status(self.status())
            .details(amendment);
        Webhook::new(notification, self.teller.notifying())
    }

    /// The biller's amendment waits for the payer: an outcome `AMND`, `PEND`.
    ///
    /// # Panics
    /// If the mandate is neither active nor suspended, or another amendment waits.
    #[track_caller]
    pub fn amendment_asked(&mut self) -> Webhook {
        self.only(&[MandateState::Active, MandateState::Suspended], "amended");
        assert!(!self.amendment_waits(), "an amendment waits for the payer");
        self.amendment = Some(self.new_request());
        self.amendment_outcome()
    }

    /// The payer confirms the amendment: `MAMC`.
    ///
    /// # Panics
    /// If no amendment waits for the payer.
    #[track_caller]
    pub fn amendment_confirmed_by_payer(&mut self) -> Webhook {
        self.amendment_ended(Trigger::AmendmentConfirmed, ActionStatus::Completed)
    }

    /// The payer declines the amendment: `MAMD`.
    ///
    /// # Panics
    /// If no amendment waits for the payer.
    #[track_caller]
    pub fn amendment_declined_by_payer(&mut self) -> Webhook {
        self.amendment_ended(Trigger::AmendmentDeclined, ActionStatus::Declined)
    }

    /// The payer did not answer the amendment in time: `MAMX`.
    ///
    /// # Panics
    /// If no amendment waits for the payer.
    #[track_caller]
    pub fn amendment_expired(&mut self) -> Webhook {
        self.amendment_ended(Trigger::AmendmentExpired, ActionStatus::TimedOut)
    }

    /// Returns the outcome of the amendment after its end, when it has left `PEND`.
    ///
    /// # Panics
    /// If no amendment has ended.
    #[track_caller]
    pub fn amendment_completed(&mut self) -> Webhook {
        assert!(
            !self.amendment_waits(),
            "an amendment that waits for the payer is not completed"
        );
        self.amendment_outcome()
    }

    /// The mandate is moved to another account of the payer: an outcome `PORT`, `CMPL`.
    ///
    /// # Panics
    /// If the mandate is neither active nor suspended.
    #[track_caller]
    pub fn ported(&mut self) -> Webhook {
        self.only(&[MandateState::Active, MandateState::Suspended], "ported");
        self.done(ActionType::Port)
    }

    /// The payer suspends the mandate: `MSCH`, `SUSP`.
    ///
    /// # Panics
    /// If the mandate is not active.
    #[track_caller]
    pub fn suspended_by_payer(&mut self) -> Webhook {
        self.only(&[MandateState::Active], "suspended");
        self.changed_by_payer(StatusChangeCode::Suspend, MandateState::Suspended)
    }

    /// The payer releases the mandate: `MSCH`, `RELS`.
    ///
    /// # Panics
    /// If the mandate is not suspended.
    #[track_caller]
    pub fn released_by_payer(&mut self) -> Webhook {
        self.only(&[MandateState::Suspended], "released");
        self.changed_by_payer(StatusChangeCode::Release, MandateState::Active)
    }

    /// The payer cancels the mandate: `MSCH`, `CNCL`.
    ///
    /// # Panics
    /// If the mandate is neither active nor suspended.
    #[track_caller]
    pub fn cancelled_by_payer(&mut self) -> Webhook {
        self.only(
            &[MandateState::Active, MandateState::Suspended],
            "cancelled",
        );
        self.changed_by_payer(StatusChangeCode::Cancel, MandateState::Cancelled)
    }

    /// Suspends the mandate at the biller's request: an outcome `STCH`, `CMPL`.
    ///
    /// # Panics
    /// If the mandate is not active.
    #[track_caller]
    pub fn suspended(&mut self) -> Webhook {
        self.only(&[MandateState::Active], "suspended");
        self.changed(MandateState::Suspended)
    }

    /// The biller has released the mandate.
    ///
    /// # Panics
    /// If the mandate is not suspended.
    #[track_caller]
    pub fn released(&mut self) -> Webhook {
        self.only(&[MandateState::Suspended], "released");
        self.changed(MandateState::Active)
    }

    /// The biller has cancelled the mandate.
    ///
    /// # Panics
    /// If the mandate is neither active nor suspended.
    #[track_caller]
    pub fn cancelled(&mut self) -> Webhook {
        self.only(
            &[MandateState::Active, MandateState::Suspended],
            "cancelled",
        );
        self.changed(MandateState::Cancelled)
    }

    /// The payer queries the mandate, which opens a new case.
    ///
    /// # Panics
    /// If the mandate is not created.
    #[track_caller]
    pub fn queried(&mut self) -> Webhook {
        assert!(
            self.creation.is_some(),
            "a mandate that is {:?} cannot be queried",
            self.state
        );
        self.cases += 1;
        let id = format!(
            "CASE-{:06}-{}",
            self.teller.ids.number() % 1_000_000,
            self.cases
        );
        self.case = Some(Case {
            id,
            reminders: 0,
            is_reopened: false,
        });
        self.query()
    }

    /// The bank sends a reminder of the last query, which has no resolution yet: `reminder_count`
    /// rises by 1.
    ///
    /// # Panics
    /// If there is no query, or after 99 reminders.
    #[track_caller]
    pub fn reminded(&mut self) -> Webhook {
        let case = self.case.as_mut().expect("a query before its reminder");
        assert!(case.reminders < 99, "a case has at most 99 reminders");
        case.reminders += 1;
        self.query()
    }

    /// The payer is not satisfied with the resolution of the last query: the case is opened again,
    /// without reminders.
    ///
    /// # Panics
    /// If there is no query.
    #[track_caller]
    pub fn query_reopened(&mut self) -> Webhook {
        let case = self
            .case
            .as_mut()
            .expect("a query before it is opened again");
        (case.reminders, case.is_reopened) = (0, true);
        self.query()
    }

    #[track_caller]
    fn only(&self, allowed: &[MandateState], what: &str) {
        assert!(
            allowed.contains(&self.state),
            "a mandate that is {:?} cannot be {what}",
            self.state
        );
    }

    fn new_request(&self) -> BillerRequest {
        let (request, request_id, action) =
            (self.teller.request(), self.teller.ids.uuid(), self.action());
        BillerRequest {
            request,
            request_id,
            action,
            status: ActionStatus::Pending,
        }
    }

    fn amendment_waits(&self) -> bool {
        self.amendment
            .as_ref()
            .is_some_and(|amendment| amendment.status == ActionStatus::Pending)
    }

    fn action(&self) -> ActionId {
        ActionId::from_uuid(self.teller.ids.timed(self.registered)).expect("a UUID of version 1")
    }

    fn status(&self) -> MandateStatus {
        match self.state {
            MandateState::Suspended => MandateStatus::Suspended,
            MandateState::Cancelled => MandateStatus::Cancelled,
            MandateState::Active => MandateStatus::Active,
            _ => MandateStatus::Created,
        }
    }

    fn outcome(&self, request_id: HyphenatedUuid, action: ActionId) -> MandateActionOutcome {
        MandateActionOutcome::new(self.teller.now(), OutcomeStatus::Succeeded)
            .mps_user_id(user())
            .request_id(request_id)
            .mandate_identification(self.id)
            .mandate_registration_date_time(self.registered)
            .action_identification(action)
    }

    /// Returns the outcome of the creation, with the present status of the creation.
    fn creation_outcome(&self) -> Webhook {
        let creation = self.creation.as_ref().expect("the creation was requested");
        let mandate = match creation.status {
            ActionStatus::Pending => MandateStatus::Created,
            ActionStatus::Completed => MandateStatus::Active,
            _ => MandateStatus::Cancelled,
        };
        let outcome = self
            .outcome(creation.request_id, creation.action)
            .mandate_status(mandate)
            .action_type(ActionType::Create)
            .action_status(creation.status.clone())
            .bilateral(true);
        Webhook::new(outcome, self.teller.answering(&creation.request))
    }

    /// Returns the outcome of the last amendment, with the present status of the amendment.
    #[track_caller]
    fn amendment_outcome(&self) -> Webhook {
        let amendment = self
            .amendment
            .as_ref()
            .expect("an amendment before its outcome");
        let outcome = self
            .outcome(amendment.request_id, amendment.action)
            .mandate_status(self.status())
            .action_type(ActionType::Amend)
            .action_status(amendment.status.clone());
        Webhook::new(outcome, self.teller.answering(&amendment.request))
    }

    #[track_caller]
    fn amendment_ended(&mut self, trigger: Trigger, status: ActionStatus) -> Webhook {
        let waiting = self
            .amendment
            .as_mut()
            .filter(|amendment| amendment.status == ActionStatus::Pending);
        let amendment = waiting.expect("an amendment that waits for the payer");
        amendment.status = status;
        let action = amendment.action;
        let details =
            BilateralAmendment::new().additional_information("From the next invoice on".to_owned());
        let notification = self
            .notification(trigger, action)
            .mandate_status(self.status())
            .details(details);
        Webhook::new(notification, self.teller.notifying())
    }

    fn creation_ended(
        &mut self,
        trigger: Trigger,
        status: ActionStatus,
        state: MandateState,
    ) -> Webhook {
        let creation = self
            .creation
            .as_mut()
            .expect("a mandate in this state was created");
        creation.status = status;
        let action = creation.action;
        self.state = state;
        let notification = self.notification(trigger.clone(), action);
        let notification = match trigger {
            Trigger::CreationDeclined => notification.resolution_event(
                ResolutionEvent::new("AC02").reason_description("Not agreed by the payer"),
            ),
            _ => notification,
        };
        Webhook::new(notification, self.teller.notifying())
    }

    fn notification(&self, trigger: Trigger, action: ActionId) -> MandateNotification {
        MandateNotification::of_trigger(self.teller.now(), trigger, user(), self.id, action)
            .expect("a trigger that is known")
    }

    fn changed_by_payer(&mut self, change: StatusChangeCode, state: MandateState) -> Webhook {
        self.state = state;
        let notification = self.notification(Trigger::StatusChanged, self.action());
        let notification = notification
            .mandate_status(self.status())
            .details(StatusChange::new(change));
        Webhook::new(notification, self.teller.notifying())
    }

    fn changed(&mut self, state: MandateState) -> Webhook {
        self.state = state;
        self.done(ActionType::StatusChange)
    }

    /// Returns the outcome of a request that needs no payer.
    fn done(&self, action_type: ActionType) -> Webhook {
        let request = self.teller.request();
        let outcome = self
            .outcome(self.teller.ids.uuid(), self.action())
            .mandate_status(self.status())
            .action_type(action_type)
            .action_status(ActionStatus::Completed);
        Webhook::new(outcome, self.teller.answering(&request))
    }

    fn query(&self) -> Webhook {
        let case = self.case.as_ref().expect("a case was opened");
        let details = MandateDetails::new()
            .mps_user_id(user())
            .mandate_identification(self.id);
        let narrative = "I do not know this charge. Please explain."
            .parse()
            .expect("it fits a narrative");
        let id = case.id.parse().expect("a case of at most 20 characters");
        let query =
            QueryNotification::new(self.teller.now(), id, CaseType::Mandate, narrative, details);
        let query = match case.reminders {
            0 => query,
            count => query.reminder_count(
                count
                    .to_string()
                    .parse::<ReminderCount>()
                    .expect("a count of two digits at most"),
            ),
        };
        let query = query.re_open_case_indication(case.is_reopened);
        Webhook::new(query, self.teller.notifying())
    }
}
