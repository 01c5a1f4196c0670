-- Instants are milliseconds since the UNIX epoch.

-- Used assertions: SHA-256 of what identifies one.
CREATE TABLE bankrail_replay (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_replay_expires ON bankrail_replay (expires);

-- Access tokens: SHA-256 of the token, and what it was granted for.
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
