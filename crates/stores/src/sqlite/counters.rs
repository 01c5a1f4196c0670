//! Rate-limit counters.

use super::connection::Fault;
use super::sweep::sweep;
use super::{SqliteStore, instant};
use crate::counts;
use bankrail_rate_limit::{CallType, Charge, CounterStore, Decision, State, decide};
use bankrail_values::{EXPIRY_GRACE, StoreError, StoreFuture};
use rusqlite::{Connection, OptionalExtension, params};

const FIND: &str = "SELECT high_water, counts FROM bankrail_counter WHERE customer = ?1 AND call_type = ?2";

const KEEP: &str = "INSERT OR REPLACE INTO bankrail_counter (customer, call_type, high_water, counts, expires)
    VALUES (?1, ?2, ?3, ?4, ?5)";

const SWEEP: &str = "DELETE FROM bankrail_counter WHERE (customer, call_type) =
    (SELECT customer, call_type FROM bankrail_counter WHERE expires < ?1 ORDER BY expires LIMIT 1)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[FIND, KEEP, SWEEP];

/// Counters that survive a restart, and that the processes share that share the file. The callers' clocks decide. A
/// look ([`Charge::cost`] of 0) and a refusal that charges nothing write nothing.
impl CounterStore for SqliteStore {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        if charge.policy().windows().is_empty() {
            let allowed = decided(&mut State::new(), &charge).map_err(StoreError::from);
            return Box::pin(std::future::ready(allowed));
        }
        let key = (charge.customer().to_owned(), charge.call_type());
        let (policy, now, cost) = (*charge.policy(), charge.now(), charge.cost());
        let work = move |connection: &Connection| {
            let charge = Charge::new(&key.0, key.1, &policy, now, cost).map_err(Fault::corrupt)?;
            run(connection, &charge)
        };
        Box::pin(
            async move { if cost == 0 { self.database.read(work).await } else { self.database.write(work).await } },
        )
    }
}

fn run(connection: &Connection, charge: &Charge<'_>) -> Result<Decision, Fault> {
    let before = find(connection, charge.customer(), charge.call_type())?.unwrap_or_default();
    let mut state = before;
    let decision = decided(&mut state, charge)?;
    if state != before {
        keep(connection, charge, &state)?;
        sweep(connection, SWEEP, charge.now().saturating_sub(EXPIRY_GRACE))?;
    }
    Ok(decision)
}

fn decided(state: &mut State, charge: &Charge<'_>) -> Result<Decision, Fault> {
    // Its cost was checked when the charge was made.
    decide(state, charge.policy(), charge.now(), charge.cost()).map_err(Fault::corrupt)
}

fn find(connection: &Connection, customer: &str, call_type: CallType) -> Result<Option<State>, Fault> {
    let mut find = connection.prepare_cached(FIND)?;
    let row = find.query_row([customer, call_type.as_str()], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
    let Some((high_water, counts)) = row.optional()? else { return Ok(None) };
    let state = counts::read(instant(high_water)?, &counts);
    state.map(Some).ok_or_else(|| Fault::corrupt(counts::UNREADABLE))
}

fn keep(connection: &Connection, charge: &Charge<'_>, state: &State) -> Result<(), Fault> {
    let high_water = state.high_water().unwrap_or_else(|| charge.now());
    let expires = state.expires_at().unwrap_or(high_water);
    connection.prepare_cached(KEEP)?.execute(params![
        charge.customer(),
        charge.call_type().as_str(),
        high_water.unix_millis(),
        counts::written(state),
        expires.unix_millis(),
    ])?;
    Ok(())
}
