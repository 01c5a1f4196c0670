-- How many messages of each endpoint are in each state, so that an operator's look does not count them. Triggers keep the
-- counts, so that no statement can forget to. The row of a dropped message has the state 'delivered'.
CREATE TABLE bankrail_outbox_count (
    endpoint     TEXT    NOT NULL PRIMARY KEY,
    pending      INTEGER NOT NULL,
    delivered    INTEGER NOT NULL,
    dead_letters INTEGER NOT NULL,
    dropped      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO bankrail_outbox_count (endpoint, pending, delivered, dead_letters, dropped)
    SELECT endpoint, sum(state = 'pending'), sum(state = 'delivered' AND entry IS NULL), sum(state = 'dead_letter'),
        count(entry)
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id GROUP BY endpoint;

CREATE TRIGGER bankrail_outbox_enqueued AFTER INSERT ON bankrail_outbox BEGIN
    INSERT INTO bankrail_outbox_count (endpoint, pending, delivered, dead_letters, dropped)
        VALUES (NEW.endpoint, 1, 0, 0, 0) ON CONFLICT (endpoint) DO UPDATE SET pending = pending + 1;
END;
CREATE TRIGGER bankrail_outbox_changed AFTER UPDATE OF state ON bankrail_outbox WHEN NEW.state <> OLD.state BEGIN
    UPDATE bankrail_outbox_count SET
        pending = pending + (NEW.state = 'pending') - (OLD.state = 'pending'),
        delivered = delivered + (NEW.state = 'delivered') - (OLD.state = 'delivered'),
        dead_letters = dead_letters + (NEW.state = 'dead_letter') - (OLD.state = 'dead_letter')
    WHERE endpoint = NEW.endpoint;
END;
CREATE TRIGGER bankrail_outbox_dropped AFTER INSERT ON bankrail_dropped BEGIN
    UPDATE bankrail_outbox_count SET delivered = delivered - 1, dropped = dropped + 1
    WHERE endpoint = (SELECT endpoint FROM bankrail_outbox WHERE id = NEW.entry);
END;
-- Before it is deleted, it is still known whether it was dropped.
CREATE TRIGGER bankrail_outbox_forgotten BEFORE DELETE ON bankrail_outbox BEGIN
    UPDATE bankrail_outbox_count SET
        pending = pending - (OLD.state = 'pending'),
        delivered = delivered - (OLD.state = 'delivered' AND NOT EXISTS (
            SELECT 1 FROM bankrail_dropped WHERE entry = OLD.id)),
        dead_letters = dead_letters - (OLD.state = 'dead_letter'),
        dropped = dropped - EXISTS (SELECT 1 FROM bankrail_dropped WHERE entry = OLD.id)
    WHERE endpoint = OLD.endpoint;
END;

-- The messages of an endpoint in a state, in the order of enqueueing.
CREATE INDEX bankrail_outbox_state ON bankrail_outbox (state, endpoint, id);
