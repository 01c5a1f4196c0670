-- Ready messages are found by kind, so that a lease does not read those that nobody handles.
DROP INDEX bankrail_inbox_ready;
CREATE INDEX bankrail_inbox_ready ON bankrail_inbox (kind, id, due, until, follows)
    WHERE state = 'pending' AND waits IS NULL;
