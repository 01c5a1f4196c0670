//! `MPIRActionOutcome`: the outcome of a payment instruction that the biller started
//! (Specification: "MPIRActionOutcome message").

use super::{MessageKind, MpsUserId, Text35, WebhookMessage};
use crate::MessageAmount;
use crate::codes::TransactionStatus;
use crate::duplicate::KeyParts;
use crate::ids::{MandateId, Uetr};
use crate::json::wire_object;
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{BoundedText, HyphenatedUuid, Timestamp};

wire_object! {
    /// The outcome of a payment instruction (`MPIRActionOutcome`). Several arrive for one
    /// instruction, in any order.
    pub struct PaymentOutcome {
        /// When the service processed the outcome.
        required creation_date_time: Timestamp = "creation_date_time",
        /// The payment's status; part of the duplicate check key.
        required transaction_status: TransactionStatus = "transaction_status",
        /// Reason from an external reason code list, 1 to 4 characters.
        optional transaction_status_reason_code: BoundedText<1, 4> = "transaction_status_reason_code",
        /// More about the status, 1 to 105 characters each.
        optional transaction_status_additional_information: Vec<BoundedText<1, 105>>
            = "transaction_status_additional_information",
        /// The user of the service.
        optional mps_user_id: MpsUserId = "mps_user_id",
        /// Assigned by the service provider; one of the two aliases of the duplicate check key.
        optional instruction_identification: Text35 = "instruction_identification",
        /// End-to-end reference echoed from the instruction; the other alias of the duplicate check
        /// key.
        optional uetr: Uetr = "uetr",
        /// The account servicer's reference.
        optional account_servicer_reference: Text35 = "account_servicer_reference",
        /// The clearing system's reference.
        optional clearing_system_reference: Text35 = "clearing_system_reference",
        /// When the payment order met the processing conditions (authorisation and funds checks
        /// applied).
        optional acceptance_date_time: Timestamp = "acceptance_date_time",
        /// The instruction that this is an outcome of.
        optional original_transaction_reference: OriginalTransaction = "original_transaction_reference",
    }
}

wire_object! {
    /// The instruction that an outcome is about.
    #[derive(Default)]
    pub struct OriginalTransaction {
        /// The biller's own identification of the instruction.
        optional original_instruction_identification: String = "original_instruction_identification",
        /// The amount instructed.
        optional instructed_amount: MessageAmount = "instructed_amount",
        /// The mandate.
        optional mandate_identification: MandateId = "mandate_identification",
        /// Default: 1 to 140 printable ASCII characters.
        optional creditor_name: String = "creditor_name" => NAME,
        /// Default: 1 to 140 printable ASCII characters.
        optional creditor_ultimate_name: String = "creditor_ultimate_name" => NAME,
        /// Default: 1 to 34 printable ASCII characters.
        optional creditor_account_identification: String = "creditor_account_identification" => ACCOUNT,
    }
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
