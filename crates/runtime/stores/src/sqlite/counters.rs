//! Rate-limit counters.

use super::SqliteStore;
use super::connection::Fault;
use super::statements::{first, run, sweep};
use crate::counts;
use bankrail_rate_limit::{Charge, CounterStore, Decision, State, decide};
use bankrail_values::{StoreError, StoreFuture};
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

/// Counters that survive a restart, and that the processes share that share the file. The callers'
/// clocks decide. A look ([`Charge::cost`] of 0) and a refusal that charges nothing write nothing.
impl CounterStore for SqliteStore {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        if charge.policy().windows().is_empty() {
            let allowed = decided(&mut State::new(), &charge).map_err(StoreError::from);
            return Box::pin(std::future::ready(allowed));
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
    let key = [charge.customer(), charge.call_type().as_str()];
    let before = first::<Option<State>>(connection, FIND, key)?
        .flatten()
        .unwrap_or_default();
    let mut state = before;
    let decision = decided(&mut state, charge)?;
    if state != before {
        keep(connection, charge, &state)?;
        sweep(connection, SWEEP, charge.now())?;
    }
    Ok(decision)
}

fn decided(state: &mut State, charge: &Charge<'_>) -> Result<Decision, Fault> {
    // Its cost was checked when the charge was made.
    decide(state, charge.policy(), charge.now(), charge.cost()).map_err(Fault::corrupt)
}

fn keep(connection: &Connection, charge: &Charge<'_>, state: &State) -> Result<(), Fault> {
    let high_water = state.high_water().unwrap_or_else(|| charge.now());
    let expires = state.expires_at().unwrap_or(high_water);
    let key = (charge.customer(), charge.call_type().as_str());
    let values = params![
        key.0,
        key.1,
        high_water.unix_millis(),
        counts::written(state),
        expires.unix_millis()
    ];
    run(connection, KEEP, values).map(drop)
}
