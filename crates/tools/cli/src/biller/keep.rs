//! The effects of messages and entries, each in the transaction that stores it.

use super::journal::Journal;
use super::{AccountNote, Contradiction, Event, NewEntry, Received};
use crate::statement::Row;
use bankrail::client::NewEntries;
use bankrail::client::receivers::{Conflict, Delivery, HandlerError, Handlers};
use bankrail::statement::{AccountNotice, EntryRelation};
use bankrail::stores::sqlite::{SqliteInbox, SqliteWork};
use bankrail::values::{Clock as _, SystemClock};
use bankrail::webhook::Message;
use bankrail::webhook::history::{HistoryId, Observation};
use serde_json::Value;
use std::error::Error;
use std::future::{Ready, ready};

type BoxError = Box<dyn Error + Send + Sync>;

/// Returns the handlers of all kinds of messages, and of conflicts.
pub(super) fn handlers(journal: &Journal) -> Handlers<SqliteInbox> {
    let conflicts = journal.clone();
    Handlers::new()
        .on_any_transactional(keep(journal))
        .on_conflict_transactional(move |received| ready(Ok(conflict(conflicts.clone(), received))))
}

/// Folds a message into the history of its mandate or payment, and queues it for printing with the
/// resulting state.
fn keep(
    journal: &Journal,
) -> impl Fn(Delivery<Message>) -> Ready<Result<SqliteWork, HandlerError>> + use<> {
    let journal = journal.clone();
    move |received: Delivery<Message>| {
        let journal = journal.clone();
        let Delivery {
            id,
            message,
            findings,
            headers,
            received_at,
            follows,
            ..
        } = received;
        let findings = findings.iter().map(ToString::to_string).collect();
        ready(Ok(SqliteWork::new(move |transaction| {
            let observation = transaction.apply_history("", &message, received_at)?;
            let ids = HistoryId::of(&message);
            let kept = match ids.first() {
                Some(id) => transaction.find_history("", id)?,
                None => None,
            };
            // A payment may have more names than this message names.
            let names = kept.as_ref().map_or(&ids, |kept| &kept.ids);
            let event = Received {
                at: received_at,
                kind: message.kind().to_string(),
                message_id: headers.message_id,
                request_key: headers.request_key,
                entry: id.get(),
                follows: follows.map(|id| id.get()),
                about: names.iter().map(ToString::to_string).collect(),
                effect: effect(observation).to_owned(),
                state: kept.as_ref().map(|kept| kept.state().to_string()),
                complete: kept.as_ref().map(|kept| kept.history.is_complete()),
                findings,
                message: content(&message),
            };
            journal.write(transaction, &Event::Message(Box::new(event)))
        })))
    }
}

/// Queues a conflict for printing. A conflict is not folded into a history, because a person must
/// decide.
fn conflict(journal: Journal, received: Delivery<Conflict>) -> SqliteWork {
    let Delivery {
        id,
        message: Conflict { message, with, .. },
        headers,
        received_at,
        ..
    } = received;
    SqliteWork::new(move |transaction| {
        let event = Contradiction {
            at: received_at,
            kind: message.kind().to_string(),
            message_id: headers.message_id,
            request_key: headers.request_key,
            entry: id.get(),
            with: with.get(),
            about: HistoryId::of(&message)
                .iter()
                .map(ToString::to_string)
                .collect(),
            message: content(&message),
        };
        journal.write(transaction, &Event::Conflict(Box::new(event)))
    })
}

/// Queues the new entries of a page for printing.
pub(super) fn entries(
    journal: Journal,
    new: &NewEntries,
) -> impl Future<Output = Result<SqliteWork, BoxError>> + use<> {
    let request_key = new.request_key();
    let at = SystemClock.now();
    let account = new.account.to_string();
    let report = new.page.document.reports.first();
    let stated = report.map(|report| report.account.clone());
    let entries = new.entries.iter().chain(&new.again).map(|one| {
        let earlier = match &one.relation {
            EntryRelation::New { may_replace } => {
                may_replace.iter().map(ToString::to_string).collect()
            }
            EntryRelation::Replaces(earlier)
            | EntryRelation::Returned {
                replaces: Some(earlier),
            } => {
                vec![earlier.to_string()]
            }
            _ => Vec::new(),
        };
        Event::Entry(Box::new(NewEntry {
            at,
            account: account.clone(),
            id: one.id.to_string(),
            row: Row::of(&one.entry, stated.as_ref()),
            relation: one.relation.kind().to_owned(),
            earlier,
            late: one.late,
            request_key,
        }))
    });
    let notices = new.notices.iter().map(|notice| {
        let detail = match notice {
            AccountNotice::Vanished { id, .. }
            | AccountNotice::Reappeared { id }
            | AccountNotice::Unbookable { id }
            | AccountNotice::ForeignCurrency { id } => id.to_string(),
            AccountNotice::DatedFarOff { day } => day.to_string(),
            AccountNotice::Unreadable { place } => place.clone(),
            AccountNotice::AllVanished { count } => count.to_string(),
            AccountNotice::BalanceGap { difference } => difference.to_string(),
            AccountNotice::DayIncomplete {
                day, seen_until, ..
            } => format!("{day} after {seen_until}"),
            AccountNotice::CurrencyChanged { from, to }
            | AccountNotice::KindChanged { from, to } => {
                format!("{from} to {to}")
            }
            _ => String::new(),
        };
        let notice = notice.kind().to_owned();
        Event::Notice(AccountNote {
            at,
            account: account.clone(),
            notice,
            detail,
            request_key,
        })
    });
    let events: Vec<Event> = entries.chain(notices).collect();
    ready(Ok(SqliteWork::new(move |transaction| {
        events
            .iter()
            .try_for_each(|event| journal.write(transaction, event))
    })))
}

/// Returns the message as JSON; or as its text if an unknown member has a number that no `f64`
/// holds.
fn content(message: &Message) -> Value {
    let json = message.to_json();
    serde_json::from_str(&json).unwrap_or(Value::String(json))
}

/// Returns a stable name of a message's effect on its history.
fn effect(observation: Observation) -> &'static str {
    match observation {
        Observation::Advanced => "advanced",
        Observation::OutOfSequence => "out_of_sequence",
        Observation::Unchanged => "unchanged",
        Observation::Stale => "stale",
        Observation::Repeated => "repeated",
        Observation::Contradictory => "contradictory",
        Observation::NotApplicable => "not_applicable",
        _ => "other",
    }
}
