-- A received message that brings a result follows the interim message that announced it, and is not leased before that
-- one was handled.
ALTER TABLE bankrail_inbox ADD COLUMN interim INTEGER NOT NULL DEFAULT 0 CHECK (interim IN (0, 1));
ALTER TABLE bankrail_inbox ADD COLUMN follows INTEGER;
DROP INDEX bankrail_inbox_ready;
CREATE INDEX bankrail_inbox_ready ON bankrail_inbox (id, due, until, kind, follows)
    WHERE state = 'pending' AND waits IS NULL;
