//! Findings as they are stored.

use crate::rows::Wrong;
use bankrail_webhook::{MessageFinding, Rule, RuleClass};

#[test]
fn findings_of_another_version_are_kept() {
    let stored = r#"[["a_new_rule","/a","a colour","\"red\""],["null","/b","no null","null"]]"#;
    let read = serde_json::from_str::<Vec<MessageFinding>>(stored).unwrap();
    assert_eq!(
        (read[0].rule, &*read[0].expected),
        (Rule::OtherVersion, "a_new_rule: a colour")
    );
    assert_eq!(
        (read[0].pointer.as_str(), read[0].found.as_str()),
        ("/a", "\"red\"")
    );
    assert_eq!(read[1].rule, Rule::Null);
    let again = serde_json::to_string(&read).unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<MessageFinding>>(&again).unwrap(),
        read
    );
    assert!(serde_json::from_str::<Vec<MessageFinding>>("[7]").is_err());
}

/// The name of a rule is written to stores and logs, and its class decides which messages are
/// refused.
#[test]
fn each_rule_has_its_name_and_class() {
    use RuleClass::{Consistency, Default, Specification};
    let rules = [
        (Rule::Null, "null", Default),
        (Rule::FractionDigits, "fraction_digits", Specification),
        (Rule::DefaultBound, "default_bound", Default),
        (Rule::DefaultRequired, "default_required", Default),
        (Rule::DefaultCode, "default_code", Default),
        (Rule::ReadsAsCleared, "reads_as_cleared", Default),
        (Rule::OptionalHeader, "optional_header", Specification),
        (Rule::UnexpectedHeader, "unexpected_header", Specification),
        (Rule::OtherVersion, "other_version", Default),
        (Rule::UnknownCode, "unknown_code", Specification),
        (Rule::UnknownMember, "unknown_member", Specification),
        (Rule::UnknownCurrency, "unknown_currency", Specification),
        (Rule::TriggerActionType, "trigger_action_type", Consistency),
        (
            Rule::TriggerActionStatus,
            "trigger_action_status",
            Consistency,
        ),
        (
            Rule::TriggerMandateStatus,
            "trigger_mandate_status",
            Consistency,
        ),
        (Rule::TriggerDetails, "trigger_details", Consistency),
        (Rule::ResolutionEvent, "resolution_event", Consistency),
        (
            Rule::ActionMandateStatus,
            "action_mandate_status",
            Consistency,
        ),
        (Rule::StatusChange, "status_change", Consistency),
        (Rule::OutcomeError, "outcome_error", Consistency),
        (Rule::OutcomeMandate, "outcome_mandate", Consistency),
        (Rule::Bilateral, "bilateral", Specification),
        (Rule::DebtorAliasName, "debtor_alias_name", Specification),
        (Rule::AliasMissing, "alias_missing", Consistency),
        (Rule::AliasFormat, "alias_format", Specification),
        (Rule::OrganisationWords, "organisation_words", Consistency),
        (Rule::AccountMissing, "account_missing", Consistency),
        (Rule::AmountType, "amount_type", Consistency),
        (Rule::AmountMissing, "amount_missing", Consistency),
        (Rule::RejectionReason, "rejection_reason", Specification),
        (Rule::PaymentReference, "payment_reference", Consistency),
        (Rule::PaymentDetails, "payment_details", Consistency),
        (Rule::ReminderCount, "reminder_count", Specification),
        (Rule::DateOrder, "date_order", Consistency),
    ];
    let mut wrong = Wrong::default();
    assert_eq!(
        Rule::ALL.to_vec(),
        rules.iter().map(|(rule, ..)| *rule).collect::<Vec<_>>()
    );
    for (rule, name, class) in rules {
        wrong.unless_equal(name, (rule.as_str(), rule.class()), (name, class));
        wrong.unless_equal(name, name.parse::<Rule>(), Ok(rule));
    }
    wrong.none();
}
