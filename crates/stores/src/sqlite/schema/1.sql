-- Instants are milliseconds since the UNIX epoch.

-- Used assertions: SHA-256 of what identifies one.
CREATE TABLE bankrail_replay (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_replay_expires ON bankrail_replay (expires);
