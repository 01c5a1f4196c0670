//! Messages: the result is printed, and none goes to another endpoint.

use super::bank::{Bank, PATIENCE, control, copy_of_data, refused, send};
use super::receiver::{Receiver, bank_for, listener};
use crate::{Folder, text};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Returns the outcomes of messages that are all delivered.
fn outcomes(run: crate::Run) -> Vec<String> {
    let answer: Value = serde_json::from_str(&run.fine()).unwrap();
    let outcomes = answer["outcomes"].as_array().unwrap().iter();
    outcomes
        .map(|outcome| outcome.as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_back_is_said_of_each_message() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (listener, port) = listener().await;
    let receiver = Receiver::start(listener, &data);
    let _bank = bank_for(port, &data);
    let send = || send(&data, "democustomer");
    let out = outcomes(send());
    assert!(
        out.len() == 1 && out[0].starts_with("message 1: status 200, delivered"),
        "{out:?}"
    );
    for (status, expected) in [
        (
            401,
            "status 401, refused: the receiver expects another API key",
        ),
        (500, "status 500, refused"),
        (204, "status 204, not acknowledged"),
    ] {
        receiver.answer(status);
        // Two messages of one kind are no duplicates.
        for _ in 0..2 {
            let line = send().failed(1);
            assert!(line.contains(expected), "{line}");
            let (_, rest) = line.split_once("message ").unwrap();
            let (number, _) = rest.split_once(':').unwrap();
            control(&data, &["drop", "--number", number]);
        }
        // After several consecutive failures, deliveries to the endpoint would pause.
        receiver.answer(200);
        outcomes(send());
    }
    receiver.answer(410);
    let line = send().failed(1);
    assert!(
        line.contains("gone: the endpoint is stopped until it is resumed"),
        "{line}"
    );
    receiver.answer(200);
    let line = send().failed(1);
    assert!(
        line.contains("is stopped since") && line.contains("resume it"),
        "{line}"
    );
    assert_eq!(
        control(&data, &["messages"])["stopped"][0]["endpoint"],
        "democustomer"
    );
    let resume = || control(&data, &["resume", "--endpoint", "democustomer"]);
    assert_eq!(resume()["was_stopped"], true);
    outcomes(send());

    receiver.answer(500);
    let held = (0..10)
        .map(|_| send().failed(1))
        .find(|line| line.contains("paused until"));
    assert!(held.unwrap().contains("resume it"));
    receiver.answer(200);
    let resumed = resume();
    assert!(
        resumed["was_stopped"] == false && resumed["waiting"].as_u64().unwrap() > 0,
        "{resumed}"
    );
    outcomes(send());
    let end = Instant::now() + PATIENCE;
    let waiting = || control(&data, &["messages", "--state", "pending"])["messages"].clone();
    while waiting() != json!([]) {
        assert!(
            Instant::now() < end,
            "what waited for the schedule is not sent: {}",
            waiting()
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_connection_and_an_unknown_authority_are_told_apart() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (listener, port) = listener().await;
    let _bank = bank_for(port, &data);
    drop(listener);
    let line = send(&data, "democustomer").failed(1);
    assert!(line.contains("no connection"), "{line}");
    let key = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port))
        .await
        .unwrap();
    Receiver::start_with(
        listener,
        key.cert.pem().as_bytes(),
        key.signing_key.serialize_pem().as_bytes(),
    );
    let line = send(&data, "democustomer").failed(1);
    assert!(line.contains("the TLS handshake failed"), "{line}");
    let line = send(&data, "nobody").failed(1);
    assert!(line.contains("nobody"), "{line}");
    let line = refused(&data, &["pause", "--endpoint", "nobody"]);
    assert!(
        line.contains("expected an endpoint of a customer, found \"nobody\""),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_given_up_at_the_end_of_the_schedule() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (nobody, port) = listener().await;
    drop(nobody);
    let url = format!("https://localhost:{port}/hooks");
    let _bank = Bank::start(&data, &["--deliver-to", &url, "--schedule", "0s"]);
    send(&data, &url.replace("https://", "democustomer@")).failed(1);
    let end = Instant::now() + PATIENCE;
    let given_up = loop {
        let shown = control(&data, &["message", "--number", "1"]);
        if shown["state"] == "dead_letter" || Instant::now() > end {
            break shown.to_string();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(given_up.matches("no connection").count(), 2, "{given_up}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_one_address_never_goes_to_another() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let ((first, one), (second, two)) = (listener().await, listener().await);
    let urls = [one, two].map(|port| format!("https://localhost:{port}/hooks"));
    let ids = urls
        .clone()
        .map(|url| url.replace("https://", "democustomer@"));
    // No receiver listens at the first address.
    drop(first);
    let bank = Bank::start(&data, &["--deliver-to", &urls[0]]);
    let line = send(&data, &ids[0]).failed(1);
    assert!(line.contains("no connection"), "{line}");
    bank.stop();
    let receiver = Receiver::start(second, &data);
    let encrypt_to = text(&data.join("demo/othercustomer/encryption.pub.pem"));
    let bank = Bank::start(
        &data,
        &["--deliver-to", &urls[1], "--encrypt-to", &encrypt_to],
    );
    assert!(
        bank.first
            .iter()
            .any(|line| line.contains(&format!("endpoint     {}, {}", ids[1], urls[1]))),
        "{:?}",
        bank.first
    );
    outcomes(send(&data, &ids[1]));
    let resent = control(&data, &["resend", "--endpoint", &ids[0]]);
    assert_eq!(resent["resent"], 0);
    outcomes(send(&data, &ids[1]));
    assert_eq!(
        receiver.got(),
        2,
        "the message to the first address still waits"
    );
    assert_eq!(
        control(&data, &["messages", "--endpoint", &ids[0]])["messages"][0]["state"],
        "pending"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_story_is_told_in_its_order_and_a_message_waits_for_its_provider() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let line = send(&data, "democustomer").failed(1);
    assert!(line.contains("no provider runs on this data"), "{line}");
    let stored = |number: u64| {
        let sample = crate::run(["message", "sample", "query"]).fine();
        let query = folder.file("query.json", sample);
        let words = ["send", "--endpoint", "democustomer", "--message", &query];
        assert_eq!(
            control(&data, &words),
            json!({ "numbers": [number], "seed": null })
        );
    };
    stored(1);
    stored(2);
    control(&data, &["drop", "--number", "2", "--reason", "a test"]);
    let shown = control(&data, &["message", "--number", "2", "--body"]);
    assert_eq!(
        (&shown["state"], &shown["dropped"]["reason"]),
        (&json!("dropped"), &json!("a test"))
    );
    assert!(shown["message"]["case_id"].is_string(), "{shown}");
    let line = refused(&data, &["resend", "--number", "2"]);
    assert!(
        line.contains(
            "expected a message that was delivered or given up, found one that is dropped"
        ),
        "{line}"
    );

    let (listener, port) = listener().await;
    let receiver = Receiver::start(listener, &data);
    let bank = bank_for(port, &data);
    let end = Instant::now() + PATIENCE;
    while receiver.got() == 0 && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(receiver.got(), 1, "the message from before the start");
    let words = ["control", "send", "--endpoint", "democustomer"];
    let story = ["--story", "mandate", "--wait", "40"];
    let out = outcomes(bank.run(words.iter().chain(&story)));
    assert_eq!(out.len(), 11, "{out:?}");
    assert!(out[0].starts_with("message 3: status 200"), "{out:?}");
    let kind = |number| control(&data, &["message", "--number", number])["kind"].clone();
    assert_eq!(
        [kind("3"), kind("13")],
        ["mandate_outcome", "mandate_notification"]
    );
    let broken = folder.file("broken.json", "{}");
    let line = refused(
        &data,
        &["send", "--endpoint", "democustomer", "--message", &broken],
    );
    assert!(line.contains("expected one of the four kinds"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_provider_signs_with_the_new_key_and_receivers_know_both() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (listener, port) = listener().await;
    let receiver = Receiver::start(listener, &data);
    let _bank = bank_for(port, &data);
    let home = data.join("demo/democustomer");
    let decryption = text(&home.join("decryption.pem"));
    let opens = |keys: &std::path::Path, body: &str| {
        let run = crate::run([
            "payload",
            "open",
            "--decrypt",
            &decryption,
            "--verify",
            &text(keys),
            body,
        ]);
        run.status == 0 && run.out.contains("\"case_id\"")
    };
    let sent = || {
        send(&data, "democustomer").fine();
        folder.file("body.json", receiver.last())
    };
    let body = sent();
    assert!(opens(&data.join("signing.pub.pem"), &body));
    control(&data, &["rotate-key"]);
    assert!(
        !opens(&data.join("signing.pub.pem"), &body),
        "the file has the new key"
    );
    assert!(
        opens(&home.join("provider.jwks.json"), &body),
        "the set still has the one before"
    );
    let end = Instant::now() + PATIENCE;
    while !opens(&data.join("signing.pub.pem"), &sent()) {
        assert!(
            Instant::now() < end,
            "the provider still signs with the old key"
        );
    }
    assert!(opens(&home.join("provider.jwks.json"), &sent()));
}
