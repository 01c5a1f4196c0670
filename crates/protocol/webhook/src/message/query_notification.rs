//! `QueryNotification`: the payer raised a query (Specification: "QueryNotification message").

use super::parties::{CreditorInformation, DebtorInformation};
use super::payment_information::PaymentInformation;
use super::{MessageKind, MpsUserId, WebhookMessage};
use crate::MessageAmount;
use crate::codes::{CaseType, EstablishmentScheme, InvestigationType, MandatePurpose};
use crate::duplicate::KeyParts;
use crate::ids::MandateId;
use crate::json::{ExtraMembers, Wire};
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{BoundedText, Date, HyphenatedUuid, Timestamp};

/// A case reference: 1 to 20 code points.
pub type CaseId = BoundedText<1, 20>;
/// The payer's text: 1 to 2048 code points.
pub type Narrative = BoundedText<1, 2048>;
/// The number of times that a notification was regenerated, as text of 1 to 2 code points.
pub type ReminderCount = BoundedText<1, 2>;

/// A payer's query, raised through the payer's institution.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(message)]
#[non_exhaustive]
pub struct QueryNotification {
    /// The time at which the service processed the notification, not that of the query.
    pub creation_date_time: Timestamp,
    /// Assigned by the service; quoted when the biller sends a query resolution. Part of the
    /// duplicate check key.
    pub case_id: CaseId,
    /// The only value is `INV14`.
    #[wire(fixed)]
    pub investigation_type_code: InvestigationType,
    /// The subject of the query.
    pub case_type: CaseType,
    /// Increases by 1 each time the same notification is regenerated while no resolution has
    /// been received. Stays text; part of the duplicate check key, as a number. Default: absent
    /// counts as 0.
    pub reminder_count: Option<ReminderCount>,
    /// True when a closed case is opened again. Part of the duplicate check key.
    pub re_open_case_indication: Option<bool>,
    /// Text sent by the payer's institution.
    pub narrative: Narrative,
    /// The payment that the query is about.
    pub payment_details: Option<PaymentDetails>,
    /// The mandate that the query is about.
    pub mandate_details: MandateDetails,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// The payment that a query is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct PaymentDetails {
    /// The transaction.
    pub transaction_identification: Option<String>,
    /// The instruction.
    pub instruction_identification: Option<String>,
    /// The day of the transaction.
    pub transaction_date: Option<Date>,
    /// The amount of the transaction.
    pub original_transaction_amount: Option<MessageAmount>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// The mandate that a query is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct MandateDetails {
    /// The user of the service.
    pub mps_user_id: Option<MpsUserId>,
    /// The mandate.
    pub mandate_identification: Option<MandateId>,
    /// The scheme under which the mandate was established.
    pub establishment_scheme: Option<EstablishmentScheme>,
    /// The purpose of the mandate.
    pub mandate_purpose_code: Option<MandatePurpose>,
    /// The description of what the mandate pays for.
    pub description: Option<String>,
    /// Default: 1 to 140 characters.
    #[wire(bound = LINE)]
    pub additional_information: Option<String>,
    /// The payer.
    pub debtor_information: Option<DebtorInformation>,
    /// The biller.
    pub creditor_information: Option<CreditorInformation>,
    /// The payment schedule and amounts.
    pub payment_information: Option<PaymentInformation>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

impl QueryNotification {
    /// Returns the notification regenerated because no resolution has been received:
    /// `reminder_count` is increased by 1 (absent counts as 0), `creation_date_time` is `now`, and
    /// all else is the same (Specification: "QueryNotification message").
    ///
    /// The count is part of the duplicate key (Specification: "Events"), so that a reminder is no
    /// duplicate: send it as a separate message with its own `X-Message-Id`. Only the caller knows
    /// if a resolution has been received.
    ///
    /// # Errors
    /// [`ReminderError`] if `reminder_count` is not a number, or is 99.
    pub fn reminder(&self, now: Timestamp) -> Result<Self, ReminderError> {
        let made = self.reminders().ok_or(ReminderError::NotACount)?;
        // The count is at most 100 here, which does not fit into its two digits.
        let next = (made + 1)
            .to_string()
            .parse()
            .map_err(|_| ReminderError::TooMany)?;
        Ok(Self {
            reminder_count: Some(next),
            creation_date_time: now,
            ..self.clone()
        })
    }

    /// Returns `reminder_count` as a number; absent counts as 0. `None` for other text than digits.
    fn reminders(&self) -> Option<u8> {
        let count = self
            .reminder_count
            .as_ref()
            .map_or("0", ReminderCount::as_str);
        let digits = count.bytes().all(|b| b.is_ascii_digit());
        count.parse().ok().filter(|_| digits)
    }

    /// Returns each `reminder_count` that means the same as this one (Default): absent, `0` and
    /// `00`; `1` and `01`; and so on. Text other than digits is equal only to itself.
    fn reminder_counts(&self) -> Vec<Option<ReminderCount>> {
        let Some(count) = self.reminders() else {
            return vec![self.reminder_count.clone()];
        };
        let absent = (count == 0).then_some(None);
        let mut texts = vec![count.to_string(), format!("{count:02}")];
        // From 10 on, both spellings are the same.
        texts.dedup();
        absent
            .into_iter()
            .chain(texts.into_iter().map(|text| text.parse().ok()))
            .collect()
    }
}

/// The reason why a reminder of a query notification cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReminderError {
    /// The count is not a number.
    #[error("/reminder_count: expected a count, found another text")]
    NotACount,
    /// The count is 99, the maximum of its two digits.
    #[error("/reminder_count: expected a count below 99, found 99")]
    TooMany,
}

impl WebhookMessage for QueryNotification {
    const KIND: MessageKind = MessageKind::Query;

    fn creation_date_time(&self) -> Timestamp {
        self.creation_date_time
    }

    /// Returns a key with one hash for each spelling of `reminder_count`, because stores contain
    /// hashes of each spelling.
    fn duplicate_key(&self, scope: &str, _message_id: HyphenatedUuid) -> DuplicateKey {
        let re_open = self
            .re_open_case_indication
            .map(|re_open| if re_open { "true" } else { "false" });
        DuplicateKey::from_hashes(self.reminder_counts().iter().map(|count| {
            let key = KeyParts::new(scope, Self::KIND, "case_id").text(self.case_id.as_str());
            key.optional(count.as_ref().map(ReminderCount::as_str))
                .optional(re_open)
                .finish()
        }))
    }

    fn other_spellings(&self) -> Vec<Self> {
        let others = self
            .reminder_counts()
            .into_iter()
            .filter(|count| *count != self.reminder_count);
        others
            .map(|reminder_count| Self {
                reminder_count,
                ..self.clone()
            })
            .collect()
    }
}
