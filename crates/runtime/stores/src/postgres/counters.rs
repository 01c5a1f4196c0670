//! Rate-limit counters.

use super::session::Session;
use super::values::params;
use super::{Fault, PostgresStore};
use crate::CounterClock;
use crate::columns::{Columns as _, FromRow as _};
use crate::counts::{self, StateColumns};
use bankrail_rate_limit::{Charge, CounterStore, Decision, State};
use bankrail_values::{EXPIRY_GRACE, StoreFuture, Timestamp};
use tokio_postgres::Row;

// Locks a customer's calls of one type until the transaction ends, before the state is read, so
// that each decision reads the state of the previous one.
const LOCK: &str = "SELECT pg_advisory_xact_lock(
    hashtextextended('bankrail_counter ' || $2 || ' ' || encode($1, 'hex'), 0))";

// Selects one row, with the state if there is one. `clock_timestamp()` is the time of this
// statement, after the wait for the lock; `now()` would be that of the transaction's start.
const FIND: &str =
    "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, high_water, counts
    FROM (VALUES (1)) AS one LEFT JOIN bankrail_counter ON customer = $1 AND call_type = $2";

const KEEP: &str = "INSERT INTO bankrail_counter (customer, call_type, high_water, counts, expires)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (customer, call_type)
    DO UPDATE SET high_water = excluded.high_water, counts = excluded.counts,
        expires = excluded.expires";

// Deletes a few expired rows, in the order of the index by expiry, so that the cost of a charge is
// bounded. `SKIP LOCKED`: a row that another transaction is writing has not expired.
const SWEEP: &str = "DELETE FROM bankrail_counter WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM bankrail_counter WHERE expires < $1 ORDER BY expires LIMIT 8
        FOR UPDATE SKIP LOCKED))";

/// The rate-limit counters of a [`PostgresStore`], which all machines that use the database share.
///
/// - [`CounterClock`] selects the clock that decides.
/// - A decision is one short transaction. Decisions on one customer's calls of one type run one
///   after the other, all others in parallel. A query ([`Charge::cost`] of 0) is one statement, and
///   a refusal that charges nothing writes nothing.
/// - This crate never sends a charge twice. A call that gets no answer fails with
///   [`StoreErrorKind::Timeout`](bankrail_values::StoreErrorKind::Timeout) and may have charged.
/// - Expired counters are deleted a few at a time with each charge, [`EXPIRY_GRACE`] after they
///   have lost all effect.
///
/// ```no_run
/// use bankrail_rate_limit::{Limiter, Limits};
/// use bankrail_stores::CounterClock;
/// use bankrail_stores::postgres::{PostgresOptions, PostgresStore, tokio_postgres::NoTls};
/// use std::sync::Arc;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let config = "host=/run/postgresql user=bankrail dbname=bankrail";
/// let store = PostgresStore::connect(config, NoTls, PostgresOptions::new()).await?;
/// let limiter = Limiter::new(Limits::default(), Arc::new(store.counters(CounterClock::Server)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PostgresCounters {
    pub(super) store: PostgresStore,
    pub(super) clock: CounterClock,
}

impl CounterStore for PostgresCounters {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(async move {
            if charge.policy().windows().is_empty() {
                let decided = counts::charge(State::new(), &charge, charge.now());
                return decided.map(|(decision, _)| decision);
            }
            let customer = charge.customer().as_bytes();
            let call_type = charge.call_type().as_str();
            let key = params![customer, call_type];
            if charge.cost() == 0 {
                let look = async |session: Session<'_>| {
                    let (now, state) = self.found(&session.query(FIND, key).await?, &charge)?;
                    Ok(counts::charge(state, &charge, now)?.0)
                };
                return self.store.with_session(look).await;
            }
            let decide = async |session: Session<'_>| {
                let [_, rows] = session.begin_with([(LOCK, key), (FIND, key)]).await?;
                let (now, before) = self.found(&rows, &charge)?;
                let (decision, changed) = counts::charge(before, &charge, now)?;
                match changed {
                    Some(state) => keep(session, &charge, &state, now).await?,
                    None => {
                        session.commit_with([]).await?;
                    }
                }
                Ok(decision)
            };
            self.store.with_transaction(decide).await
        })
    }
}

impl PostgresCounters {
    /// The time that decides, and the state.
    fn found(&self, rows: &[Row], charge: &Charge<'_>) -> Result<(Timestamp, State), Fault> {
        let row = rows
            .first()
            .ok_or_else(|| Fault::corrupt("expected one row, found none"))?;
        let now = match self.clock {
            CounterClock::Server => row.instant("now")?,
            CounterClock::Callers => charge.now(),
        };
        Ok((now, Option::read(row)?.unwrap_or_default()))
    }
}

/// Keeps the state and commits.
async fn keep(
    session: Session<'_>,
    charge: &Charge<'_>,
    state: &StateColumns,
    now: Timestamp,
) -> Result<(), Fault> {
    let customer = charge.customer().as_bytes();
    let call_type = charge.call_type().as_str();
    let StateColumns {
        high_water,
        counts,
        expires,
    } = state;
    let kept = params![customer, call_type, high_water, counts, expires];
    let expired = now.saturating_sub(EXPIRY_GRACE).unix_millis();
    session
        .commit_with([(KEEP, kept), (SWEEP, params![expired])])
        .await?;
    Ok(())
}
