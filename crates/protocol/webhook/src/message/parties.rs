//! The payer and the biller in messages.

use crate::AccountMask;
use crate::codes::{AccountIdentificationType, AliasType, PartyType};
use crate::json::wire_object;

wire_object! {
    /// The payer in a query (Specification: "QueryNotification message", `debtor_information`).
    #[derive(Default)]
    pub struct DebtorInformation {
        /// Default: 1 to 140 printable ASCII characters.
        optional party_name: String = "party_name" => NAME,
        /// How the account is identified.
        optional account_identification_type_code: AccountIdentificationType = "account_identification_type_code",
        /// The account; may be partly masked. Default: 1 to 34 printable ASCII characters.
        optional account_identification: String = "account_identification" => ACCOUNT,
        /// The type of the alias.
        optional account_alias_type_code: AliasType = "account_alias_type_code",
        /// The alias, in the form of its type. Default: 1 to 2048 characters; masked altogether, it
        /// is not checked.
        optional account_alias_identification: String = "account_alias_identification" => ALIAS,
    }
}

wire_object! {
    /// The biller in a query.
    #[derive(Default)]
    pub struct CreditorInformation {
        /// The biller's reference. Default: 1 to 35 printable ASCII characters.
        optional party_reference: String = "party_reference" => PARTY_REFERENCE,
    }
}

wire_object! {
    /// A unilateral amendment's changes of the payer (Specification: "The amendment variant").
    #[derive(Default)]
    pub struct AmendedDebtor {
        /// The type of the payer.
        amended party_type: PartyType = "party_type",
        /// Default: 1 to 140 printable ASCII characters.
        amended party_name: String = "party_name" => NAME,
        /// Default: 1 to 140 printable ASCII characters.
        amended ultimate_party_name: String = "ultimate_party_name" => NAME,
        /// How the account is identified.
        amended account_identification_type_code: AccountIdentificationType = "account_identification_type_code",
        /// The account. Default: 1 to 34 printable ASCII characters.
        amended account_identification: String = "account_identification" => ACCOUNT,
        /// The type of the alias.
        amended account_alias_type_code: AliasType = "account_alias_type_code",
        /// The alias. Default: 1 to 2048 characters.
        amended account_alias_identification: String = "account_alias_identification" => ALIAS,
        /// The payer's reference. Default: 1 to 35 printable ASCII characters.
        amended party_reference: String = "party_reference" => PARTY_REFERENCE,
    }
}

impl DebtorInformation {
    /// The account identification, which may be partly masked.
    #[must_use]
    pub fn account(&self) -> Option<AccountMask<'_>> {
        self.account_identification.as_deref().map(AccountMask::of)
    }
}
