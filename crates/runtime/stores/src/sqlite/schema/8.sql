-- Who stopped an endpoint. Until now only a dispatcher did, or a caller that did not say.
ALTER TABLE bankrail_stopped ADD COLUMN stopped_by TEXT NOT NULL DEFAULT 'unknown';
UPDATE bankrail_stopped SET reason = substr(reason, 1, 500);

-- Messages that an operator has dropped. The row of such a message has the state 'delivered', so that no version of
-- this crate delivers it.
CREATE TABLE bankrail_dropped (
    entry      INTEGER NOT NULL PRIMARY KEY REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    dropped_by TEXT    NOT NULL,
    reason     TEXT    NOT NULL
) STRICT;

-- What the workers share about endpoints that keep failing or asked for a pause.
CREATE TABLE bankrail_circuit (
    endpoint    TEXT    NOT NULL PRIMARY KEY,
    openings    INTEGER NOT NULL,
    open_until  INTEGER,
    rests_until INTEGER
) STRICT, WITHOUT ROWID;
