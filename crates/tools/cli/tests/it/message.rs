use crate::{Folder, run, run_with};
use bankrail::webhook::{Message, MessageKind};

#[test]
fn every_sample_is_fresh_and_without_findings() {
    let mut names = 0;
    for kind in MessageKind::ALL.map(MessageKind::as_str) {
        let list = run(["message", "sample", "--list", kind]).fine();
        let mut seen: Vec<&str> = list.lines().collect();
        names += seen.len();
        for name in &seen {
            let sample = run(["message", "sample", kind, name]).fine();
            let out = run_with(["message", "check", "--kind", kind, "-"], sample.as_bytes()).fine();
            assert_eq!(
                out,
                format!("standard input: {kind}, no findings\n"),
                "{name}"
            );
            // The kind is also detected.
            assert_eq!(
                run_with(["message", "check", "-"], sample.as_bytes()).fine(),
                out
            );
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), list.lines().count(), "names differ: {list}");
        let two = [
            run(["message", "sample", kind]).fine(),
            run(["message", "sample", kind]).fine(),
        ];
        let keys = two.map(|json| {
            let message = Message::from_json(kind.parse().unwrap(), json.as_bytes())
                .unwrap()
                .message;
            let id = "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11".parse().unwrap();
            message.duplicate_key("CUSTOMER", id)
        });
        assert_ne!(
            keys[0], keys[1],
            "the second {kind} is no duplicate of the first"
        );
    }
    assert!(names > 30, "{names}");
}

#[test]
fn a_sample_has_the_headers_of_its_kind() {
    for kind in MessageKind::ALL.map(MessageKind::as_str) {
        let out = run(["message", "sample", kind, "--headers"]).fine();
        let (headers, json) = out.split_once("\n\n").unwrap();
        assert!(headers.contains("X-Message-Id: "), "{headers}");
        assert_eq!(
            headers.contains("X-RequestKey: "),
            kind.ends_with("outcome"),
            "{headers}"
        );
        assert!(json.starts_with('{'), "{json}");
    }
    let line = run(["message", "sample", "query", "nothing"]).failed(2);
    assert!(line.contains("--list query"), "{line}");
}

#[test]
fn findings_have_rule_and_pointer_and_refusals_their_place() {
    let folder = Folder::new();
    let file = folder.file(
        "m.json",
        r#"{"creation_date_time":"2021-07-29T01:02:03Z","transaction_status":"RJCT",
            "instruction_identification":"I-42"}"#,
    );
    let found = run(["message", "check", &file]);
    assert_eq!(found.status, 1);
    assert!(
        found
            .out
            .contains(&format!("{file}: /creation_date_time: ")),
        "{}",
        found.out
    );
    assert!(
        found.out.contains("payment_outcome, 2 findings"),
        "{}",
        found.out
    );
    let wrong = run_with(
        ["message", "check", "--kind", "query", "-"],
        b"{\n \"case_id\": oops}",
    );
    assert_eq!(wrong.status, 1);
    assert!(
        wrong.out.starts_with("standard input:2:13: refused: "),
        "{}",
        wrong.out
    );
}

#[test]
fn each_defect_of_a_refused_message_is_a_line() {
    let json =
        br#"{"transaction_status":"RJKT","uetr":7,"instruction_identification":"I","new":1}"#;
    let found = run_with(["message", "check", "-"], json);
    assert_eq!(found.status, 1);
    let expected = [
        "refused: /creation_date_time: expected a value, found none",
        "refused: /uetr: expected a string, found a number",
        "/transaction_status: ",
        "/new: ",
        "payment_outcome, refused, 4 findings",
    ];
    for part in expected {
        assert_eq!(found.out.matches(part).count(), 1, "{part}: {}", found.out);
    }
}

#[test]
fn what_a_message_lacks_is_said_of_the_kind_that_its_members_tell() {
    for (members, lacks) in [
        (r#","case_type":"x","reminder_count":1"#, "/case_id"),
        (r#","uetr":"x""#, "/transaction_status"),
        (
            r#","trigger":"MAMN","mps_user_id":"u""#,
            "/mandate_identification",
        ),
        (r#","request_id":"x""#, "/status"),
        ("", "/case_id"),
    ] {
        let json = format!(r#"{{"creation_date_time":"2021-07-29T01:02:03.000Z"{members}}}"#);
        let found = run_with(["message", "check", "-"], json.as_bytes());
        assert!(
            found.status == 1 && found.out.contains(lacks),
            "{json}: {}",
            found.out
        );
    }
}
