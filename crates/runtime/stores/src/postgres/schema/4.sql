-- Histories of mandates and payments, as JSON. `change` is the number of the last change.
CREATE TABLE bankrail_history (
    id      BIGINT  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    scope   TEXT    NOT NULL COLLATE "C",
    state   TEXT    NOT NULL,
    final   BOOLEAN NOT NULL,
    changed BIGINT  NOT NULL,
    change  BIGINT  NOT NULL UNIQUE,
    history BYTEA   NOT NULL
);
CREATE INDEX bankrail_history_state ON bankrail_history (scope, state, id);
CREATE INDEX bankrail_history_final ON bankrail_history (changed) WHERE final;

-- The names of the mandate or payment of a history.
CREATE TABLE bankrail_history_name (
    scope TEXT   NOT NULL COLLATE "C",
    name  TEXT   NOT NULL COLLATE "C",
    id    BIGINT NOT NULL REFERENCES bankrail_history (id) ON DELETE CASCADE,
    PRIMARY KEY (scope, name)
);
CREATE INDEX bankrail_history_name_id ON bankrail_history_name (id);

-- The number of the last change of any history. Its row is locked by whoever folds a message, so that changes become
-- visible in the order of their numbers.
CREATE TABLE bankrail_history_change (
    last BIGINT NOT NULL
);
INSERT INTO bankrail_history_change (last) VALUES (0);
