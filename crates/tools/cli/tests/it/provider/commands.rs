//! The commands that act on the data of a provider that runs.

use super::bank::{Bank, Customer, PATIENCE, copy_of_data};
use crate::{Folder, run, text};
use std::time::{Duration, Instant};

#[tokio::test]
async fn what_is_booked_is_in_the_next_statement() {
    let folder = Folder::new();
    let bank = Bank::start(&copy_of_data(&folder), &[]);
    let book = |words: &[&str]| bank.run(["book"].iter().chain(words));
    let out = book(&[
        "SGD000000000105",
        "12.5",
        "--kind",
        "fee",
        "--reference",
        "CH1",
        "--narrative",
        "a fee 👍",
    ])
    .fine();
    assert!(
        out.contains("booked as entry 1 of SGD000000000105") && out.contains("balance 29.50 SGD"),
        "{out}"
    );
    let again = book(&[
        "SGD000000000105",
        "12.5",
        "--kind",
        "fee",
        "--reference",
        "CH1",
        "--narrative",
        "a fee 👍",
    ])
    .fine();
    assert!(
        again.contains("booked before as entry 1") && again.contains("balance 29.50 SGD"),
        "{again}"
    );
    let csv = folder.file(
        "day.csv",
        "account,date,kind,amount,currency\nSGD000000000105,2021-07-29,cash_deposit,1,SGD\n",
    );
    assert_eq!(
        book(&["--csv", &csv]).fine(),
        "1 entry booked, 0 booked before\n"
    );
    let customer = bank.customer("democustomer");
    let answer = customer
        .statement(&customer.token().await, "SGD000000000105")
        .await;
    assert!(
        answer.text.contains("a fee 👍") && answer.text.contains("30.50"),
        "{}",
        answer.text
    );
    for (words, expected) in [
        (
            &["000000000000000", "1"][..],
            "expected an account that the provider has",
        ),
        (&["SGD000000000105", "-1"], "unexpected argument"),
        (&["SGD000000000105", "0"], "nothing was booked"),
        (&["SGD000000000105", "0.001"], "nothing was booked"),
    ] {
        let run = book(words);
        assert!(
            run.status != 0 && run.err.contains(expected),
            "{words:?}: {}",
            run.err
        );
    }
}

#[tokio::test]
async fn a_customer_is_added_and_gets_a_new_api_key_while_the_provider_runs() {
    let folder = Folder::new();
    let bank = Bank::start(&copy_of_data(&folder), &["--limits", "off"]);
    let key = text(&bank.data.join("demo/democustomer/signing.pub.pem"));
    let added = bank
        .run([
            "customers",
            "add",
            "ACME",
            "--key",
            &key,
            "--account",
            "999001400300301:AUD",
        ])
        .fine();
    let api_key = added
        .split("apikey: ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    let listed = bank.run(["customers", "list"]).fine();
    assert!(
        listed.contains("ACME\n  1 valid API key") && listed.contains("999001400300301, AUD"),
        "{listed}"
    );
    assert!(
        !listed.contains(&api_key)
            && !std::fs::read_to_string(bank.data.join("customers/acme.toml"))
                .unwrap()
                .contains(&api_key)
    );
    for (words, expected) in [
        (
            &["add", "ACME", "--key", &key][..],
            "expected a new customer code",
        ),
        (
            &["add", "../EVIL", "--key", &key],
            "as a file's name, found ../EVIL",
        ),
        (
            &["add", "/TMP/EVIL", "--key", &key],
            "as a file's name, found /TMP/EVIL",
        ),
        (
            &["add", ".HIDDEN", "--key", &key],
            "as a file's name, found .HIDDEN",
        ),
        (
            &["rotate", "NOBODY"],
            "expected one of ACME, DEMOCUSTOMER, OTHERCUSTOMER, found NOBODY",
        ),
    ] {
        let line = bank.run(["customers"].iter().chain(words)).failed(1);
        assert!(line.contains(expected), "{line}");
    }
    let reserved = bank.run([
        "customers",
        "add",
        "X",
        "--key",
        &key,
        "--account",
        "999001777777777:AUD",
    ]);
    assert!(
        reserved.status == 2 && reserved.err.contains("reserved for negative testing"),
        "{}",
        reserved.err
    );

    let before = bank.customer("democustomer");
    let out = bank.run(["customers", "rotate", "DEMOCUSTOMER"]).fine();
    let after = bank.customer("democustomer");
    assert_ne!(before.text("api_key"), after.text("api_key"));
    assert!(out.contains(after.text("api_key")), "{out}");
    // In force within a second; the one before is valid beside it.
    answers(&after, 200).await;
    before.token().await;
    bank.run(["customers", "rotate", "DEMOCUSTOMER", "--overlap", "0"])
        .fine();
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
    let act = |words: &[&str]| super::bank::act(&data, words).fine();
    let before = act(&["keys", "list"]);
    assert!(
        before.lines().count() == 1 && before.contains("signs"),
        "{before}"
    );
    let old = before.split(' ').next().unwrap();
    act(&["keys", "rotate"]);
    let after = act(&["keys", "list"]);
    let lines: Vec<&str> = after.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].ends_with("signs") && lines[1].starts_with(old),
        "{after}"
    );
    let set = |name: &str| run(["keys", "thumbprint", &text(&data.join(name))]).fine();
    assert_eq!(
        set("signing.jwks.json"),
        set("demo/democustomer/provider.jwks.json")
    );
    assert_eq!(set("signing.jwks.json").lines().count(), 2);
    assert_eq!(set("signing.pem"), set("signing.pub.pem"));
    assert!(set("signing.jwks.json").starts_with(&set("signing.pem")));
    act(&["keys", "rotate"]);
    act(&["keys", "rotate"]);
    assert_eq!(
        set("signing.jwks.json").lines().count(),
        3,
        "the set does not grow for ever"
    );
}
