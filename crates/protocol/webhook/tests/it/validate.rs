//! The rules about values that must agree, one by one.

use bankrail_values::Money;
use bankrail_webhook::*;

fn rules(findings: Vec<MessageFinding>) -> Vec<(Rule, String)> {
    findings
        .into_iter()
        .map(|finding| (finding.rule, finding.pointer))
        .collect()
}

fn expect(message: impl Into<Message>, expected: &[(Rule, &str)]) {
    let message = message.into();
    let expected: Vec<(Rule, String)> = expected
        .iter()
        .map(|(rule, at)| (*rule, (*at).to_owned()))
        .collect();
    assert_eq!(rules(message.validate()), expected, "{message:?}");
    // Reading the message back makes the same findings and does not refuse it.
    let parsed = Message::from_json(message.kind(), message.to_json().as_bytes()).unwrap();
    assert_eq!(rules(parsed.findings), expected);
    // With `deny_findings`, a message is refused unless its findings are only advice.
    let strict = MessageReadOptions::new().deny_findings(true);
    let denied = Message::from_json_with(message.kind(), message.to_json().as_bytes(), &strict);
    let advice = expected
        .iter()
        .all(|(rule, _)| rule.class() == RuleClass::Consistency);
    assert_eq!(denied.is_ok(), advice, "{denied:?}");
}

#[test]
fn the_rules_that_the_specification_states() {
    let stated = Rule::ALL
        .iter()
        .filter(|rule| rule.class() == RuleClass::Specification);
    assert_eq!(
        stated.map(|rule| rule.as_str()).collect::<Vec<_>>(),
        [
            "fraction_digits",
            "optional_header",
            "unexpected_header",
            "unknown_code",
            "unknown_member",
            "unknown_currency",
            "bilateral",
            "debtor_alias_name",
            "alias_format",
            "rejection_reason",
            "reminder_count",
        ]
    );
}

fn notification(trigger: Trigger) -> MandateNotification {
    samples::mandate_notification(&trigger).unwrap()
}

fn amount(text: &str) -> MessageAmount {
    text.parse::<Money>().unwrap().into()
}

#[test]
fn a_trigger_agrees_with_everything_else() {
    for trigger in Trigger::KNOWN {
        let mut odd = notification(trigger.clone());
        odd.action_type = ActionType::Port;
        expect(odd, &[(Rule::TriggerActionType, "/action_type")]);
        let mut odd = notification(trigger.clone());
        odd.action_status = ActionStatus::Recalled;
        expect(odd, &[(Rule::TriggerActionStatus, "/action_status")]);
        let mut odd = notification(trigger.clone());
        odd.mandate_status = Some(MandateStatus::Created);
        let mut expected = vec![(Rule::TriggerMandateStatus, "/mandate_status")];
        if *trigger == Trigger::StatusChanged {
            expected.insert(0, (Rule::StatusChange, "/details/status_change/change"));
        }
        expect(odd, &expected);
        let mut odd = notification(trigger.clone());
        odd.details = match odd.details {
            Some(_) => None,
            None => Some(StatusChange::new(StatusChangeCode::Cancel).into()),
        };
        let mut expected = vec![(Rule::TriggerDetails, "/details")];
        if *trigger == Trigger::CreationConfirmed {
            // The mandate status is ACTV, which a cancellation does not lead to.
            expected.insert(0, (Rule::StatusChange, "/details/status_change/change"));
        }
        expect(odd, &expected);
    }
    let mut silent = notification(Trigger::CreationDeclined);
    silent.resolution_event = None;
    expect(silent, &[(Rule::ResolutionEvent, "/resolution_event")]);
    let unknown = samples::mandate_notification(&Trigger::from("MNEW"));
    assert_eq!(unknown, None);
}

#[test]
fn outcomes_agree_with_their_errors_and_actions() {
    let good = || samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending);
    let error = OutcomeErrorDetails::new("X", ErrorSeverity::Transient);
    expect(good().error(error), &[(Rule::OutcomeError, "/error")]);
    expect(
        good().mandate_status(MandateStatus::Active),
        &[(Rule::ActionMandateStatus, "/mandate_status")],
    );
    expect(
        good()
            .action_type(ActionType::Port)
            .mandate_status(MandateStatus::Active),
        &[
            (Rule::Bilateral, "/bilateral"),
            (Rule::DebtorAliasName, "/debtor_alias_name"),
        ],
    );
    let mut nameless = good();
    nameless.mandate_identification = None;
    expect(
        nameless,
        &[(Rule::OutcomeMandate, "/mandate_identification")],
    );
    let mut rejected = samples::rejected_mandate_outcome(&ErrorSeverity::Logical);
    rejected.error = None;
    expect(rejected, &[(Rule::OutcomeError, "/error")]);
    // Without an action type there is nothing to compare with.
    let mut unnamed = good();
    unnamed.action_type = None;
    expect(unnamed, &[]);
}

#[test]
fn payments_have_names_and_rejections_reasons() {
    let mut outcome = samples::payment_outcome(&TransactionStatus::Rejected);
    outcome.transaction_status_reason_code = None;
    expect(
        outcome.clone(),
        &[(Rule::RejectionReason, "/transaction_status_reason_code")],
    );
    outcome.transaction_status = TransactionStatus::Warehoused;
    outcome.uetr = None;
    expect(outcome.clone(), &[]);
    outcome.instruction_identification = None;
    expect(
        outcome,
        &[(Rule::PaymentReference, "/instruction_identification")],
    );
    let mut query = samples::query(&CaseType::Payments);
    query.payment_details = None;
    expect(query, &[(Rule::PaymentDetails, "/payment_details")]);
}

#[test]
fn accounts_have_what_their_type_names() {
    let with = |debtor: DebtorInformation| {
        let mut query = samples::query(&CaseType::Mandate);
        query.mandate_details.debtor_information = Some(debtor);
        query
    };
    let at = |member: &str| format!("/mandate_details/debtor_information/{member}");
    let (alias_type, alias, account) = (
        at("account_alias_type_code"),
        at("account_alias_identification"),
        at("account_identification"),
    );
    let by_alias =
        DebtorInformation::new().account_identification_type_code(AccountIdentificationType::Alias);
    expect(
        with(by_alias.clone()),
        &[
            (Rule::AliasMissing, &alias_type),
            (Rule::AliasMissing, &alias),
        ],
    );
    let email = by_alias.account_alias_type_code(AliasType::Email);
    expect(with(email.clone()), &[(Rule::AliasMissing, &alias)]);
    expect(with(email.clone().account_alias_identification("a@b")), &[]);
    expect(
        with(email.clone().account_alias_identification("nobody")),
        &[(Rule::AliasFormat, &alias)],
    );
    for masked in ["XXXXX", "*****", "X"] {
        expect(
            with(email.clone().account_alias_identification(masked)),
            &[],
        );
    }
    // Only the account identification may be masked in part.
    for part in ["MAX@EXAMPLE.COM", "XXX@example.com", "***X*@"] {
        expect(
            with(email.clone().account_alias_identification(part)),
            &[(Rule::AliasFormat, &alias)],
        );
    }
    let organisation = email
        .clone()
        .account_alias_type_code(AliasType::Organisation);
    for (name, enough) in [
        ("acme", false),
        ("acme & -", false),
        ("acme melbourne", true),
        ("acme-parking", true),
        ("7 eleven", true),
    ] {
        let expected: &[(Rule, &str)] = if enough {
            &[]
        } else {
            &[(Rule::OrganisationWords, &alias)]
        };
        expect(
            with(organisation.clone().account_alias_identification(name)),
            expected,
        );
    }
    let telephone = email.account_alias_type_code(AliasType::Telephone);
    for part in ["not a phone X", "+61-4123XX678"] {
        expect(
            with(telephone.clone().account_alias_identification(part)),
            &[(Rule::AliasFormat, &alias)],
        );
    }
    let bban =
        DebtorInformation::new().account_identification_type_code(AccountIdentificationType::Bban);
    expect(with(bban.clone()), &[(Rule::AccountMissing, &account)]);
    assert_eq!(bban.account(), None);
    let bban = bban.account_identification("013010XXXXX8937");
    let masked = bban.account().unwrap();
    assert_eq!(
        (masked, masked.as_str()),
        (AccountMask::of("013010XXXXX8937"), "013010XXXXX8937")
    );
    expect(with(bban.clone()), &[]);
    for plain in ["013010123458937", "x-1", ""] {
        assert!(
            !AccountMask::of(plain).is_masked() && AccountMask::of(plain).covers(plain),
            "{plain}"
        );
    }
    assert!(
        masked.is_masked() && masked.covers("013010123458937") && !masked.covers("013010123458938")
    );
    let masked = AccountMask::of("013010*****8937");
    assert!(
        masked.is_masked() && masked.covers("013010123458937") && !masked.covers("113010123458937")
    );
    assert!(
        !masked.is_all_masked()
            && AccountMask::of("*XX").is_all_masked()
            && !AccountMask::of("").is_all_masked()
    );

    let change = |debtor| {
        notification(Trigger::AmendedUnilaterally)
            .details(Amendment::new().debtor_information(debtor))
    };
    let at = |member: &str| format!("/details/amendment/debtor_information/{member}");
    let to_alias =
        AmendedDebtor::new().account_identification_type_code(AccountIdentificationType::Alias);
    expect(
        change(
            to_alias
                .clone()
                .account_alias_type_code(AliasType::Telephone),
        ),
        &[(Rule::AliasMissing, &at("account_alias_identification"))],
    );
    let wrong = to_alias
        .account_alias_type_code(AliasType::Telephone)
        .account_alias_identification("1".to_owned());
    expect(
        change(wrong),
        &[(Rule::AliasFormat, &at("account_alias_identification"))],
    );
    let to_bban =
        AmendedDebtor::new().account_identification_type_code(AccountIdentificationType::Bban);
    expect(
        change(to_bban.account_identification(Amended::Cleared)),
        &[(Rule::AccountMissing, &at("account_identification"))],
    );
}

#[test]
fn amounts_go_with_their_type() {
    let with = |payment: PaymentInformation| {
        let mut query = samples::query(&CaseType::Mandate);
        query.mandate_details.payment_information = Some(payment);
        query
    };
    let at = |member: &str| format!("/mandate_details/payment_information/{member}");
    let of = |amount_type| PaymentInformation::new().payment_amount_type(amount_type);
    expect(
        with(of(AmountType::Fixed)),
        &[(Rule::AmountMissing, &at("amount"))],
    );
    let maximum = of(AmountType::Fixed).maximum_amount(amount("1.00 AUD"));
    expect(
        with(maximum),
        &[
            (Rule::AmountType, &at("amount")),
            (Rule::AmountType, &at("maximum_amount")),
        ],
    );
    expect(with(of(AmountType::Fixed).amount(amount("1.00 AUD"))), &[]);
    expect(
        with(of(AmountType::Usage)),
        &[(Rule::AmountMissing, &at("maximum_amount"))],
    );
    expect(
        with(of(AmountType::Variable).amount(amount("1.00 AUD"))),
        &[(Rule::AmountType, &at("amount"))],
    );
    expect(with(of(AmountType::Balance)), &[]);
    let change = |payment| {
        let mut message = notification(Trigger::AmendmentConfirmed);
        message.details = Some(
            BilateralAmendment::new()
                .payment_information(payment)
                .into(),
        );
        message
    };
    let at = |member: &str| format!("/details/bilateral_amendment/payment_information/{member}");
    let fixed = AmendedPaymentInformation::new().payment_amount_type(AmountType::Fixed);
    expect(change(fixed), &[(Rule::AmountType, &at("amount"))]);
    let dates = AmendedPaymentInformation::new()
        .first_payment_date("2022-01-02".parse::<bankrail_values::Date>().unwrap())
        .last_payment_date("2022-01-01".parse::<bankrail_values::Date>().unwrap());
    expect(
        change(dates),
        &[(Rule::DateOrder, &at("last_payment_date"))],
    );
}
