//! The circuits of endpoints.

use super::endpoint;
use crate::postgres::{Fault, PostgresStore, Typed, get, instant};
use bankrail_mailbox::{Circuit, EndpointCircuit, EndpointId};
use bankrail_values::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Joins as `Circuit::joined` does, in one statement, because several workers may find an endpoint ill at once.
const HOLD: &str = "INSERT INTO bankrail_circuit AS kept (endpoint, openings, open_until, rests_until)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (endpoint) DO UPDATE SET openings = greatest(kept.openings, excluded.openings),
    open_until = CASE WHEN excluded.openings > kept.openings THEN excluded.open_until ELSE kept.open_until END,
    rests_until = greatest(kept.rests_until, excluded.rests_until)";

/// Closes as `Circuit::closed` does.
const CLOSE: &str = "WITH closed AS (
        DELETE FROM bankrail_circuit
        WHERE endpoint = $1 AND openings <= $3 AND (rests_until IS NULL OR rests_until <= $2))
    UPDATE bankrail_circuit SET openings = 0, open_until = NULL
    WHERE endpoint = $1 AND openings <= $3 AND rests_until > $2";

/// All circuits: those of endpoints that are ill.
pub(super) const ALL: &str =
    "SELECT endpoint, openings, open_until, rests_until FROM bankrail_circuit ORDER BY endpoint";

pub(super) async fn hold(store: &PostgresStore, endpoint: &EndpointId, news: Circuit) -> Result<(), Fault> {
    let [open_until, rests_until] = [news.open_until, news.rests_until].map(|until| until.map(Timestamp::unix_millis));
    let parameters: [Typed<'_>; 4] = [
        (&endpoint.as_str(), Type::TEXT),
        (&i64::from(news.openings), Type::INT8),
        (&open_until, Type::INT8),
        (&rests_until, Type::INT8),
    ];
    store.execute(HOLD, &parameters).await.map(drop)
}

pub(super) async fn close(
    store: &PostgresStore,
    endpoint: &EndpointId,
    openings: u32,
    now: Timestamp,
) -> Result<(), Fault> {
    let parameters: [Typed<'_>; 3] =
        [(&endpoint.as_str(), Type::TEXT), (&now.unix_millis(), Type::INT8), (&i64::from(openings), Type::INT8)];
    store.execute(CLOSE, &parameters).await.map(drop)
}

pub(super) async fn all(store: &PostgresStore) -> Result<Vec<EndpointCircuit>, Fault> {
    let one = |row: &Row| Ok(EndpointCircuit { endpoint: endpoint(row)?, circuit: circuit(row)? });
    store.query(ALL, &[]).await?.iter().map(one).collect()
}

pub(super) fn circuit(row: &Row) -> Result<Circuit, Fault> {
    let until = |column: &str| get::<Option<i64>>(row, column)?.map(instant).transpose();
    let openings = u32::try_from(get::<i64>(row, "openings")?).map_err(Fault::corrupt)?;
    Ok(Circuit { openings, open_until: until("open_until")?, rests_until: until("rests_until")? })
}
