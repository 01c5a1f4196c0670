use crate::world::{API_KEY, KEYS, World};
use crate::{command, run};
use bankrail::client_assertion::token::AccessToken;
use bankrail_emulator::{Endpoint, FakeBank, Fault};
use std::time::Duration;

#[test]
fn the_token_is_printed_alone_and_what_is_known_of_it_beside() {
    let world = World::new();
    let run = world.run(&["token"], &[]);
    assert_eq!(run.status, 0, "{}", run.err);
    AccessToken::parse(run.out.strip_suffix('\n').unwrap()).unwrap();
    assert_eq!(run.err.lines().count(), 1);
    for part in [
        "valid until",
        "UTC",
        "GBL.INSTO.ACCOUNTS.STATEMENT.READ",
        "request key",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let folder = crate::text(&world.folder.path(""));
    let json = crate::run(["token", "--json", "--connection", &folder]).fine();
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (answer["token_type"].as_str(), answer["expires_in"].as_u64()),
        (Some("Bearer"), Some(3600))
    );
    AccessToken::parse(answer["access_token"].as_str().unwrap()).unwrap();
    assert!(
        answer["request_key"].is_string() && answer["expires_at"].is_string(),
        "{answer}"
    );
    assert_eq!(world.bank.calls(), ["token 200", "token 200"]);
}

#[test]
fn options_are_enough_and_the_api_key_need_not_be_one() {
    let world = World::new();
    let (url, key) = (
        format!("{}/v1.0/auth", world.bank.url()),
        crate::text(&world.folder.path("signing.pem")),
    );
    let roots = crate::text(&world.folder.path("ca.pem"));
    let arguments = [
        "token",
        "--token-url",
        &url,
        "--customer",
        FakeBank::CUSTOMER,
        "--key",
        &key,
        "--roots",
        &roots,
    ];
    let file = format!("@{}", world.folder.file("api-key", format!("{API_KEY}\n")));
    run(arguments.iter().chain(&[
        "--api-key",
        &file,
        "--scope",
        "GBL.INSTO.ACCOUNTS.STATEMENT.READ",
    ]))
    .fine();
    let output = command()
        .args(arguments)
        .env("BANKRAIL_API_KEY", API_KEY)
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = command()
        .args(arguments)
        .env_remove("BANKRAIL_API_KEY")
        .output()
        .unwrap();
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2) && line.contains("--api-key @FILE or set BANKRAIL_API_KEY"),
        "{line}"
    );
    // Neither a connection nor enough options.
    assert_eq!(run(["token", "--customer", "X"]).status, 2);
    assert_eq!(world.bank.calls(), ["token 200", "token 200"]);
}

#[test]
fn options_take_the_place_of_what_the_connection_says() {
    let world = World::new();
    let line = world
        .run(&["token"], &["--audience", "https://elsewhere.example"])
        .failed(1);
    assert!(line.contains("401") && line.contains("audience"), "{line}");
    let header = world
        .run(&["token"], &["--api-key-header", "X-Other"])
        .failed(1);
    assert!(
        header.contains("check the API key and the name of its header"),
        "{header}"
    );
    assert_eq!(
        world
            .bank
            .calls()
            .last()
            .unwrap()
            .headers
            .get("x-other")
            .unwrap(),
        API_KEY
    );
}

#[test]
fn a_refusal_is_one_line_with_what_to_do_next() {
    let world = World::new();
    world
        .folder
        .file("signing.pem", KEYS.stranger.to_pkcs8_pem().as_bytes());
    let line = world.run(&["token"], &[]).failed(1);
    for part in [
        "status 401, code \"invalid_client\"",
        "request key ",
        "signing key",
        "clock of this machine",
        "bankrail assertion explain",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    world
        .folder
        .file("signing.pem", KEYS.customer.to_pkcs8_pem().as_bytes());
    let line = world.run(&["token"], &["--api-key", "another"]).failed(1);
    assert!(
        line.contains("401") && line.contains("check the API key"),
        "{line}"
    );
    let line = world
        .run(&["token"], &["--scope", "NOBODY.HAS.THIS"])
        .failed(1);
    assert!(
        line.contains("status 400, code \"invalid_scope\"") && line.contains("ask for a scope"),
        "{line}"
    );
    world.bank.fail(
        Endpoint::Token,
        Fault::TooManyCalls {
            retry_after: Some(Duration::from_secs(600)),
        },
    );
    let line = world.run(&["token"], &[]).failed(1);
    assert!(
        line.contains("too many calls") && line.contains("wait until") && line.contains("UTC"),
        "{line}"
    );
    world.bank.fail(Endpoint::Token, Fault::Status(503));
    let line = world.run(&["token"], &[]).failed(1);
    assert!(
        line.contains("503") && line.contains("try again later"),
        "{line}"
    );
    let (content_type, body) = ("text/html".to_owned(), b"<html>".to_vec());
    world.bank.fail(
        Endpoint::Token,
        Fault::Answer {
            status: 200,
            content_type,
            body,
        },
    );
    let line = world.run(&["token"], &[]).failed(1);
    assert!(
        line.contains("found an HTML page") && line.contains("check the address"),
        "{line}"
    );
    assert_eq!(world.bank.faults_left(), []);
}

#[test]
fn a_proxy_is_used_and_a_malformed_one_is_refused_without_its_password() {
    let world = World::new();
    let folder = crate::text(&world.folder.path(""));
    let token = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = command()
            .args(["token", "--connection", &folder])
            .args(arguments)
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        (output.status.code().unwrap(), text)
    };
    let closed = "http://user:hunter2@127.0.0.1:1";
    let file = format!("@{}", world.folder.file("proxy", closed));
    for (arguments, variables) in [
        (&["--proxy", closed][..], &[][..]),
        (&["--proxy", &file], &[]),
        (&[], &[("HTTPS_PROXY", closed)]),
        (&[], &[("all_proxy", closed)]),
    ] {
        let (status, text) = token(arguments, variables);
        assert_eq!(status, 2, "{text}");
        assert!(
            text.contains("was not reached") && text.contains("those of the proxy"),
            "{text}"
        );
    }
    for (arguments, variables, expected) in [
        (
            &["--proxy", "ftp://user:hunter2@127.0.0.1:1"][..],
            &[][..],
            "expected a proxy such as",
        ),
        (
            &["--proxy", closed, "--no-proxy", "a b"],
            &[],
            "expected hosts without proxy",
        ),
        (
            &[],
            &[("HTTPS_PROXY", "htp://user:hunter2@127.0.0.1:1")],
            "the environment variable HTTPS_PROXY cannot be used",
        ),
        (
            &[],
            &[("HTTPS_PROXY", closed), ("NO_PROXY", "<local>")],
            "the environment variable NO_PROXY cannot be used",
        ),
    ] {
        let (status, text) = token(arguments, variables);
        assert!(status == 2 && text.contains(expected), "{text}");
    }
    for (arguments, variables) in [
        (
            &["--proxy", closed, "--no-proxy", "localhost,127.0.0.1"][..],
            &[][..],
        ),
        (
            &[],
            &[("HTTPS_PROXY", closed), ("no_proxy", "localhost,127.0.0.1")],
        ),
    ] {
        let (status, text) = token(arguments, variables);
        assert_eq!(status, 0, "{text}");
    }
}

#[test]
fn what_breaks_after_sending_is_no_complete_answer() {
    let world = World::new();
    for fault in [Fault::Reset, Fault::HalfBody] {
        world.bank.fail(Endpoint::Token, fault);
        let line = world.run(&["token"], &[]).failed(2);
        assert!(
            line.contains("no complete answer") && !line.contains("reached"),
            "{line}"
        );
    }
}

#[test]
fn a_provider_that_is_not_reached_ends_with_2() {
    let world = World::new();
    world.replace("roots = \"ca.pem\"\n", "");
    let line = world.run(&["token"], &[]).failed(2);
    assert!(
        line.contains("certificate") && line.contains("--roots"),
        "{line}"
    );
    world.replace(world.bank.url(), "https://127.0.0.1:1");
    let line = world.run(&["token"], &[]).failed(2);
    assert!(
        line.contains("refused") && line.contains("check that the service runs"),
        "{line}"
    );
    world.replace("https://127.0.0.1:1", "http://127.0.0.1:1");
    let line = world.run(&["token"], &[]).failed(2);
    assert!(line.contains("expected an https address"), "{line}");
    world.replace("http://127.0.0.1:1", world.bank.url());
    world.replace("signing.pem", "nowhere.pem");
    let line = world.run(&["token"], &[]).failed(2);
    assert!(line.contains("nowhere.pem"), "{line}");
    assert!(world.bank.calls().is_empty());
}

#[test]
fn a_probe_says_what_to_change_before_anything_is_polled() {
    let world = World::new();
    let run = world.run(&["biller", "--probe"], &[]);
    assert_eq!(run.status, 0, "{}", run.err);
    let steps: Vec<&str> = run
        .out
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(
        steps,
        ["reach", "clock", "token", "scopes", "account"],
        "{}",
        run.out
    );
    assert!(run.out.contains("one of 10 in 3600 s"), "{}", run.out);
    // A cached token does not test the key, so each probe requests a new one.
    assert_eq!(world.run(&["biller", "--probe"], &[]).status, 0);
    let tokens = world
        .bank
        .calls()
        .into_iter()
        .filter(|call| *call == "token 200")
        .count();
    assert_eq!(tokens, 2);

    let world = World::new();
    world.replace(
        &format!("base_url = \"{}\"", world.bank.url()),
        "base_url = \"https://127.0.0.1:1\"",
    );
    let run = world.run(&["biller", "--probe"], &[]);
    assert_eq!(run.status, 1, "{}", run.err);
    assert!(
        run.out.contains("FAIL  reach") && run.out.contains("address and port"),
        "{}",
        run.out
    );
}
