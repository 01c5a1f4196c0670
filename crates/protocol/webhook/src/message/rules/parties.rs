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
    let DebtorInformation {
        account_identification_type_code,
        account_identification,
        ..
    } = debtor;
    let (alias_type, text) = (
        &debtor.account_alias_type_code,
        &debtor.account_alias_identification,
    );
    identified(
        account_identification_type_code.as_ref(),
        account_identification.is_some(),
        alias_type.is_some(),
        text.is_some(),
        at,
    );
    alias(alias_type.as_ref(), text.as_deref(), at);
}

/// Checks the payer of an amendment. An amendment has only changed members, so a changed type needs
/// its alias or account in the same amendment. A cleared value counts as absent, because it does
/// not identify the account.
pub(super) fn amended_debtor(debtor: &AmendedDebtor, at: &mut Context) {
    let (alias_type, text) = (
        &debtor.account_alias_type_code,
        &debtor.account_alias_identification,
    );
    identified(
        debtor.account_identification_type_code.changed(),
        debtor.account_identification.changed().is_some(),
        alias_type.changed().is_some(),
        text.changed().is_some(),
        at,
    );
    alias(alias_type.changed(), text.changed().map(String::as_str), at);
    if text.is_cleared() && alias_type.changed().is_some() {
        absent(at, ALIAS, Rule::AliasMissing, "an alias with an alias type");
    }
}

/// Checks that the account is identified, by an account number or by an alias with its type.
fn identified(
    by: Option<&AccountIdentificationType>,
    has_account: bool,
    has_alias_type: bool,
    has_alias: bool,
    at: &mut Context,
) {
    use AccountIdentificationType::{Alias, Bban};
    for (missing, member, rule, expected) in [
        (
            by == Some(&Alias) && !has_alias_type,
            ALIAS_TYPE,
            Rule::AliasMissing,
            "an alias type with ALIA",
        ),
        (
            by == Some(&Alias) && !has_alias,
            ALIAS,
            Rule::AliasMissing,
            "an alias with ALIA",
        ),
        (
            by == Some(&Bban) && !has_account,
            ACCOUNT,
            Rule::AccountMissing,
            "an account identification with BBAN",
        ),
    ] {
        if missing {
            absent(at, member, rule, expected);
        }
    }
}

/// Checks the form of an alias. Only an account identification may be partly masked (Specification:
/// "QueryNotification message"). A completely masked alias is not checked (Default).
fn alias(alias_type: Option<&AliasType>, text: Option<&str>, at: &mut Context) {
    let (Some(alias_type), Some(text)) = (alias_type, text) else {
        return;
    };
    // The form of a completely masked alias is unknown.
    if AccountMask::of(text).is_all_masked() || !alias_type.is_known() {
        return;
    }
    match Alias::parse(alias_type, text) {
        Ok(alias) if alias.may_describe() => {}
        Ok(_) => at.within(ALIAS, |at| {
            at.find(Rule::OrganisationWords, "at least two words", excerpt(text))
        }),
        Err(_) => {
            let expected = format!("an alias of type {alias_type}");
            at.within(ALIAS, |at| {
                at.find(Rule::AliasFormat, expected, excerpt(text))
            });
        }
    }
}
