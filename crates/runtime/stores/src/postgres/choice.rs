//! What the choice of the next messages has in common for inbox and outbox.

/// Held until the transaction ends: the choices from the queue whose positions are in the table
/// `$cursor` run one after the other.
macro_rules! lock {
    ($cursor:literal) => {
        concat!(
            "SELECT pg_advisory_xact_lock(hashtextextended('",
            $cursor,
            "', '",
            $cursor,
            "'::regclass::oid::bigint))"
        )
    };
}
pub(super) use lock;

/// The number of the writing transaction, for the next choice of a queue, whose positions are in
/// the table `$cursor`.
///
/// The choice that wrote `seen` cannot have seen a transaction that still writes. If the numbers
/// say that it did, another cluster gave them out, as after a restore of a dump. Then the greatest
/// number makes every choice look at the row.
macro_rules! written {
    ($cursor:literal) => {
        concat!(
            "(SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen) THEN 9223372036854775807
                ELSE txid_current() END FROM ",
            $cursor,
            " ORDER BY number DESC LIMIT 1)"
        )
    };
}
pub(super) use written;

/// Deletes some finished messages from a position on. Returns how many, and the position of the
/// last.
macro_rules! forget {
    ($message:literal, $done:literal) => {
        concat!(
            "WITH piece AS (
                SELECT entry, finished FROM ",
            $message,
            "_finished WHERE ",
            $done,
            " AND finished < $1 AND (finished, entry) > ($2, $3)
                ORDER BY finished, entry LIMIT 500 FOR UPDATE SKIP LOCKED),
            gone AS (DELETE FROM ",
            $message,
            " WHERE id = ANY (ARRAY(SELECT entry FROM piece)))
            SELECT finished, entry, count(*) OVER () AS forgotten FROM piece ORDER BY finished DESC, entry DESC LIMIT 1"
        )
    };
}
pub(super) use forget;
