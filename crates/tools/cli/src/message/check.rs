//! `bankrail message check`.

use super::Check;
use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::output::Output;
use crate::text::shown;
use bankrail::webhook::{Message, MessageError, MessageKind};
use serde_json::json;

/// The bytes of a message that are read.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

pub(super) fn run(arguments: &Check, output: &mut Output) -> Result<Outcome, Failure> {
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
const TELLING: [(MessageKind, &[&str]); 4] = [
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
    let telling = TELLING
        .into_iter()
        .find(|(_, names)| names.iter().any(|name| members.contains_key(*name)));
    telling.map_or(MessageKind::Query, |(kind, _)| kind)
}
