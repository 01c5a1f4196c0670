//! Drops, stores and restores the history of a provider. SQLite itself copies the rows, independent
//! of the store that the provider uses.

use super::super::Folders;
use crate::files::unwritable;
use crate::files::{make_folder, unnamed};
use bankrail::stores::sqlite::rusqlite::{
    self, Connection, TransactionBehavior, config::DbConfig, params,
};
use bankrail::values::excerpt;
use bankrail_emulator::{Arguments, ControlError, TestAccount};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The tables that contain the history.
const TABLES: &str =
    "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name GLOB 'bankrail_*'
    AND name <> 'bankrail_schema' AND name NOT GLOB 'bankrail_customer*'";

/// Commands that delete the rows of one customer.
const OF_CUSTOMER: [&str; 3] = [
    "DELETE FROM bankrail_token WHERE customer = ?1",
    "DELETE FROM bankrail_counter WHERE customer = ?1",
    "DELETE FROM bankrail_account_entry
        WHERE account IN (SELECT account FROM bankrail_account_customer WHERE customer = ?1)",
];

/// Commands that delete the rows of one endpoint.
const OF_ENDPOINT: [&str; 3] = [
    "DELETE FROM bankrail_outbox WHERE endpoint = ?1",
    "DELETE FROM bankrail_stopped WHERE endpoint = ?1",
    "DELETE FROM bankrail_circuit WHERE endpoint = ?1",
];

/// Accounts of one customer, or all, without an entry.
const EMPTY_ACCOUNTS: &str = "UPDATE bankrail_account SET balance = ?2, last_entry = 0 WHERE (?1 IS NULL
    OR id IN (SELECT account FROM bankrail_account_customer WHERE customer = ?1)) AND (?3 IS NULL OR account = ?3)";

/// Drops the history of all customers, or of one customer and its endpoints. The accounts get their
/// opening balances.
pub(super) async fn forget(
    folders: &Folders,
    of: Option<(String, Vec<String>)>,
    openings: &'static [TestAccount],
) -> Result<(), ControlError> {
    on_database(folders, move |connection| {
        // Takes the write lock from the start, because a transaction that reads first cannot wait
        // for that lock later.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Checks references only at the commit, so that the tables can be emptied in any order.
        transaction.pragma_update(None, "defer_foreign_keys", true)?;
        let customer = of.as_ref().map(|(code, _)| code.as_str());
        if let Some((code, endpoints)) = &of {
            let of_endpoints = endpoints
                .iter()
                .flat_map(|id| OF_ENDPOINT.map(|sql| (sql, id)));
            for (sql, name) in OF_CUSTOMER
                .map(|sql| (sql, code))
                .into_iter()
                .chain(of_endpoints)
            {
                transaction.execute(sql, [name])?;
            }
        } else {
            for table in tables(&transaction)?
                .iter()
                .filter(|name| !name.starts_with("bankrail_account"))
            {
                transaction.execute(&format!("DELETE FROM {table}"), [])?;
            }
            transaction.execute("DELETE FROM bankrail_account_entry", [])?;
        }
        transaction.execute(EMPTY_ACCOUNTS, params![customer, "0", None::<&str>])?;
        for account in openings {
            let (id, balance) = (account.id(), account.opening().amount().to_string());
            transaction.execute(EMPTY_ACCOUNTS, params![customer, balance, id.as_str()])?;
        }
        transaction.commit()
    })
    .await
}

/// Stores the history so far under a name.
pub(super) async fn keep(folders: &Folders, arguments: &Arguments) -> Result<Value, ControlError> {
    let path = file(folders, arguments)?;
    make_folder(&folders.data("snapshots"))?;
    let partial = unnamed(&path, 0o600).map_err(|error| unwritable(&path, &error))?;
    let copy = partial.path().to_string_lossy().into_owned();
    on_database(folders, move |connection| {
        connection.execute("VACUUM INTO ?1", [copy]).map(drop)
    })
    .await?;
    // The snapshot gets its name only when it is complete.
    partial
        .persist(&path)
        .map_err(|error| unwritable(&path, &error))?;
    Ok(json!({}))
}

/// Restores the data that was stored under a name.
pub(super) async fn seed(folders: &Folders, arguments: &Arguments) -> Result<(), ControlError> {
    let path = file(folders, arguments)?;
    if !path.is_file() {
        return Err(ControlError::Unknown(
            "expected the name of a snapshot, found another".to_owned(),
        ));
    }
    let path = path.to_string_lossy().into_owned();
    on_database(folders, move |connection| {
        connection.execute("ATTACH ?1 AS kept", [path])?;
        // Disables triggers, because the snapshot already has the rows that they would write.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.pragma_update(None, "defer_foreign_keys", true)?;
        let tables = tables(&transaction)?;
        for table in &tables {
            transaction.execute(&format!("DELETE FROM main.{table}"), [])?;
        }
        for table in &tables {
            transaction.execute(
                &format!("INSERT INTO main.{table} SELECT * FROM kept.{table}"),
                [],
            )?;
        }
        transaction.commit()
    })
    .await
}

fn file(folders: &Folders, arguments: &Arguments) -> Result<PathBuf, ControlError> {
    let name = arguments.text("name").unwrap_or_default();
    // The name becomes part of a path, and must not lead out of the folder.
    let is_plain = |character: u8| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || character == b'-'
    };
    if !(1..=64).contains(&name.len()) || !name.bytes().all(is_plain) {
        let expected = "expected 1 to 64 lower-case letters, digits and hyphens as a name";
        return Err(ControlError::Wrong(format!(
            "{expected}, found {}",
            excerpt(name)
        )));
    }
    Ok(folders.data("snapshots").join(format!("{name}.sqlite")))
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(TABLES)?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Runs `work` on a separate connection to the provider's database.
async fn on_database<T: Send + 'static>(
    folders: &Folders,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T, ControlError> {
    let path = folders.data("provider.sqlite");
    let done = tokio::task::spawn_blocking(move || {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // The provider writes to the same file meanwhile.
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        work(&mut connection)
    });
    let done = done
        .await
        .map_err(|error| ControlError::Failed(error.to_string()))?;
    done.map_err(|error| ControlError::Failed(crate::failure::causes(&error)))
}
