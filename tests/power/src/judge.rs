//! Prints the state that the product finds in files and on servers after a loss of power.

use crate::Failure;
use bankrail_mailbox::{Inbox, Lease, LeaseOwner, LeaseRequest, Outbox};
use bankrail_stores::postgres::tokio_postgres::{NoTls, Row};
use bankrail_stores::postgres::{PostgresOptions, PostgresStore};
use bankrail_stores::sqlite::rusqlite::types::ValueRef;
use bankrail_stores::sqlite::rusqlite::{Connection, OpenFlags};
use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
use bankrail_values::{Clock, StoreError, SystemClock, Timestamp};
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::time::Duration;

const OUTBOX: &str = "SELECT body, coalesce(state, 'pending')
    FROM bankrail_outbox LEFT JOIN bankrail_outbox_finished ON entry = id";
const INBOX: &str = "SELECT body, coalesce(state, 'pending')
    FROM bankrail_inbox LEFT JOIN bankrail_inbox_finished ON entry = id";
// In SQLite a message without its text would be half done.
const OUTBOX_FILE: &str =
    "SELECT body, state FROM bankrail_outbox LEFT JOIN bankrail_outbox_body USING (id)";
const INBOX_FILE: &str =
    "SELECT body, state FROM bankrail_inbox LEFT JOIN bankrail_inbox_body USING (id)";
const HANDLED: &str = "SELECT name FROM handled";
const IMPORTED: &str = "SELECT name FROM imported";
const SEEN: &str = "SELECT count(*) FROM bankrail_seen";

/// Opens each file that a line of the input names, as the product does, and prints a line of JSON.
pub(crate) async fn sqlite() -> Result<(), Failure> {
    for path in std::io::stdin().lock().lines() {
        let left = match file(Path::new(&path?)).await {
            Ok(left) => left,
            Err(error) => json!({ "error": error.to_string() }),
        };
        writeln!(std::io::stdout(), "{left}")?;
    }
    Ok(())
}

async fn file(path: &Path) -> Result<Value, Failure> {
    let store = SqliteStore::open(path, SqliteOptions::new())?;
    let mut left = {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        let integrity: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        let has_tables: bool = connection.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'handled'",
            [],
            |row| row.get(0),
        )?;
        json!({
            "integrity": integrity,
            "dump": dump(&connection)?,
            "outbox": states(&connection, OUTBOX_FILE)?,
            "inbox": states(&connection, INBOX_FILE)?,
            "handled": if has_tables { names(&connection, HANDLED)? } else { Vec::new() },
            "imported": if has_tables { names(&connection, IMPORTED)? } else { Vec::new() },
            "seen": connection.query_row(SEEN, [], |row| row.get::<_, i64>(0))?,
            "tokens": connection
                .query_row("SELECT count(*) FROM bankrail_token", [], |row| row.get::<_, i64>(0))?,
        })
    };
    let due = due(&store.outbox(), &store.inbox()).await?;
    left.as_object_mut()
        .ok_or("expected an object")?
        .insert("due".to_owned(), due);
    Ok(left)
}

/// A hash of all rows of all tables.
fn dump(connection: &Connection) -> Result<String, Failure> {
    let mut hasher = DefaultHasher::new();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    for table in names(connection, tables)? {
        hasher.write(table.as_bytes());
        let mut rows = connection.prepare(&format!("SELECT * FROM {table}"))?;
        let columns = rows.column_count();
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                match row.get_ref(column)? {
                    ValueRef::Null => hasher.write_u8(0),
                    ValueRef::Integer(value) => hasher.write_i64(value),
                    ValueRef::Real(value) => hasher.write(&value.to_le_bytes()),
                    ValueRef::Text(value) | ValueRef::Blob(value) => {
                        hasher.write_usize(value.len());
                        hasher.write(value);
                    }
                }
            }
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn states(connection: &Connection, sql: &str) -> Result<Map<String, Value>, Failure> {
    let mut rows = connection.prepare(sql)?;
    let mut rows = rows.query([])?;
    let mut states = Map::new();
    while let Some(row) = rows.next()? {
        let body: Vec<u8> = row.get(0)?;
        states.insert(name(&body)?, row.get::<_, String>(1)?.into());
    }
    Ok(states)
}

fn names(connection: &Connection, sql: &str) -> Result<Vec<String>, Failure> {
    let mut rows = connection.prepare(sql)?;
    let names: Result<Vec<String>, _> = rows.query_map([], |row| row.get(0))?.collect();
    Ok(names?)
}

/// The name of the message with this text.
fn name(body: &[u8]) -> Result<String, Failure> {
    let message: Value = serde_json::from_slice(body)?;
    let name = message.get("case_id").and_then(Value::as_str);
    Ok(name.ok_or("expected `case_id`, found none")?.to_owned())
}

/// Prints what is left on a server, as a line of JSON.
pub(crate) async fn postgres(config: &str) -> Result<(), Failure> {
    let store = PostgresStore::connect(config, NoTls, PostgresOptions::new()).await?;
    let rows = async |sql: &'static str| -> Result<Vec<Row>, StoreError> {
        store.read(async |all| all.query(sql, &[]).await).await
    };
    let states = async |sql: &'static str| -> Result<Map<String, Value>, Failure> {
        let mut states = Map::new();
        for row in rows(sql).await? {
            states.insert(
                name(&row.get::<_, Vec<u8>>(0))?,
                row.get::<_, String>(1).into(),
            );
        }
        Ok(states)
    };
    let names = async |sql: &'static str| -> Result<Vec<String>, StoreError> {
        Ok(rows(sql).await?.iter().map(|row| row.get(0)).collect())
    };
    let seen = rows(SEEN).await?.first().map(|row| row.get::<_, i64>(0));
    let left = json!({
        "outbox": states(OUTBOX).await?,
        "inbox": states(INBOX).await?,
        "handled": names(HANDLED).await?,
        "imported": names(IMPORTED).await?,
        "seen": seen,
        "due": due(&store.outbox(), &store.inbox()).await?,
    });
    writeln!(std::io::stdout(), "{left}")?;
    Ok(())
}

/// The messages that would be delivered and handled a day later, when the leases of a process that
/// is gone have ended.
async fn due(outbox: &impl Outbox, inbox: &impl Inbox) -> Result<Value, Failure> {
    let (lease, now) = lease_tomorrow();
    let (mut outgoing, mut incoming) = (Vec::new(), Vec::new());
    for entry in outbox.lease(LeaseRequest::new(lease, 100_000), now).await? {
        outgoing.push(name(&entry.message.body)?);
    }
    for entry in inbox.lease(&[], 100_000, lease, now).await? {
        incoming.push(name(&entry.body)?);
    }
    Ok(json!({ "outbox": outgoing, "inbox": incoming }))
}

/// A lease of a millisecond, and the time at which it begins.
pub(crate) fn lease_tomorrow() -> (Lease, Timestamp) {
    let now = SystemClock
        .now()
        .saturating_add(Duration::from_secs(86_400));
    let lease = Lease {
        owner: LeaseOwner::from_random_bytes([1; 16]),
        until: now.saturating_add(Duration::from_millis(1)),
    };
    (lease, now)
}
