//! `bankrail message`: the webhook messages.

use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::output::Output;
use crate::text::shown;
use bankrail::values::{
    Clock as _, HyphenatedUuid, SystemClock, TimeUuidGenerator, excerpt, random_bytes,
};
use bankrail::webhook::{CaseType, Change, Message, MessageError, MessageKind, samples};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write as _;
use std::time::Duration;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what is wrong with messages
    ///
    /// Reads a message as a receiver does, and prints one line for each finding: file, JSON
    /// pointer, rule, and what was expected and found. For a refused message, each reason is a
    /// line. Without --kind the kind is detected.
    #[command(
        after_help = "Exit status: 0 without findings, 1 with findings or for a message that is refused, 2 for a \
        file that cannot be read.\n\n\
        Examples:\n  \
        bankrail message check message.json\n  \
        bankrail payload open --decrypt decryption.pem \\\n    \
        --verify sender.pub.pem body.json |\n    \
        bankrail message check --kind query -"
    )]
    Check(Check),
    /// Print a valid message with fresh identifiers and times
    ///
    /// Names, accounts and amounts are made up. --list prints the samples of a kind.
    #[command(after_help = "Examples:\n  \
        bankrail message sample payment_outcome\n  \
        bankrail message sample --list mandate_outcome\n  \
        bankrail message sample mandate_notification MCRC --headers")]
    Sample(Sample),
}

/// Returns the names of the kinds, as values of an argument.
fn kinds() -> impl TypedValueParser<Value = MessageKind> {
    PossibleValuesParser::new(MessageKind::ALL.map(MessageKind::as_str))
        .try_map(|name| name.parse::<MessageKind>())
}

#[derive(Args, Debug)]
struct Check {
    /// Messages in JSON; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The kind of message that the receiver takes
    #[arg(long, value_parser = kinds())]
    kind: Option<MessageKind>,
    /// Print one line of JSON for each file
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Sample {
    /// The kind of message
    #[arg(value_parser = kinds())]
    kind: MessageKind,
    /// The name of a sample; by default the kind's first sample
    name: Option<String>,
    /// Print the names of the kind's samples
    #[arg(long, conflicts_with_all = ["name", "headers"])]
    list: bool,
    /// Print the headers of its delivery and an empty line before it
    #[arg(long)]
    headers: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check(arguments, output),
        Command::Sample(arguments) => sample(arguments, output).map(|()| Outcome::Fine),
    }
}

/// The bytes of a message that are read.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

fn check(arguments: &Check, output: &mut Output) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Fine;
    for path in &arguments.files {
        let name = input::name(path);
        let json = input::read(path, MAX_MESSAGE_BYTES)?;
        let read = match arguments.kind {
            Some(kind) => Message::from_json(kind, &json),
            None => Message::from_json_of_any_kind(&json)
                .map_or_else(|| Message::from_json(meant(&json), &json), Ok),
        };
        let kind = arguments.kind.unwrap_or_else(|| meant(&json));
        let (kind, refusals, findings) = match read {
            Ok(parsed) => (
                Some(parsed.message.kind().to_string()),
                Vec::new(),
                parsed.findings,
            ),
            Err(error @ MessageError::WrongKind { .. }) => (None, vec![error], Vec::new()),
            Err(_) => match Message::defects(kind, &json) {
                Ok((refusals, findings)) => (Some(format!("{kind}, refused")), refusals, findings),
                Err(error) => (None, vec![error], Vec::new()),
            },
        };
        if arguments.json {
            let texts = |of: &mut dyn Iterator<Item = String>| of.collect::<Vec<_>>();
            output.json(&json!({
                "file": name, "kind": kind,
                "refusals": texts(&mut refusals.iter().map(|error| causes(error))),
                "findings": texts(&mut findings.iter().map(ToString::to_string)),
            }))?;
        }
        let refused = |error| format!("{name}{}: refused: {}", place(error, &json), causes(error));
        let findings = findings.iter().map(|finding| format!("{name}: {finding}"));
        let lines: Vec<String> = refusals.iter().map(refused).chain(findings).collect();
        outcome = outcome.and(Outcome::of_findings(!lines.is_empty()));
        if arguments.json {
            continue;
        }
        for line in &lines {
            output.line(shown(line))?;
        }
        if let Some(kind) = kind {
            let verdict = output.verdict(lines.len());
            output.line(format_args!("{}: {kind}, {verdict}", shown(name)))?;
        }
    }
    Ok(outcome)
}

/// `:LINE:COLUMN` of text that is not acceptable JSON.
fn place(error: &MessageError, json: &[u8]) -> String {
    let MessageError::Json(error) = error else {
        return String::new();
    };
    let before = json
        .get(..error.offset().min(json.len()))
        .unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(before.get(start..).unwrap_or_default())
        .chars()
        .count()
        + 1;
    format!(":{line}:{column}")
}

/// Members that reveal the intended kind of a message.
const REVEALING_MEMBERS: [(MessageKind, &[&str]); 4] = [
    (
        MessageKind::Query,
        &[
            "case_id",
            "case_type",
            "investigation_type_code",
            "re_open_case_indication",
        ],
    ),
    (
        MessageKind::PaymentOutcome,
        &["transaction_status", "instruction_identification", "uetr"],
    ),
    (MessageKind::MandateNotification, &["trigger"]),
    (MessageKind::MandateOutcome, &["status", "request_id"]),
];

fn meant(json: &[u8]) -> MessageKind {
    let members: serde_json::Map<_, _> = serde_json::from_slice(json).unwrap_or_default();
    let telling = REVEALING_MEMBERS
        .into_iter()
        .find(|(_, names)| names.iter().any(|name| members.contains_key(*name)));
    telling.map_or(MessageKind::Query, |(kind, _)| kind)
}

/// One day.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn sample(arguments: &Sample, output: &mut Output) -> Result<(), Failure> {
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
    let Some((_, message)) = found else {
        let what = format!(
            "expected the name of a sample, found {}",
            excerpt(wanted.unwrap_or_default())
        );
        return Err(Failure::unable(
            what,
            format_args!("bankrail message sample --list {kind} prints the names"),
        ));
    };
    if arguments.headers {
        let headers = samples::headers_with(kind, HyphenatedUuid::random);
        for (name, value) in headers.pairs() {
            output.line(format_args!("{name}: {value}"))?;
        }
        output.line("")?;
    }
    output.write_all(refreshed(&message)?.to_json().as_bytes())?;
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
fn refreshed(sample: &Message) -> Result<Message, Failure> {
    let failed = || Failure::unable("the system gave no random bytes", "try again");
    let generator = TimeUuidGenerator::from_random_bytes(random_bytes().map_err(|_| failed())?);
    let now = SystemClock.now();
    let unique = HyphenatedUuid::random().to_simple().to_string();
    let beginning = |length: usize| unique.get(..length).unwrap_or_default();
    let fresh = [
        ("creation_date_time", now.to_string()),
        ("request_id", HyphenatedUuid::random().to_string()),
        (
            "mandate_identification",
            generator.generate(now).to_string(),
        ),
        ("action_identification", generator.generate(now).to_string()),
        (
            "mandate_registration_date_time",
            now.saturating_sub(28 * DAY).to_string(),
        ),
        (
            "resolution_requested_by",
            now.saturating_add(5 * DAY).to_string(),
        ),
        (
            "acceptance_date_time",
            now.saturating_sub(Duration::from_millis(450)).to_string(),
        ),
        (
            "transaction_date",
            now.saturating_sub(DAY).date().to_string(),
        ),
        (
            "instruction_identification",
            format!("SAMPLE{}", beginning(28)),
        ),
        (
            "original_instruction_identification",
            format!("INV-{}", beginning(12)),
        ),
        ("uetr", HyphenatedUuid::random().to_string()),
        ("case_id", format!("CASE-{}", beginning(12))),
    ];
    let mut json = serde_json::from_str(&sample.to_json()).expect("a message is JSON");
    replace(&mut json, &HashMap::from(fresh));
    let parsed = Message::from_json(sample.kind(), json.to_string().as_bytes());
    Ok(parsed.expect("the fresh values are valid").message)
}

/// Replaces those of these members that an object and the objects in it have.
fn replace(json: &mut Value, fresh: &HashMap<&str, String>) {
    for (name, value) in json.as_object_mut().into_iter().flatten() {
        match fresh.get(name.as_str()) {
            Some(text) => *value = text.as_str().into(),
            None => replace(value, fresh),
        }
    }
}
