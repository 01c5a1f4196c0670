//! Printed events, one for each line. `bankrail biller --help` and the README list the members.

use crate::statement::row::Row;
use bankrail::values::{HyphenatedUuid, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    Started(Started),
    Message(Box<Received>),
    Conflict(Box<Contradiction>),
    Entry(Box<NewEntry>),
    /// A fact about an account that no single entry has.
    Notice(AccountNote),
    /// A message that was delivered again.
    Duplicate {
        at: Timestamp,
        kind: String,
        message_id: Option<HyphenatedUuid>,
        entry: u64,
        /// True if the first delivery is handled.
        handled: bool,
    },
    /// A delivery that was refused.
    Refusal {
        at: Timestamp,
        /// That of the receiver; `None` on a path without a receiver.
        kind: Option<String>,
        stage: String,
        reason: String,
        status: u16,
        message_id: Option<HyphenatedUuid>,
    },
    Account(Trouble),
    Token(Trouble),
    /// Events that were not kept for printing.
    Omitted {
        at: Timestamp,
        count: u64,
    },
}

/// The program is ready.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Started {
    pub(super) at: Timestamp,
    pub(super) data: String,
    /// The base address of the receivers.
    pub(super) listen: Option<String>,
    pub(super) paths: Vec<String>,
    pub(super) accounts: usize,
    pub(super) poll_seconds: Option<u64>,
    /// Messages that were received before and are not handled.
    pub(super) pending: u64,
    pub(super) dead_letters: u64,
}

/// A message that was handled.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Received {
    /// When it was stored first.
    pub(super) at: Timestamp,
    pub(super) kind: String,
    pub(super) message_id: HyphenatedUuid,
    pub(super) request_key: Option<HyphenatedUuid>,
    /// Its number in the inbox.
    pub(super) entry: u64,
    /// The number of the message that announced this one.
    pub(super) follows: Option<u64>,
    /// The mandate or payment, under its names.
    pub(super) about: Vec<String>,
    /// The effect of the message on the history.
    pub(super) effect: String,
    /// The state of the mandate or payment after it.
    pub(super) state: Option<String>,
    /// True if the rules reach that state from the known messages.
    pub(super) complete: Option<bool>,
    pub(super) findings: Vec<String>,
    /// The whole message.
    pub(super) message: Value,
}

/// A message that contradicts an earlier one.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Contradiction {
    pub(super) at: Timestamp,
    pub(super) kind: String,
    pub(super) message_id: HyphenatedUuid,
    pub(super) request_key: Option<HyphenatedUuid>,
    pub(super) entry: u64,
    /// The number of the earlier message.
    pub(super) with: u64,
    pub(super) about: Vec<String>,
    pub(super) message: Value,
}

/// A new entry of an account.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct NewEntry {
    /// When it was fetched.
    pub(super) at: Timestamp,
    pub(super) account: String,
    /// The identifier of the entry within the account, which never changes.
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) row: Row,
    /// `new`, `may_replace`, `replaced`, `returned` or `text_changed`, as in docs/metrics.md.
    #[serde(default)]
    pub(super) relation: String,
    /// The identifiers of entries that it replaces, or may replace.
    #[serde(default)]
    pub(super) earlier: Vec<String>,
    /// True if the day of the entry was complete already.
    #[serde(default)]
    pub(super) late: bool,
    pub(super) request_key: HyphenatedUuid,
}

/// A notice about an account.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct AccountNote {
    pub(super) at: Timestamp,
    pub(super) account: String,
    /// The kind of notice, as in docs/metrics.md.
    pub(super) notice: String,
    /// The identifier of the entry that has vanished or reappeared, how many have vanished, the
    /// difference of the balances, the day and when it was seen last, or what changed from and to.
    pub(super) detail: String,
    pub(super) request_key: HyphenatedUuid,
}

/// A statement that did not come.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Trouble {
    pub(super) at: Timestamp,
    pub(super) account: String,
    /// `stopped`, `retrying` or `waiting`.
    pub(super) state: String,
    /// The kind of the error.
    pub(super) error: Option<String>,
    /// The error, and a hint what to do.
    pub(super) detail: Option<String>,
    pub(super) status: Option<u16>,
    pub(super) code: Option<String>,
    pub(super) request_key: Option<HyphenatedUuid>,
    /// When the account is asked for again.
    pub(super) until: Option<Timestamp>,
}
