//! Messages: what comes back is said, and none goes to another endpoint.

use super::bank::{Bank, PATIENCE, copy_of_data};
use super::receiver::{Receiver, bank_for, listener};
use crate::{Folder, text};
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn what_came_back_is_said_of_each_message() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (listener, port) = listener().await;
    let receiver = Receiver::start(listener, &data);
    let bank = bank_for(port, &data);
    let send = |words: &[&str]| bank.run(["send", "democustomer"].iter().chain(words));
    let out = send(&["--kind", "query", "--kind", "payment_outcome"]).fine();
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with("query: message 1: status 200, delivered"),
        "{out}"
    );
    assert!(
        lines[1].starts_with("payment_outcome: message 2: status 200, delivered"),
        "{out}"
    );

    // Two messages of one kind are no duplicates, and the second is sent although the first fails.
    for (status, expected) in [
        (
            401,
            "status 401, refused: the receiver expects another API key",
        ),
        (500, "status 500, refused"),
        (204, "status 204, not acknowledged"),
    ] {
        receiver.answer(status);
        let run = send(&["--kind", "query", "--kind", "query"]);
        assert_eq!(run.status, 1, "{}", run.out);
        assert_eq!(
            run.out
                .lines()
                .filter(|line| line.contains(expected))
                .count(),
            2,
            "{}",
            run.out
        );
        for line in run.out.lines() {
            let id = line
                .split("message ")
                .nth(1)
                .unwrap()
                .split(':')
                .next()
                .unwrap();
            bank.run(["outbox", "drop", id]).fine();
        }
        // After several failures in a row the endpoint would be left alone.
        receiver.answer(200);
        send(&["--kind", "query"]).fine();
    }
    receiver.answer(410);
    assert!(
        send(&["--kind", "query"])
            .out
            .contains("gone: the endpoint is stopped until it is resumed")
    );
    receiver.answer(200);
    let run = send(&["--kind", "query"]);
    assert!(
        run.status == 1
            && run.out.contains("is stopped since")
            && run.out.contains("outbox resume"),
        "{}",
        run.out
    );
    assert!(
        bank.run(["outbox", "list"])
            .fine()
            .contains("endpoint democustomer is stopped")
    );
    assert!(
        bank.run(["outbox", "resume", "democustomer"])
            .fine()
            .contains("resumed")
    );
    assert!(
        send(&["--kind", "query"])
            .fine()
            .contains("status 200, delivered")
    );

    receiver.answer(500);
    let held = (0..10)
        .map(|_| send(&["--kind", "query"]).out)
        .find(|out| out.contains("left alone until"));
    assert!(held.unwrap().contains("outbox resume democustomer goes on"));
    receiver.answer(200);
    let resumed = bank.run(["outbox", "resume", "democustomer"]).fine();
    assert!(
        resumed.contains("is not left alone any more; ") && resumed.contains("due now"),
        "{resumed}"
    );
    assert!(
        send(&["--kind", "query"])
            .fine()
            .contains("status 200, delivered")
    );
    let end = Instant::now() + PATIENCE;
    let waiting = || bank.run(["outbox", "list", "--state", "pending"]).fine();
    while !waiting().starts_with("no messages") {
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
    let bank = bank_for(port, &data);
    drop(listener);
    let send = || bank.run(["send", "democustomer", "--kind", "query"]);
    let run = send();
    assert!(
        run.status == 1 && run.out.contains("no connection"),
        "{}",
        run.out
    );
    let key = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port))
        .await
        .unwrap();
    Receiver::start_with(
        listener,
        key.cert.pem().as_bytes(),
        key.signing_key.serialize_pem().as_bytes(),
    );
    let run = send();
    assert!(
        run.status == 1 && run.out.contains("the TLS handshake failed"),
        "{}",
        run.out
    );
    let line = bank.run(["send", "nobody", "--kind", "query"]).failed(2);
    assert!(
        line.contains("there are: democustomer, othercustomer"),
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
    let bank = Bank::start(&data, &["--deliver-to", &url, "--schedule", "0s"]);
    bank.run([
        "send",
        &url.replace("https://", "democustomer@"),
        "--kind",
        "query",
    ]);
    let end = Instant::now() + PATIENCE;
    let given_up = loop {
        let shown = bank.run(["outbox", "show", "1"]).fine();
        if shown.contains("dead_letter") || Instant::now() > end {
            break shown;
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
    // Nobody is at the first address.
    drop(first);
    let bank = Bank::start(&data, &["--deliver-to", &urls[0]]);
    assert!(
        bank.run(["send", &ids[0], "--kind", "query"])
            .out
            .contains("no connection")
    );
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
    assert!(
        bank.run(["send", &ids[1], "--kind", "query"])
            .fine()
            .contains("delivered")
    );
    assert!(
        bank.run(["outbox", "resend", "--endpoint", &ids[0]])
            .fine()
            .contains("0 dead letters")
    );
    assert!(
        bank.run(["send", &ids[1], "--kind", "query"])
            .fine()
            .contains("delivered")
    );
    assert_eq!(
        receiver.got(),
        2,
        "the message to the first address still waits"
    );
    assert!(
        bank.run(["outbox", "list", &ids[0]])
            .fine()
            .contains("pending")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_story_is_told_in_its_order_and_a_message_waits_for_its_provider() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let query = folder.file(
        "query.json",
        crate::run(["message", "sample", "query"]).fine(),
    );
    let stored = super::bank::act(&data, ["send", "democustomer", &query]);
    assert!(
        stored.status == 1 && stored.out.contains("no provider runs on this data"),
        "{}",
        stored.out
    );
    let stored = super::bank::act(
        &data,
        ["send", "democustomer", "--kind", "query", "--wait", "0"],
    )
    .fine();
    assert_eq!(stored, "query: stored as message 2\n");
    super::bank::act(&data, ["outbox", "drop", "2", "--reason", "a test"]).fine();
    let shown = super::bank::act(&data, ["outbox", "show", "2", "--body"]).fine();
    assert!(
        shown.contains("dropped") && shown.contains(": a test") && shown.contains("\"case_id\""),
        "{shown}"
    );
    let refused = super::bank::act(&data, ["outbox", "resend", "2"]).failed(1);
    assert!(
        refused.contains("expected a dead letter, found one that is dropped"),
        "{refused}"
    );

    let (listener, port) = listener().await;
    let receiver = Receiver::start(listener, &data);
    let bank = bank_for(port, &data);
    let end = Instant::now() + PATIENCE;
    while receiver.got() == 0 && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(receiver.got(), 1, "the message from before the start");
    let out = bank
        .run(["send", "democustomer", "--story", "mandate"])
        .fine();
    assert_eq!(out.lines().count(), 11, "{out}");
    assert!(
        out.starts_with("1 mandate_outcome: message 3: status 200")
            && out.contains("\n11 mandate_notification"),
        "{out}"
    );
    let broken = folder.file("broken.json", "{}");
    let line = bank.run(["send", "democustomer", &broken]).failed(1);
    assert!(
        line.contains("broken.json") && line.contains("bankrail message check"),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_provider_signs_with_the_new_key_and_receivers_know_both() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (listener, port) = listener().await;
    let receiver = Receiver::start(listener, &data);
    let bank = bank_for(port, &data);
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
        bank.run(["send", "democustomer", "--kind", "query"]).fine();
        folder.file("body.json", receiver.last())
    };
    let body = sent();
    assert!(opens(&data.join("signing.pub.pem"), &body));
    bank.run(["keys", "rotate"]).fine();
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
