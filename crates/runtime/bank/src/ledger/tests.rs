use super::*;
use bankrail_stores::sqlite::rusqlite::{self, StatementStatus};

/// No regular statement reads a whole table or index, or sorts.
#[tokio::test]
async fn each_statement_goes_by_an_index() {
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    let plans = store.read(|connection| -> rusqlite::Result<_> {
        let mut plans = Vec::new();
        for sql in [account::DAILY, book::DAILY, forget::DAILY, page::DAILY].concat() {
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let lines = explain
                .raw_query()
                .mapped(|row| row.get::<_, String>(3))
                .collect::<rusqlite::Result<Vec<_>>>();
            plans.push((sql, lines?.join("\n")));
        }
        Ok(plans)
    });
    for (sql, plan) in plans.await.unwrap() {
        assert!(
            !plan.contains("SCAN bankrail") && !plan.contains("TEMP B-TREE"),
            "{sql}\n{plan}"
        );
    }
}

/// A page in the middle of a day takes the same number of SQLite's steps with a thousand entries as
/// with a hundred times as many.
#[tokio::test]
async fn a_page_costs_the_same_whatever_the_account_has() {
    let mut all = Vec::new();
    for entries in [1_000, 100_000] {
        let store = SqliteStore::open_in_memory(Default::default()).unwrap();
        let steps = store.transaction(move |transaction| -> rusqlite::Result<_> {
            let connection = transaction.connection();
            connection.execute_batch(&format!(
                "INSERT INTO bankrail_account (account, currency, balance, last_entry)
                VALUES ('1', 'AUD', '0', {entries});
                WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < {entries})
                INSERT INTO bankrail_account_entry (account, number, day, amount, channel, key, entry)
                SELECT 1, n, '2021-07-29', '1.00', 'ordinary', 'k' || n, '<Ntry/>' FROM n"
            ))?;
            let mut steps = Vec::new();
            for sql in page::DAILY {
                let mut statement = connection.prepare(sql)?;
                statement.raw_bind_parameter(1, 1)?;
                statement.raw_bind_parameter(2, "2021-07-29")?;
                statement.raw_bind_parameter(3, 500)?;
                if statement.parameter_count() > 3 {
                    statement.raw_bind_parameter(4, 100)?;
                }
                let mut rows = statement.raw_query();
                let mut found = 0;
                while rows.next()?.is_some() {
                    found += 1;
                }
                drop(rows);
                assert!(found == 1 || found == 100, "{found}");
                steps.push(statement.get_status(StatementStatus::VmStep));
            }
            Ok(steps)
        });
        all.push(steps.await.unwrap());
    }
    assert_eq!(all[0], all[1]);
}
