//! An operator's queries of messages, page by page and without payloads.

use crate::postgres::Fault;
use crate::postgres::inbox::readable_page;
use crate::postgres::session::Session;
use crate::postgres::values::params;
use bankrail_mailbox::{EndpointId, Kind, OutboxQuery, OutboxState, OutboxSummary};
use bankrail_values::Timestamp;

// In each query the subquery `page` finds the numbers of entries in an order that an index has.
// `OFFSET 0` keeps that order, and makes the planner look up each entry by its number. So a page
// reads only the rows that it returns or skips.
//
// `$1` is the number before the page, `$2` the maximum number of entries, `$3` a kind or NULL, `$4`
// an instant or NULL, and `$5` the endpoint.

const LIST: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT id AS entry FROM bankrail_outbox WHERE id > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

// The order begins with the endpoint, here and in the other lists of an endpoint. Otherwise the
// planner would use an index of all entries when it expects many of this endpoint.
const LIST_OF_ENDPOINT: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT endpoint || '' AS endpoint, id AS entry FROM bankrail_outbox
        WHERE (endpoint || '', id) > ($5, $1) AND endpoint || '' <= $5
        ORDER BY endpoint, entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.endpoint, page.entry LIMIT $2";

const LIST_PENDING: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM bankrail_outbox_queue WHERE entry > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

// Lists pending messages of an endpoint in the order of all pending ones, because each enqueue and
// lease would have to write to an index by endpoint in this order.
const LIST_PENDING_OF_ENDPOINT: &str =
    "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM bankrail_outbox_queue WHERE endpoint = $5 AND entry > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

// Lists delivered messages in the order of all finished ones, nearly all of which are delivered.
const LIST_DELIVERED: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM (
            SELECT entry, state FROM bankrail_outbox_finished
            WHERE entry > $1 ORDER BY entry OFFSET 0) AS finished
        WHERE state = 'delivered'
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

// Lists delivered messages of an endpoint in the order of all its messages, because each delivery
// would have to write to an index of the delivered ones.
const LIST_DELIVERED_OF_ENDPOINT: &str =
    "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT endpoint, entry FROM (
            SELECT endpoint || '' AS endpoint, id AS entry FROM bankrail_outbox
            WHERE (endpoint || '', id) > ($5, $1) AND endpoint || '' <= $5
            ORDER BY endpoint, entry OFFSET 0) AS message
        CROSS JOIN LATERAL (
            SELECT state FROM bankrail_outbox_finished AS finished
            WHERE finished.entry = message.entry OFFSET 0) AS finished
        WHERE state = 'delivered'
        ORDER BY endpoint, entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.endpoint, page.entry LIMIT $2";

const LIST_DEAD_LETTERS: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM bankrail_outbox_finished WHERE state = 'dead_letter' AND entry > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

const LIST_DEAD_LETTERS_OF_ENDPOINT: &str =
    "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT endpoint, entry FROM bankrail_outbox_finished
        WHERE state = 'dead_letter' AND (endpoint, entry) > ($5, $1) AND endpoint <= $5
        ORDER BY endpoint, entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.endpoint, page.entry LIMIT $2";

// Lists dropped messages in the order of all dropped ones, which are few because operators drop
// messages one by one.
const LIST_DROPPED: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM bankrail_dropped CROSS JOIN LATERAL (
            SELECT endpoint FROM bankrail_outbox_finished AS finished
            WHERE finished.entry = bankrail_dropped.entry OFFSET 0) AS finished
        WHERE ($5 IS NULL OR endpoint = $5) AND entry > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

pub(super) async fn list(
    session: Session<'_>,
    query: &OutboxQuery,
) -> Result<Vec<OutboxSummary>, Fault> {
    let sql = match (query.state, &query.endpoint) {
        (None, None) => LIST,
        (None, Some(_)) => LIST_OF_ENDPOINT,
        (Some(OutboxState::Pending), None) => LIST_PENDING,
        (Some(OutboxState::Pending), Some(_)) => LIST_PENDING_OF_ENDPOINT,
        (Some(OutboxState::Delivered), None) => LIST_DELIVERED,
        (Some(OutboxState::Delivered), Some(_)) => LIST_DELIVERED_OF_ENDPOINT,
        (Some(OutboxState::DeadLetter), None) => LIST_DEAD_LETTERS,
        (Some(OutboxState::DeadLetter), Some(_)) => LIST_DEAD_LETTERS_OF_ENDPOINT,
        (Some(OutboxState::Dropped), _) => LIST_DROPPED,
    };
    let endpoint = query.endpoint.as_ref().map(EndpointId::as_str);
    let kind = query.kind.as_ref().map(Kind::as_str);
    let before = query.enqueued_before.map(Timestamp::unix_millis);
    let further = params![kind, before, endpoint];
    readable_page(session, sql, query.after, query.page(), further).await
}
