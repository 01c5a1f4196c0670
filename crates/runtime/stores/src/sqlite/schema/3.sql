-- The position that the walk through each account's statement has reached.
CREATE TABLE bankrail_seen_position (
    account  TEXT NOT NULL PRIMARY KEY,
    position TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Access tokens that a customer keeps for later calls, sealed by the customer, by a hash of what they are for.
CREATE TABLE bankrail_cached_token (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    sealed  BLOB    NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_cached_token_expires ON bankrail_cached_token (expires);
