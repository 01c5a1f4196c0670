//! Operations on the data of a provider that runs without its control, and of one that does not
//! run.

use super::bank::{Bank, Customer, PATIENCE, act, control, copy_of_data, refused};
use crate::{Folder, run, text};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn what_is_booked_is_in_the_next_statement() {
    let folder = Folder::new();
    let bank = Bank::start(&copy_of_data(&folder), &[]);
    let account = "SGD000000000105";
    let fee = [
        "book",
        "--account",
        account,
        "--amount",
        "12.5",
        "--kind",
        "fee",
        "--reference",
        "CH1",
        "--narrative",
        "a fee 👍",
    ];
    let booked =
        |new, known| json!({ "booked": new, "known": known, "balance": "29.50 SGD", "seed": null });
    assert_eq!(control(&bank.data, &fee), booked(1, 0));
    assert_eq!(control(&bank.data, &fee), booked(0, 1));
    let csv = folder.file(
        "day.csv",
        format!("account,date,kind,amount,currency\n{account},2021-07-29,cash_deposit,1,SGD\n"),
    );
    assert_eq!(
        control(&bank.data, &["book", "--csv", &csv]),
        json!({ "booked": 1, "known": 0 })
    );
    for (words, expected) in [
        (
            &["--account", "000000000000000", "--amount", "1"][..],
            "expected an account that the provider has",
        ),
        (&["--account", account, "--amount", "0"], "expected"),
        (
            &["--account", account, "--amount", "-9.00"],
            "amount: expected more than zero",
        ),
        (&["--account", account, "--amount", "0.001"], "expected"),
        (&["--account", account, "--amount", "x"], "expected"),
        (&["--account", account], "expected an amount"),
    ] {
        let line = refused(&bank.data, &[&["book"], words].concat());
        assert!(line.contains(expected), "{words:?}: {line}");
    }
    let customer = bank.customer("democustomer");
    let answer = customer.statement(&customer.token().await, account).await;
    assert!(
        answer.text.contains("a fee 👍") && answer.text.contains("30.50"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_customer_is_added_and_gets_a_new_api_key_while_the_provider_runs() {
    let folder = Folder::new();
    let bank = Bank::start(&copy_of_data(&folder), &["--limits", "off"]);
    let data = &bank.data;
    let key = text(&data.join("demo/democustomer/signing.pub.pem"));
    let add = |code, account| {
        [
            "add-customer",
            "--code",
            code,
            "--key",
            &key,
            "--accounts",
            account,
        ]
    };
    let added = control(data, &add("ACME", "999001400300301:AUD"));
    let api_key = added["api_key"].as_str().unwrap();
    let listed = control(data, &["customers"]);
    let acme = &listed["customers"][0];
    assert_eq!(
        (&acme["code"], &acme["api_keys"], &acme["accounts"]),
        (&json!("ACME"), &json!(1), &json!(["999001400300301"]))
    );
    let file = std::fs::read_to_string(data.join("customers/acme.toml")).unwrap();
    assert!(!listed.to_string().contains(api_key) && !file.contains(api_key));
    for (words, expected) in [
        (&add("ACME", "1:AUD")[..], "expected a new customer code"),
        (&add("../EVIL", "1:AUD"), "as a file's name, found ../EVIL"),
        (
            &add("/TMP/EVIL", "1:AUD"),
            "as a file's name, found /TMP/EVIL",
        ),
        (&add(".HIDDEN", "1:AUD"), "as a file's name, found .HIDDEN"),
        (
            &add("X", "999001777777777:AUD"),
            "reserved for negative testing",
        ),
        (
            &["rotate-api-key", "--code", "NOBODY"],
            "expected one of ACME, DEMOCUSTOMER, OTHERCUSTOMER, found NOBODY",
        ),
    ] {
        let line = refused(data, words);
        assert!(line.contains(expected), "{line}");
    }

    let before = bank.customer("democustomer");
    let rotate = ["rotate-api-key", "--code", "DEMOCUSTOMER"];
    let rotated = control(data, &rotate);
    let after = bank.customer("democustomer");
    assert_ne!(before.text("api_key"), after.text("api_key"));
    assert_eq!(
        (&rotated["api_key"], &rotated["in_connection_toml"]),
        (&json!(after.text("api_key")), &json!(true))
    );
    // The new key is in force within a second, and the old one stays valid.
    answers(&after, 200).await;
    before.token().await;
    control(data, &[&rotate[..], &["--overlap", "0"]].concat());
    answers(&before, 401).await;
    assert!(
        bank.line("api_key").contains("unknown customer"),
        "the reason is printed"
    );
}

/// Asks for tokens until the answer has this status.
async fn answers(customer: &Customer, status: u16) {
    let end = Instant::now() + PATIENCE;
    while customer.token_with(customer.text("audience")).await.status != status {
        assert!(
            Instant::now() < end,
            "no token request is answered {status}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[test]
fn a_new_signing_key_is_published_beside_the_one_before() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let kids = |operation| {
        control(&data, &[operation])["kids"]
            .as_array()
            .unwrap()
            .clone()
    };
    let before = kids("keys");
    assert_eq!(before.len(), 1);
    let rotated = kids("rotate-key");
    let after = kids("keys");
    assert!(
        after == rotated && after.len() == 2 && after[1] == before[0],
        "{after:?}"
    );
    let set = |name: &str| run(["keys", "thumbprint", &text(&data.join(name))]).fine();
    assert_eq!(
        set("signing.jwks.json"),
        set("demo/democustomer/provider.jwks.json")
    );
    assert_eq!(set("signing.jwks.json").lines().count(), 2);
    assert_eq!(set("signing.pem"), set("signing.pub.pem"));
    assert!(set("signing.jwks.json").starts_with(&set("signing.pem")));
    kids("rotate-key");
    kids("rotate-key");
    assert_eq!(
        set("signing.jwks.json").lines().count(),
        3,
        "the set does not grow for ever"
    );
}

#[test]
fn a_running_bank_alone_has_a_clock() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    // control.json is left over from a provider that ran with its control.
    Bank::start(&data, &["--control", "127.0.0.1:0"]).stop();
    let bank = Bank::start(&data, &[]);
    let line = act(&data, ["control", "clock"]).failed(2);
    assert!(
        line.contains("check that the provider runs with --control"),
        "{line}"
    );
    control(&data, &["messages"]);
    bank.stop();
    control(&data, &["messages"]);
}
