//! A provider's answers, and the lines that it prints about them.

use super::bank::{Bank, Customer, control, copy_of_data};
use crate::{Folder, text};
use std::fs;
use std::process::Command;

#[tokio::test]
async fn the_token_url_and_the_issuer_are_audiences_and_a_refusal_says_why() {
    let folder = Folder::new();
    let bank = Bank::start(
        &copy_of_data(&folder),
        &["--limits", "off", "--audience", "https://more.example/x"],
    );
    let customer = bank.customer("democustomer");
    let token = customer.token().await;
    for audience in [customer.text("base_url"), "https://more.example/x"] {
        assert_eq!(
            customer.token_with(audience).await.status,
            200,
            "{audience}"
        );
    }
    let refused = customer.token_with("https://elsewhere.example").await;
    assert_eq!(
        (refused.status, refused.text.as_str()),
        (401, r#"{"error":"invalid_client"}"#)
    );
    let line = bank.line(&refused.key);
    assert!(
        line.contains(
            "401 DEMOCUSTOMER, POST /v1.0/auth: refused for assertion: expected \"https://"
        ),
        "{line}"
    );
    assert!(
        line.contains("elsewhere.example") && line.contains(" UTC"),
        "{line}"
    );

    let foreign = bank.customer("othercustomer").file["accounts"][0]
        .as_str()
        .unwrap()
        .to_owned();
    for account in [&foreign, "000000000000000", "999001111111111"] {
        let answer = customer.statement(&token, account).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["statusCode"]),
            (404, &"EC20001".into())
        );
        assert_eq!(answer.json()["requestKey"], answer.key.as_str());
        let line = bank.line(&answer.key);
        assert!(line.contains("refused for account: not found"), "{line}");
        assert!(
            !line.contains(account) && !line.contains(customer.text("api_key")),
            "{line}"
        );
    }
    let answer = customer.statement(&token, "VND000000000108").await;
    assert!(
        answer.status == 200 && answer.text.contains("Công ty Hoa Sen"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn limits_are_the_specifications_a_files_or_none() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let file = folder.file(
        "limits.toml",
        "[[limits]]\ncall_type = \"token\"\nper_hour = 1\n",
    );
    for (limits, expected) in [("off", [200, 200, 200]), (file.as_str(), [200, 429, 429])] {
        let fresh = Folder::new();
        let bank = Bank::start(&copy_of_data(&fresh), &["--limits", limits]);
        let customer = bank.customer("democustomer");
        let mut found = Vec::new();
        for _ in 0..3 {
            found.push(customer.token_with(customer.text("audience")).await.status);
        }
        assert_eq!(found, expected, "{limits}");
        if limits != "off" {
            assert!(
                bank.line("429")
                    .contains("refused for limit: rate limit exceeded, allowed again in")
            );
        }
    }
    // Tokens are limited by the second too; statements are not.
    let bank = Bank::start(&data, &["--limits", "real"]);
    let customer = bank.customer("democustomer");
    let token = customer.token().await;
    for call in 1..=26 {
        let expected = if call <= 25 { 200 } else { 429 };
        let answer = customer.statement(&token, "999001400100101").await;
        assert_eq!(
            answer.status, expected,
            "25 statements an hour, call {call}: {}",
            answer.text
        );
    }
}

#[test]
fn a_file_of_an_option_that_cannot_be_used_is_named_with_what_to_do() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (missing, other) = (
        text(&folder.path("none.toml")),
        folder.file("other.toml", "\n= 1"),
    );
    for (option, file, expected) in [
        ("--limits", &missing, "check the name"),
        ("--limits", &other, ":2:1: expected TOML, "),
        ("--roots", &missing, "check the name"),
        (
            "--roots",
            &other,
            "expected at least one certificate as PEM, found none; pass certificates",
        ),
        (
            "--client-roots",
            &other,
            "expected certificate authorities of clients as PEM",
        ),
        (
            "--client-certificate",
            &other,
            "expected a client certificate and its private key",
        ),
    ] {
        let line = Bank::try_start(&data, &[option, file])
            .err()
            .unwrap()
            .failed(2);
        assert!(
            line.contains(&format!("{file}:")) && line.contains(expected),
            "{line}"
        );
    }
}

#[tokio::test]
async fn statements_and_what_is_booked_have_the_day_of_the_time_zone() {
    // The day of this zone is always the one after that of the other zone.
    for (zone, offset) in [
        ("Pacific/Kiritimati", "+14:00"),
        ("Pacific/Pago_Pago", "-11:00"),
    ] {
        let folder = Folder::new();
        let bank = Bank::start(
            &copy_of_data(&folder),
            &["--time-zone", zone, "--control", "127.0.0.1:0"],
        );
        let (account, customer) = ("999001400100101", bank.customer("democustomer"));
        let booked = control(
            &bank.data,
            &["book", "--account", account, "--amount", "25.17"],
        );
        assert_eq!(booked["booked"], 1);
        let answer = customer.statement(&customer.token().await, account).await;
        let payload = answer.json()["payload"].as_str().unwrap().to_owned();
        let (_, made) = payload.split_once("<CreDtTm>").unwrap();
        assert!(
            made.split('<').next().unwrap().ends_with(offset),
            "{zone}: {payload}"
        );
        let day = format!("<BookgDt><Dt>{}</Dt></BookgDt>", &made[..10]);
        assert!(payload.matches(&day).count() > 1, "{zone}: {payload}");
        assert!(payload.contains("25.17"), "{zone}: {payload}");
    }
    let folder = Folder::new();
    let line = Bank::try_start(&copy_of_data(&folder), &["--time-zone", "Sydney"]);
    let line = line.err().unwrap().failed(2);
    assert!(line.contains("Australia/Sydney"), "{line}");
}

#[tokio::test]
async fn faults_meet_the_calls_that_they_are_ordered_for() {
    let folder = Folder::new();
    let bank = Bank::start(
        &copy_of_data(&folder),
        &["--limits", "off", "--fault", "statement-html:1"],
    );
    let customer = bank.customer("democustomer");
    let token = customer.token().await;
    let answer = customer.statement(&token, "999001400100101").await;
    assert!(
        answer.status == 502 && answer.text.starts_with("<html>"),
        "{}",
        answer.text
    );
    assert_eq!(answer.key.len(), 36, "each answer has its key");
    assert!(
        bank.line(&answer.key)
            .contains("the fault statement-html that --fault ordered")
    );
    drop(bank);
    let bank = Bank::start(
        &folder.path("data"),
        &["--fault", "token-500:50%", "--limits", "off", "--seed", "4"],
    );
    let customer = bank.customer("democustomer");
    let mut found = Vec::new();
    for _ in 0..8 {
        found.push(customer.token_with(customer.text("audience")).await.status);
    }
    assert!(found.contains(&500) && found.contains(&200), "{found:?}");
    drop(bank);
    let bank = Bank::start(
        &folder.path("data"),
        &["--fault", "token-500:50%", "--limits", "off", "--seed", "4"],
    );
    let customer = bank.customer("democustomer");
    for expected in found {
        assert_eq!(
            customer.token_with(customer.text("audience")).await.status,
            expected
        );
    }
}

#[tokio::test]
async fn a_provider_that_is_killed_goes_on_where_it_was() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let bank = Bank::start(&data, &[]);
    let token = bank.customer("democustomer").token().await;
    bank.run([
        "control",
        "book",
        "--account",
        "999001400100101",
        "--amount",
        "7.31",
        "--narrative",
        "before the end",
    ])
    .fine();
    bank.kill();
    let bank = Bank::start(&data, &[]);
    let answer = bank
        .customer("democustomer")
        .statement(&token, "999001400100101")
        .await;
    assert!(
        answer.status == 200 && answer.text.contains("before the end"),
        "{}",
        answer.text
    );
    assert_eq!(
        answer.text.matches("FP0001-").count(),
        2,
        "today's entries are booked once: reference and end-to-end id"
    );
}

#[tokio::test]
async fn a_configuration_is_served_and_nothing_is_made_up_beside_it() {
    let folder = Folder::new();
    let made = copy_of_data(&folder);
    let config = folder.path("config");
    fs::create_dir_all(config.join("customers")).unwrap();
    for name in [
        "server.pem",
        "server-key.pem",
        "signing.pem",
        "cursor.key",
        "customers/othercustomer.toml",
    ] {
        fs::copy(made.join(name), config.join(name)).unwrap();
    }
    let config = text(&config);
    let bank = Bank::start(
        &folder.path("own"),
        &["--config", &config, "--operations", "127.0.0.1:0"],
    );
    let first = bank.first.join("\n");
    assert!(
        !first.contains("customer ") && !first.contains("apikey"),
        "{first}"
    );
    let of = |name: &str| {
        bank.first
            .iter()
            .find_map(|line| line.strip_prefix(name))
            .unwrap()
            .trim()
            .to_owned()
    };
    let mut customer = Customer::read(&made.join("demo/othercustomer"));
    let [issuer, token_url] = ["issuer", "token URL"].map(of);
    customer
        .file
        .insert("token_url".to_owned(), token_url.into());
    customer
        .file
        .insert("base_url".to_owned(), issuer.clone().into());
    let token = customer.token_with(&issuer).await;
    let token = token.json()["access_token"].as_str().unwrap().to_owned();
    assert_eq!(
        customer.statement(&token, "999001400200201").await.status,
        200
    );
    assert_eq!(
        customer.statement(&token, "999001400100101").await.status,
        404
    );
    assert_eq!(customer.status_of(&of("operations")).await, 200);
    let listed = bank
        .run(["--config", &config, "control", "customers"])
        .fine();
    assert!(
        listed.contains("OTHERCUSTOMER") && !listed.contains("DEMOCUSTOMER"),
        "{listed}"
    );
    let mut own: Vec<_> = fs::read_dir(folder.path("own"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    own.retain(|name| !name.to_str().unwrap().starts_with("provider."));
    own.sort();
    assert_eq!(own, ["audit.jsonl", "page.url"]);
}

#[tokio::test]
async fn assertions_of_client_libraries_are_accepted_unless_told_otherwise() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    for (more, expected) in [(&[][..], 200), (&["--strict-clients"], 401)] {
        let bank = Bank::start(&data, more);
        let customer = bank.customer("democustomer");
        let answer = customer.token_without_typ().await;
        assert_eq!(answer.status, expected, "{}", answer.text);
        if expected == 401 {
            let line = bank.line(&answer.key);
            let expected = "assertion: expected the typ jwt, found none; \
                a provider without --strict-clients has rules for others";
            assert!(line.contains(expected), "{line}");
        }
    }
}

/// Returns true if this machine has a program.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("{program} is not there: skipped");
    }
    found
}

#[tokio::test]
async fn the_samples_print_a_statement() {
    let folder = Folder::new();
    let bank = Bank::start(&copy_of_data(&folder), &["--limits", "off"]);
    let openssl = Command::new("openssl").arg("version").output().is_ok();
    for (program, file, needs) in [
        ("sh", "sample.sh", openssl && has("curl")),
        ("python3", "sample.py", openssl && has("python3")),
        ("node", "sample.mjs", has("node")),
    ] {
        if !needs {
            eprintln!("{file}: skipped");
            continue;
        }
        for (code, account) in [("democustomer", "HKD000000000104"), ("othercustomer", "")] {
            let path = text(&bank.data.join("demo").join(code).join(file));
            let mut call = Command::new(program);
            let output = call
                .arg(&path)
                .args((!account.is_empty()).then_some(account))
                .output()
                .unwrap();
            let (out, err) = (
                String::from_utf8(output.stdout).unwrap(),
                String::from_utf8(output.stderr).unwrap(),
            );
            let expected = if account.is_empty() {
                "999001400200201"
            } else {
                account
            };
            assert!(
                output.status.success() && out.contains("moreTransactionsAvailable"),
                "{file}: {out}{err}"
            );
            assert!(out.contains(expected), "{file}: {out}");
        }
    }
}
