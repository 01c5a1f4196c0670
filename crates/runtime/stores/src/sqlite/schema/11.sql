-- What was received, as it came: sealed by its owner. begin counts the bytes of all records of the kind before it, also of
-- those that are gone. No number is used twice.
CREATE TABLE bankrail_archive (
    number  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind    TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    call    TEXT,
    at      INTEGER NOT NULL,
    begin   INTEGER NOT NULL,
    sealed  BLOB    NOT NULL
) STRICT;
CREATE INDEX bankrail_archive_begin ON bankrail_archive (kind, begin);
CREATE INDEX bankrail_archive_at ON bankrail_archive (kind, at);
