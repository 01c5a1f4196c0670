-- A received message that brings a result follows the interim message that announced it, and is not leased before that
-- one was handled.
ALTER TABLE bankrail_inbox ADD COLUMN interim BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE bankrail_inbox ADD COLUMN follows BIGINT;
