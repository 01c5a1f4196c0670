//! The circuits of endpoints.

use crate::postgres::Fault;
use crate::postgres::session::Session;
use crate::postgres::values::params;
use bankrail_mailbox::{Circuit, EndpointId};
use bankrail_values::Timestamp;

/// Joins as `Circuit::joined` does, in one statement, because several workers may find an endpoint
/// ill at once.
const HOLD: &str = "INSERT INTO bankrail_circuit AS kept (endpoint, openings, open_until, rests_until)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (endpoint) DO UPDATE SET openings = greatest(kept.openings, excluded.openings),
    open_until = CASE WHEN excluded.openings > kept.openings THEN excluded.open_until ELSE kept.open_until END,
    rests_until = greatest(kept.rests_until, excluded.rests_until)";

/// All circuits: those of endpoints that are ill.
pub(super) const ALL: &str =
    "SELECT endpoint, openings, open_until, rests_until FROM bankrail_circuit ORDER BY endpoint";

pub(super) async fn hold(
    session: Session<'_>,
    endpoint: &EndpointId,
    news: Circuit,
) -> Result<(), Fault> {
    let [open_until, rests_until] =
        [news.open_until, news.rests_until].map(|until| until.map(Timestamp::unix_millis));
    let openings = i64::from(news.openings);
    session
        .execute(
            HOLD,
            params![endpoint.as_str(), openings, open_until, rests_until],
        )
        .await
        .map(drop)
}
