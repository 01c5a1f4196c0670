//! `bankrail message check`.

use super::Check;
use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::output::Output;
use crate::text::shown;
use bankrail::webhook::{Message, MessageError, MessageKind, ParsedMessage};

/// The bytes of a message that are read.
const MOST: usize = 1 << 20;

pub(super) fn run(arguments: &Check, output: &mut Output) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Fine;
    for path in &arguments.files {
        let name = input::name(path);
        let json = input::read(path, MOST)?;
        let read = match arguments.kind {
            Some(kind) => Message::from_json(kind, &json),
            None => read_any(&json),
        };
        let lines: Vec<String> = match &read {
            Ok(parsed) => parsed.findings.iter().map(|finding| format!("{name}: {finding}")).collect(),
            Err(error) => vec![format!("{name}{}: refused: {}", place(error, &json), causes(error))],
        };
        outcome = outcome.and(Outcome::of_findings(!lines.is_empty()));
        if arguments.quiet {
            continue;
        }
        for line in &lines {
            output.line(shown(line))?;
        }
        if let Ok(parsed) = &read {
            let verdict = output.verdict(lines.len());
            output.line(format_args!("{}: {}, {verdict}", shown(name), parsed.message.kind()))?;
        }
    }
    Ok(outcome)
}

/// `:LINE:COLUMN` of text that is not acceptable JSON.
fn place(error: &MessageError, json: &[u8]) -> String {
    let MessageError::Json(error) = error else { return String::new() };
    let before = json.get(..error.offset().min(json.len())).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(before.get(start..).unwrap_or_default()).chars().count() + 1;
    format!(":{line}:{column}")
}

/// Reads a message as each kind, and takes the reading with the fewest findings.
pub(crate) fn read_any(json: &[u8]) -> Result<ParsedMessage<Message>, MessageError> {
    let mut best: Option<ParsedMessage<Message>> = None;
    let mut refused: Option<MessageError> = None;
    for kind in MessageKind::ALL {
        match Message::from_json(kind, json) {
            Ok(parsed) if best.as_ref().is_none_or(|best| parsed.findings.len() < best.findings.len()) => {
                best = Some(parsed);
            }
            Ok(_) => {}
            // A value that is wrong tells more than one that another kind would have.
            Err(error) => match (&refused, &error) {
                (None, _)
                | (
                    Some(MessageError::Missing { .. }),
                    MessageError::BadValue { .. } | MessageError::WrongType { .. },
                ) => {
                    refused = Some(error);
                }
                _ => {}
            },
        }
    }
    match (best, refused) {
        (Some(best), _) => Ok(best),
        (None, Some(error)) => Err(error),
        (None, None) => Message::from_json(MessageKind::Query, json),
    }
}
