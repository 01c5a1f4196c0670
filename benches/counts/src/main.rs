//! Runs one hot path a fixed number of times on a fixed input, for `benches/counts/run`, which
//! counts its instructions.
//!
//! - `counts` prints the names of the paths, `counts NAME` runs one.
//! - Only what [`counted_rounds`] calls is counted. The input is made, and the path run once,
//!   before: what a program does once (tables, the allocator's first pages, the processor's
//!   abilities) is not in the count.
//! - What a path makes is dropped within the count.

// The output of a program.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use bankrail_benches::report::{date_times, indented, prefixed, report, since_07, version_02};
use bankrail_camt052::{Document, EntryReader, ReadOptions, StreamItem};
use bankrail_rate_limit::{Algorithm, CallType, Counting, Limits, MemoryCounters, Policy, Window};
use bankrail_statement::{
    AccountId, EntryIdentity, NextPage, PageWalk, ReceivedNextPage, StatementReply,
    StatementRequest, StatementResponse,
};
use bankrail_values::Timestamp;
use bankrail_values::json::{self, JsonLimits};
use bankrail_webhook::{CaseType, Message, samples};
use std::hint::black_box;
use std::process::ExitCode;

/// About 77 kB of XML.
const ENTRIES: u64 = 100;

/// Does the path's work once, and returns what shows that it was done.
type Work = Box<dyn FnMut() -> u64>;

struct Path {
    name: &'static str,
    rounds: u32,
    /// The result of each round.
    expected: u64,
    prepare: fn() -> Work,
}

const PATHS: [Path; 15] = [
    Path {
        name: "report_parse_compact",
        rounds: 10,
        expected: ENTRIES,
        prepare: || parse(compact()),
    },
    Path {
        name: "report_parse_indented",
        rounds: 10,
        expected: ENTRIES,
        prepare: || parse(indented(&compact())),
    },
    Path {
        name: "report_parse_prefixed",
        rounds: 10,
        expected: ENTRIES,
        prepare: || parse(prefixed(&compact())),
    },
    Path {
        name: "report_parse_date_times",
        rounds: 10,
        expected: ENTRIES,
        prepare: || parse(date_times(&compact())),
    },
    Path {
        name: "report_parse_version_02",
        rounds: 10,
        expected: ENTRIES,
        prepare: || parse(version_02(&compact())),
    },
    Path {
        name: "report_parse_version_08",
        rounds: 10,
        expected: ENTRIES,
        prepare: || parse(since_07(&compact(), "08")),
    },
    Path {
        name: "report_stream",
        rounds: 10,
        expected: ENTRIES,
        prepare: stream,
    },
    Path {
        name: "report_write",
        rounds: 10,
        expected: 1,
        prepare: write,
    },
    Path {
        name: "report_write_into_json",
        rounds: 10,
        expected: 1,
        prepare: write_into_json,
    },
    Path {
        name: "report_check",
        rounds: 10,
        expected: 0,
        prepare: check,
    },
    Path {
        name: "statement_reply_parse",
        rounds: 10,
        expected: 1,
        prepare: reply,
    },
    Path {
        name: "entry_identity",
        rounds: 10,
        expected: ENTRIES,
        prepare: identity,
    },
    Path {
        name: "webhook_message_parse",
        rounds: 1_000,
        expected: 0,
        prepare: message,
    },
    Path {
        name: "limiter_decision_warm",
        rounds: 10_000,
        expected: 1,
        prepare: decision,
    },
    Path {
        name: "json_read",
        rounds: 1_000,
        expected: 13,
        prepare: json_read,
    },
];

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        PATHS.iter().for_each(|path| println!("{}", path.name));
        return ExitCode::SUCCESS;
    };
    let Some(path) = PATHS.iter().find(|path| path.name == name) else {
        eprintln!("no path is named {name}");
        return ExitCode::FAILURE;
    };
    let mut work = (path.prepare)();
    let done = work();
    if done != path.expected {
        eprintln!(
            "{name}: a round returned {done}, expected {}",
            path.expected
        );
        return ExitCode::FAILURE;
    }
    let total = counted_rounds(&mut work, path.rounds);
    if total != path.expected * u64::from(path.rounds) {
        eprintln!(
            "{name}: {} rounds returned {total}, expected {} each",
            path.rounds, path.expected
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// callgrind collects from the entry of this function to its end, which it finds by this name.
#[inline(never)]
fn counted_rounds(work: &mut Work, rounds: u32) -> u64 {
    (0..rounds).map(|_| black_box(&mut *work)()).sum()
}

fn compact() -> String {
    report(ENTRIES)
}

fn document() -> Document {
    Document::parse(compact()).expect("a report").document
}

fn length(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

fn parse(xml: String) -> Work {
    Box::new(move || {
        let parsed = Document::parse(black_box(&xml)).expect("a report");
        assert!(parsed.findings.is_empty());
        parsed
            .document
            .reports
            .iter()
            .map(|report| length(report.entries.len()))
            .sum()
    })
}

fn stream() -> Work {
    let xml = compact();
    Box::new(move || {
        EntryReader::new(black_box(xml.as_bytes()), ReadOptions::default())
            .map(|item| u64::from(matches!(item.expect("a report"), StreamItem::Entry(_))))
            .sum()
    })
}

fn write() -> Work {
    let (document, xml) = (document(), compact());
    Box::new(move || u64::from(black_box(&document).to_xml().expect("writable").len() == xml.len()))
}

fn write_into_json() -> Work {
    let (document, xml) = (document(), compact());
    Box::new(move || {
        let mut json = String::new();
        black_box(&document)
            .write_json_string(&mut json)
            .expect("writable");
        // The quotation marks within are escaped.
        u64::from(json.len() > xml.len())
    })
}

fn check() -> Work {
    let document = document();
    Box::new(move || length(black_box(&document).check().len()))
}

fn reply() -> Work {
    let account = AccountId::parse("012003123456789").expect("an account");
    let key = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003"
        .parse()
        .expect("a UUID");
    let body = StatementResponse::new(&account, key, NextPage::None).to_json(&compact());
    let request = StatementRequest::new(&account);
    Box::new(move || {
        let reply = StatementReply::parse(200, black_box(body.as_bytes())).expect("a reply");
        let StatementReply::Statement(mut statement) = reply else {
            return 0;
        };
        u64::from(statement.check_against(&request).is_ok())
    })
}

/// The identities of a page's entries, and their numbers in a walk.
fn identity() -> Work {
    let document = document();
    Box::new(move || {
        let entries = black_box(&document)
            .reports
            .iter()
            .flat_map(|report| &report.entries);
        let identities: Vec<_> = entries.map(EntryIdentity::of).collect();
        length(
            PageWalk::new()
                .receive(&ReceivedNextPage::None, &identities)
                .entries()
                .len(),
        )
    })
}

fn message() -> Work {
    let message = Message::from(samples::query(&CaseType::Payments));
    let json = message.to_json();
    Box::new(move || {
        let parsed =
            Message::from_json(message.kind(), black_box(json.as_bytes())).expect("a message");
        length(parsed.findings.len())
    })
}

fn decision() -> Work {
    let windows = [
        Window::per_hour(1_000_000),
        Window::per_minute(1_000_000),
        Window::per_second(1_000_000),
    ];
    let windows = windows.map(|window| window.expect("within the bounds"));
    let policy =
        Policy::new(Algorithm::Sliding, Counting::Admitted, &windows).expect("three lengths");
    let mut limits = Limits::default();
    limits.set_default(CallType::Payment, policy);
    let counters = MemoryCounters::default();
    let mut now = Timestamp::from_unix_millis(1_795_233_600_000).expect("a time");
    Box::new(move || {
        now = now.saturating_add(std::time::Duration::from_millis(1));
        let charge = limits
            .charge(black_box("customer-0000000"), CallType::Payment, now, 1)
            .expect("it fits");
        u64::from(
            counters
                .charge(&charge)
                .expect("there is room")
                .is_allowed(),
        )
    })
}

fn json_read() -> Work {
    let json = Message::from(samples::mandate_outcome(
        &bankrail_webhook::ActionType::Create,
        &bankrail_webhook::ActionStatus::Pending,
    ))
    .to_json();
    Box::new(move || {
        let object =
            json::read_object(black_box(json.as_bytes()), &JsonLimits::new()).expect("an object");
        length(object.members().len())
    })
}
