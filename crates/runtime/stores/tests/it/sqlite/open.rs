use crate::engines::at;
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_stores::sqlite::{SqliteOpenError, SqliteOptions, SqliteStore};
use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

#[test]
fn a_file_that_is_no_database_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "these are notes, and there are more of them than a database's first line has bytes: they stay as they are";
    std::fs::write(&path, text).unwrap();
    let error = SqliteStore::open(&path, Default::default()).unwrap_err();
    assert!(
        matches!(&error, SqliteOpenError::NotADatabase { path: named } if *named == path),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .ends_with("notes.txt: expected a SQLite database"),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_and_its_log_are_their_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let open = async |name| {
        let store = SqliteStore::open(folder.path().join(name), Default::default()).unwrap();
        assert!(
            store
                .claim(ReplayKey::new([1; 32], at(1)), at(0))
                .await
                .unwrap()
        );
        store
    };
    let store = open("new.db").await;
    let files: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(files.len() >= 2, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    drop(store);
    std::os::unix::fs::symlink("elsewhere.db", folder.path().join("link.db")).unwrap();
    drop(open("link.db").await);
    assert_eq!(
        mode(&folder.path().join("elsewhere.db")),
        0o600,
        "where a link points to"
    );
    let shared = folder.path().join("shared.db");
    std::fs::write(&shared, "").unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o660)).unwrap();
    drop(open("shared.db").await);
    assert_eq!(mode(&shared), 0o660, "what was chosen stays");
}

#[test]
fn tables_of_a_later_version_are_refused_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankrail.db");
    drop(SqliteStore::open(&path, Default::default()).unwrap());
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("UPDATE bankrail_schema SET version = 9999", [])
        .unwrap();
    let error = SqliteStore::open(&path, Default::default()).unwrap_err();
    assert!(
        matches!(
            error,
            SqliteOpenError::NewerSchema {
                found: 9999,
                known: 1..,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_locked_file_is_told_from_a_broken_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankrail.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("BEGIN EXCLUSIVE; CREATE TABLE t (x)")
        .unwrap();
    let error =
        SqliteStore::open(&path, SqliteOptions::new().busy_timeout(Duration::ZERO)).unwrap_err();
    assert!(matches!(error, SqliteOpenError::Locked { .. }), "{error:?}");
    other.execute_batch("COMMIT").unwrap();
    assert!(
        SqliteStore::open(&path, Default::default()).is_ok(),
        "the caller's tables may live in the same file"
    );
}

#[tokio::test]
async fn a_store_that_cannot_write_is_not_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankrail.db");
    let store =
        SqliteStore::open(&path, SqliteOptions::new().busy_timeout(Duration::ZERO)).unwrap();
    let log = || {
        std::fs::metadata(folder.path().join("bankrail.db-wal"))
            .unwrap()
            .len()
    };
    let before = log();
    store.check().await.unwrap();
    assert!(log() > before, "it has written");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.check().await.unwrap_err();
    other.execute_batch("COMMIT").unwrap();
    store.check().await.unwrap();
    drop(store);
    let reopened = SqliteStore::open(&path, SqliteOptions::new());
    assert!(reopened.is_ok(), "the version stays as it is: {reopened:?}");
}

#[test]
fn a_file_that_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (path, kind) in [
        (
            folder.path().join("nowhere").join("bankrail.db"),
            ErrorKind::NotFound,
        ),
        (folder.path().to_owned(), ErrorKind::IsADirectory),
    ] {
        let error = SqliteStore::open(&path, Default::default()).unwrap_err();
        assert!(matches!(error, SqliteOpenError::Failed { .. }), "{error:?}");
        let cause: &std::io::Error = error.source().unwrap().downcast_ref().unwrap();
        assert_eq!(cause.kind(), kind);
    }
}
