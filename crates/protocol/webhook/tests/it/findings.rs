//! Findings as they are stored.

use crate::rows::Wrong;
use bankrail_webhook::{MessageFinding, Rule, RuleClass, Severity};

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

/// The name of a rule stands in stores and logs, its class decides what is refused.
#[test]
fn each_rule_has_its_name_class_and_severity() {
    use RuleClass::{Consistency, Default, Specification};
    use Severity::{Error, Notice, Warning};
    let rules = [
        (Rule::Null, "null", Default, Notice),
        (
            Rule::FractionDigits,
            "fraction_digits",
            Specification,
            Notice,
        ),
        (Rule::DefaultBound, "default_bound", Default, Warning),
        (Rule::DefaultRequired, "default_required", Default, Warning),
        (Rule::DefaultCode, "default_code", Default, Notice),
        (Rule::ReadsAsCleared, "reads_as_cleared", Default, Error),
        (
            Rule::OptionalHeader,
            "optional_header",
            Specification,
            Warning,
        ),
        (
            Rule::UnexpectedHeader,
            "unexpected_header",
            Specification,
            Notice,
        ),
        (Rule::OtherVersion, "other_version", Default, Notice),
        (Rule::UnknownCode, "unknown_code", Specification, Notice),
        (Rule::UnknownMember, "unknown_member", Specification, Notice),
        (
            Rule::UnknownCurrency,
            "unknown_currency",
            Specification,
            Warning,
        ),
        (
            Rule::TriggerActionType,
            "trigger_action_type",
            Consistency,
            Warning,
        ),
        (
            Rule::TriggerActionStatus,
            "trigger_action_status",
            Consistency,
            Warning,
        ),
        (
            Rule::TriggerMandateStatus,
            "trigger_mandate_status",
            Consistency,
            Warning,
        ),
        (
            Rule::TriggerDetails,
            "trigger_details",
            Consistency,
            Warning,
        ),
        (
            Rule::ResolutionEvent,
            "resolution_event",
            Consistency,
            Warning,
        ),
        (
            Rule::ActionMandateStatus,
            "action_mandate_status",
            Consistency,
            Warning,
        ),
        (Rule::StatusChange, "status_change", Consistency, Warning),
        (Rule::OutcomeError, "outcome_error", Consistency, Warning),
        (
            Rule::OutcomeMandate,
            "outcome_mandate",
            Consistency,
            Warning,
        ),
        (Rule::Bilateral, "bilateral", Specification, Warning),
        (
            Rule::DebtorAliasName,
            "debtor_alias_name",
            Specification,
            Warning,
        ),
        (Rule::AliasMissing, "alias_missing", Consistency, Warning),
        (Rule::AliasFormat, "alias_format", Specification, Warning),
        (
            Rule::OrganisationWords,
            "organisation_words",
            Consistency,
            Notice,
        ),
        (
            Rule::AccountMissing,
            "account_missing",
            Consistency,
            Warning,
        ),
        (Rule::AmountType, "amount_type", Consistency, Warning),
        (Rule::AmountMissing, "amount_missing", Consistency, Warning),
        (
            Rule::RejectionReason,
            "rejection_reason",
            Specification,
            Warning,
        ),
        (
            Rule::PaymentReference,
            "payment_reference",
            Consistency,
            Warning,
        ),
        (
            Rule::PaymentDetails,
            "payment_details",
            Consistency,
            Warning,
        ),
        (Rule::ReminderCount, "reminder_count", Specification, Notice),
        (Rule::DateOrder, "date_order", Consistency, Warning),
    ];
    let mut wrong = Wrong::default();
    assert_eq!(
        Rule::ALL.to_vec(),
        rules.iter().map(|(rule, ..)| *rule).collect::<Vec<_>>()
    );
    for (rule, name, class, severity) in rules {
        wrong.unless_equal(
            name,
            (rule.as_str(), rule.class(), rule.severity()),
            (name, class, severity),
        );
        wrong.unless_equal(name, name.parse::<Rule>(), Ok(rule));
    }
    wrong.none();
}
