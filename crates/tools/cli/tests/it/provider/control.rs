//! The control of a running provider, by commands and over HTTP.

use super::bank::{Bank, act, control, copy_of_data, send};
use super::receiver::{Receiver, listener};
use crate::{Folder, run, text};
use bankrail_emulator::Operation;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Returns the address and the token in `control.json`.
fn access(data: &Path) -> (String, String) {
    let said: Value =
        serde_json::from_slice(&std::fs::read(data.join("control.json")).unwrap()).unwrap();
    (
        said["url"].as_str().unwrap().to_owned(),
        said["token"].as_str().unwrap().to_owned(),
    )
}

#[tokio::test]
async fn commands_steer_a_provider_that_runs() {
    let folder = Folder::new();
    let bank = Bank::start(
        &copy_of_data(&folder),
        &["--limits", "off", "--control", "127.0.0.1:0"],
    );
    let data = &bank.data;
    let said = control(
        data,
        &[
            "set-clock",
            "--now",
            "2031-05-06T07:08:09.000Z",
            "--rate",
            "0",
        ],
    );
    assert_eq!(
        said,
        json!({ "now": "2031-05-06T07:08:09.000Z", "rate": 0, "assertions": "real" })
    );
    let customer = bank.customer("democustomer");
    let token = customer.token().await;
    control(
        data,
        &[
            "add-fault",
            "--fault",
            "statement-503",
            "--customer",
            "DEMOCUSTOMER",
            "--count",
            "1",
        ],
    );
    assert_eq!(
        customer.statement(&token, "999001400100101").await.status,
        503
    );
    assert!(
        bank.line("503")
            .contains("the fault statement-503 that the control ordered")
    );
    let answer = customer.statement(&token, "999001400100101").await;
    assert!(
        answer.status == 200 && answer.text.contains("2031-05-06"),
        "{}",
        answer.text
    );
    let said = control(
        data,
        &["assert-calls", "--endpoint", "statement", "--times", "2"],
    );
    assert_eq!(said, json!({ "found": 2 }));
    let line = act(data, ["control", "assert-calls", "--times", "7"]).failed(1);
    assert!(
        line.contains("expected 7 of these calls, found 3"),
        "{line}"
    );
    let line = act(data, ["control", "set-clock", "--now", "noon"]).failed(1);
    assert!(line.contains("now: expected"), "{line}");
    let line = act(data, ["control", "step-clock", "--seconds", "many"]).failed(2);
    assert!(
        line.contains("seconds: expected a whole number from 0 on"),
        "{line}"
    );
    let journal = control(data, &["journal", "--endpoint", "token"]).to_string();
    let secrets = [&token, customer.text("api_key"), &access(data).1];
    assert!(
        journal.contains("(masked)") && !secrets.iter().any(|secret| journal.contains(*secret)),
        "{journal}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_asserted_on() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (listener, port) = listener().await;
    Receiver::start(listener, &data);
    let url = format!("https://127.0.0.1:{port}");
    let bank = Bank::start(&data, &["--deliver-to", &url, "--control", "127.0.0.1:0"]);
    let sent = send(&data, &url.replace("https://", "democustomer@")).fine();
    assert!(sent.contains("delivered"), "{sent}");
    let delivered = [
        "assert-calls",
        "--endpoint",
        "webhook",
        "--customer",
        "DEMOCUSTOMER",
        "--body",
        "case_id",
    ];
    assert_eq!(
        control(
            &data,
            &[&delivered[..], &["--answer", "RCVD", "--times", "1"]].concat()
        ),
        json!({ "found": 1 })
    );
    let line = bank
        .run([&["control"], &delivered[..], &["--status", "500"]].concat())
        .failed(1);
    assert!(
        line.contains("expected 1 or more of these calls, found 0") && line.contains("webhook 200"),
        "{line}"
    );
    let journal = control(&data, &["journal", "--endpoint", "webhook"]).to_string();
    assert!(journal.contains("\"apikey\":\"(masked)\""), "{journal}");
}

#[test]
fn the_judge_orders_bookings_through_the_control() {
    let folder = Folder::new();
    let bank = Bank::start(
        &copy_of_data(&folder),
        &["--limits", "off", "--control", "127.0.0.1:0"],
    );
    let connection = text(&bank.data.join("demo/democustomer"));
    let program = env!("CARGO_BIN_EXE_bankrail");
    let judge = |book: &str| {
        let budget = "tokens=100,statements=100,tokens-per-second=1000";
        let words = [
            "--strict", "--seed", "7", "--budget", budget, "--json", "--only", "S6", "--only",
            "S19",
        ];
        let words = [
            &[
                "conformance",
                "provider",
                "--connection",
                &connection,
                "--book",
                book,
            ],
            &words[..],
        ]
        .concat();
        let report: Value = serde_json::from_str(&run(words).out).unwrap();
        let rows = report["rows"].as_array().unwrap().iter();
        let rows = rows.filter(|row| row["title"].to_string().contains("ordered"));
        rows.map(|row| row["verdict"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let book = format!(
        "{program} provider --data '{}' control book --from -",
        bank.data.display()
    );
    assert_eq!(judge(&book), ["passed"; 7]);
    // The hook succeeds but books nothing.
    let rows = judge("cat");
    assert_eq!(
        rows.iter().filter(|verdict| *verdict == "failed").count(),
        1,
        "{rows:?}"
    );
    assert_eq!(judge("exit 1"), ["not run"; 7]);
}

#[test]
fn the_judge_steps_the_clock_for_the_worked_cases_of_limits() {
    let folder = Folder::new();
    let bank = Bank::start(
        &copy_of_data(&folder),
        &["--limits", "real", "--control", "127.0.0.1:0"],
    );
    let connection = text(&bank.data.join("demo/democustomer"));
    let program = env!("CARGO_BIN_EXE_bankrail");
    let clock = format!(
        "{program} provider --data '{}' control step-clock --from -",
        bank.data.display()
    );
    let words = [
        "conformance",
        "provider",
        "--connection",
        &connection,
        "--only",
        "S25.26",
        "--only",
        "S25.27",
    ];
    let run = run([
        &words[..],
        &["--only", "S25.28", "--limits", "--json", "--clock", &clock],
    ]
    .concat());
    assert!(
        run.err
            .contains("--limits sends up to 52 statements and 25 token requests"),
        "{}",
        run.err
    );
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let rows = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["id"], &row["verdict"]));
    let expected = ["S25.26", "S25.27", "S25.28"].map(|id| (json!(id), json!("passed")));
    assert!(
        rows.eq(expected.iter().map(|(id, verdict)| (id, verdict))),
        "{report:#}"
    );
}

#[test]
fn the_token_is_kept_for_the_owner_and_never_printed() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let line = act(&data, ["control", "clock"]).failed(2);
    assert!(
        line.contains("expected a provider with a control, found none"),
        "{line}"
    );
    let bank = Bank::start(&data, &["--control", "127.0.0.1:0"]);
    let (url, token) = access(&data);
    let mode = std::fs::metadata(data.join("control.json"))
        .unwrap()
        .permissions()
        .mode();
    let first = bank.first.join("\n");
    assert!(
        mode & 0o777 == 0o600
            && token.len() == 48
            && first.contains(&url)
            && !first.contains(&token),
        "{first}"
    );
    bank.stop();
    let line = act(&data, ["control", "clock"]).failed(2);
    assert!(
        line.contains("check that the provider runs with --control") && !line.contains(&token),
        "{line}"
    );
    let bank = Bank::start(&data, &["--control", "127.0.0.1:0"]);
    assert_eq!(access(&data).1, token, "kept over a restart");
    assert_eq!(control(&data, &["clock"])["rate"], 1);
    bank.stop();
    let line = Bank::try_start(&data, &["--control", "0.0.0.0:0"])
        .err()
        .unwrap()
        .failed(2);
    assert!(
        line.contains("--control: expected a loopback address, found 0.0.0.0:0"),
        "{line}"
    );
    Bank::start(
        &data,
        &["--control", "0.0.0.0:0", "--control-beyond-loopback"],
    )
    .stop();
    assert!(access(&data).0.starts_with("http://0.0.0.0:"));
    std::fs::write(data.join("control.json"), "{").unwrap();
    let line = Bank::try_start(&data, &["--control", "127.0.0.1:0"])
        .err()
        .unwrap()
        .failed(2);
    assert!(line.contains(&text(&data.join("control.json"))), "{line}");
}

#[tokio::test]
async fn what_happened_is_kept_forgotten_and_put_back() {
    let folder = Folder::new();
    let bank = Bank::start(
        &copy_of_data(&folder),
        &["--limits", "off", "--control", "127.0.0.1:0"],
    );
    let data = &bank.data;
    let customer = bank.customer("democustomer");
    let token = customer.token().await;
    let account = "SGD000000000105";
    let balance = async || {
        let answer = customer.statement(&token, account).await;
        (answer.status, answer.text.matches("<Ntry>").count())
    };
    let (_, before) = balance().await;
    let out = control(
        data,
        &[
            "book",
            "--account",
            account,
            "--amount",
            "12.5",
            "--kind",
            "fee",
            "--reference",
            "CH1",
        ],
    );
    assert_eq!(
        (&out["booked"], &out["balance"]),
        (&json!(1), &json!("29.50 SGD"))
    );
    let out = control(
        data,
        &[
            "book",
            "--account",
            account,
            "--amount",
            "12.5",
            "--kind",
            "fee",
            "--reference",
            "CH1",
        ],
    );
    assert_eq!((&out["booked"], &out["known"]), (&json!(0), &json!(1)));
    // A message that waits is counted by triggers, which must not count it again when it is put
    // back.
    control(
        data,
        &["send", "--endpoint", "democustomer", "--story", "mandate"],
    );
    control(data, &["snapshot", "--name", "one-fee"]);
    let mode = std::fs::metadata(data.join("snapshots/one-fee.sqlite"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let shop = [
        "book",
        "--account",
        account,
        "--story",
        "shop",
        "--seed",
        "7",
    ];
    let booked = control(data, &shop)["booked"].as_u64().unwrap();
    assert!(booked >= 8);
    assert_eq!(control(data, &shop)["known"], booked);
    let csv = folder.file(
        "day.csv",
        format!("account,date,kind,amount,currency\n{account},2021-07-29,cash_deposit,1,SGD\n"),
    );
    assert_eq!(control(data, &["book", "--csv", &csv])["booked"], 1);
    assert_eq!(
        balance().await,
        (200, before + 1 + usize::try_from(booked).unwrap())
    );
    control(data, &["seed", "--name", "one-fee"]);
    assert_eq!(
        balance().await,
        (200, before + 1),
        "the token is of before the snapshot"
    );
    control(data, &["reset", "--customer", "OTHERCUSTOMER"]);
    assert_eq!(balance().await, (200, before + 1));
    control(data, &["reset", "--customer", "DEMOCUSTOMER"]);
    assert_eq!(balance().await.0, 401);
    let token = customer.token().await;
    assert!(
        customer
            .statement(&token, account)
            .await
            .text
            .contains(">42.00<"),
        "the test account as every day"
    );
    // A day later the test accounts have their entries of that day, at once.
    control(data, &["step-clock", "--seconds", "86400"]);
    let token = customer.token().await;
    assert_eq!(
        customer
            .statement(&token, account)
            .await
            .text
            .matches("<Ntry>")
            .count(),
        before
    );
    control(data, &["reset"]);
    assert_eq!(customer.statement(&token, account).await.status, 401);
    for (words, expected) in [
        (
            &["seed", "--name", "nothing"][..],
            "expected the name of a snapshot",
        ),
        (
            &["snapshot", "--name", "../x"],
            "expected 1 to 64 lower-case letters",
        ),
        (
            &["reset", "--customer", "NOBODY"],
            "expected the code of a customer, found NOBODY",
        ),
        (&["book", "--account", account], "expected an amount"),
        (
            &["book", "--account", "000000000000000", "--amount", "1"],
            "expected an account that the provider has",
        ),
    ] {
        let line = act(data, ["control"].iter().chain(words)).failed(1);
        assert!(line.contains(expected), "{line}");
    }
    let line = act(data, ["control", "book", "--story", "x"]).failed(2);
    let expected = "invalid value 'x' for '--story <TEXT>' [possible values: shop]";
    assert!(line.contains(expected), "{line}");
    let other = folder.file("book.json", r#"{"story": "x"}"#);
    let line = act(data, ["control", "book", "--from", &other]).failed(2);
    assert!(
        line.contains("story: expected one of shop, found \"x\""),
        "{line}"
    );
}

#[tokio::test]
async fn customers_and_keys_change_while_it_runs() {
    let folder = Folder::new();
    let bank = Bank::start(
        &copy_of_data(&folder),
        &["--limits", "off", "--control", "127.0.0.1:0"],
    );
    let data = &bank.data;
    let key = text(&data.join("demo/democustomer/signing.pub.pem"));
    let added = control(
        data,
        &[
            "add-customer",
            "--code",
            "ACME",
            "--key",
            &key,
            "--accounts",
            "999001400300301:AUD",
        ],
    );
    assert_eq!(added["api_key"].as_str().unwrap().len(), 48);
    let listed = control(data, &["customers"]);
    let acme = listed["customers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|customer| customer["code"] == "ACME")
        .unwrap();
    assert_eq!(
        (&acme["api_keys"], &acme["accounts"]),
        (&json!(1), &json!(["999001400300301"]))
    );
    control(
        data,
        &["book", "--account", "999001400300301", "--amount", "5"],
    );
    let before = bank.customer("democustomer");
    control(
        data,
        &["rotate-api-key", "--code", "DEMOCUSTOMER", "--overlap", "0"],
    );
    let after = bank.customer("democustomer");
    let statuses = [
        before.token_with(before.text("audience")).await.status,
        after.token_with(after.text("audience")).await.status,
    ];
    assert_eq!(statuses, [401, 200], "at once");
    let kids = control(data, &["keys"])["kids"].clone();
    let rotated = control(data, &["rotate-key"])["kids"].clone();
    assert!(
        rotated[0] != kids[0] && rotated[1] == kids[0],
        "{kids} {rotated}"
    );
    for (words, expected) in [
        (
            &["add-customer", "--code", "ACME", "--key", &key][..],
            "expected a new customer code",
        ),
        (
            &[
                "add-customer",
                "--code",
                "X",
                "--key",
                &text(&data.join("demo/democustomer/connection.toml")),
            ],
            "key: ",
        ),
        (
            &[
                "add-customer",
                "--code",
                "X",
                "--key",
                &key,
                "--accounts",
                "1",
            ],
            "accounts: expected NUMBER:CURRENCY",
        ),
        (
            &[
                "add-customer",
                "--code",
                "X",
                "--key",
                &key,
                "--webhooks",
                "https://x.example",
            ],
            "expected webhooks and",
        ),
        (
            &["rotate-api-key", "--code", "NOBODY"],
            "expected one of ACME, DEMOCUSTOMER, OTHERCUSTOMER",
        ),
    ] {
        let line = act(data, ["control"].iter().chain(words)).failed(1);
        assert!(line.contains(expected), "{line}");
    }
}

/// The answers themselves are checked by [`control`].
#[tokio::test(flavor = "multi_thread")]
async fn each_operation_answers_as_it_is_documented() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (listener, port) = listener().await;
    Receiver::start(listener, &data);
    let url = format!("https://127.0.0.1:{port}");
    let bank = Bank::start(&data, &["--deliver-to", &url, "--control", "127.0.0.1:0"]);
    let own = url.replace("https://", "democustomer@");
    let key = text(&data.join("demo/democustomer/signing.pub.pem"));
    bank.customer("democustomer").token().await;
    let lines = format!(
        "pause --endpoint democustomer --reason rest
        send --endpoint democustomer --story mandate --seed 7
        drop --number 2
        message --number 2 --body
        add-fault --fault webhook-doubled --count 9
        faults
        remove-fault
        clock
        set-clock --assertions real
        limits
        set-limit --call-type token --per-hour 20 --customer DEMOCUSTOMER
        send --endpoint {own} --story payment --wait 20
        journal
        assert-calls --endpoint webhook
        messages
        message --number 1
        resend --endpoint {own}
        resume --endpoint democustomer
        book --account 999001400100101 --story shop
        customers
        add-customer --code ACME --key {key}
        add-customer --code OTHER --key {key} --webhooks https://x.example --encrypt-to {key}
        rotate-api-key --code ACME
        keys
        rotate-key
        snapshot --name now
        seed --name now
        step-clock --seconds 1
        forget-calls
        reset"
    );
    let mut carried_out = BTreeSet::new();
    for line in lines.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        carried_out.insert(words[0]);
        control(&data, &words);
    }
    let all = Operation::ALL.iter().map(|operation| operation.name());
    assert_eq!(carried_out, all.collect());
}
