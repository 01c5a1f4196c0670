-- The payloads of messages. They are written once; what a lease, a delivery or a handler changes is in the narrow rows of
-- bankrail_outbox and bankrail_inbox, of which a page holds many.
CREATE TABLE bankrail_outbox_body (
    id   INTEGER NOT NULL PRIMARY KEY REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    body BLOB    NOT NULL
) STRICT;
INSERT INTO bankrail_outbox_body (id, body) SELECT id, body FROM bankrail_outbox;
ALTER TABLE bankrail_outbox DROP COLUMN body;

CREATE TABLE bankrail_inbox_body (
    id   INTEGER NOT NULL PRIMARY KEY REFERENCES bankrail_inbox (id) ON DELETE CASCADE,
    body BLOB    NOT NULL
) STRICT;
INSERT INTO bankrail_inbox_body (id, body) SELECT id, body FROM bankrail_inbox;
ALTER TABLE bankrail_inbox DROP COLUMN body;
