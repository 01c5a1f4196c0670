//! The tables, version by version.
//!
//! The version is in a table of this crate, not in `user_version`: the file may also have the
//! caller's tables, and the caller may use that number. A released version is never edited; changes
//! are added as the next one.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

/// The statements that bring the tables from each version to the next.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
    include_str!("schema/10.sql"),
    include_str!("schema/11.sql"),
    include_str!("schema/12.sql"),
    include_str!("schema/13.sql"),
    include_str!("schema/14.sql"),
    include_str!("schema/15.sql"),
];

/// The error of a failure to bring the tables up to date.
pub(super) enum MigrateError {
    Newer { found: u32, known: u32 },
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for MigrateError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// Brings the tables up to date in one transaction: a crash in between leaves them as they were.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), MigrateError> {
    migrate_with(connection, STEPS)
}

fn migrate_with(connection: &mut Connection, steps: &[&str]) -> Result<(), MigrateError> {
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    // If the tables are up to date, opening does not wait for another process that writes.
    if version(connection)? == known {
        return Ok(());
    }
    // A step may change every row. What it takes to undo it is kept in a file then, not in memory.
    connection.pragma_update(None, "temp_store", "FILE")?;
    run_steps(connection, steps, known)?;
    Ok(connection.pragma_update(None, "temp_store", "MEMORY")?)
}

fn run_steps(connection: &mut Connection, steps: &[&str], known: u32) -> Result<(), MigrateError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    if found > known {
        return Err(MigrateError::Newer { found, known });
    }
    for step in steps
        .iter()
        .skip(usize::try_from(found).unwrap_or(usize::MAX))
    {
        transaction.execute_batch(step)?;
    }
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS bankrail_schema (version INTEGER NOT NULL) STRICT",
    )?;
    transaction.execute("DELETE FROM bankrail_schema", [])?;
    transaction.execute("INSERT INTO bankrail_schema (version) VALUES (?1)", [known])?;
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    let known = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'bankrail_schema'";
    if connection
        .query_row(known, [], |_| Ok(()))
        .optional()?
        .is_none()
    {
        return Ok(0);
    }
    connection.query_row("SELECT max(version) FROM bankrail_schema", [], |row| {
        row.get(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite;

    /// The statements of each kind of record.
    const DAILY: &[&[&str]] = &[
        #[cfg(feature = "mailbox")]
        sqlite::archive::DAILY,
        #[cfg(feature = "rate-limit")]
        sqlite::counters::DAILY,
        #[cfg(feature = "client-assertion")]
        sqlite::cached::DAILY,
        #[cfg(feature = "client-assertion")]
        sqlite::tokens::DAILY,
        #[cfg(feature = "statement")]
        sqlite::seen::DAILY,
        #[cfg(feature = "mailbox")]
        sqlite::inbox::DAILY,
        #[cfg(feature = "mailbox")]
        sqlite::outbox::DAILY,
        #[cfg(feature = "mailbox")]
        sqlite::outbox::DAILY_CIRCUITS,
        #[cfg(feature = "mailbox")]
        sqlite::outbox::DAILY_LEASES,
        #[cfg(feature = "mailbox")]
        sqlite::outbox::DAILY_INTERVENTIONS,
        #[cfg(feature = "webhook")]
        sqlite::histories::DAILY,
    ];

    #[test]
    fn steps_run_once_each_and_in_order() {
        let mut connection = Connection::open_in_memory().unwrap();
        let first = ["CREATE TABLE a (x INTEGER) STRICT"];
        let both = [first[0], "ALTER TABLE a ADD COLUMN y INTEGER"];
        assert!(migrate_with(&mut connection, &first).is_ok());
        connection
            .execute("INSERT INTO a (x) VALUES (7)", [])
            .unwrap();
        assert!(migrate_with(&mut connection, &both).is_ok());
        assert!(migrate_with(&mut connection, &both).is_ok());
        let row = connection
            .query_row("SELECT x, y FROM a", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(row, (7, None::<i64>));
        let newer = migrate_with(&mut connection, &first);
        assert!(matches!(
            newer,
            Err(MigrateError::Newer { found: 2, known: 1 })
        ));
    }

    #[test]
    fn a_step_that_fails_leaves_everything_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE a (x INTEGER) STRICT", "nonsense"];
        assert!(matches!(
            migrate_with(&mut connection, &steps),
            Err(MigrateError::Sql(_))
        ));
        assert_eq!(version(&connection).unwrap(), 0);
        assert!(
            connection
                .execute("INSERT INTO a (x) VALUES (7)", [])
                .is_err()
        );
    }

    #[test]
    fn payloads_of_earlier_versions_are_kept() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .pragma_update(None, "foreign_keys", true)
            .unwrap();
        assert!(migrate_with(&mut connection, &STEPS[..8]).is_ok());
        let insert = [
            "INSERT INTO bankrail_outbox (endpoint, kind, message_id, fingerprint, attributes, state, enqueued, due, body)
            VALUES ('acme', 'query', hex(?1), zeroblob(32), x'', 'pending', 0, 0, ?1)",
            "INSERT INTO bankrail_inbox (kind, attributes, fingerprint, acknowledgement, received, state, due, body)
            VALUES ('query', x'', zeroblob(32), x'', 0, 'pending', 0, ?1)",
        ];
        for sql in insert {
            for body in ["first", "second"] {
                connection.execute(sql, [body.as_bytes()]).unwrap();
            }
        }
        assert!(migrate(&mut connection).is_ok());
        for table in ["bankrail_outbox", "bankrail_inbox"] {
            let body = |id: i64| {
                let sql =
                    format!("SELECT body FROM {table} JOIN {table}_body USING (id) WHERE id = ?1");
                connection
                    .query_row(&sql, [id], |row| row.get::<_, Vec<u8>>(0))
                    .optional()
                    .unwrap()
            };
            assert_eq!(
                [body(1), body(2)],
                [Some(b"first".to_vec()), Some(b"second".to_vec())],
                "{table}"
            );
            connection
                .execute(&format!("DELETE FROM {table} WHERE id = 1"), [])
                .unwrap();
            let left = format!("SELECT sum(id) FROM {table}_body");
            let left: i64 = connection.query_row(&left, [], |row| row.get(0)).unwrap();
            assert_eq!(left, 2, "a payload of {table} goes with its entry");
        }
    }

    /// No regular statement may read a whole table or index, or sort, because a backlog would slow
    /// down new messages.
    #[test]
    fn the_daily_statements_go_by_an_index() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(migrate(&mut connection).is_ok());
        for sql in DAILY.iter().flat_map(|statements| statements.iter()) {
            let explained = format!("EXPLAIN QUERY PLAN {sql}");
            let mut statement = connection.prepare(&explained).unwrap();
            let plan = statement
                .raw_query()
                .mapped(|row| row.get::<_, String>(3))
                .collect::<Result<Vec<_>, _>>();
            let plan = plan.unwrap();
            // An index of those rows alone that are leased.
            let reads_all = |line: &&String| {
                line.starts_with("SCAN bankrail") && !line.ends_with("bankrail_outbox_leased")
            };
            let sorts = |line: &&String| line.contains("TEMP B-TREE");
            assert_eq!(
                plan.iter()
                    .filter(|line| reads_all(line) || sorts(line))
                    .count(),
                0,
                "{sql}\n{plan:#?}"
            );
        }
    }

    /// Statements that run for each message or call build no temporary table, which would cost more
    /// than all the rest. Statements for many rows, or with effects on other tables, may build one.
    #[test]
    fn the_daily_statements_for_one_row_build_no_table() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(migrate(&mut connection).is_ok());
        let many = |sql: &&&str| {
            [" IN (SELECT", "WHERE owner IS NOT NULL"]
                .iter()
                .any(|many| sql.contains(many))
                || ["SELECT", "DELETE FROM bankrail_history "]
                    .iter()
                    .any(|s| sql.starts_with(s))
        };
        for sql in DAILY
            .iter()
            .flat_map(|statements| statements.iter())
            .filter(|sql| !many(sql))
        {
            let mut statement = connection.prepare(&format!("EXPLAIN {sql}")).unwrap();
            let steps = statement
                .raw_query()
                .mapped(|row| row.get::<_, String>(1))
                .collect::<Result<Vec<_>, _>>();
            assert!(
                !steps.unwrap().iter().any(|step| step == "OpenEphemeral"),
                "{sql}"
            );
        }
    }

    /// The work does not grow with the entries that wait for a later time, are leased, or are of a
    /// kind without a worker.
    #[cfg(feature = "mailbox")]
    #[test]
    fn what_waits_is_not_looked_at() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(migrate(&mut connection).is_ok());
        let insert = |from: i64, to: i64, kind: &str, waits: &str| {
            let sql = format!(
                "WITH RECURSIVE n (n) AS (VALUES ({from}) UNION ALL SELECT n + 1 FROM n WHERE n < {to})
                INSERT INTO bankrail_inbox (id, kind, attributes, fingerprint, acknowledgement, received,
                    state, due, waits)
                SELECT n, '{kind}', x'', zeroblob(32), x'', 0, 'pending', coalesce({waits}, 0), {waits} FROM n"
            );
            connection.execute_batch(&sql).unwrap();
        };
        insert(1, 5_000, "query", "1000");
        insert(5_001, 10_000, "another", "NULL");
        insert(10_001, 10_010, "query", "NULL");
        let steps = |sql: &str| {
            let mut statement = connection.prepare(sql).unwrap();
            for at in 1..=statement.parameter_count() {
                let value: rusqlite::types::Value = match statement.parameter_name(at).unwrap() {
                    ":now" => 10.into(),
                    ":limit" | ":most" => 8.into(),
                    "?1" => "another".to_owned().into(),
                    _ => "query".to_owned().into(),
                };
                statement.raw_bind_parameter(at, value).unwrap();
            }
            let mut found = 0;
            let mut rows = statement.raw_query();
            while rows.next().unwrap().is_some() {
                found += 1;
            }
            drop(rows);
            (
                found,
                statement.get_status(rusqlite::StatementStatus::VmStep),
            )
        };
        let found = sqlite::inbox::LEASING.map(steps);
        assert_eq!(found.map(|(found, _)| found), [0, 1, 8]);
        assert!(
            found.iter().map(|(_, steps)| steps).sum::<i32>() < 2_000,
            "{found:?}"
        );
    }

    /// Queries of operators cost the same with 50 other messages of each state as with 5,000: the
    /// queried endpoint has the last ones. The counts are those of the rows, after each kind of
    /// change.
    #[cfg(feature = "mailbox")]
    #[test]
    fn a_look_costs_the_same_beside_a_backlog() {
        let mut steps = Vec::new();
        for backlog in [50, 5_000] {
            let mut connection = Connection::open_in_memory().unwrap();
            connection
                .pragma_update(None, "foreign_keys", true)
                .unwrap();
            let insert = |connection: &Connection, endpoint: &str, number: u32| {
                let sql = format!(
                    "WITH RECURSIVE n (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM n WHERE n < 4 * {number} - 1)
                    INSERT INTO bankrail_outbox (endpoint, kind, message_id, fingerprint, attributes, state, enqueued, due)
                    SELECT '{endpoint}', 'query', n, zeroblob(32), x'', 'pending', n, n FROM n;
                    UPDATE bankrail_outbox SET state = 'delivered', finished = 0 WHERE endpoint = '{endpoint}' AND id % 4 = 1;
                    UPDATE bankrail_outbox SET state = 'dead_letter' WHERE endpoint = '{endpoint}' AND id % 4 > 1;
                    UPDATE bankrail_outbox SET state = 'delivered' WHERE endpoint = '{endpoint}' AND id % 4 = 2;
                    INSERT INTO bankrail_dropped (entry, dropped_by, reason)
                        SELECT id, '', '' FROM bankrail_outbox WHERE endpoint = '{endpoint}' AND id % 4 = 2 LIMIT 5;"
                );
                connection.execute_batch(&sql).unwrap();
            };
            // The messages of the first endpoint are older than the counts.
            assert!(migrate_with(&mut connection, &STEPS[..11]).is_ok());
            insert(&connection, "a", backlog);
            assert!(migrate(&mut connection).is_ok());
            insert(&connection, "b", backlog);
            insert(&connection, "c", 5);
            connection
                .execute(
                    "DELETE FROM bankrail_outbox WHERE endpoint = 'c' AND message_id < 4",
                    [],
                )
                .unwrap();
            let counts = "SELECT endpoint, pending, delivered, dead_letters, dropped FROM bankrail_outbox_count";
            let counted = "SELECT endpoint, count(*) FILTER (WHERE state = 'pending'),
                count(*) FILTER (WHERE state = 'delivered' AND entry IS NULL),
                count(*) FILTER (WHERE state = 'dead_letter'), count(entry)
                FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id GROUP BY endpoint";
            let rows = |sql: &str| {
                let mut statement = connection.prepare(sql).unwrap();
                let row = |row: &rusqlite::Row<'_>| {
                    Ok((
                        row.get::<_, String>(0)?,
                        [1, 2, 3, 4].map(|at| row.get::<_, i64>(at)),
                    ))
                };
                statement
                    .query_map([], row)
                    .unwrap()
                    .map(|row| format!("{:?}", row.unwrap()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(rows(counts), rows(counted));
            for sql in sqlite::outbox::LOOKS {
                let mut statement = connection.prepare(sql).unwrap();
                for at in 1..=statement.parameter_count() {
                    let value = |value: i64| rusqlite::types::Value::from(value);
                    let value = match statement.parameter_name(at).unwrap() {
                        "?1" => "b".to_owned().into(),
                        "?2" => value(9),
                        "?5" => "pending".to_owned().into(),
                        _ => rusqlite::types::Value::Null,
                    };
                    statement.raw_bind_parameter(at, value).unwrap();
                }
                let mut rows = statement.raw_query();
                for _ in 0..4 {
                    rows.next().unwrap();
                }
                drop(rows);
                steps.push((sql, statement.get_status(rusqlite::StatementStatus::VmStep)));
            }
        }
        let (few, many) = steps.split_at(steps.len() / 2);
        for ((sql, few), (_, many)) in few.iter().zip(many) {
            assert!(many - few <= 20, "{few} and {many} steps: {sql}");
        }
    }
}
