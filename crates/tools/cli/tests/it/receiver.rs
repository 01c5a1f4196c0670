use crate::{Folder, Run, run, text};
use axum::Router;
use axum::http::{StatusCode, header};
use bankrail::client::receivers::{Receivers, ReceiversOptions};
use bankrail::http::serve::{CertificateFiles, ClientAuthorities, Server};
use bankrail::jose::{DecryptionKey, KeySet, RsaSize, SigningKey};
use bankrail::secured_payload::{OpenOptions, Opener};
use bankrail::stores::sqlite::SqliteStore;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::{Arc, LazyLock};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// Keys and a certificate, in a folder that exists while the tests run.
struct Files {
    folder: Folder,
    signing: SigningKey,
    large: SigningKey,
    decryption: DecryptionKey,
}

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let folder = Folder::new();
    let signing = SigningKey::generate(RsaSize::Rsa2048)
        .unwrap()
        .with_kid("ours");
    let large = SigningKey::generate(RsaSize::Rsa4096)
        .unwrap()
        .with_kid("large");
    let decryption = DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    folder.file("signing.pem", signing.to_pkcs8_pem().as_bytes());
    folder.file("large.pem", large.to_pkcs8_pem().as_bytes());
    folder.file(
        "encryption.pub.pem",
        decryption.encryption_key().to_spki_pem(),
    );
    folder.file("ca.pem", made.cert.pem());
    folder.file("key.pem", made.signing_key.serialize_pem());
    Files {
        folder,
        signing,
        large,
        decryption,
    }
});

/// A server that runs until this value is dropped.
struct Served {
    url: String,
    _runtime: Runtime,
}

fn serve(router: Router) -> Served {
    serve_for(router, None)
}

/// Serves callers with a certificate of these authorities.
fn serve_for(router: Router, clients: Option<&ClientAuthorities>) -> Served {
    let runtime = Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!(
        "https://localhost:{}",
        listener.local_addr().unwrap().port()
    );
    let [chain, key] = ["ca.pem", "key.pem"].map(|name| FILES.folder.path(name));
    let files = CertificateFiles::open(chain, key).unwrap();
    let tls = match clients {
        Some(clients) => files.server_config_for(clients).unwrap(),
        None => files.server_config().unwrap(),
    };
    runtime
        .spawn(Server::new(listener, tls, router, Default::default()).run(std::future::pending()));
    Served {
        url,
        _runtime: runtime,
    }
}

/// Returns the receivers of this project.
fn ours() -> Served {
    let keys = KeySet::new(vec![
        FILES.signing.verifying_key(),
        FILES.large.verifying_key(),
    ])
    .unwrap();
    let opener = Opener::new(FILES.decryption.clone(), keys, OpenOptions::new()).unwrap();
    let inbox = Arc::new(
        SqliteStore::open_in_memory(Default::default())
            .unwrap()
            .inbox(),
    );
    serve(
        Receivers::new(opener, "receiver-key", inbox, ReceiversOptions::new())
            .unwrap()
            .router(),
    )
}

/// Returns a file of settings for this address, in a folder beside the keys.
fn settings(name: &str, url: &str) -> String {
    FILES.folder.file(name, settings_of(url))
}

fn settings_of(url: &str) -> String {
    format!(
        "url = \"{url}\"\nsign = \"signing.pem\"\nsign_kid = \"ours\"\nencrypt_to = \"encryption.pub.pem\"\n\
         roots = \"ca.pem\"\napi_key = \"receiver-key\"\n"
    )
}

fn judge(settings: &str, more: &[&str]) -> Run {
    run(["conformance", "receiver", "--config", settings]
        .iter()
        .chain(more))
}

#[test]
fn our_receivers_pass_every_row_also_those_beyond_the_specification() {
    let served = ours();
    let junit = text(&FILES.folder.path("receivers.xml"));
    let large = text(&FILES.folder.path("large.pem"));
    let html = text(&FILES.folder.path("receivers.html"));
    let keys = ["--sign-4096", &large, "--sign-4096-kid", "large"];
    let more = [
        &[
            "--strict", "--seed", "7", "--junit", &junit, "--html", &html,
        ],
        &keys[..],
    ]
    .concat();
    let out = judge(&settings("ours.toml", &served.url), &more).fine();
    for row in [
        "S9.6 ",
        "S10.1",
        "S12.26",
        "S13.10",
        "S14.23",
        "S15.42",
        "S21.4 ",
        "S23.21",
        "Beyond SPEC.md",
    ] {
        assert!(out.contains(row), "{row}\n{out}");
    }
    // Codes, aliases and two optional headers are read, not judged.
    assert!(
        !out.contains("FAILED")
            && out.contains(" 0 failed, 13 noted, 8 not seen, 0 not run; seed 7"),
        "{out}"
    );
    assert!(
        out.contains(&served.url) && !out.contains("receiver-key"),
        "{out}"
    );
    let xml = fs::read_to_string(junit).unwrap();
    let xml = roxmltree::Document::parse(&xml).unwrap();
    let cases = xml
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
        .count();
    assert!(out.contains(&format!("{cases} rows")), "{cases}\n{out}");
    assert!(cases > 150, "{cases}");
    let html = fs::read_to_string(html).unwrap();
    assert!(
        html.contains("<dd>7</dd>") && html.contains(r#"<tr class="noted">"#),
        "{html}"
    );
    assert_eq!(html.matches("<tr class=").count(), cases);
    let line = judge(
        &settings("ours.toml", &served.url),
        &["--only", "S21.4", "--html", "-", "--junit", "-"],
    )
    .failed(2);
    assert!(
        line.contains("--junit and --html: expected one of them on standard output"),
        "{line}"
    );
    // Runs everything again with new messages, none of which is a duplicate.
    let json = judge(
        &settings("ours.toml", &served.url),
        &["--json", "--only", "S9"],
    )
    .fine();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let skipped = json["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["verdict"] != "passed")
        .unwrap();
    assert_eq!(
        (&skipped["id"], &skipped["verdict"]),
        (&"S9.6".into(), &"not seen".into()),
        "{skipped}"
    );
}

#[test]
fn junit_to_standard_output_stands_alone_and_a_judgement_of_nothing_ends_with_2() {
    let served = ours();
    let settings = settings("alone.toml", &served.url);
    for more in [&["--junit", "-"][..], &["--junit", "-", "--json"]] {
        let xml = judge(&settings, &[&["--only", "S21.4"], more].concat()).fine();
        roxmltree::Document::parse(&xml).unwrap();
    }
    for only in ["S8", "S99"] {
        let line = judge(&settings, &["--only", only]).failed(2);
        assert!(
            line.contains("expected a row that this judge has, found none; docs/conformance.md"),
            "{line}"
        );
    }
}

#[test]
fn a_receiver_that_takes_everything_fails_in_the_rows_about_what_must_be_refused() {
    let acknowledge = || async {
        let body = r#"{"id":"7","status":"RCVD"}"#;
        (
            StatusCode::OK,
            [(header::CONTENT_TYPE, "application/json")],
            body,
        )
    };
    let served = serve(Router::new().fallback(acknowledge));
    let found = judge(&settings("everything.toml", &served.url), &[]);
    assert_eq!(found.status, 1, "{}{}", found.out, found.err);
    let failed: Vec<&str> = found
        .out
        .lines()
        .filter(|line| line.contains(" FAILED "))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    for id in [
        "S9.1", "S9.3", "S9.5", "S9.7", "S9.8", "S9.10", "S10.1", "S23.21", "S23.22",
    ] {
        assert!(failed.contains(&id), "{id}: {failed:?}");
    }
    assert!(
        !failed.contains(&"-") && !failed.contains(&"S12.4"),
        "{failed:?}"
    );
    assert!(
        found
            .out
            .contains("expected no acknowledgement, found for one signed by somebody else 200"),
        "{}",
        found.out
    );
    assert!(found.out.contains("  -      noted    "), "{}", found.out);
    let empty = FILES
        .folder
        .file("query.toml", settings_of("").replacen("url = \"\"", "", 1));
    let strict = judge(&empty, &["--strict", "--query", &served.url]);
    assert_eq!(strict.status, 1);
    assert!(strict.out.contains("  -      FAILED   "), "{}", strict.out);
}

#[test]
fn receivers_that_there_are_not_are_not_judged() {
    let served = ours();
    let settings = FILES
        .folder
        .file("one.toml", settings_of("").replacen("url = \"\"", "", 1));
    let payment = format!("{}/payto/mpirs/outcomes", served.url);
    let found = judge(&settings, &["--payment", &payment]);
    assert_eq!(found.status, 3, "{}{}", found.out, found.err);
    assert!(
        found.out.contains("S21.4  not run  ") && found.out.contains("S14.3  passed   "),
        "{}",
        found.out
    );
    let out = judge(
        &settings,
        &[
            "--payment",
            &payment,
            "--allow-not-run",
            "--only",
            "S14",
            "--only",
            "S9.5",
        ],
    )
    .fine();
    assert!(
        out.contains("S14.3 ") && out.contains("S9.5 ") && !out.contains("S9.3 "),
        "{out}"
    );
    // Our receivers refuse messages that they cannot verify, so the first row fails and the others
    // pass.
    let wrong = judge(
        &settings,
        &[
            "--payment",
            &payment,
            "--api-key",
            "another",
            "--allow-not-run",
        ],
    );
    assert_eq!(wrong.status, 1, "{}{}", wrong.out, wrong.err);
    assert!(
        wrong.out.contains("S21.13 FAILED") && wrong.out.contains("found 401 without a body"),
        "{}",
        wrong.out
    );
    assert!(
        wrong.out.contains("1 failed") && wrong.out.contains(" 0 passed"),
        "{}",
        wrong.out
    );
}

#[test]
fn the_judge_goes_through_a_proxy_and_shows_a_certificate() {
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = proxy.accept().unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        stream
            .write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
            .unwrap();
        line
    });
    let own = rcgen::generate_simple_self_signed(vec!["bank".to_owned()]).unwrap();
    let clients = ClientAuthorities::from_pem(own.cert.pem().as_bytes()).unwrap();
    let pem = own.cert.pem() + &own.signing_key.serialize_pem();
    FILES.folder.file("client.pem", pem);
    let through = |file: &str, url: &str, way: &str| {
        let text = format!("{}\n{way}\n", settings_of(url));
        judge(&FILES.folder.file(file, text), &["--only", "S14.3"])
    };
    let with_proxy = format!("proxy = \"{address}\"");
    let line = through(
        "proxied.toml",
        "https://receivers.example:9443",
        &with_proxy,
    )
    .failed(2);
    assert!(line.contains("no answer: "), "{line}");
    assert_eq!(
        asked.join().unwrap(),
        "CONNECT receivers.example:9443 HTTP/1.1\r\n"
    );

    let served = serve_for(Router::new(), Some(&clients));
    let line = through("unknown.toml", &served.url, "").failed(2);
    assert!(line.contains("no answer: "), "{line}");
    let known = through(
        "known.toml",
        &served.url,
        "client_certificate = \"client.pem\"",
    );
    // The receiver was reached, but accepts no message.
    assert_eq!(known.status, 3, "{}{}", known.out, known.err);
    // The proxy above does not run any more.
    let way =
        format!("{with_proxy}\nno_proxy = \"localhost\"\nclient_certificate = \"client.pem\"");
    assert_eq!(through("direct.toml", &served.url, &way).status, 3);
    let line = judge(
        &settings("wrong.toml", &served.url),
        &["--proxy", "ftp://a"],
    )
    .failed(2);
    assert!(line.contains("correct --proxy"), "{line}");
}

#[test]
fn receivers_that_do_not_answer_and_wrong_settings_end_with_2() {
    let down = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", down.local_addr().unwrap().port());
    drop(down);
    let line = judge(&settings("down.toml", &url), &[]).failed(2);
    assert!(
        line.contains("no answer: ") && line.contains("; start the receivers"),
        "{line}"
    );
    assert!(!line.contains("receiver-key"), "{line}");

    let wrong = |more: &[&str]| judge(&settings("wrong.toml", &url), more).failed(2);
    for url in ["http://localhost:1", "https://user:password@localhost:1"] {
        let line = wrong(&[url]);
        assert!(
            line.contains("expected an address that begins with https://") && !line.contains(url),
            "{line}"
        );
    }
    assert!(
        wrong(&["--api-key-header", "a b"])
            .contains("--api-key-header: expected the name of a header")
    );
    assert!(wrong(&["--sign", &text(&FILES.folder.path("none.pem"))]).contains("cannot be read"));
    let line = run(["conformance", "receiver", "https://localhost:1"]).failed(2);
    assert!(
        line.contains("--sign: expected the provider's private key"),
        "{line}"
    );
    let line = judge(
        &FILES
            .folder
            .file("typo.toml", "url = \"https://localhost:1\"\nsing = \"x\"\n"),
        &[],
    )
    .failed(2);
    assert!(
        line.contains("typo.toml: line 2: ") && line.contains("--help"),
        "{line}"
    );
    let small = text(&FILES.folder.path("signing.pem"));
    let line = judge(&settings("wrong.toml", &url), &["--sign-4096", &small]).failed(1);
    assert!(
        line.contains("expected a key of 4096 bits, found 2048"),
        "{line}"
    );
}
