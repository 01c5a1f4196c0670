//! Rate-limit counters.

use super::SqliteStore;
use super::connection::Fault;
use super::statements::{first, run, sweep};
use crate::counts;
use bankrail_rate_limit::{Charge, CounterStore, Decision, State};
use bankrail_values::StoreFuture;
use rusqlite::{Connection, params};

const FIND: &str =
    "SELECT high_water, counts FROM bankrail_counter WHERE customer = ?1 AND call_type = ?2";

const KEEP: &str =
    "INSERT OR REPLACE INTO bankrail_counter (customer, call_type, high_water, counts, expires)
    VALUES (?1, ?2, ?3, ?4, ?5)";

const SWEEP: &str = "DELETE FROM bankrail_counter WHERE (customer, call_type) =
    (SELECT customer, call_type FROM bankrail_counter WHERE expires < ?1 ORDER BY expires LIMIT 1)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[FIND, KEEP, SWEEP];

/// The counters survive a restart, and processes that share the file share them. The callers'
/// clocks decide. A query ([`Charge::cost`] of 0) and a refusal that charges nothing write nothing.
impl CounterStore for SqliteStore {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        if charge.policy().windows().is_empty() {
            let decided = counts::charge(State::new(), &charge, charge.now());
            return Box::pin(std::future::ready(decided.map(|(decision, _)| decision)));
        }
        let key = (charge.customer().to_owned(), charge.call_type());
        let policy = *charge.policy();
        let now = charge.now();
        let cost = charge.cost();
        let work = move |connection: &Connection| {
            let asked = Charge::new(&key.0, key.1, &policy, now, cost).map_err(Fault::corrupt)?;
            decide_and_keep(connection, &asked)
        };
        if cost == 0 {
            self.database.read(work)
        } else {
            self.database.write(work)
        }
    }
}

fn decide_and_keep(connection: &Connection, charge: &Charge<'_>) -> Result<Decision, Fault> {
    let (customer, call_type) = (charge.customer(), charge.call_type().as_str());
    let before = first::<Option<State>>(connection, FIND, [customer, call_type])?
        .flatten()
        .unwrap_or_default();
    let (decision, changed) = counts::charge(before, charge, charge.now())?;
    if let Some(state) = changed {
        let kept = params![
            customer,
            call_type,
            state.high_water,
            state.counts,
            state.expires
        ];
        run(connection, KEEP, kept)?;
        sweep(connection, SWEEP, charge.now())?;
    }
    Ok(decision)
}
