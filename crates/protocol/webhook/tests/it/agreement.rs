//! Values that must agree, row by row: the tables are typed by hand from the specification and the
//! documented defaults.

use crate::rows::Wrong;
use bankrail_webhook::*;

/// Returns the findings that are not about single members: rule and pointer.
fn found(message: impl Into<Message>) -> Vec<(Rule, String)> {
    message
        .into()
        .validate()
        .into_iter()
        .map(|finding| (finding.rule, finding.pointer))
        .collect()
}

/// The same, of one rule.
fn has(message: impl Into<Message>, rule: Rule) -> bool {
    found(message).iter().any(|(found, _)| *found == rule)
}

fn outcome(
    status: &str,
    action: Option<&str>,
    action_status: Option<&str>,
) -> MandateActionOutcome {
    let mut outcome =
        MandateActionOutcome::new("2021-07-29T01:02:03.450Z".parse().unwrap(), status.into())
            .mandate_identification(samples::mandate_id());
    outcome.action_type = action.map(Into::into);
    outcome.action_status = action_status.map(Into::into);
    outcome
}

const MANDATE_STATUSES: [&str; 5] = ["ACTV", "CNCD", "CRTD", "SUSD", "NEWS"];

/// Specification: `bilateral` and `debtor_alias_name` come with creation and amendment only. A code
/// of another version may be one of these, so that it has no finding.
#[test]
fn bilateral_and_alias_come_with_creation_and_amendment_only() {
    let mut wrong = Wrong::default();
    for (action, belongs) in [
        (Some("CREA"), true),
        (Some("AMND"), true),
        (Some("PORT"), false),
        (Some("STCH"), false),
        (Some("NEWS"), true),
        (None, true),
    ] {
        for status in ["SUCC", "RJCT"] {
            let plain = outcome(status, action, Some("CMPL"));
            let row = format!("{status} {action:?}");
            for bilateral in [true, false] {
                let with = plain.clone().bilateral(bilateral);
                wrong.unless_equal(
                    format!("{row} bilateral"),
                    has(with, Rule::Bilateral),
                    !belongs,
                );
            }
            let with = plain.clone().debtor_alias_name("A");
            wrong.unless_equal(
                format!("{row} alias"),
                has(with, Rule::DebtorAliasName),
                !belongs,
            );
            let without = (
                has(plain.clone(), Rule::Bilateral),
                has(plain, Rule::DebtorAliasName),
            );
            wrong.unless_equal(format!("{row} neither"), without, (false, false));
        }
    }
    wrong.none();
}

#[test]
fn an_outcome_has_an_error_or_a_mandate() {
    let mut wrong = Wrong::default();
    let error = || OutcomeErrorDetails::new("X", ErrorSeverity::Fatal);
    for (status, with_error, with_mandate, expected) in [
        ("SUCC", false, true, &[][..]),
        ("SUCC", true, true, &[(Rule::OutcomeError, "/error")]),
        (
            "SUCC",
            false,
            false,
            &[(Rule::OutcomeMandate, "/mandate_identification")],
        ),
        ("RJCT", true, true, &[]),
        ("RJCT", true, false, &[]),
        ("RJCT", false, true, &[(Rule::OutcomeError, "/error")]),
        ("NEWS", true, false, &[(Rule::UnknownCode, "/status")]),
        ("NEWS", false, false, &[(Rule::UnknownCode, "/status")]),
    ] {
        let mut message = outcome(status, None, None);
        message.error = with_error.then(error);
        if !with_mandate {
            message.mandate_identification = None;
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(rule, at)| (*rule, (*at).to_owned()))
            .collect();
        wrong.unless_equal(
            format!("{status} {with_error} {with_mandate}"),
            found(message),
            expected,
        );
    }
    wrong.none();
}

/// Default: "Transitions".
#[test]
fn an_action_goes_with_the_status_of_its_mandate() {
    let running: &[&str] = &["ACTV", "SUSD"];
    let any: &[&str] = &["ACTV", "CNCD", "CRTD", "SUSD"];
    let mut wrong = Wrong::default();
    for (action, action_status, allowed) in [
        ("CREA", "PEND", &["CRTD"][..]),
        ("CREA", "CMPL", &["ACTV"]),
        ("CREA", "DECL", &["CNCD"]),
        ("CREA", "RECL", &["CNCD"]),
        ("CREA", "TIMO", &["CNCD"]),
        ("CREA", "NEWS", any),
        ("AMND", "PEND", running),
        ("AMND", "CMPL", running),
        ("AMND", "DECL", running),
        ("AMND", "RECL", running),
        ("AMND", "TIMO", running),
        ("PORT", "PEND", running),
        ("PORT", "CMPL", running),
        ("PORT", "DECL", running),
        ("PORT", "RECL", running),
        ("PORT", "TIMO", running),
        ("STCH", "PEND", any),
        ("STCH", "CMPL", &["ACTV", "SUSD", "CNCD"]),
        ("STCH", "DECL", any),
        ("STCH", "RECL", any),
        ("STCH", "TIMO", any),
        ("NEWS", "CMPL", any),
    ] {
        for status in MANDATE_STATUSES {
            let odd = !allowed.contains(&status) && status != "NEWS";
            let message = outcome("SUCC", Some(action), Some(action_status)).mandate_status(status);
            let row = format!("{action} {action_status} {status}");
            wrong.unless_equal(&row, has(message.clone(), Rule::ActionMandateStatus), odd);
            // A rejected action does not affect the mandate.
            let mut rejected = message;
            rejected.status = OutcomeStatus::Rejected;
            wrong.unless_equal(
                format!("RJCT {row}"),
                has(rejected, Rule::ActionMandateStatus),
                false,
            );
        }
    }
    wrong.none();
    let finding = |action: &str, status: &str| {
        let message = outcome("SUCC", Some(action), Some("CMPL")).mandate_status(status);
        Message::from(message).validate()[0].to_string()
    };
    for (action, status, expected) in [
        ("CREA", "SUSD", "ACTV"),
        ("AMND", "CRTD", "ACTV or SUSD"),
        ("STCH", "CRTD", "ACTV, SUSD or CNCD"),
    ] {
        let expected =
            format!("/mandate_status: action_mandate_status: expected {expected}, found {status}");
        assert_eq!(finding(action, status), expected);
    }
}

/// Default: "Consistency that real messages show".
#[test]
fn a_trigger_goes_with_its_action_and_the_status_of_its_mandate() {
    let mut wrong = Wrong::default();
    for (trigger, action, status, mandates) in [
        ("MCRC", "CREA", "CMPL", &["ACTV"][..]),
        ("MCRD", "CREA", "DECL", &["CNCD"]),
        ("MCRX", "CREA", "TIMO", &["CNCD"]),
        ("MAMC", "AMND", "CMPL", &["ACTV", "SUSD"]),
        ("MAMD", "AMND", "DECL", &["ACTV", "SUSD"]),
        ("MAMX", "AMND", "TIMO", &["ACTV", "SUSD"]),
        ("MAMN", "AMND", "CMPL", &["ACTV", "SUSD"]),
        ("MSCH", "STCH", "CMPL", &["ACTV", "SUSD", "CNCD"]),
    ] {
        let sample = samples::mandate_notification(&trigger.into()).unwrap();
        for mandate in MANDATE_STATUSES {
            let mut message = sample.clone();
            message.mandate_status = Some(mandate.into());
            let odd = !mandates.contains(&mandate) && mandate != "NEWS";
            wrong.unless_equal(
                format!("{trigger} {mandate}"),
                has(message, Rule::TriggerMandateStatus),
                odd,
            );
        }
        for other in ActionType::KNOWN {
            let mut message = sample.clone();
            message.action_type = other.clone();
            let odd = other.as_str() != action;
            wrong.unless_equal(
                format!("{trigger} {other}"),
                has(message, Rule::TriggerActionType),
                odd,
            );
        }
        for other in ActionStatus::KNOWN {
            let mut message = sample.clone();
            message.action_status = other.clone();
            let odd = other.as_str() != status;
            wrong.unless_equal(
                format!("{trigger} {other}"),
                has(message, Rule::TriggerActionStatus),
                odd,
            );
        }
        let mut silent = sample.clone();
        silent.resolution_event = None;
        wrong.unless_equal(
            format!("{trigger} unresolved"),
            has(silent, Rule::ResolutionEvent),
            trigger == "MCRD",
        );
    }
    wrong.none();
}

/// Default: cancel leads to `CNCD`, release to `ACTV`, suspend to `SUSD`.
#[test]
fn a_change_of_status_goes_with_the_status_that_it_leads_to() {
    let mut wrong = Wrong::default();
    for (change, wanted) in [
        ("CNCL", "CNCD"),
        ("RELS", "ACTV"),
        ("SUSP", "SUSD"),
        ("NEWS", ""),
    ] {
        for mandate in MANDATE_STATUSES {
            let message = samples::mandate_notification(&Trigger::StatusChanged).unwrap();
            let message = message
                .details(StatusChange::new(change))
                .mandate_status(mandate);
            let odd = mandate != wanted && mandate != "NEWS" && change != "NEWS";
            wrong.unless_equal(
                format!("{change} {mandate}"),
                has(message, Rule::StatusChange),
                odd,
            );
        }
    }
    wrong.none();
}

fn amount(text: &str) -> MessageAmount {
    text.parse::<bankrail_values::Money>().unwrap().into()
}

/// Default: the amounts that go with an amount type. A row has the type, then the findings for no
/// amount, `amount` alone, `maximum_amount` alone, the first or the last payment's alone, and
/// `amount` with `maximum_amount`.
#[test]
fn amounts_go_with_their_type() {
    let missing = |member: &'static str| vec![(Rule::AmountMissing, member)];
    let odd = |member: &'static str| vec![(Rule::AmountType, member)];
    let (none, both) = (
        Vec::new,
        vec![
            (Rule::AmountType, "amount"),
            (Rule::AmountType, "maximum_amount"),
        ],
    );
    let other = |missed: &'static str| {
        [
            missing(missed),
            odd("amount"),
            none(),
            none(),
            none(),
            odd("amount"),
        ]
    };
    let rows = [
        (
            Some("FIXE"),
            [
                missing("amount"),
                none(),
                both,
                odd("amount"),
                odd("amount"),
                odd("maximum_amount"),
            ],
        ),
        (Some("VARI"), other("maximum_amount")),
        (Some("USGB"), other("maximum_amount")),
        (
            Some("BALN"),
            [none(), odd("amount"), none(), none(), none(), odd("amount")],
        ),
        (
            Some("NEWS"),
            [none(), none(), none(), none(), none(), none()],
        ),
        (None, [none(), none(), none(), none(), none(), none()]),
    ];
    let one = || amount("1.00 AUD");
    let mut wrong = Wrong::default();
    for (amount_type, expected) in rows {
        let mut plain = PaymentInformation::new();
        plain.payment_amount_type = amount_type.map(Into::into);
        let amounts = [
            plain.clone(),
            plain.clone().amount(one()),
            plain.clone().maximum_amount(one()),
            plain.clone().first_payment_amount(one()),
            plain.clone().last_payment_amount(one()),
            plain.clone().amount(one()).maximum_amount(one()),
        ];
        for (information, expected) in amounts.into_iter().zip(expected) {
            let row = format!("{information:?}");
            let mut query = samples::query(&CaseType::Mandate);
            query.mandate_details.payment_information = Some(information);
            let at = |member: &str| format!("/mandate_details/payment_information/{member}");
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(rule, member)| (rule, at(member)))
                .collect();
            let rules = found(query)
                .into_iter()
                .filter(|(rule, _)| *rule != Rule::DefaultCode);
            wrong.unless_equal(row, rules.collect::<Vec<_>>(), expected);
        }
    }
    wrong.none();
}

/// Default: a changed amount type comes with its amount, and the last payment is not before the
/// first.
#[test]
fn an_amendments_amounts_and_dates_agree() {
    let day = |text: &str| Amended::Changed(text.parse::<bankrail_values::Date>().unwrap());
    let mut wrong = Wrong::default();
    let payment = AmendedPaymentInformation::new;
    let changed = |amount_type: &str| payment().payment_amount_type(AmountType::from(amount_type));
    let one = || amount("1.00 AUD");
    let (no_amount, an_amount) = (
        Some((Rule::AmountType, "amount")),
        Some((Rule::AmountType, "amount")),
    );
    let late = Some((Rule::DateOrder, "last_payment_date"));
    for (row, information, expected) in [
        ("FIXE alone", changed("FIXE"), no_amount),
        ("FIXE with amount", changed("FIXE").amount(one()), None),
        (
            "FIXE, amount cleared",
            changed("FIXE").amount(Amended::Cleared),
            no_amount,
        ),
        ("VARI alone", changed("VARI"), None),
        ("VARI with amount", changed("VARI").amount(one()), an_amount),
        (
            "VARI, amount cleared",
            changed("VARI").amount(Amended::Cleared),
            None,
        ),
        ("USGB with amount", changed("USGB").amount(one()), an_amount),
        ("USGB alone", changed("USGB"), None),
        ("BALN with amount", changed("BALN").amount(one()), an_amount),
        ("BALN alone", changed("BALN"), None),
        (
            "type cleared",
            payment()
                .payment_amount_type(Amended::Cleared)
                .amount(one()),
            None,
        ),
        ("amount alone", payment().amount(one()), None),
        (
            "same day",
            payment()
                .first_payment_date(day("2022-01-02"))
                .last_payment_date(day("2022-01-02")),
            None,
        ),
        (
            "a day later",
            payment()
                .first_payment_date(day("2022-01-02"))
                .last_payment_date(day("2022-01-03")),
            None,
        ),
        (
            "a day before",
            payment()
                .first_payment_date(day("2022-01-02"))
                .last_payment_date(day("2022-01-01")),
            late,
        ),
        (
            "last alone",
            payment().last_payment_date(day("2022-01-01")),
            None,
        ),
    ] {
        let mut message = samples::mandate_notification(&Trigger::AmendmentConfirmed).unwrap();
        message.details = Some(
            BilateralAmendment::new()
                .payment_information(information)
                .into(),
        );
        let at =
            |member: &str| format!("/details/bilateral_amendment/payment_information/{member}");
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(rule, member)| (rule, at(member)))
            .collect();
        wrong.unless_equal(row, found(message), expected);
    }
    wrong.none();
}

/// `ALIA` needs an alias and its type, `BBAN` an account: in a query, and in an amendment that
/// changes them.
#[test]
fn accounts_are_identified_as_their_type_says() {
    const ALIAS_TYPE: (Rule, &str) = (Rule::AliasMissing, "account_alias_type_code");
    const ALIAS: (Rule, &str) = (Rule::AliasMissing, "account_alias_identification");
    const ACCOUNT: (Rule, &str) = (Rule::AccountMissing, "account_identification");
    let mut wrong = Wrong::default();
    for (by, account, alias_type, alias, expected) in [
        (Some("ALIA"), false, false, false, &[ALIAS_TYPE, ALIAS][..]),
        (Some("ALIA"), true, false, false, &[ALIAS_TYPE, ALIAS]),
        (Some("ALIA"), false, true, false, &[ALIAS]),
        (Some("ALIA"), false, false, true, &[ALIAS_TYPE]),
        (Some("ALIA"), false, true, true, &[]),
        (Some("BBAN"), false, false, false, &[ACCOUNT]),
        (Some("BBAN"), false, true, true, &[ACCOUNT]),
        (Some("BBAN"), true, false, false, &[]),
        (Some("NEWS"), false, false, false, &[]),
        (None, false, false, false, &[]),
        (None, false, true, false, &[]),
        (None, true, false, true, &[]),
    ] {
        let row = format!("{by:?} {account} {alias_type} {alias}");
        let expected = |at: &str| -> Vec<(Rule, String)> {
            expected
                .iter()
                .map(|(rule, member)| (*rule, format!("{at}/{member}")))
                .collect()
        };
        let listed = |message: Message| -> Vec<(Rule, String)> {
            found(message)
                .into_iter()
                .filter(|(rule, _)| *rule != Rule::DefaultCode)
                .collect()
        };
        let mut debtor = DebtorInformation::new();
        debtor.account_identification_type_code = by.map(Into::into);
        debtor.account_identification = account.then(|| "013010123456789".to_owned());
        debtor.account_alias_type_code = alias_type.then_some(AliasType::Email);
        debtor.account_alias_identification = alias.then(|| "a@b".to_owned());
        let mut query = samples::query(&CaseType::Mandate);
        query.mandate_details.debtor_information = Some(debtor);
        wrong.unless_equal(
            &row,
            listed(query.into()),
            expected("/mandate_details/debtor_information"),
        );

        let changed = |there: bool, text: &str| {
            if there {
                Amended::Changed(text.to_owned())
            } else {
                Amended::Absent
            }
        };
        let mut debtor = AmendedDebtor::new();
        debtor.account_identification_type_code =
            by.map_or(Amended::Absent, |by| Amended::Changed(by.into()));
        debtor.account_identification = changed(account, "013010123456789");
        debtor.account_alias_type_code = if alias_type {
            Amended::Changed(AliasType::Email)
        } else {
            Amended::Absent
        };
        debtor.account_alias_identification = changed(alias, "a@b");
        let message = samples::mandate_notification(&Trigger::AmendedUnilaterally).unwrap();
        let message = message.details(Amendment::new().debtor_information(debtor));
        let row = format!("{row} amended");
        wrong.unless_equal(
            row,
            listed(message.into()),
            expected("/details/amendment/debtor_information"),
        );
    }
    wrong.none();
}

#[test]
fn an_outcome_of_a_payment_has_a_name_and_a_rejection_its_reason() {
    let mut wrong = Wrong::default();
    for (status, needs_a_reason) in [
        ("ACSC", false),
        ("ACSP", false),
        ("PDNG", false),
        ("RJCT", true),
    ] {
        for (instruction, uetr, reason) in [
            (true, true, true),
            (true, false, false),
            (false, true, false),
        ] {
            let mut outcome = samples::payment_outcome(&status.into());
            outcome.transaction_status_reason_code = reason.then(|| "AM04".parse().unwrap());
            if !instruction {
                outcome.instruction_identification = None;
            }
            if !uetr {
                outcome.uetr = None;
            }
            let row = format!("{status} {instruction} {uetr} {reason}");
            let odd = (
                has(outcome.clone(), Rule::RejectionReason),
                has(outcome, Rule::PaymentReference),
            );
            wrong.unless_equal(row, odd, (needs_a_reason && !reason, false));
        }
    }
    for (case_type, details, odd) in [
        (CaseType::Payments, true, false),
        (CaseType::Payments, false, true),
        (CaseType::Mandate, true, false),
        (CaseType::Mandate, false, false),
    ] {
        let mut query = samples::query(&CaseType::Payments);
        query.case_type = case_type.clone();
        if !details {
            query.payment_details = None;
        }
        wrong.unless_equal(
            format!("{case_type} {details}"),
            has(query, Rule::PaymentDetails),
            odd,
        );
    }
    wrong.none();
}

/// Specification: `reminder_count` is a count, so it has digits only. Other text is a finding, and
/// is not sent.
#[test]
fn a_count_of_reminders_has_digits_only() {
    let mut wrong = Wrong::default();
    let good = ["0", "9", "00", "01", "10", "99"].map(|text| (text, true));
    let bad = [
        "1 ", " 1", "1\t", "x", "1a", "+1", "-1", "1.", ".1", "/", ":", "٣", "1\u{0}", "１",
    ];
    for (text, digits) in good.into_iter().chain(bad.map(|text| (text, false))) {
        let mut query = samples::query(&CaseType::Mandate);
        query.reminder_count = Some(text.parse().unwrap());
        let sent = Message::from(query.clone())
            .outgoing(
                "endpoint".parse().unwrap(),
                &samples::headers(MessageKind::Query),
            )
            .is_ok();
        let rules = found(query);
        let expected = if digits {
            vec![]
        } else {
            vec![(Rule::ReminderCount, "/reminder_count".to_owned())]
        };
        wrong.unless_equal(format!("{text:?}"), (rules, sent), (expected, digits));
    }
    wrong.none();
}
