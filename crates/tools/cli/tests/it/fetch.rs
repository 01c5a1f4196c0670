use crate::world::World;
use crate::{run, run_with};
use bankrail::camt052::Document;
use bankrail_emulator::{Endpoint, FakeBank, FakeBooking, Fault};
use std::time::Duration;

const FETCH: &[&str] = &["statement", "fetch"];

fn fetched(out: &str) -> Document {
    let parsed = Document::parse(out).unwrap();
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    parsed.document
}

/// Returns a bank whose statement has two pages.
fn two_pages() -> World {
    let world = World::new();
    for number in 0..1001 {
        world.bank.book(
            &world.bank.account(),
            &FakeBooking::new("1.00 AUD").reference(format!("R{number}")),
        );
    }
    world
}

#[test]
fn a_statement_of_one_page_is_written_as_it_was_received() {
    let world = World::new();
    world.bank.book(
        &world.bank.account(),
        &FakeBooking::new("25.00 AUD").narrative("rent 👍"),
    );
    let run = world.run(FETCH, &[FakeBank::ACCOUNT]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.ends_with("1 entry on 1 page\n"), "{}", run.err);
    let document = fetched(&run.out);
    assert_eq!(document.reports[0].entries[0].narrative(), "rent 👍");
    let shown = run_with(["statement", "show", "-"], run.out.as_bytes()).fine();
    assert!(shown.contains("rent 👍"), "{shown}");
    assert_eq!(
        world.bank.calls(),
        ["token 200", &format!("statement {} 200", FakeBank::ACCOUNT)]
    );

    let file = world.folder.path("today.xml");
    let plain = world.run(
        FETCH,
        &[
            FakeBank::ACCOUNT,
            "--narrative=false",
            "-o",
            file.to_str().unwrap(),
        ],
    );
    assert_eq!(plain.out, "");
    assert_eq!(
        fetched(&std::fs::read_to_string(file).unwrap()).reports[0].entries[0].narrative(),
        ""
    );
    let with = world.run(FETCH, &["--narrative", FakeBank::ACCOUNT]).fine();
    assert_eq!(fetched(&with).reports[0].entries[0].narrative(), "rent 👍");
}

#[test]
fn several_pages_become_one_document_or_one_line_of_json_each() {
    let world = two_pages();
    let run = world.run(FETCH, &[FakeBank::ACCOUNT]);
    assert_eq!(run.status, 0, "{}", run.err);
    let document = fetched(&run.out);
    assert_eq!(document.reports[0].entries.len(), 1001);
    assert!(run.out.contains("<NbOfNtries>1001</NbOfNtries>"));
    let json = world.run(FETCH, &[FakeBank::ACCOUNT, "--json"]).fine();
    let lines: Vec<&str> = json.lines().collect();
    let pages: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(pages.len(), 2);
    assert_eq!(pages[0]["moreTransactionsAvailable"], true);
    assert!(pages[0]["cursor"].is_string() && pages[1].get("cursor").is_none());
    let shown = run_with(["statement", "csv", "-"], lines[1].as_bytes()).fine();
    assert_eq!(shown.lines().count(), 2, "{shown}");
    // The program itself merges the pages of one statement like this.
    let files = [
        world.folder.file("1.json", lines[0]),
        world.folder.file("2.json", lines[1]),
    ];
    let merged = crate::run(["statement", "merge", "--pages", &files[0], &files[1]]).fine();
    assert_eq!(
        fetched(&merged).reports[0].entries,
        document.reports[0].entries
    );
}

#[test]
fn the_services_error_is_one_line_with_code_title_and_request_key() {
    let world = World::new();
    let line = world.run(FETCH, &["000000000000000"]).failed(1);
    for part in [
        "EC20001",
        "Account Id: '000000000000000' not found",
        "request key ",
        "must be registered",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    // Nothing is left of the file that was not written.
    let file = world.folder.path("no.xml");
    world
        .run(FETCH, &["000000000000000", "-o", file.to_str().unwrap()])
        .failed(1);
    let left = std::fs::read_dir(world.folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        left.into_iter()
            .all(|name| !name.to_string_lossy().starts_with("no.xml"))
    );
    // An account that must not be used is not sent.
    let calls = world.bank.calls().len();
    let line = world.run(FETCH, &["012003111111111"]).failed(2);
    assert!(line.contains("reserved"), "{line}");
    assert_eq!(world.bank.calls().len(), calls);
    assert_eq!(
        run(["statement", "fetch", "--connection", "x", "not an account!"]).status,
        2
    );
}

#[test]
fn a_token_that_is_there_costs_no_other_one() {
    let world = World::new();
    let token = world.run(&["token"], &[]).fine();
    world.bank.forget_calls();
    let statement = format!("statement {} 200", FakeBank::ACCOUNT);
    world
        .run(FETCH, &[FakeBank::ACCOUNT, "--token", token.trim()])
        .fine();
    let file = format!("@{}", world.folder.file("token", &token));
    world
        .run(FETCH, &[FakeBank::ACCOUNT, "--token", &file])
        .fine();
    assert_eq!(world.bank.calls(), [statement.as_str(), &statement]);
    // A token that the provider refuses is replaced.
    world.bank.forget_calls();
    world
        .run(
            FETCH,
            &[
                FakeBank::ACCOUNT,
                "--token",
                "00000000-0000-4000-8000-000000000000",
            ],
        )
        .fine();
    let refused = format!("statement {} 401", FakeBank::ACCOUNT);
    assert_eq!(
        world.bank.calls(),
        [refused.as_str(), "token 200", &statement]
    );
    let line = world
        .run(FETCH, &[FakeBank::ACCOUNT, "--token", "nonsense"])
        .failed(2);
    assert!(
        line.contains("--token") && !line.contains("nonsense"),
        "{line}"
    );
}

#[test]
fn a_limit_is_said_or_waited_for() {
    let world = World::new();
    let limit = |after| Fault::TooManyCalls {
        retry_after: Some(Duration::from_secs(after)),
    };
    world.bank.fail(Endpoint::Statement, limit(600));
    let line = world.run(FETCH, &[FakeBank::ACCOUNT]).failed(1);
    assert!(
        line.contains("statement call failed")
            && line.contains("too many calls")
            && line.contains("wait until"),
        "{line}"
    );
    assert!(line.contains("--wait"), "{line}");
    world.bank.fail(Endpoint::Statement, limit(1));
    let run = world.run(FETCH, &[FakeBank::ACCOUNT, "--wait"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(
        run.err.contains("a limit is reached: waits until"),
        "{}",
        run.err
    );
    fetched(&run.out);
    // Waiting does not help against another error.
    world.bank.fail(Endpoint::Statement, Fault::Status(500));
    let line = world.run(FETCH, &[FakeBank::ACCOUNT, "--wait"]).failed(1);
    assert!(
        line.contains("500") && line.contains("try again later"),
        "{line}"
    );
    assert_eq!(world.bank.faults_left(), []);
}
