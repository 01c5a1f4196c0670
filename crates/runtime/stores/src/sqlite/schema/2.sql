-- Rate-limit counters: the state of one customer's calls of one type. Counts are length, current and previous of each
-- window, in milliseconds and requests; expires is when they weigh nothing any more.
CREATE TABLE bankrail_counter (
    customer   TEXT    NOT NULL,
    call_type  TEXT    NOT NULL,
    high_water INTEGER NOT NULL,
    counts     TEXT    NOT NULL,
    expires    INTEGER NOT NULL,
    PRIMARY KEY (customer, call_type)
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_counter_expires ON bankrail_counter (expires);
