//! `bankrail conformance provider` against the library's own provider.

use crate::{Folder, Run, run, text};
use bankrail::client_assertion::token::names;
use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail::http::serve::{self, server_config};
use bankrail::jose::{KeySet, RsaSize, SigningKey};
use bankrail::rate_limit::{CallType, Limiter, Policy};
use bankrail::service::{ApiKeyHash, Customer, Provider, ProviderOptions, RegisteredAccount};
use bankrail::statement::AccountId;
use bankrail::stores::memory::MemoryStore;
use bankrail::values::{Clock as _, Currency, Date, SystemClock};
use bankrail_emulator::{FakeBooking, FakeDirectory, FakeLedger};
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The keys of the two customers.
static KEYS: LazyLock<[SigningKey; 2]> =
    LazyLock::new(|| [(); 2].map(|()| SigningKey::generate(RsaSize::Rsa2048).unwrap()));

const CUSTOMERS: [&str; 2] = ["FIRSTCUSTOMER", "SECONDCUSTOMER"];
const AUDIENCE: &str = "https://auth.bank.example/v1.0/auth";
/// A budget that suffices for every row.
const ALL: &str = "tokens=100,statements=100,tokens-per-second=1000";

/// A provider of two customers with virtual accounts, and the connections of both.
struct World {
    folder: Folder,
    _runtime: tokio::runtime::Runtime,
}

impl World {
    fn new(options: ProviderOptions) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let folder = Folder::new();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let base_url = format!(
            "https://localhost:{}",
            listener.local_addr().unwrap().port()
        );
        let store = MemoryStore::new();
        let provider = Provider::new(
            Arc::new(directory()),
            Arc::new(ledger()),
            Arc::new(store),
            Verifier::new(Audience::parse(AUDIENCE).unwrap(), VerifierOptions::new()),
            options.issuer(&base_url),
        );
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (certificate, key) = (own.cert.pem(), own.signing_key.serialize_pem());
        let tls = server_config(certificate.as_bytes(), key.as_bytes()).unwrap();
        let router = provider.unwrap().router();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            serve::Server::new(listener, tls, router, Default::default())
                .run(std::future::pending())
                .await;
        });
        folder.file("ca.pem", certificate);
        for (number, customer) in CUSTOMERS.iter().enumerate() {
            folder.file(
                &format!("{customer}.pem"),
                KEYS[number].to_pkcs8_pem().as_bytes(),
            );
            let accounts: Vec<String> = ACCOUNTS
                .iter()
                .filter(|one| one.0 == number)
                .map(|one| one.1.into())
                .collect();
            let scopes = [names::STATEMENT_READ, names::MANDATE_READ];
            folder.file(
                &format!("{customer}.toml"),
                format!(
                    "base_url = {base_url:?}\naudience = {AUDIENCE:?}\ncustomer = {customer:?}\n\
                     api_key = \"the key of {customer}\"\nscopes = {scopes:?}\nsigning_key = \"{customer}.pem\"\n\
                     roots = \"ca.pem\"\naccounts = {accounts:?}\n"
                ),
            );
        }
        Self {
            folder,
            _runtime: runtime,
        }
    }

    fn judge(&self, arguments: &[&str]) -> Run {
        let [first, second] =
            CUSTOMERS.map(|customer| text(&self.folder.path(&format!("{customer}.toml"))));
        let own = [
            "conformance",
            "provider",
            "--connection",
            &first,
            "--second-connection",
            &second,
        ];
        run(own.iter().chain(arguments))
    }

    /// Returns the rows, and the status that the judge ended with.
    fn rows(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let run = self.judge(&[arguments, &["--json"]].concat());
        let report: Value =
            serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}{}", run.out, run.err));
        (run.status, report["rows"].as_array().unwrap().clone())
    }
}

#[test]
fn the_judge_of_a_provider_goes_through_the_proxy_of_its_connection() {
    let world = World::new(ProviderOptions::new());
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    let asked = std::thread::spawn(move || {
        let (stream, _) = proxy.accept().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(&stream), &mut line).unwrap();
        line
    });
    let path = world.folder.path(&format!("{}.toml", CUSTOMERS[0]));
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{before}proxy = \"http://{address}\"\n")).unwrap();
    let line = world.judge(&["--only", "S8"]).failed(2);
    assert!(line.contains("no answer: "), "{line}");
    let line = asked.join().unwrap();
    assert!(line.starts_with("CONNECT localhost:"), "{line}");
    // An argument comes before the connection.
    let with = |way: &[&str]| world.judge(&[way, &["--only", "S8.1", "--allow-not-run"]].concat());
    assert_ne!(with(&["--no-proxy", "localhost"]).status, 2);
    assert!(
        with(&["--proxy", "ftp://a"])
            .failed(2)
            .contains("correct --proxy")
    );
    let absent = with(&["--no-proxy", "*", "--client-certificate", "absent.pem"]);
    assert!(absent.failed(2).contains("absent.pem: cannot be read"));
}

/// The number of the customer, the account, its currency.
const ACCOUNTS: [(usize, &str, &str); 6] = [
    (0, "999001400100101", "AUD"),
    (0, "999001400100102", "USD"),
    (0, "999042400100109", "AUD"),
    (0, "VND000000000108", "VND"),
    (0, "SGD000000000105", "SGD"),
    (1, "999001400100201", "AUD"),
];

fn directory() -> FakeDirectory {
    let directory = FakeDirectory::new();
    for (customer, key) in CUSTOMERS.iter().zip(&*KEYS) {
        let scopes = format!("{} {}", names::STATEMENT_READ, names::MANDATE_READ)
            .parse()
            .unwrap();
        let keys = KeySet::new([key.verifying_key()]).unwrap();
        let api_key = ApiKeyHash::of(format!("the key of {customer}").as_bytes());
        directory.insert(
            api_key,
            Customer::new(customer.parse().unwrap(), keys, scopes),
        );
    }
    directory
}

fn ledger() -> FakeLedger {
    let ledger = FakeLedger::new();
    let today: Date = SystemClock.now().date();
    for (owner, account, currency) in ACCOUNTS {
        let facts = RegisteredAccount::new(Currency::parse(currency).unwrap());
        let is_virtual = account.starts_with("999042");
        let facts = if is_virtual {
            facts.with_virtual_accounts()
        } else {
            facts
        };
        let id = AccountId::parse(account).unwrap();
        ledger.open(&CUSTOMERS[owner].parse().unwrap(), &id, facts);
        ledger.set_opening_balance(&id, 1000.into());
        let bookings = match currency {
            "SGD" => vec![],
            "VND" => vec![
                FakeBooking::new("250000 VND")
                    .party("Jarrah")
                    .narrative("tiền thuê"),
            ],
            _ if is_virtual => {
                vec![
                    FakeBooking::new("12.50 AUD")
                        .party("Jarrah")
                        .narrative("rent 👍")
                        .virtual_account("700100901", "999042"),
                ]
            }
            currency => vec![
                FakeBooking::new(&format!("1250.00 {currency}"))
                    .party("Jarrah & Sons")
                    .narrative("invoice 2041 👩‍👩‍👧"),
                FakeBooking::new(&format!("-89.95 {currency}"))
                    .party("Wattle")
                    .narrative("meter 77"),
                FakeBooking::new(&format!("-15.00 {currency}"))
                    .ordinary()
                    .narrative("fee")
                    .without_reference(),
                FakeBooking::new(&format!("-15.00 {currency}"))
                    .ordinary()
                    .narrative("fee")
                    .without_reference(),
            ],
        };
        for booking in bookings {
            ledger.book(&id, &booking, today);
        }
    }
    ledger
}

fn unlimited() -> ProviderOptions {
    let limiter = Limiter::default();
    limiter.change_limits(|limits| {
        for call_type in CallType::ALL {
            limits.set_default(call_type, Policy::unlimited());
        }
    });
    ProviderOptions::new().limiter(Arc::new(limiter))
}

fn with_verdict<'a>(rows: &'a [Value], verdict: &str) -> Vec<&'a str> {
    rows.iter()
        .filter(|row| row["verdict"] == verdict)
        .map(|row| row["id"].as_str().unwrap())
        .collect()
}

const UNSEEN: [&str; 21] = [
    "S6.17", "S6.24", "S6.25", "S6.25", "S6.29", "S6.33", "S19.11", "S19.15", "S19.17", "S19.25",
    "S24.5", "S24.6", "S24.7", "S24.7", "S25.3", "S25.4", "S25.16", "S25.19", "S25.26", "S25.27",
    "S25.28",
];

#[test]
fn our_own_provider_passes_every_row() {
    let world = World::new(unlimited().token_lifetime(Duration::from_secs(3)));
    let (status, rows) = world.rows(&["--budget", ALL, "--wait", "5", "--strict"]);
    assert_eq!(status, 0, "{rows:#?}");
    assert_eq!(with_verdict(&rows, "failed"), [""; 0]);
    assert_eq!(with_verdict(&rows, "not run"), [""; 0]);
    // Limits and bookings were not selected, the customer has no account in some currencies and
    // none that begins with a zero, no entry has a second reference. The first token may have
    // ended.
    let unseen = with_verdict(&rows, "not seen")
        .into_iter()
        .filter(|id| *id != "S22.6");
    assert_eq!(unseen.collect::<Vec<_>>(), UNSEEN);
    assert_eq!(with_verdict(&rows, "noted"), [""; 0]);
    assert!(rows.len() > 90, "{}", rows.len());
}

#[test]
fn the_calls_stay_within_the_limits_of_the_specification() {
    let world = World::new(ProviderOptions::new());
    let (status, rows) = world.rows(&[]);
    // The provider has not refused a call for its number: the judge's own budget ended first.
    assert_eq!(status, 3, "{rows:#?}");
    for row in rows.iter().filter(|row| row["verdict"] == "not run") {
        let why = row["detail"].as_str().unwrap();
        assert!(why.starts_with("--budget: "), "{row}");
    }
    assert_eq!(with_verdict(&rows, "failed"), [""; 0]);
    let passed = with_verdict(&rows, "passed");
    for id in [
        "S7.1", "S8.13", "S8.15", "S20.17", "S20.18", "S19.11", "S4.15", "S6.20", "S24.1",
    ] {
        assert!(passed.contains(&id), "{id} is not among {passed:?}");
    }
}

#[test]
fn what_the_budget_did_not_last_for_is_judged_by_a_later_run() {
    let world = World::new(unlimited());
    let first = world.judge(&[
        "--json",
        "--only",
        "S8",
        "--budget",
        "tokens=6,tokens-per-second=1000",
    ]);
    assert_eq!(first.status, 3, "{}{}", first.out, first.err);
    let report: Value = serde_json::from_str(&first.out).unwrap();
    let more = report["more"].to_string();
    assert!(more.contains("--rest-of") && first.err.is_empty(), "{more}");
    let not_run = with_verdict(report["rows"].as_array().unwrap(), "not run");
    let file = world.folder.file("first.json", &first.out);
    let (status, rows) = world.rows(&["--rest-of", &file, "--budget", ALL]);
    assert_eq!((status, with_verdict(&rows, "passed")), (0, not_run));
    let all = world
        .folder
        .file("all.json", serde_json::json!({ "rows": rows }).to_string());
    let line = world.judge(&["--rest-of", &all]).failed(2);
    assert!(line.contains("nothing is left to judge"), "{line}");
}

#[test]
fn calls_are_kept_back_only_for_rows_that_are_asked_for() {
    let world = World::new(unlimited());
    // The account in VND is the fourth.
    let (status, rows) = world.rows(&["--only", "S19.26", "--budget", "statements=5"]);
    assert_eq!(
        (status, with_verdict(&rows, "passed")),
        (0, vec!["S19.26"]),
        "{rows:#?}"
    );
    // With one row that needs a call, one account fewer is requested.
    let (status, rows) = world.rows(&[
        "--only",
        "S19.26",
        "--only",
        "S19.17",
        "--budget",
        "statements=5",
    ]);
    assert_eq!(
        (status, with_verdict(&rows, "passed")),
        (0, vec!["S19.17", "S19.26"]),
        "{rows:#?}"
    );
}

#[test]
fn a_judgement_of_nothing_ends_with_2() {
    let world = World::new(unlimited());
    let rest = r#"{"rows":[{"id":"S8.3","title":"another","verdict":"not run"}]}"#;
    let rest = world.folder.file("rest.json", rest);
    for arguments in [["--only", "S99"], ["--rest-of", &rest]] {
        let line = world.judge(&arguments).failed(2);
        assert!(
            line.contains("expected a row that this judge has, found none"),
            "{line}"
        );
    }
}

#[test]
fn limits_are_met_when_they_are_asked_for() {
    let world = World::new(ProviderOptions::new());
    let budget = "tokens=3,statements=3,tokens-per-second=1000";
    let (status, rows) = world.rows(&[
        "--limits",
        "--only",
        "S24",
        "--budget",
        budget,
        "--allow-not-run",
    ]);
    assert_eq!(status, 0, "{rows:#?}");
    assert_eq!(
        with_verdict(&rows, "passed"),
        ["S24.1", "S24.5", "S24.6", "S24.7", "S24.9"]
    );
}

#[test]
fn the_table_names_the_heading_and_says_no_secret() {
    let world = World::new(unlimited());
    let junit = world.folder.path("junit.xml");
    let arguments = [
        "--budget",
        ALL,
        "--only",
        "S7",
        "--only",
        "S8.15",
        "--junit",
        &text(&junit),
    ];
    let run = world.judge(&arguments);
    let (out, err) = (run.out.clone(), run.err.clone());
    run.fine();
    assert_eq!(err, "");
    for line in [
        "Access token response",
        "  S7.6   passed   access_token is a hyphenated GUID",
        "provider https://localhost:",
    ] {
        assert!(
            out.lines().any(|found| found.starts_with(line)),
            "{line:?} is not in\n{out}"
        );
    }
    for secret in ["the key of", "999001400100101", "FIRSTCUSTOMER", "PRIVATE"] {
        assert!(!out.contains(secret), "{out}");
    }
    let xml = std::fs::read_to_string(junit).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let cases = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"));
    assert_eq!(
        cases.count(),
        out.lines().filter(|line| line.starts_with("  S")).count()
    );
    let alone = world
        .judge(&["--budget", ALL, "--only", "S20.13", "--junit", "-"])
        .fine();
    roxmltree::Document::parse(&alone).unwrap();
}

#[test]
fn a_customer_that_the_provider_does_not_know_fails_the_first_row() {
    let world = World::new(unlimited());
    let run = world.judge(&["--api-key", "another", "--only", "S20.13", "--budget", ALL]);
    assert_eq!(run.status, 1, "{}{}", run.out, run.err);
    assert!(
        run.out.contains("S20.13 FAILED") && run.out.contains("expected 200, found 401"),
        "{}",
        run.out
    );
}

#[test]
fn arguments_that_lead_nowhere_end_with_2() {
    let world = World::new(unlimited());
    let first = text(&world.folder.path("FIRSTCUSTOMER.toml"));
    let judge = |arguments: &[&str]| run([&["conformance", "provider"], arguments].concat());
    // No server listens at this address.
    let line = judge(&["https://localhost:1", "--connection", &first]).failed(2);
    assert!(
        line.contains("https://localhost:1/v1.0/auth") && line.contains("check the address"),
        "{line}"
    );
    for url in [
        "http://localhost:1",
        "https://user:password@localhost:1",
        "localhost",
    ] {
        let line = judge(&[url, "--connection", &first]).failed(2);
        assert!(
            line.contains("expected an address that begins with https://") && !line.contains(url),
            "{line}"
        );
    }
    let line = judge(&["https://localhost:1"]).failed(2);
    assert!(
        line.contains("expected an account, found none; --account"),
        "{line}"
    );
    let line = judge(&["--account", "1"]).failed(2);
    assert!(line.contains("expected an address, found none"), "{line}");
    // Without the authority, the certificate is not trusted.
    let other = world.folder.file(
        "other.pem",
        rcgen::generate_simple_self_signed(["x".to_owned()])
            .unwrap()
            .cert
            .pem(),
    );
    let line = judge(&["--connection", &first, "--roots", &other]).failed(2);
    assert!(
        line.contains("certificate") && line.contains("--roots"),
        "{line}"
    );
    for arguments in [["--budget", "calls=1"], ["--only", "8.15"]] {
        let run = judge(&arguments);
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{}", run.err);
    }
}
