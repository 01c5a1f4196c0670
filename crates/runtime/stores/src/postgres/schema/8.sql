-- The entries of days before this one, YYYY-MM-DD, were forgotten: nothing is booked on them, and what is still to be
-- deleted is not shown. Empty: none were.
ALTER TABLE bankrail_account ADD COLUMN forgotten_before TEXT NOT NULL DEFAULT '' COLLATE "C";
