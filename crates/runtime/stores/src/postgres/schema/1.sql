-- Instants are milliseconds since the UNIX epoch. Text is compared by its bytes, as the other engines do.

-- Received messages. A lease is an owner and an end, or neither. A pending entry waits until it is due and its lease is
-- over; `waits` is NULL once it was found ready.
CREATE TABLE bankrail_inbox (
    id              BIGINT  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    kind            TEXT    NOT NULL,
    attributes      BYTEA   NOT NULL,
    fingerprint     BYTEA   NOT NULL CHECK (length(fingerprint) = 32),
    acknowledgement BYTEA   NOT NULL,
    received        BIGINT  NOT NULL,
    conflicts_with  BIGINT,
    state           TEXT    NOT NULL CHECK (state IN ('pending', 'completed', 'dead_letter')),
    due             BIGINT  NOT NULL,
    owner           BYTEA   CHECK (length(owner) = 16),
    until           BIGINT  CHECK ((owner IS NULL) = (until IS NULL)),
    attempts        INTEGER NOT NULL DEFAULT 0,
    last_error      TEXT,
    waits           BIGINT,
    finished        BIGINT,
    body            BYTEA   NOT NULL
);
CREATE INDEX bankrail_inbox_ready ON bankrail_inbox (id) WHERE state = 'pending' AND waits IS NULL;
CREATE INDEX bankrail_inbox_waiting ON bankrail_inbox (waits) WHERE state = 'pending' AND waits IS NOT NULL;
CREATE INDEX bankrail_inbox_completed ON bankrail_inbox (finished) WHERE state = 'completed';
CREATE INDEX bankrail_inbox_dead_letter ON bankrail_inbox (id) WHERE state = 'dead_letter';

-- The duplicate keys of received messages. Entries in conflict have a key in common, but never a key and a fingerprint:
-- a caller's transaction that does not see the other entry fails instead of storing a message twice.
CREATE TABLE bankrail_inbox_key (
    key         BYTEA  NOT NULL CHECK (length(key) = 32),
    fingerprint BYTEA  NOT NULL,
    id          BIGINT NOT NULL REFERENCES bankrail_inbox (id) ON DELETE CASCADE,
    PRIMARY KEY (key, fingerprint)
);
CREATE INDEX bankrail_inbox_key_id ON bankrail_inbox_key (id);

-- Messages to deliver.
CREATE TABLE bankrail_outbox (
    id             BIGINT  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    endpoint       TEXT    NOT NULL COLLATE "C",
    kind           TEXT    NOT NULL,
    message_id     TEXT    NOT NULL,
    fingerprint    BYTEA   NOT NULL CHECK (length(fingerprint) = 32),
    attributes     BYTEA   NOT NULL,
    state          TEXT    NOT NULL CHECK (state IN ('pending', 'delivered', 'dead_letter')),
    enqueued       BIGINT  NOT NULL,
    due            BIGINT  NOT NULL,
    owner          BYTEA   CHECK (length(owner) = 16),
    until          BIGINT  CHECK ((owner IS NULL) = (until IS NULL)),
    deliveries     INTEGER NOT NULL DEFAULT 0,
    finished       BIGINT,
    body           BYTEA   NOT NULL,
    UNIQUE (endpoint, message_id)
);
CREATE INDEX bankrail_outbox_pending ON bankrail_outbox (endpoint, due, id) WHERE state = 'pending';
CREATE INDEX bankrail_outbox_leased ON bankrail_outbox (endpoint, until) WHERE owner IS NOT NULL;
CREATE INDEX bankrail_outbox_delivered ON bankrail_outbox (finished) WHERE state = 'delivered';
CREATE INDEX bankrail_outbox_dead_letter ON bankrail_outbox (id) WHERE state = 'dead_letter';

-- The deliveries of each message, in the order in which they were recorded. Durations are milliseconds.
CREATE TABLE bankrail_delivery (
    entry    BIGINT  NOT NULL REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    started  BIGINT  NOT NULL,
    duration BIGINT  NOT NULL,
    status   INTEGER,
    note     TEXT,
    PRIMARY KEY (entry, number)
);

-- Endpoints that are stopped: nothing is delivered to them.
CREATE TABLE bankrail_stopped (
    endpoint TEXT   PRIMARY KEY COLLATE "C",
    since    BIGINT NOT NULL,
    reason   TEXT   NOT NULL
);
