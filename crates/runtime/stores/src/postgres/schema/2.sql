-- Statement entries that were imported: the highest occurrence of each key, by account. A day is YYYY-MM-DD.
CREATE TABLE bankrail_seen (
    account TEXT   NOT NULL COLLATE "C",
    key     BYTEA  NOT NULL CHECK (length(key) = 32),
    count   BIGINT NOT NULL CHECK (count > 0),
    day     TEXT   COLLATE "C",
    PRIMARY KEY (account, key)
);
CREATE INDEX bankrail_seen_day ON bankrail_seen (account, day) WHERE day IS NOT NULL;

-- The position that the walk through each account's statement has reached: UTF-8, which may hold U+0000.
CREATE TABLE bankrail_seen_position (
    account  TEXT  PRIMARY KEY COLLATE "C",
    position BYTEA NOT NULL
);

-- Rate-limit counters: the state of one customer's calls of one type. A customer is UTF-8, which may hold U+0000.
-- Counts are length, current and previous of each window, in milliseconds and requests; expires is when they weigh
-- nothing any more.
CREATE TABLE bankrail_counter (
    customer   BYTEA  NOT NULL,
    call_type  TEXT   NOT NULL COLLATE "C",
    high_water BIGINT NOT NULL,
    counts     TEXT   NOT NULL,
    expires    BIGINT NOT NULL,
    PRIMARY KEY (customer, call_type)
);
CREATE INDEX bankrail_counter_expires ON bankrail_counter (expires);

-- Access tokens that a customer keeps for later calls, sealed by the customer, by a hash of what they are for.
CREATE TABLE bankrail_cached_token (
    key     BYTEA  PRIMARY KEY CHECK (length(key) = 32),
    sealed  BYTEA  NOT NULL,
    expires BIGINT NOT NULL
);
CREATE INDEX bankrail_cached_token_expires ON bankrail_cached_token (expires);
