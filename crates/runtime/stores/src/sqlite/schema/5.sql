-- Histories of mandates and payments, as JSON. `change` is the number of the last change.
CREATE TABLE bankrail_history (
    id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    scope   TEXT    NOT NULL,
    state   TEXT    NOT NULL,
    final   INTEGER NOT NULL CHECK (final IN (0, 1)),
    changed INTEGER NOT NULL,
    change  INTEGER NOT NULL UNIQUE,
    history BLOB    NOT NULL
) STRICT;
CREATE INDEX bankrail_history_state ON bankrail_history (scope, state, id);
CREATE INDEX bankrail_history_final ON bankrail_history (changed) WHERE final = 1;

-- The names of the mandate or payment of a history.
CREATE TABLE bankrail_history_name (
    scope TEXT    NOT NULL,
    name  TEXT    NOT NULL,
    id    INTEGER NOT NULL REFERENCES bankrail_history (id) ON DELETE CASCADE,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_history_name_id ON bankrail_history_name (id);

-- The number of the last change of any history.
CREATE TABLE bankrail_history_change (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO bankrail_history_change (last) VALUES (0);
