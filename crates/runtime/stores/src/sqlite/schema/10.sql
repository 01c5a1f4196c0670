-- A checksum (CRC-32, ISO-HDLC) over the columns of an entry that a statement shows: number, day, amount, channel and
-- entry. Where it is right, the element is written into a statement as it is. An entry without one was booked by an
-- earlier version and is read before it is shown.
ALTER TABLE bankrail_account_entry ADD COLUMN checksum INTEGER;
