-- Instants are milliseconds since the UNIX epoch. A state is checked with OR, because SQLite builds a table at each
-- write for a list of more than two values.

-- Used assertions, each by the SHA-256 that identifies it.
CREATE TABLE bankrail_replay (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_replay_expires ON bankrail_replay (expires);

-- Access tokens: SHA-256 of the token, and its grant.
CREATE TABLE bankrail_token (
    hash     BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    customer TEXT    NOT NULL,
    scopes   TEXT    NOT NULL,
    issued   INTEGER NOT NULL,
    expires  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_token_expires ON bankrail_token (expires);

-- Statement entries that were imported: the highest occurrence of each key, by account. A day is YYYY-MM-DD.
CREATE TABLE bankrail_seen (
    account TEXT    NOT NULL,
    key     BLOB    NOT NULL CHECK (length(key) = 32),
    count   INTEGER NOT NULL CHECK (count > 0),
    day     TEXT,
    PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_seen_day ON bankrail_seen (account, day) WHERE day IS NOT NULL;

-- Received messages. A lease is an owner and an end, or neither. A pending entry waits until it is due and its lease is
-- over; `waits` is NULL once it was found ready.
CREATE TABLE bankrail_inbox (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL,
    attributes      BLOB    NOT NULL,
    fingerprint     BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    acknowledgement BLOB    NOT NULL,
    received        INTEGER NOT NULL,
    conflicts_with  INTEGER,
    state           TEXT    NOT NULL CHECK (state = 'pending' OR state = 'completed' OR state = 'dead_letter'),
    due             INTEGER NOT NULL,
    owner           BLOB    CHECK (length(owner) = 16),
    until           INTEGER CHECK ((owner IS NULL) = (until IS NULL)),
    attempts        INTEGER NOT NULL DEFAULT 0,
    last_error      TEXT,
    waits           INTEGER,
    finished        INTEGER,
    body            BLOB    NOT NULL
) STRICT;
CREATE INDEX bankrail_inbox_ready ON bankrail_inbox (id, due, until, kind) WHERE state = 'pending' AND waits IS NULL;
CREATE INDEX bankrail_inbox_waiting ON bankrail_inbox (waits) WHERE state = 'pending' AND waits IS NOT NULL;
CREATE INDEX bankrail_inbox_completed ON bankrail_inbox (finished) WHERE state = 'completed';
CREATE INDEX bankrail_inbox_dead_letter ON bankrail_inbox (id) WHERE state = 'dead_letter';

-- The duplicate keys of received messages. Entries in conflict have a key in common.
CREATE TABLE bankrail_inbox_key (
    key BLOB    NOT NULL CHECK (length(key) = 32),
    id  INTEGER NOT NULL REFERENCES bankrail_inbox (id) ON DELETE CASCADE,
    PRIMARY KEY (key, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_inbox_key_id ON bankrail_inbox_key (id);

-- Messages to deliver.
CREATE TABLE bankrail_outbox (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    endpoint       TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    message_id     TEXT    NOT NULL,
    fingerprint    BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    attributes     BLOB    NOT NULL,
    state          TEXT    NOT NULL CHECK (state = 'pending' OR state = 'delivered' OR state = 'dead_letter'),
    enqueued       INTEGER NOT NULL,
    due            INTEGER NOT NULL,
    owner          BLOB    CHECK (length(owner) = 16),
    until          INTEGER CHECK ((owner IS NULL) = (until IS NULL)),
    deliveries     INTEGER NOT NULL DEFAULT 0,
    finished       INTEGER,
    body           BLOB    NOT NULL,
    UNIQUE (endpoint, message_id)
) STRICT;
CREATE INDEX bankrail_outbox_pending ON bankrail_outbox (endpoint, due, id) WHERE state = 'pending';
CREATE INDEX bankrail_outbox_leased ON bankrail_outbox (endpoint, until) WHERE owner IS NOT NULL;
CREATE INDEX bankrail_outbox_delivered ON bankrail_outbox (finished) WHERE state = 'delivered';
CREATE INDEX bankrail_outbox_dead_letter ON bankrail_outbox (id) WHERE state = 'dead_letter';

-- The deliveries of each message, in the order in which they were recorded. Durations are milliseconds.
CREATE TABLE bankrail_delivery (
    entry    INTEGER NOT NULL REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    started  INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    status   INTEGER,
    note     TEXT,
    PRIMARY KEY (entry, number)
) STRICT, WITHOUT ROWID;

-- Endpoints that are stopped: nothing is delivered to them.
CREATE TABLE bankrail_stopped (
    endpoint TEXT    NOT NULL PRIMARY KEY,
    since    INTEGER NOT NULL,
    reason   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
