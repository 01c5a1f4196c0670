//! Events as lines of text, for people. With `--json` each event is printed as JSON instead.

use super::{Event, Received, Trouble};
use crate::clock::instant;
use crate::failure::Failure;
use crate::output::{Output, Style};
use crate::text::{counted, pad_right, shown};
use bankrail::values::Timestamp;
use serde_json::Value;

/// The members of a message that identify its purpose, in the order in which they are shown.
const CODES: [&str; 8] = [
    "trigger",
    "status",
    "action_type",
    "action_status",
    "mandate_status",
    "transaction_status",
    "case_type",
    "case_id",
];

/// Prints an event.
pub(super) fn print(event: &Event, output: &mut Output) -> Result<(), Failure> {
    let (at, name, style, text) = match event {
        Event::Started(started) => return print_started(started, output),
        Event::Message(message) => (message.at, "message", Style::Green, message_text(message)),
        Event::Conflict(conflict) => {
            let about = about(&conflict.about, &conflict.message);
            let (kind, entry, with) = (&conflict.kind, conflict.entry, conflict.with);
            let text = format!(
                "{kind} {}{about}: message {entry} contradicts message {with}; a person must decide",
                codes(&conflict.message)
            );
            (conflict.at, "conflict", Style::Red, text)
        }
        Event::Entry(entry) => {
            let row = &entry.row;
            let mut text = format!(
                "{} {} {} of account {}",
                row.booked, row.amount, row.currency, entry.account
            );
            for part in [&row.counterparty, &row.narrative] {
                if !part.is_empty() {
                    text.push_str(", ");
                    text.push_str(part);
                }
            }
            match entry.relation.as_str() {
                "replaced" => text.push_str(", in place of an earlier entry"),
                "returned" => text.push_str(", listed again"),
                "text_changed" => text.push_str(", known under another text"),
                "may_replace" => text.push_str(", perhaps in place of an earlier entry"),
                _ => {}
            }
            if entry.late {
                text.push_str(", after its day was complete");
            }
            (entry.at, "entry", Style::Green, text)
        }
        Event::Notice(note) => {
            let said = match note.notice.as_str() {
                "vanished" => "no longer lists the entry",
                "reappeared" => "lists again an entry that had vanished:",
                "all_vanished" => "no longer lists any of the day's booked entries, in number:",
                "balance_gap" => "has balances and entries that differ by",
                "day_incomplete" => "was not polled to the end of",
                "currency_changed" => "changed its currency from",
                "kind_changed" => "changed its kind from",
                "unbookable" => "has no usable amount, direction or currency for the entry",
                "foreign_currency" => "has an entry in another currency:",
                "other_account" => "has another name in its statement:",
                "dated_far_off" => "has a statement that was made on",
                "unreadable" => "has an entry that cannot be read, at",
                other => other,
            };
            (
                note.at,
                "notice",
                Style::Red,
                format!("account {} {said} {}", note.account, note.detail),
            )
        }
        Event::Duplicate {
            at,
            kind,
            message_id,
            entry,
            handled,
        } => {
            let state = if *handled {
                "handled"
            } else {
                "not handled yet"
            };
            (
                *at,
                "duplicate",
                Style::Dim,
                format!("{kind} of message {entry}, {state}{}", id(*message_id)),
            )
        }
        Event::Refusal {
            at,
            kind,
            stage,
            reason,
            status,
            message_id,
        } => {
            let kind = kind.as_deref().unwrap_or("delivery");
            let text = format!(
                "{kind} at stage {stage}: {reason}; answered {status}{}",
                id(*message_id)
            );
            (*at, "refusal", Style::Red, text)
        }
        Event::Account(trouble) => (
            trouble.at,
            "account",
            trouble_style(trouble),
            trouble_text(trouble),
        ),
        Event::Token(trouble) => (trouble.at, "token", Style::Red, trouble_text(trouble)),
        Event::Omitted { at, count } => {
            let text = format!(
                "{} came faster than they could be printed",
                counted(*count, "event", "events")
            );
            (*at, "omitted", Style::Red, text)
        }
    };
    line(at, name, style, &text, output)
}

fn line(
    at: Timestamp,
    name: &str,
    style: Style,
    text: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut padded = String::new();
    pad_right(name, 9, &mut padded);
    let at = output.paint(Style::Dim, &instant(at));
    output.line(format_args!(
        "{at}  {}  {}",
        output.paint(style, &padded),
        shown(text)
    ))
}

fn print_started(started: &super::Started, output: &mut Output) -> Result<(), Failure> {
    if let Some(listen) = &started.listen {
        output.line(format_args!("receivers  {listen}"))?;
        for path in &started.paths {
            output.line(format_args!("           POST {path}"))?;
        }
    }
    if let Some(seconds) = started.poll_seconds {
        let accounts = counted(started.accounts, "account", "accounts");
        output.line(format_args!("polls      {accounts}, every {seconds} s"))?;
    }
    output.line(format_args!("data       {}", shown(&started.data)))?;
    if started.pending + started.dead_letters > 0 {
        let (pending, dead) = (started.pending, started.dead_letters);
        output.line(format_args!(
            "inbox      {} not handled yet, {}",
            counted(pending, "message", "messages"),
            counted(dead, "dead letter", "dead letters")
        ))?;
    }
    output.line("Ctrl-C stops.")
}

fn message_text(message: &Received) -> String {
    let mut text = format!(
        "{} {}{}",
        message.kind,
        codes(&message.message),
        about(&message.about, &message.message)
    );
    if let Some(state) = &message.state {
        text.push_str(&format!(" is now {state} ({})", message.effect));
    }
    if message.complete == Some(false) {
        text.push_str(", an earlier message is missing");
    }
    if let Some(follows) = message.follows {
        text.push_str(&format!(", follows message {follows}"));
    }
    if !message.findings.is_empty() {
        text.push_str(&format!(
            "; {}: {}",
            counted(message.findings.len(), "finding", "findings"),
            message.findings.join(", ")
        ));
    }
    text
}

/// Returns the codes of a message, such as `MCRC CREA CMPL ACTV`.
fn codes(message: &Value) -> String {
    let codes = CODES.iter().filter_map(|name| message.get(name)?.as_str());
    codes.collect::<Vec<_>>().join(" ")
}

/// Returns the names of the mandate or payment.
fn about(names: &[String], message: &Value) -> String {
    // A query names a mandate in its details and has no history.
    let mandate = message
        .pointer("/mandate_details/mandate_identification")
        .and_then(Value::as_str);
    match (names, mandate) {
        ([], None) => String::new(),
        ([], Some(mandate)) => format!(" mandate:{mandate}"),
        (names, _) => format!(" {}", names.join(" ")),
    }
}

fn id(message_id: Option<bankrail::values::HyphenatedUuid>) -> String {
    message_id.map_or_else(String::new, |id| format!(", message id {id}"))
}

fn trouble_style(trouble: &Trouble) -> Style {
    if trouble.state == "stopped" {
        Style::Red
    } else {
        Style::Dim
    }
}

fn trouble_text(trouble: &Trouble) -> String {
    let mut text = format!("{} {}", trouble.account, trouble.state);
    if let Some(until) = trouble.until {
        text.push_str(&format!(" until {}", instant(until)));
    }
    if let Some(detail) = &trouble.detail {
        text.push_str(": ");
        text.push_str(detail);
    }
    text
}
