//! The places that enough runs must reach.

/// The operations of stores before and after which a process can end.
const OPERATIONS: [&str; 24] = [
    "outbox.enqueue",
    "outbox.lease",
    "outbox.record",
    "outbox.release_all",
    "outbox.recall",
    "outbox.next_due",
    "outbox.hold_endpoint",
    "outbox.retry_endpoint",
    "outbox.stop_endpoint",
    "inbox.receive",
    "inbox.lease",
    "inbox.update",
    "inbox.release_all",
    "inbox.recall",
    "inbox.complete_with",
    "tokens.grant_once",
    "tokens.find",
    "cache.get",
    "cache.put",
    "counters.charge",
    "ledger.statement",
    "seen.counts",
    "seen.position",
    "seen.record_with",
];

/// The other marks.
const OTHERS: [&str; 44] = [
    "disk full",
    "store away",
    "store late, nothing done",
    "store late, done",
    "network: refused",
    "network: slow",
    "network: request lost",
    "network: hangs",
    "network: proxy answers",
    "network: twice",
    "network: answer lost",
    "network: answer hangs",
    "network: answer torn",
    "network: other refused",
    "network: other hangs",
    "received: new",
    "received: duplicate",
    "received: in progress",
    "received: conflict",
    "clock set",
    "restart in order",
    "token revoked",
    "rotation 0",
    "rotation 1",
    "rotation of the assertion key",
    "handler of messages: fault 0",
    "handler of messages: fault 1",
    "handler of messages: fault 2",
    "handler of messages: fault 3",
    "handler of messages: poison",
    "handler of entries: fault 0",
    "handler of entries: fault 1",
    "handler of entries: fault 2",
    "handler of entries: fault 3",
    "entry added: New",
    "entry removed: Replaced",
    "outbox: dead letters resent",
    "inbox: dead letter resent",
    "answer to a delivery: 200",
    "answer to a delivery: 500",
    "answer /v1.0/auth: 200",
    "answer /v1.0/auth: 401",
    "answer /accounts/v2.0/statement: 200",
    "answer /accounts/v2.0/statement: 401",
];

/// All marks of the list.
pub(crate) fn expected() -> impl Iterator<Item = String> {
    let crashes = OPERATIONS
        .iter()
        .flat_map(|name| ["before", "after"].map(|when| format!("crash {when} {name}")));
    crashes.chain(OTHERS.iter().map(|mark| (*mark).to_owned()))
}
