//! The payer and the biller in messages.

use crate::codes::{AccountIdentificationType, AliasType, PartyType};
use crate::json::{ExtraMembers, Wire};
use crate::{AccountMask, Amended};

/// The payer in a query (Specification: "QueryNotification message", `debtor_information`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct DebtorInformation {
    /// Default: 1 to 140 printable ASCII characters.
    #[wire(bound = NAME)]
    pub party_name: Option<String>,
    /// The kind of the account's identification.
    pub account_identification_type_code: Option<AccountIdentificationType>,
    /// The account; may be partly masked. Default: 1 to 34 printable ASCII characters.
    #[wire(bound = ACCOUNT)]
    pub account_identification: Option<String>,
    /// The type of the alias.
    pub account_alias_type_code: Option<AliasType>,
    /// The alias, in the form of its type. Default: 1 to 2048 characters; masked altogether, it
    /// is not checked.
    #[wire(bound = ALIAS)]
    pub account_alias_identification: Option<String>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// The biller in a query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CreditorInformation {
    /// The biller's reference. Default: 1 to 35 printable ASCII characters.
    #[wire(bound = PARTY_REFERENCE)]
    pub party_reference: Option<String>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// A unilateral amendment's changes of the payer (Specification: "The amendment variant").
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct AmendedDebtor {
    /// The type of the payer.
    pub party_type: Amended<PartyType>,
    /// Default: 1 to 140 printable ASCII characters.
    #[wire(bound = NAME)]
    pub party_name: Amended<String>,
    /// Default: 1 to 140 printable ASCII characters.
    #[wire(bound = NAME)]
    pub ultimate_party_name: Amended<String>,
    /// The kind of the account's identification.
    pub account_identification_type_code: Amended<AccountIdentificationType>,
    /// The account. Default: 1 to 34 printable ASCII characters.
    #[wire(bound = ACCOUNT)]
    pub account_identification: Amended<String>,
    /// The type of the alias.
    pub account_alias_type_code: Amended<AliasType>,
    /// The alias. Default: 1 to 2048 characters.
    #[wire(bound = ALIAS)]
    pub account_alias_identification: Amended<String>,
    /// The payer's reference. Default: 1 to 35 printable ASCII characters.
    #[wire(bound = PARTY_REFERENCE)]
    pub party_reference: Amended<String>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

impl DebtorInformation {
    /// Returns the account identification, which may be partly masked.
    #[must_use]
    pub fn account(&self) -> Option<AccountMask<'_>> {
        self.account_identification.as_deref().map(AccountMask::of)
    }
}
