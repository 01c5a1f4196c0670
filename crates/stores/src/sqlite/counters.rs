//! Rate-limit counters.

use super::connection::Fault;
use super::{SqliteStore, instant};
use bankrail_rate_limit::{CallType, Charge, CounterStore, Counts, Decision, MAX_WINDOWS, State, decide};
use bankrail_values::{EXPIRY_GRACE, StoreError, StoreFuture, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};
use std::fmt::Write as _;

const FIND: &str = "SELECT high_water, counts FROM bankrail_counter WHERE customer = ?1 AND call_type = ?2";

const KEEP: &str = "INSERT OR REPLACE INTO bankrail_counter (customer, call_type, high_water, counts, expires)
    VALUES (?1, ?2, ?3, ?4, ?5)";

const SWEEP: &str = "DELETE FROM bankrail_counter WHERE (customer, call_type) IN
    (SELECT customer, call_type FROM bankrail_counter WHERE expires < ?1 ORDER BY expires LIMIT ?2)";

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
            let charge = Charge::new(&key.0, key.1, policy, now, cost).map_err(Fault::corrupt)?;
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
        let expired = charge.now().saturating_sub(EXPIRY_GRACE);
        connection.prepare_cached(SWEEP)?.execute(params![expired.unix_millis(), super::SWEPT])?;
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
    let state = read(instant(high_water)?, &counts);
    state.map(Some).ok_or_else(|| Fault::corrupt("expected length, current and previous of each window"))
}

fn keep(connection: &Connection, charge: &Charge<'_>, state: &State) -> Result<(), Fault> {
    let high_water = state.high_water().unwrap_or_else(|| charge.now());
    let expires = state.expires_at().unwrap_or(high_water);
    connection.prepare_cached(KEEP)?.execute(params![
        charge.customer(),
        charge.call_type().as_str(),
        high_water.unix_millis(),
        written(state),
        expires.unix_millis(),
    ])?;
    Ok(())
}

fn written(state: &State) -> String {
    let mut text = String::new();
    for Counts { length, current, previous } in state.counts() {
        let space = if text.is_empty() { "" } else { " " };
        write!(text, "{space}{length} {current} {previous}").expect("a String takes all text");
    }
    text
}

/// `None`: not the counts of a state.
fn read(high_water: Timestamp, text: &str) -> Option<State> {
    let mut counts = Vec::with_capacity(MAX_WINDOWS);
    let mut words = text.split(' ').map(str::parse::<u32>);
    while let Some(length) = words.next() {
        if counts.len() == MAX_WINDOWS {
            return None;
        }
        let (length, current, previous) = (length.ok()?, words.next()?.ok()?, words.next()?.ok()?);
        counts.push(Counts { length, current, previous });
    }
    State::from_counts(Some(high_water), &counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_were_written_and_nothing_else_is_believed() {
        let at = Timestamp::from_unix_millis(5).unwrap();
        for text in ["3600000 1 2", "3600000 1 2 60000 0 1 1000 3 4294967295"] {
            assert_eq!(written(&read(at, text).unwrap()), text);
        }
        for bad in ["", "1", "1 2", "x 1 2", "1  2 3", "-1 1 1", "0 1 1", "5 1 1 5 1 1", "1 0 0 2 0 0 3 0 0 4 0 0"] {
            assert!(read(at, bad).is_none(), "{bad:?}");
        }
    }
}
