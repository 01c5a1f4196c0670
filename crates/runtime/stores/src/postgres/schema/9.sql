-- What an operator lists of an endpoint, in the order of enqueueing. No other index begins with the expression, so that
-- the planner cannot take one that it expects to do as well.
CREATE INDEX bankrail_outbox_listed ON bankrail_outbox ((endpoint || ''), id);
CREATE INDEX bankrail_outbox_finished_dead_letter_listed ON bankrail_outbox_finished (endpoint, entry)
    WHERE state = 'dead_letter';
