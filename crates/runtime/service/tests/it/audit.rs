//! Audit records of tokens granted and statements served.

use crate::capture::Capture;
use crate::world::{API_KEY, SCOPES, World, statement_request, token_request};
use bankrail_service::audit::{
    AuditEvent, AuditFile, AuditFileOptions, AuditLog, AuditOptions, AuditRecord, AuditedAccount,
    OnAuditFailure,
};
use bankrail_service::testing::MemoryAudit;
use bankrail_values::{HyphenatedUuid, StoreErrorKind};
use std::sync::Arc;

fn audited(options: AuditOptions) -> (World, Arc<MemoryAudit>) {
    let log = Arc::new(MemoryAudit::new());
    let shared = Arc::clone(&log) as Arc<dyn AuditLog>;
    (World::with(|provider| provider.audit(shared, options)), log)
}

async fn token(world: &World) -> String {
    let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    answer.json["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "current_thread")]
async fn each_token_and_each_page_has_one_record_and_no_refusal_has_one() {
    let (world, log) = audited(AuditOptions::new());
    let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    let [granted] = &*log.records() else {
        panic!("one record")
    };
    assert_eq!(
        granted.request_key.to_string(),
        answer.header("x-requestkey")
    );
    assert_eq!(
        (granted.customer.as_str(), granted.at.to_string().as_str()),
        ("ACME", "2021-07-29T01:00:00.000Z")
    );
    let AuditEvent::TokenGranted {
        scopes, expires_at, ..
    } = &granted.event
    else {
        panic!("{granted:?}")
    };
    assert_eq!(
        (scopes.to_string().as_str(), expires_at.to_string().as_str()),
        (SCOPES, "2021-07-29T02:00:00.000Z")
    );

    let token = answer.json["access_token"].as_str().unwrap();
    let served = world
        .send(statement_request(
            API_KEY,
            token,
            r#"{"accountId":"1","maxEntries":1}"#,
        ))
        .await;
    assert_eq!(served.status, 200, "{}", served.text);
    let [_, record] = &*log.records() else {
        panic!("two records")
    };
    assert_eq!(
        record.request_key.to_string(),
        served.header("x-requestkey")
    );
    let is_last = served.json["moreTransactionsAvailable"] == false;
    assert_eq!(
        record.event,
        AuditEvent::StatementServed {
            account: None,
            entries: 1,
            is_last
        }
    );

    for body in [r#"{"accountId":"unknown"}"#, "{}"] {
        assert_ne!(
            world
                .send(statement_request(API_KEY, token, body))
                .await
                .status,
            200
        );
    }
    assert_ne!(
        world
            .send(token_request("nobody", world.form(SCOPES)))
            .await
            .status,
        200
    );
    assert_eq!(log.records().len(), 2);
    let lines: String = log.records().iter().map(AuditRecord::to_json).collect();
    for secret in [API_KEY, token, "eyJ", "A. Payer", "Rent", "124531337"] {
        assert!(!lines.contains(secret), "{secret} in {lines}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_account_is_recorded_if_the_caller_wants_it() {
    let (world, log) = audited(AuditOptions::new().account(AuditedAccount::Identifier));
    let token = token(&world).await;
    world
        .send(statement_request(API_KEY, &token, r#"{"accountId":"1"}"#))
        .await;
    let AuditEvent::StatementServed { account, .. } = &log.records()[1].event else {
        panic!("a statement")
    };
    assert_eq!(account.as_deref(), Some("1"));
}

#[tokio::test(flavor = "current_thread")]
async fn what_cannot_be_recorded_is_refused_unless_the_caller_goes_on() {
    let captured = Capture::start();
    let (world, log) = audited(AuditOptions::new());
    let token = token(&world).await;
    log.fail_with(Some(StoreErrorKind::Full));
    let refused = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    assert_eq!(
        (
            refused.status.as_u16(),
            refused.json["access_token"].as_str()
        ),
        (503, None)
    );
    let refused = world
        .send(statement_request(API_KEY, &token, r#"{"accountId":"1"}"#))
        .await;
    assert_eq!(
        (refused.status.as_u16(), refused.error_code()),
        (503, "EC20005")
    );
    assert!(!refused.text.contains("payload"));
    let text = captured.text();
    assert_eq!(text.matches("audit log failed").count(), 2, "{text}");

    let (world, log) = audited(AuditOptions::new().on_failure(OnAuditFailure::Continue));
    log.fail_with(Some(StoreErrorKind::Full));
    assert_eq!(
        world
            .send(token_request(API_KEY, world.form(SCOPES)))
            .await
            .status,
        200
    );
    assert_eq!(log.records(), []);
}

fn record(number: u8) -> AuditRecord {
    let event = AuditEvent::StatementServed {
        account: Some("a\"b".to_owned()),
        entries: 2,
        is_last: true,
    };
    let key = HyphenatedUuid::from_random_bytes([number; 16]);
    AuditRecord::new(
        "2021-07-29T01:00:00.000Z".parse().unwrap(),
        key,
        "ACME".parse().unwrap(),
        event,
    )
}

#[tokio::test]
async fn a_file_has_a_line_for_each_record_also_after_it_was_moved_away() {
    let folder = tempfile::tempdir().unwrap();
    let (path, moved) = (
        folder.path().join("audit.jsonl"),
        folder.path().join("audit.1"),
    );
    let file = AuditFile::open(&path, AuditFileOptions::new().sync(false).queue(2)).unwrap();
    let records: Vec<_> = (0..20).map(record).collect();
    let written =
        futures_util::future::join_all(records.iter().map(|record| file.record(record))).await;
    assert!(written.iter().all(Result::is_ok), "{written:?}");
    std::fs::rename(&path, &moved).unwrap();
    file.reopen().await.unwrap();
    file.record(&record(20)).await.unwrap();
    // Callers at the same time are written in any order.
    let lines = |path| {
        let mut lines: Vec<_> = std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(
        lines(&moved),
        records.iter().map(AuditRecord::to_json).collect::<Vec<_>>()
    );
    assert_eq!(lines(&path), [record(20).to_json()]);
    let json: serde_json::Value = serde_json::from_str(&lines(&path)[0]).unwrap();
    assert_eq!(
        (&json["event"], &json["page"]),
        (&"statement_served".into(), &"last".into())
    );
    assert_eq!(
        (&json["account"], &json["entries"], &json["customer"]),
        (&"a\"b".into(), &2.into(), &"ACME".into())
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    // Opened again, it is continued.
    drop(file);
    let again = AuditFile::open(&path, AuditFileOptions::new()).unwrap();
    again.record(&record(21)).await.unwrap();
    assert_eq!(lines(&path).len(), 2);
}

#[tokio::test]
async fn a_file_that_cannot_be_written_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let error = AuditFile::open(
        folder.path().join("none/audit.jsonl"),
        AuditFileOptions::new(),
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("none/audit.jsonl: cannot be opened for audit records"),
        "{error}"
    );
    // A device that is always full, where there is one.
    if std::path::Path::new("/dev/full").exists() {
        let file = AuditFile::open("/dev/full", AuditFileOptions::new().sync(false)).unwrap();
        assert_eq!(
            file.record(&record(1)).await.unwrap_err().kind(),
            StoreErrorKind::Full
        );
    }
}

#[tokio::test]
async fn a_line_that_was_cut_off_is_ended_before_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::fs::write(&path, r#"{"at":"20"#).unwrap();
    let file = AuditFile::open(&path, AuditFileOptions::new()).unwrap();
    file.record(&record(1)).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{{\"at\":\"20\n{}\n", record(1).to_json()));
    std::fs::write(&path, r#"{"at":"20"#).unwrap();
    file.reopen().await.unwrap();
    file.record(&record(2)).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{{\"at\":\"20\n{}\n", record(2).to_json()));
}
