-- What changes while a message is delivered or handled moves to narrow rows of its own, so that messages are written
-- once. An old version of a row stays in tables and indexes until no open transaction could see it. A search that met
-- those versions would slow down with each message beside a transaction that is held open. So each search begins behind
-- them, at a position that the lease before has recorded.
--
-- `freed` and `changed` hold the number of the transaction that wrote the row, `seen` what the last lease saw. A row
-- that was written since then is found by that number and moves a position back where it must. The greatest number
-- stands for a transaction of another cluster than the one that wrote `seen`, as after a restore.
--
-- The planner takes a queue with few rows for a small one, and old versions are no rows. So each index has a condition
-- of its own, which only the statements that are meant to go by it contain.

-- Messages that are not delivered yet. `lease` numbers the leases in the order in which they were given.
CREATE TABLE bankrail_outbox_queue (
    entry      BIGINT  PRIMARY KEY REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    endpoint   TEXT    NOT NULL COLLATE "C",
    due        BIGINT  NOT NULL,
    deliveries INTEGER NOT NULL DEFAULT 0,
    owner      BYTEA   CHECK (length(owner) = 16),
    until      BIGINT  CHECK ((owner IS NULL) = (until IS NULL)),
    lease      BIGINT  CHECK ((owner IS NULL) = (lease IS NULL)),
    freed      BIGINT  CHECK ((owner IS NULL) = (freed IS NOT NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);
CREATE INDEX bankrail_outbox_free ON bankrail_outbox_queue (endpoint, due, entry) WHERE owner IS NULL;
CREATE INDEX bankrail_outbox_freed ON bankrail_outbox_queue (freed) WHERE freed IS NOT NULL;
CREATE INDEX bankrail_outbox_lease ON bankrail_outbox_queue (lease) WHERE lease IS NOT NULL;

-- Messages that were delivered, given up or dropped. Who dropped one and why is in `bankrail_dropped`.
CREATE TABLE bankrail_outbox_finished (
    entry      BIGINT  PRIMARY KEY REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    endpoint   TEXT    NOT NULL COLLATE "C",
    state      TEXT    NOT NULL CHECK (state IN ('delivered', 'dead_letter', 'dropped')),
    due        BIGINT  NOT NULL,
    deliveries INTEGER NOT NULL,
    finished   BIGINT  NOT NULL
);

-- One row for each change of the positions at which leasing begins. The last row holds; the marks are in all rows from
-- `marks_from` on, a later one for an endpoint instead of an earlier one, and NULL where nothing is free.
CREATE TABLE bankrail_outbox_cursor (
    number      BIGINT        PRIMARY KEY,
    seen        TXID_SNAPSHOT NOT NULL,
    leases_from BIGINT        NOT NULL,
    leases_to   BIGINT        NOT NULL,
    marks_from  BIGINT        NOT NULL,
    endpoints   TEXT[]        NOT NULL,
    dues        BIGINT[]      NOT NULL,
    entries     BIGINT[]      NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

INSERT INTO bankrail_outbox_queue (entry, endpoint, due, deliveries, owner, until, lease, freed)
    SELECT id, endpoint, due, deliveries, owner, until, CASE WHEN owner IS NOT NULL THEN row_number() OVER () END,
        CASE WHEN owner IS NULL THEN txid_current() END
    FROM bankrail_outbox WHERE state = 'pending';
INSERT INTO bankrail_outbox_finished (entry, endpoint, state, due, deliveries, finished)
    SELECT id, endpoint, CASE WHEN dropped.entry IS NULL THEN state ELSE 'dropped' END, due, deliveries,
        coalesce(finished, due)
    FROM bankrail_outbox LEFT JOIN bankrail_dropped AS dropped ON dropped.entry = id WHERE state <> 'pending';
INSERT INTO bankrail_outbox_cursor (number, seen, leases_from, leases_to, marks_from, endpoints, dues, entries)
    SELECT 1, '1:1:', 1, coalesce(max(lease), 0) + 1, 1, '{}', '{}', '{}' FROM bankrail_outbox_queue;
CREATE INDEX bankrail_outbox_finished_done ON bankrail_outbox_finished (finished, entry) WHERE state <> 'dead_letter';
CREATE INDEX bankrail_outbox_finished_dead_letter ON bankrail_outbox_finished (entry) WHERE state = 'dead_letter';
ALTER TABLE bankrail_outbox DROP COLUMN state, DROP COLUMN due, DROP COLUMN owner, DROP COLUMN until,
    DROP COLUMN deliveries, DROP COLUMN finished;

-- Received messages that are not handled yet. A message waits until it is due and its lease is over; `waits` is NULL
-- once it was found ready.
CREATE TABLE bankrail_inbox_queue (
    entry      BIGINT  PRIMARY KEY REFERENCES bankrail_inbox (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL COLLATE "C",
    follows    BIGINT,
    due        BIGINT  NOT NULL,
    owner      BYTEA   CHECK (length(owner) = 16),
    until      BIGINT  CHECK ((owner IS NULL) = (until IS NULL)),
    attempts   INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    waits      BIGINT,
    changed    BIGINT
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);
CREATE INDEX bankrail_inbox_queue_ready ON bankrail_inbox_queue (kind, entry) WHERE waits IS NULL;
CREATE INDEX bankrail_inbox_queue_waiting ON bankrail_inbox_queue (waits) WHERE waits IS NOT NULL;
CREATE INDEX bankrail_inbox_queue_changed ON bankrail_inbox_queue (changed) WHERE changed IS NOT NULL;

-- Received messages that were handled or given up.
CREATE TABLE bankrail_inbox_finished (
    entry      BIGINT  PRIMARY KEY REFERENCES bankrail_inbox (id) ON DELETE CASCADE,
    state      TEXT    NOT NULL CHECK (state IN ('completed', 'dead_letter')),
    attempts   INTEGER NOT NULL,
    last_error TEXT,
    finished   BIGINT  NOT NULL
);

-- The positions at which leasing begins: no message waits for an instant before `waits_from`, and no message of a kind
-- is ready before the kind's entry. The last row holds.
CREATE TABLE bankrail_inbox_cursor (
    number     BIGINT        PRIMARY KEY,
    seen       TXID_SNAPSHOT NOT NULL,
    waits_from BIGINT        NOT NULL,
    kinds      TEXT[]        NOT NULL,
    entries    BIGINT[]      NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

INSERT INTO bankrail_inbox_queue
    (entry, kind, follows, due, owner, until, attempts, last_error, waits, changed)
    SELECT id, kind, follows, due, owner, until, attempts, last_error, waits, txid_current()
    FROM bankrail_inbox WHERE state = 'pending';
INSERT INTO bankrail_inbox_finished (entry, state, attempts, last_error, finished)
    SELECT id, state, attempts, last_error, coalesce(finished, due) FROM bankrail_inbox WHERE state <> 'pending';
INSERT INTO bankrail_inbox_cursor (number, seen, waits_from, kinds, entries)
    VALUES (1, '1:1:', 9223372036854775807, '{}', '{}');
CREATE INDEX bankrail_inbox_finished_completed ON bankrail_inbox_finished (finished, entry) WHERE state = 'completed';
CREATE INDEX bankrail_inbox_finished_dead_letter ON bankrail_inbox_finished (entry) WHERE state = 'dead_letter';
ALTER TABLE bankrail_inbox DROP COLUMN state, DROP COLUMN due, DROP COLUMN owner, DROP COLUMN until,
    DROP COLUMN attempts, DROP COLUMN last_error, DROP COLUMN waits, DROP COLUMN finished;
