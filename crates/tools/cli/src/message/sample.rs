//! `bankrail message sample`.

use super::Sample;
use crate::failure::Failure;
use crate::output::Output;
use bankrail::values::random_bytes;
use bankrail::values::{Clock as _, HyphenatedUuid, SystemClock, TimeUuidGenerator, excerpt};
use bankrail::webhook::{ActionId, CaseType, Change, MandateId, Message, Uetr, samples};
use std::io::Write as _;
use std::time::Duration;

/// One day.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn run(arguments: &Sample, output: &mut Output) -> Result<(), Failure> {
    let kind = arguments.kind;
    let named: Vec<(String, Message)> = samples::of(kind)
        .into_iter()
        .map(|message| (name(&message), message))
        .collect();
    if arguments.list {
        return named.iter().try_for_each(|(name, _)| output.line(name));
    }
    let wanted = arguments.name.as_deref();
    let found = named
        .into_iter()
        .find(|(name, _)| wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(name)));
    let Some((_, mut message)) = found else {
        let what = format!(
            "expected the name of a sample, found {}",
            excerpt(wanted.unwrap_or_default())
        );
        return Err(Failure::unable(
            what,
            format_args!("bankrail message sample --list {kind} prints the names"),
        ));
    };
    refresh(&mut message)?;
    if arguments.headers {
        let headers = samples::headers_with(kind, HyphenatedUuid::random);
        for (name, value) in headers.pairs() {
            output.line(format_args!("{name}: {value}"))?;
        }
        output.line("")?;
    }
    output.write_all(message.to_json().as_bytes())?;
    output.line("")
}

/// Names a sample among those of its kind, by the codes that distinguish it.
fn name(message: &Message) -> String {
    match message {
        Message::MandateOutcome(outcome) => {
            let action = outcome
                .action_type
                .as_ref()
                .map_or("", |action| action.as_str());
            let severity = outcome
                .error
                .as_ref()
                .and_then(|error| error.severity.as_ref());
            match (&outcome.action_status, severity) {
                (Some(status), _) => format!("{action}-{}", status.as_str()),
                (None, Some(severity)) => format!("rejected-{}", severity.as_str()),
                (None, None) => action.to_owned(),
            }
        }
        Message::MandateNotification(notification) => {
            let change = notification
                .details
                .as_ref()
                .and_then(|details| match &details.change {
                    Change::StatusChange(change) => change.change.as_ref(),
                    _ => None,
                });
            let trigger = notification.trigger.as_str();
            // The trigger alone names the first of its samples.
            let first =
                samples::mandate_notification(&notification.trigger).as_ref() == Some(notification);
            match change {
                Some(change) if !first => format!("{trigger}-{}", change.as_str()),
                _ => trigger.to_owned(),
            }
        }
        Message::PaymentOutcome(outcome) => outcome.transaction_status.as_str().to_owned(),
        Message::Query(query) => match query.case_type {
            CaseType::Payments => "payments".to_owned(),
            _ => "mandate".to_owned(),
        },
    }
}

/// Gives a sample fresh identifiers and times, so that it is no duplicate of an earlier one.
fn refresh(message: &mut Message) -> Result<(), Failure> {
    let failed = || Failure::unable("the system gave no random bytes", "try again");
    let generator = TimeUuidGenerator::from_random_bytes(random_bytes().map_err(|_| failed())?);
    let now = SystemClock.now();
    let mandate = MandateId::from_uuid(generator.generate(now)).ok_or_else(failed)?;
    let action = ActionId::from_uuid(generator.generate(now)).ok_or_else(failed)?;
    let unique = HyphenatedUuid::random().to_simple().to_string();
    match message {
        Message::MandateOutcome(outcome) => {
            outcome.creation_date_time = now;
            outcome.request_id = Some(HyphenatedUuid::random());
            outcome.mandate_identification = outcome.mandate_identification.map(|_| mandate);
            outcome.action_identification = outcome.action_identification.map(|_| action);
            outcome.mandate_registration_date_time = outcome
                .mandate_registration_date_time
                .map(|_| now.saturating_sub(28 * DAY));
            outcome.resolution_requested_by = outcome
                .resolution_requested_by
                .map(|_| now.saturating_add(5 * DAY));
        }
        Message::MandateNotification(notification) => {
            notification.creation_date_time = now;
            notification.mandate_identification = mandate;
            notification.action_identification = action;
            if let Some(Change::BilateralAmendment(amendment)) = notification
                .details
                .as_mut()
                .map(|details| &mut details.change)
            {
                amendment.resolution_requested_by = Some(now.saturating_add(5 * DAY));
            }
        }
        Message::PaymentOutcome(outcome) => {
            outcome.creation_date_time = now;
            outcome.acceptance_date_time = Some(now.saturating_sub(Duration::from_millis(450)));
            outcome.instruction_identification =
                format!("SAMPLE{}", unique.get(..28).unwrap_or_default())
                    .parse()
                    .ok();
            outcome.uetr = Uetr::from_uuid(HyphenatedUuid::random());
            if let Some(original) = &mut outcome.original_transaction_reference {
                original.mandate_identification = Some(mandate);
                original.original_instruction_identification =
                    unique.get(..12).map(|text| format!("INV-{text}"));
            }
        }
        Message::Query(query) => {
            query.creation_date_time = now;
            let case = format!("CASE-{}", unique.get(..12).unwrap_or_default());
            if let Ok(case) = case.parse() {
                query.case_id = case;
            }
            query.mandate_details.mandate_identification = Some(mandate);
            if let Some(payment) = &mut query.payment_details {
                payment.transaction_date = Some(now.saturating_sub(DAY).date());
                payment.instruction_identification =
                    unique.get(..28).map(|text| format!("SAMPLE{text}"));
            }
        }
    }
    Ok(())
}
