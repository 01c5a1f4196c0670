//! Rules for the accounts and aliases of payers.

use super::absent;
use crate::AccountMask;
use crate::alias::Alias;
use crate::codes::{AccountIdentificationType, AliasType};
use crate::finding::Rule;
use crate::json::Context;
use crate::message::parties::{AmendedDebtor, DebtorInformation};
use bankrail_values::excerpt;

const ALIAS_TYPE: &str = "account_alias_type_code";
const ALIAS: &str = "account_alias_identification";
const ACCOUNT: &str = "account_identification";

pub(super) fn debtor(debtor: &DebtorInformation, at: &mut Context) {
    match &debtor.account_identification_type_code {
        Some(AccountIdentificationType::Alias) => {
            if debtor.account_alias_type_code.is_none() {
                absent(at, ALIAS_TYPE, Rule::AliasMissing, "an alias type with ALIA");
            }
            if debtor.account_alias_identification.is_none() {
                absent(at, ALIAS, Rule::AliasMissing, "an alias with ALIA");
            }
        }
        Some(AccountIdentificationType::Bban) if debtor.account_identification.is_none() => {
            absent(at, ACCOUNT, Rule::AccountMissing, "an account identification with BBAN");
        }
        _ => {}
    }
    alias(debtor.account_alias_type_code.as_ref(), debtor.account_alias_identification.as_deref(), at);
}

/// An amendment has only changed members, so a changed type needs its alias or account in the same amendment.
pub(super) fn amended_debtor(debtor: &AmendedDebtor, at: &mut Context) {
    match debtor.account_identification_type_code.changed() {
        Some(AccountIdentificationType::Alias) => {
            // Cleared counts as absent: nothing identifies the account.
            if debtor.account_alias_type_code.changed().is_none() {
                absent(at, ALIAS_TYPE, Rule::AliasMissing, "an alias type with ALIA");
            }
            if debtor.account_alias_identification.changed().is_none() {
                absent(at, ALIAS, Rule::AliasMissing, "an alias with ALIA");
            }
        }
        Some(AccountIdentificationType::Bban) if debtor.account_identification.changed().is_none() => {
            absent(at, ACCOUNT, Rule::AccountMissing, "an account identification with BBAN");
        }
        _ => {}
    }
    let identification = debtor.account_alias_identification.changed().map(String::as_str);
    alias(debtor.account_alias_type_code.changed(), identification, at);
    let cleared = debtor.account_alias_identification.is_cleared();
    if cleared && debtor.account_alias_type_code.changed().is_some() {
        absent(at, ALIAS, Rule::AliasMissing, "an alias with an alias type");
    }
}

/// Checks the form of an alias. Only an account identification may be partly masked (Specification:
/// "QueryNotification message"). An alias that is masked altogether has no form to check (Default).
fn alias(alias_type: Option<&AliasType>, text: Option<&str>, at: &mut Context) {
    let (Some(alias_type), Some(text)) = (alias_type, text) else { return };
    if AccountMask::of(text).is_all_masked() || !alias_type.is_known() {
        return;
    }
    match Alias::parse(alias_type, text) {
        Ok(alias) if alias.may_describe() => {}
        Ok(_) => at.within(ALIAS, |at| at.find(Rule::OrganisationWords, "at least two words", excerpt(text))),
        Err(_) => {
            let expected = format!("an alias of type {alias_type}");
            at.within(ALIAS, |at| at.find(Rule::AliasFormat, expected, excerpt(text)));
        }
    }
}
