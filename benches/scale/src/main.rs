//! Measures the growth of costs: `scale CURVE MOST`, for `benches/scale/run`.
//!
//! An operation is measured at sizes 10, 100, … up to the most. Each point is one line of JSON:
//! curve, series, size, unit and value. With `BANKRAIL_POSTGRES` (a connection string) and
//! `BANKRAIL_REDIS` (an address), those stores are measured beside SQLite.

#![forbid(unsafe_code)]
// A benchmark that fails panics.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss
)]

mod callers;
mod connections;
mod customers;
mod documents;
mod limiter;
mod mailbox;
mod payloads;
mod poller;
mod statements;

use bankrail_stores::postgres::tokio_postgres::NoTls;
use bankrail_stores::postgres::{PostgresOptions, PostgresStore};
use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [curve, most] = arguments.as_slice() else {
        panic!("expected CURVE MOST")
    };
    let most: u64 = most.parse().unwrap();
    let curve = Curve { name: curve, most };
    match curve.name {
        "statements" => statements::measure(&curve).await,
        "backlog" => mailbox::backlog(&curve).await,
        "endpoints" => mailbox::endpoints(&curve).await,
        "receipts" => mailbox::receipts(&curve).await,
        "limiter" => limiter::measure(&curve),
        "poller" => poller::measure(&curve).await,
        "customers" => customers::measure(&curve).await,
        "reports" => documents::measure(&curve),
        "payloads" => payloads::measure(&curve),
        "connections" => connections::measure(&curve).await,
        "callers" => callers::measure(&curve).await,
        "serve" => connections::serve().await,
        other => panic!("{other} is no curve"),
    }
}

/// The subject of a measurement, and the largest size.
struct Curve<'a> {
    name: &'a str,
    most: u64,
}

impl Curve<'_> {
    /// Powers of ten.
    fn sizes(&self) -> impl Iterator<Item = u64> + use<> {
        let most = self.most;
        (1..)
            .map(|power| 10_u64.pow(power))
            .take_while(move |size| *size <= most)
    }

    fn point(&self, series: &str, size: u64, unit: &str, value: f64) {
        let point = serde_json::json!({
            "curve": self.name, "series": series, "size": size, "unit": unit, "value": value,
        });
        println!("{point}");
    }

    /// Runs an operation that often and prints the median of its times.
    async fn time(&self, series: &str, size: u64, times: usize, mut operation: impl AsyncFnMut()) {
        let mut took = Vec::with_capacity(times);
        for _ in 0..times {
            let begun = Instant::now();
            operation().await;
            took.push(begun.elapsed());
        }
        self.median(series, size, took);
    }

    fn median(&self, series: &str, size: u64, mut took: Vec<Duration>) {
        took.sort_unstable();
        self.point(series, size, "µs", micros(took[took.len() / 2]));
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// A SQLite file whose commits reach the disk, removed at the end.
fn sqlite() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (
        SqliteStore::open(folder.path().join("scale.db"), SqliteOptions::new()).unwrap(),
        folder,
    )
}

/// A new schema of the PostgreSQL that the environment names.
///
/// It takes about 300 µs for each row of a large table, one after the other, so its curves end a
/// power of ten earlier.
async fn postgres<'a>(curve: &Curve<'a>, schema: &str) -> Option<(PostgresStore, Curve<'a>)> {
    let config = std::env::var("BANKRAIL_POSTGRES").ok()?;
    let (client, connection) = bankrail_stores::postgres::tokio_postgres::connect(&config, NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let renew = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
    client.batch_execute(&renew).await.unwrap();
    let config = format!("{config} options='-c search_path={schema}'");
    let shorter = Curve {
        name: curve.name,
        most: (curve.most / 10).max(10),
    };
    Some((
        PostgresStore::connect(&config, NoTls, PostgresOptions::new())
            .await
            .unwrap(),
        shorter,
    ))
}
