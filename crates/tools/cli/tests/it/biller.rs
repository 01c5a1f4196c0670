//! The biller as a process: against a bank on loopback, with messages that the tests deliver.

use crate::world::{KEYS, RECEIVER_KEY, World};
use crate::{Run, command, command_without_umask, run, set_mode, text};
use bankrail::client::{Connection, TlsRoots};
use bankrail::http::tls::client_config;
use bankrail::jose::SigningKey;
use bankrail::secured_payload::{SealOptions, Sealer, SecuredPayload};
use bankrail::values::{Clock as _, SystemClock};
use bankrail::webhook::Message;
use bankrail_emulator::{Endpoint, FakeBank, FakeBooking, Fault, Webhook};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A test that waits longer has failed.
const LONG: Duration = Duration::from_secs(60);

/// A running biller that prints JSON.
struct Biller {
    child: Child,
    lines: Receiver<String>,
    /// The base address of its receivers.
    url: String,
}

impl Biller {
    fn start(world: &World, further: &[&str]) -> Self {
        let mut biller = Self::spawn(world, &[&["--json"], further].concat());
        let started = biller.next();
        assert_eq!(started["event"], "started");
        biller.url = started["listen"].as_str().unwrap_or_default().to_owned();
        biller
    }

    fn spawn(world: &World, further: &[&str]) -> Self {
        let mut command = command_without_umask();
        command
            .args(["biller", "--connection", &world.connection()])
            .args(further);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            out.lines()
                .map_while(Result::ok)
                .try_for_each(|line| send.send(line))
        });
        Self {
            child,
            lines,
            url: String::new(),
        }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(LONG).expect("a line is printed")
    }

    fn next(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Returns the next event of this kind. The others are left out.
    fn until(&self, event: &str) -> Value {
        loop {
            let next = self.next();
            if next["event"] == event {
                return next;
            }
        }
    }

    /// Returns the lines that are still printed until it ends.
    fn rest(&self) -> Vec<Value> {
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(LONG) {
                // A line that a kill has cut is ignored.
                Ok(line) => rest.extend(serde_json::from_str::<Value>(&line)),
                Err(RecvTimeoutError::Disconnected) => return rest,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end"),
            }
        }
    }

    /// Kills the biller, and returns the lines that it had printed.
    fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.rest()
    }

    /// Sends `SIGTERM`, and returns the end of the run and the lines printed until then.
    fn stop(self) -> (Run, Vec<Value>) {
        let killed = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(killed.success());
        let rest = self.rest();
        (self.end(), rest)
    }

    fn end(mut self) -> Run {
        let status = self.child.wait().unwrap().code().unwrap();
        let mut err = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut err)
            .unwrap();
        Run {
            status,
            out: String::new(),
            err,
        }
    }
}

/// Delivers messages to a biller, over TLS.
struct Sender<'a> {
    world: &'a World,
    http: reqwest::Client,
    url: String,
}

impl<'a> Sender<'a> {
    fn new(world: &'a World, biller: &Biller) -> Self {
        let certificate = fs::read(world.folder.path("receiver.pem")).unwrap();
        let tls = client_config(Some(&TlsRoots::OnlyPem(certificate)), None).unwrap();
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .build()
            .unwrap();
        Self {
            world,
            http,
            url: biller.url.clone(),
        }
    }

    /// Sends a delivery that is correct except for its signature or API key. Returns `None` if
    /// there is no answer.
    async fn send(&self, webhook: &Webhook, signing: &SigningKey, api_key: &str) -> Option<u16> {
        let sealer = Sealer::new(
            signing.clone(),
            KEYS.decryption.encryption_key(),
            SealOptions::new(),
        );
        let body = SecuredPayload::new(sealer.seal(webhook.message.to_json().as_bytes()).unwrap())
            .to_json();
        let url = format!("{}{}", self.url, webhook.message.kind().default_path());
        let mut request = self
            .http
            .post(url)
            .header("apikey", api_key)
            .header("content-type", "application/json");
        for (name, value) in webhook.headers.unwrap().pairs() {
            request = request.header(name, value);
        }
        request
            .body(body)
            .send()
            .await
            .ok()
            .map(|answer| answer.status().as_u16())
    }

    fn deliver(&self, webhook: &Webhook) -> u16 {
        self.world
            .runtime
            .block_on(self.send(webhook, &KEYS.provider, RECEIVER_KEY))
            .unwrap()
    }
}

/// Returns a payment with the number in its name, that is settled.
fn settled(world: &World) -> Webhook {
    world.bank.payment().settled()
}

#[test]
fn each_message_duplicate_conflict_and_refusal_is_printed() {
    let world = World::new();
    let biller = Biller::start(&world, &["--no-poll"]);
    let sender = Sender::new(&world, &biller);
    let mut mandate = world.bank.mandate();

    assert_eq!(sender.deliver(&mandate.created()), 200);
    let created = biller.next();
    assert_eq!(
        (&created["event"], &created["kind"]),
        (&json!("message"), &json!("mandate_outcome"))
    );
    assert_eq!(created["state"], "mandate_created");
    assert_eq!(
        created["about"],
        json!([format!("mandate:{}", mandate.id())])
    );
    assert_eq!(sender.deliver(&mandate.confirmed_by_payer()), 200);
    let confirmed = biller.next();
    assert_eq!(
        (&confirmed["state"], &confirmed["effect"]),
        (&json!("mandate_active"), &json!("advanced"))
    );
    assert_eq!(confirmed["message"]["trigger"], "MCRC");
    assert_eq!(
        (&created["number"], &confirmed["number"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(sender.deliver(&mandate.queried()), 200);
    let query = biller.next();
    assert_eq!(
        (&query["kind"], &query["state"]),
        (&json!("query"), &Value::Null)
    );
    assert!(query["findings"].as_array().unwrap().is_empty(), "{query}");

    let payment = settled(&world);
    assert_eq!(sender.deliver(&payment), 200);
    let paid = biller.next();
    assert_eq!(paid["state"], "payment_settled");
    assert_eq!(
        paid["message_id"],
        payment.headers.unwrap().message_id.to_string()
    );
    assert_eq!(sender.deliver(&payment), 200);
    let duplicate = biller.next();
    assert_eq!(
        (&duplicate["event"], &duplicate["entry"]),
        (&json!("duplicate"), &paid["entry"])
    );
    assert_eq!(duplicate["handled"], true);

    let mut other = payment.clone();
    let Message::PaymentOutcome(outcome) = &mut other.message else {
        panic!("a payment")
    };
    outcome.clearing_system_reference = Some("ANOTHER".parse().unwrap());
    assert_eq!(sender.deliver(&other), 200);
    let conflict = biller.next();
    assert_eq!(
        (&conflict["event"], &conflict["with"]),
        (&json!("conflict"), &paid["entry"])
    );

    let refused = |webhook: &Webhook, signing: &SigningKey, key: &str| {
        let status = world
            .runtime
            .block_on(sender.send(webhook, signing, key))
            .unwrap();
        let refusal = biller.next();
        assert_eq!(
            (&refusal["event"], refusal["status"].as_u64()),
            (&json!("refusal"), Some(u64::from(status)))
        );
        (status, refusal["stage"].as_str().unwrap().to_owned())
    };
    let next = settled(&world);
    assert_eq!(
        refused(&next, &KEYS.provider, "another"),
        (401, "api_key".to_owned())
    );
    assert_eq!(
        refused(&next, &KEYS.stranger, RECEIVER_KEY),
        (400, "decrypt_or_verify".to_owned())
    );
    let mut headers = next.clone();
    headers.headers.as_mut().unwrap().request_key = None;
    assert_eq!(
        refused(&headers, &KEYS.provider, RECEIVER_KEY),
        (400, "headers".to_owned())
    );
    let wrong = sender.http.post(format!("{}/elsewhere", sender.url)).send();
    assert_eq!(
        world.runtime.block_on(wrong).unwrap().status().as_u16(),
        404
    );
    assert_eq!(biller.next()["stage"], "path");

    let (run, rest) = biller.stop();
    assert_eq!(
        (run.status, run.err.as_str(), rest.len()),
        (0, "", 0),
        "{rest:?}"
    );
}

#[test]
fn entries_are_printed_once_over_restarts_and_one_token_is_enough() {
    let world = World::new();
    let account = world.bank.account();
    world.bank.book(
        &account,
        &FakeBooking::new("25.00 AUD")
            .narrative("rent 👍")
            .party("JANE")
            .reference("R1"),
    );
    // Two equal entries are both real.
    world
        .bank
        .book(&account, &FakeBooking::new("-4.50 AUD").without_reference());
    world
        .bank
        .book(&account, &FakeBooking::new("-4.50 AUD").without_reference());
    let poll = ["--no-receive", "--poll", "1"];
    let biller = Biller::start(&world, &poll);
    let first: Vec<Value> = (0..3).map(|_| biller.until("entry")).collect();
    let amounts: Vec<&str> = first
        .iter()
        .map(|entry| entry["amount"].as_str().unwrap())
        .collect();
    assert_eq!(amounts, ["+25.00", "-4.50", "-4.50"]);
    assert_eq!(first[0]["narrative"], "rent 👍");
    assert_eq!(
        (&first[0]["account"], &first[0]["counterparty"]),
        (&json!(FakeBank::ACCOUNT), &json!("JANE"))
    );
    let reference = json!({ "name": "AcctSvcrRef", "value": "R1" });
    assert!(
        first[0]["references"]
            .as_array()
            .unwrap()
            .contains(&reference),
        "{}",
        first[0]
    );
    let (run, rest) = biller.stop();
    assert_eq!((run.status, rest.len()), (0, 0), "{}{rest:?}", run.err);

    world
        .bank
        .book(&account, &FakeBooking::new("7.00 AUD").reference("R4"));
    let biller = Biller::start(&world, &poll);
    let fourth = biller.until("entry");
    assert_eq!(
        (&fourth["amount"], &fourth["number"]),
        (&json!("+7.00"), &json!(4))
    );
    let rest = biller.kill();
    assert!(
        rest.iter().all(|event| event["event"] != "entry"),
        "{rest:?}"
    );
    let ids: BTreeSet<&str> = first
        .iter()
        .chain([&fourth])
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 4);
    // The second one found the token of the first.
    let tokens = world
        .bank
        .calls()
        .iter()
        .filter(|call| call.endpoint == Endpoint::Token)
        .count();
    assert_eq!(tokens, 1);

    let data = world.folder.path("biller");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for file in fs::read_dir(&data).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn what_is_archived_is_listed_shown_and_taken_in_again() {
    let world = World::new();
    let account = world.bank.account();
    for booking in [
        FakeBooking::new("25.00 AUD").narrative("rent"),
        FakeBooking::new("-4.50 AUD").without_reference(),
    ] {
        world.bank.book(&account, &booking);
    }
    let biller = Biller::start(&world, &["--poll", "1", "--archive", "30"]);
    let mut first: Vec<Value> = (0..2).map(|_| biller.until("entry")).collect();
    biller.stop();
    world
        .bank
        .book(&account, &FakeBooking::new("-4.50 AUD").without_reference());
    // A start polls at once. A poll in the last hour of the bank's day can come minutes after
    // another.
    let biller = Biller::start(&world, &["--poll", "1", "--archive", "30"]);
    first.push(biller.until("entry"));
    let sender = Sender::new(&world, &biller);
    let refused =
        world
            .runtime
            .block_on(sender.send(&settled(&world), &KEYS.stranger, RECEIVER_KEY));
    assert_eq!(refused, Some(400));

    // Lists the archive while the biller runs.
    let data = text(&world.folder.path("biller"));
    let list = run(["archive", "list", "--data", &data]).fine();
    let number = |kind: &str| {
        let line = list
            .lines()
            .find(|line| line.contains(kind))
            .unwrap_or_else(|| panic!("{list}"));
        line.split_whitespace().next().unwrap().to_owned()
    };
    let (page, refusal) = (number("  page  "), number("decrypt_or_verify: "));
    assert!(
        list.contains(FakeBank::ACCOUNT) && list.contains("payment_outcome"),
        "{list}"
    );
    let xml = run(["archive", "show", "--data", &data, &page]).fine();
    assert!(xml.starts_with('<') && xml.contains("rent"), "{xml}");
    let body = run(["archive", "show", "--data", &data, &refusal]).fine();
    assert!(body.starts_with(r#"{"secured_payload":"#), "{body}");
    let line = run(["archive", "show", "--data", &data, "999"]).failed(1);
    assert!(line.contains("expected the number of a record"), "{line}");
    biller.stop();

    let again = text(&world.folder.path("again"));
    let import = || {
        run([
            "archive", "import", "--data", &data, "--into", &again, "--json",
        ])
    };
    let taken_in = import();
    assert!(taken_in.err.contains("taken in"), "{}", taken_in.err);
    let events: Vec<Value> = taken_in
        .fine()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let without_time = |events: &[Value]| -> Vec<Value> {
        events
            .iter()
            .cloned()
            .map(|mut event| {
                let members = event.as_object_mut().unwrap();
                for member in ["at", "run"] {
                    members.remove(member).unwrap();
                }
                event
            })
            .collect()
    };
    assert_eq!(without_time(&events), without_time(&first));
    let line = import().failed(2);
    assert!(line.contains("expected a new folder"), "{line}");
    let line = run([
        "archive",
        "list",
        "--data",
        &text(&world.folder.path("nowhere")),
    ])
    .failed(2);
    assert!(
        line.contains("expected the data folder of a biller that archives"),
        "{line}"
    );
}

#[test]
fn a_settlement_that_never_comes_is_warned_of_after_a_restart_too() {
    let world = World::new();
    let biller = Biller::start(&world, &["--no-poll"]);
    let mut delayed = world.bank.payment().delayed();
    let Message::PaymentOutcome(outcome) = &mut delayed.message else {
        panic!("a payment")
    };
    let four_days = Duration::from_secs(4 * 86_400);
    outcome.creation_date_time = SystemClock.now().saturating_sub(four_days);
    assert_eq!(Sender::new(&world, &biller).deliver(&delayed), 200);
    biller.until("message");
    biller.kill();

    let mut biller = Biller::start(&world, &["--no-poll"]);
    let log = BufReader::new(biller.child.stderr.take().unwrap());
    let (send, lines) = channel();
    std::thread::spawn(move || {
        let mut lines = log.lines().map_while(Result::ok);
        lines.try_for_each(|line| send.send(line))
    });
    let line = loop {
        let line = lines.recv_timeout(LONG).expect("it is logged");
        if line.contains("an announced outcome has not come") {
            break line;
        }
    };
    for part in ["WARN", "ACSP", "uetr:"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    biller.kill();
}

#[test]
fn a_kill_loses_and_doubles_nothing() {
    let world = World::new();
    let account = world.bank.account();
    let payments: Vec<Webhook> = (0..40).map(|_| settled(&world)).collect();
    let sent: BTreeSet<String> = payments
        .iter()
        .map(|payment| payment.headers.unwrap().message_id.to_string())
        .collect();
    for _ in 0..30 {
        world.bank.book(&account, &FakeBooking::new("1.00 AUD"));
    }
    let mut events = Vec::new();
    for acknowledged in [0, 5, 15] {
        let biller = Biller::start(&world, &[]);
        let sender = Sender::new(&world, &biller);
        // Killed in the middle of the deliveries.
        world.runtime.block_on(async {
            let all = payments
                .iter()
                .map(|payment| sender.send(payment, &KEYS.provider, RECEIVER_KEY));
            let all: FuturesUnordered<_> = all.collect();
            let statuses: Vec<_> = all.take(acknowledged).collect().await;
            assert_eq!(statuses, vec![Some(200); acknowledged]);
        });
        events.extend(biller.kill());
    }
    let biller = Biller::start(&world, &[]);
    let sender = Sender::new(&world, &biller);
    payments
        .iter()
        .for_each(|payment| assert_eq!(sender.deliver(payment), 200));
    // All are acknowledged now, so all are printed, by this run or an earlier one.
    let complete = |events: &[Value]| {
        let of = |event: &str, id: &str| {
            let all = events.iter().filter(|value| value["event"] == event);
            all.map(|value| value[id].as_str().unwrap().to_owned())
                .collect::<BTreeSet<_>>()
        };
        of("message", "message_id") == sent && of("entry", "id").len() == 30
    };
    while !complete(&events) {
        events.push(biller.next());
    }
    let (run, rest) = biller.stop();
    assert_eq!(run.status, 0, "{}", run.err);
    events.extend(rest);
    // Lines with the same number and run are one event. Without repeated lines, each event occurs
    // once.
    let mut numbered: BTreeMap<(String, u64), Value> = BTreeMap::new();
    for event in events
        .into_iter()
        .filter(|event| event["number"].is_number())
    {
        let known = numbered.entry(key(&event)).or_insert_with(|| event.clone());
        assert_eq!(*known, event);
    }
    let count = |event: &str| {
        numbered
            .values()
            .filter(|value| value["event"] == event)
            .count()
    };
    assert_eq!(
        (count("message"), count("entry"), numbered.len()),
        (40, 30, 70)
    );
}

/// Returns the run and the number by which a reader knows an event.
fn key(event: &Value) -> (String, u64) {
    let run = event["run"].as_str().unwrap().to_owned();
    (run, event["number"].as_u64().unwrap())
}

/// Copies the files of a folder that no program uses.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn a_restored_folder_gives_no_number_and_run_of_a_known_message_to_a_new_one() {
    let world = World::new();
    let [data, backup] = ["biller", "backup"].map(|name| world.folder.path(name));
    let mut known: BTreeMap<(String, u64), Value> = BTreeMap::new();
    let mut receive = |count: usize| {
        let biller = Biller::start(&world, &["--no-poll"]);
        let sender = Sender::new(&world, &biller);
        for _ in 0..count {
            assert_eq!(sender.deliver(&settled(&world)), 200);
            let event = biller.until("message");
            let id = event["message_id"].clone();
            let other = known.insert(key(&event), id);
            assert_eq!(other, None, "{event}");
        }
        assert_eq!(biller.stop().0.status, 0);
    };
    receive(2);
    copy(&data, &backup);
    receive(10);
    fs::remove_dir_all(&data).unwrap();
    copy(&backup, &data);
    receive(5);
    // A copy that runs beside the original is another run.
    fs::remove_dir_all(&data).unwrap();
    copy(&backup, &data);
    receive(5);
    let numbers: BTreeSet<u64> = known.keys().map(|(_, number)| *number).collect();
    let messages: BTreeSet<String> = known.values().map(Value::to_string).collect();
    // Old numbers are reused, so that numbers alone would hide ten messages.
    assert_eq!((numbers.len(), known.len(), messages.len()), (12, 22, 22));
}

#[test]
fn accounts_that_stop_and_tokens_that_are_refused_are_told() {
    let world = World::new();
    let biller = Biller::start(&world, &["--no-receive", "--account", "000000000000000"]);
    let stopped = biller.next();
    assert_eq!(
        (&stopped["event"], &stopped["state"]),
        (&json!("account"), &json!("stopped"))
    );
    assert_eq!(
        (&stopped["code"], &stopped["account"]),
        (&json!("EC20001"), &json!("000000000000000"))
    );
    assert!(
        stopped["request_key"].is_string()
            && stopped["detail"].as_str().unwrap().contains("not found")
    );
    assert!(stopped["until"].is_string(), "{stopped}");
    // The call is retried, so the program continues.
    let (run, rest) = biller.stop();
    assert_eq!((run.status, rest), (0, Vec::new()));

    world.bank.fail(Endpoint::Statement, Fault::Status(500));
    world
        .folder
        .file("signing.pem", KEYS.stranger.to_pkcs8_pem().as_bytes());
    let data = text(&world.folder.path("other"));
    let biller = Biller::start(&world, &["--no-receive", "--data", &data]);
    let refused = biller.next();
    assert_eq!(
        (&refused["event"], &refused["status"]),
        (&json!("token"), &json!(401))
    );
    assert!(
        refused["until"].is_string() && refused["request_key"].is_string(),
        "{refused}"
    );
    assert!(
        refused["detail"].as_str().unwrap().contains("signing key"),
        "{refused}"
    );
    drop(biller.kill());

    world
        .folder
        .file("signing.pem", KEYS.customer.to_pkcs8_pem().as_bytes());
    let biller = Biller::start(&world, &["--no-receive", "--data", &data]);
    let retrying = biller.next();
    assert_eq!(
        (&retrying["event"], &retrying["state"]),
        (&json!("account"), &json!("retrying"))
    );
    assert_eq!(retrying["status"], 500);
    biller.kill();
}

#[test]
fn json_has_no_character_that_a_terminal_obeys_and_means_the_same() {
    let world = World::new();
    let text = "up\u{9b}2J\u{202e}side";
    world.bank.book(
        &world.bank.account(),
        &FakeBooking::new("25.00 AUD").narrative(text),
    );
    let biller = Biller::start(&world, &["--no-receive"]);
    let line = biller.line();
    assert!(line.contains("up\\u009b2J\\u202eside"), "{line:?}");
    assert!(!line.contains(['\u{9b}', '\u{202e}']), "{line:?}");
    let entry: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(entry["narrative"], text);
    biller.kill();
    let fetched = world
        .run(&["statement", "fetch", "--json", FakeBank::ACCOUNT], &[])
        .fine();
    assert!(fetched.contains("up\\u009b2J\\u202eside"), "{fetched:?}");
    let page: Value = serde_json::from_str(&fetched).unwrap();
    assert!(page["payload"].as_str().unwrap().contains(text), "{page}");
}

#[test]
fn a_link_to_the_database_of_another_folder_is_locked_with_it() {
    let world = World::new();
    let [data, other] = ["biller", "other"].map(|name| world.folder.path(name));
    fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(data.join("biller.sqlite"), other.join("biller.sqlite")).unwrap();
    let through = |further: &[&str]| {
        let arguments = ["--data", other.to_str().unwrap()];
        world.run(&["biller"], &[&arguments, further].concat())
    };
    // Before the database exists, the link leads to a folder that does not.
    let line = through(&[]).failed(2);
    assert!(line.contains("biller.sqlite: cannot be written"), "{line}");
    let biller = Biller::start(&world, &["--no-poll"]);
    let line = through(&[]).failed(2);
    assert!(
        line.contains("another bankrail biller uses this folder"),
        "{line}"
    );
    // Another name of the same file has another lock.
    fs::remove_file(other.join("biller.sqlite")).unwrap();
    fs::hard_link(data.join("biller.sqlite"), other.join("biller.sqlite")).unwrap();
    let line = through(&[]).failed(2);
    assert!(line.contains("with one name, found 2 hard links"), "{line}");
    biller.kill();
}

#[test]
fn secrets_that_every_user_may_read_are_named_at_the_start() {
    let world = World::new();
    let names = ["connection.toml", "signing.pem", "decryption.pem"];
    let all = [&names[..], &["receiver-key.pem"]].concat();
    for name in &all {
        set_mode(&world.folder.path(name), 0o644);
    }
    let (run, _) = Biller::start(&world, &["--no-poll"]).stop();
    let warned = |err: &str, names: &[&str]| {
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(lines.len(), names.len(), "{err}");
        for (line, name) in lines.iter().zip(names) {
            assert!(
                line.contains("every user of the machine may read") && line.contains(name),
                "{line}"
            );
        }
    };
    warned(&run.err, &all);
    let token = world.run(&["token"], &[]);
    let (warnings, _) = token.err.split_once("bankrail: the token").unwrap();
    warned(warnings, &names);
    let key = world.folder.file("key.pem", KEYS.customer.to_pkcs8_pem());
    set_mode(Path::new(&key), 0o604);
    let made = crate::run([
        "assertion",
        "make",
        "--key",
        &key,
        "--customer",
        "C",
        "--audience",
        "https://a",
    ]);
    warned(&made.err, &["key.pem"]);
    for name in &all {
        set_mode(&world.folder.path(name), 0o640);
    }
    let (run, _) = Biller::start(&world, &["--no-poll"]).stop();
    assert_eq!(run.err, "");
}

#[test]
fn a_second_biller_and_a_taken_port_are_said() {
    let world = World::new();
    let biller = Biller::start(&world, &["--no-poll"]);
    let line = world.run(&["biller"], &[]).failed(2);
    assert!(
        line.contains("another bankrail biller uses this folder") && line.contains("--data"),
        "{line}"
    );
    let taken = biller.url.strip_prefix("https://").unwrap();
    let other = text(&world.folder.path("other"));
    let line = world
        .run(&["biller"], &["--data", &other, "--listen", taken])
        .failed(2);
    let port = taken.rsplit(':').next().unwrap();
    assert!(
        line.contains(&format!("the port {port} is taken")) && line.contains("--listen"),
        "{line}"
    );
    biller.kill();
    // The lock ends with the process.
    Biller::start(&world, &["--no-poll"]).kill();

    fs::write(
        world.folder.path("biller").join("token-cache.key"),
        "nonsense",
    )
    .unwrap();
    let line = world.run(&["biller"], &[]).failed(2);
    assert!(
        line.contains("token-cache.key") && line.contains("remove it"),
        "{line}"
    );
    let line = world
        .run(&["biller"], &["--no-poll", "--no-receive"])
        .failed(2);
    assert!(line.contains("nothing to do"), "{line}");
    let connection = fs::read_to_string(world.connection()).unwrap();
    let (before, _) = connection.split_once("\n[receivers]").unwrap();
    fs::write(world.folder.path("connection.toml"), before).unwrap();
    let line = world
        .run(&["biller"], &["--listen", "127.0.0.1:0"])
        .failed(2);
    assert!(
        line.contains("--listen: expected a connection with receivers"),
        "{line}"
    );
}

#[test]
fn people_read_one_line_for_each_event() {
    let world = World::new();
    world.bank.book(
        &world.bank.account(),
        &FakeBooking::new("25.00 AUD")
            .narrative("up\u{202e}side")
            .party("JANE"),
    );
    let biller = Biller::spawn(&world, &[]);
    let mut begin = Vec::new();
    while begin
        .last()
        .is_none_or(|line: &String| !line.starts_with("Ctrl-C"))
    {
        begin.push(biller.line());
    }
    assert!(
        begin[0].starts_with("receivers  https://127.0.0.1:"),
        "{begin:?}"
    );
    assert!(
        begin
            .iter()
            .any(|line| line.contains("POST /payto/mpirs/outcomes")),
        "{begin:?}"
    );
    assert!(
        begin
            .iter()
            .any(|line| line.contains("1 account, every 600 s")),
        "{begin:?}"
    );
    let entry = biller.line();
    assert!(
        entry.contains("UTC  entry      ") && entry.contains("+25.00 AUD"),
        "{entry}"
    );
    assert!(
        entry.contains("JANE") && entry.contains("up\\u{202e}side"),
        "{entry:?}"
    );
    assert!(!entry.contains(['\u{202e}', '\u{1b}']), "{entry:?}");
    let (run, _) = biller.stop();
    assert_eq!((run.status, run.err.as_str()), (0, ""));
}

#[test]
fn the_log_is_in_colours_on_request_and_not_in_a_file() {
    let world = World::new();
    for (color, expected) in [("auto", false), ("never", false), ("always", true)] {
        let biller = Biller::start(&world, &["--no-poll", "--log", "info", "--color", color]);
        assert_eq!(Sender::new(&world, &biller).deliver(&settled(&world)), 200);
        assert_eq!(biller.next()["event"], "message");
        let (run, _) = biller.stop();
        assert!(
            run.status == 0 && run.err.contains("delivery stored"),
            "{}",
            run.err
        );
        assert_eq!(run.err.contains('\u{1b}'), expected, "{color}: {}", run.err);
    }
}

#[test]
fn a_reader_that_has_enough_ends_it_quietly() {
    let world = World::new();
    let mut child = command()
        .args([
            "biller",
            "--json",
            "--no-receive",
            "--poll",
            "1",
            "--connection",
            &world.connection(),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("started"), "{line}");
    // The pipe is closed now, which the next event detects.
    world
        .bank
        .book(&world.bank.account(), &FakeBooking::new("1.00 AUD"));
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(
        err.lines().count() == 1 && err.contains("polls come later"),
        "{err}"
    );
}

#[test]
fn the_connection_of_the_help_is_one() {
    let help = run(["biller", "--help"]).fine();
    let example = help
        .split_once("four lines are needed:\n")
        .unwrap()
        .1
        .split_once("\n\n")
        .unwrap()
        .0;
    let connection = Connection::from_toml(example, "help").unwrap();
    assert!(
        connection.receivers.is_some()
            && connection.signing_kid.is_some()
            && connection.scopes.len() == 1
    );
}
