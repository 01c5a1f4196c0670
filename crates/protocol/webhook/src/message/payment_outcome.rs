//! `MPIRActionOutcome`: the outcome of a payment instruction that the biller started
//! (Specification: "MPIRActionOutcome message").

use super::{MessageKind, MpsUserId, Text35, WebhookMessage};
use crate::MessageAmount;
use crate::codes::TransactionStatus;
use crate::duplicate::KeyParts;
use crate::ids::{MandateId, Uetr};
use crate::json::{ExtraMembers, Wire};
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{BoundedText, HyphenatedUuid, Timestamp};

/// The outcome of a payment instruction (`MPIRActionOutcome`). Several arrive for one
/// instruction, in any order.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(message)]
#[non_exhaustive]
pub struct PaymentOutcome {
    /// The time at which the service processed the outcome.
    pub creation_date_time: Timestamp,
    /// The payment's status; part of the duplicate check key.
    pub transaction_status: TransactionStatus,
    /// Reason from an external reason code list, 1 to 4 characters.
    pub transaction_status_reason_code: Option<BoundedText<1, 4>>,
    /// More about the status, 1 to 105 characters each.
    pub transaction_status_additional_information: Option<Vec<BoundedText<1, 105>>>,
    /// The user of the service.
    pub mps_user_id: Option<MpsUserId>,
    /// Assigned by the service provider; one of the two aliases of the duplicate check key.
    pub instruction_identification: Option<Text35>,
    /// End-to-end reference echoed from the instruction; the other alias of the duplicate check
    /// key.
    pub uetr: Option<Uetr>,
    /// The account servicer's reference.
    pub account_servicer_reference: Option<Text35>,
    /// The clearing system's reference.
    pub clearing_system_reference: Option<Text35>,
    /// The time at which the payment order met the processing conditions (authorisation and funds
    /// checks applied).
    pub acceptance_date_time: Option<Timestamp>,
    /// The instruction that this is an outcome of.
    pub original_transaction_reference: Option<OriginalTransaction>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// The instruction that an outcome is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct OriginalTransaction {
    /// The biller's own identification of the instruction.
    pub original_instruction_identification: Option<String>,
    /// The amount instructed.
    pub instructed_amount: Option<MessageAmount>,
    /// The mandate.
    pub mandate_identification: Option<MandateId>,
    /// Default: 1 to 140 printable ASCII characters.
    #[wire(bound = NAME)]
    pub creditor_name: Option<String>,
    /// Default: 1 to 140 printable ASCII characters.
    #[wire(bound = NAME)]
    pub creditor_ultimate_name: Option<String>,
    /// Default: 1 to 34 printable ASCII characters.
    #[wire(bound = ACCOUNT)]
    pub creditor_account_identification: Option<String>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

impl WebhookMessage for PaymentOutcome {
    const KIND: MessageKind = MessageKind::PaymentOutcome;

    fn creation_date_time(&self) -> Timestamp {
        self.creation_date_time
    }

    fn duplicate_key(&self, scope: &str, message_id: HyphenatedUuid) -> DuplicateKey {
        let alias = |member, id: &str| {
            KeyParts::new(scope, Self::KIND, member)
                .text(id)
                .text(self.transaction_status.as_str())
                .finish()
        };
        let instruction = self.instruction_identification.as_ref().map(Text35::as_str);
        let instruction = instruction.map(|id| alias("instruction_identification", id));
        let uetr = self.uetr.map(|id| alias("uetr", &id.to_string()));
        if instruction.is_none() && uetr.is_none() {
            return KeyParts::fallback(scope, Self::KIND, message_id).into();
        }
        DuplicateKey::from_hashes(instruction.into_iter().chain(uetr))
    }
}
