-- The bank's ledger (`SqliteLedger` of bankrail-bank): accounts, the customers that may ask for them, entries.

CREATE TABLE bankrail_account (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL UNIQUE,
    currency TEXT NOT NULL,
    -- An exact decimal, negative if the account is overdrawn.
    balance TEXT NOT NULL,
    -- The number of the entry that was booked last; 0 before the first.
    last_entry INTEGER NOT NULL
) STRICT;

CREATE TABLE bankrail_account_customer (
    customer TEXT NOT NULL,
    account INTEGER NOT NULL REFERENCES bankrail_account (id),
    name TEXT,
    virtual_accounts INTEGER NOT NULL,
    reporting_source TEXT,
    PRIMARY KEY (customer, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE bankrail_account_entry (
    account INTEGER NOT NULL REFERENCES bankrail_account (id),
    -- Counts the entries of the account in the order in which they were booked, from 1.
    number INTEGER NOT NULL,
    -- The booking day, YYYY-MM-DD.
    day TEXT NOT NULL,
    -- An exact decimal, negative for a debit.
    amount TEXT NOT NULL,
    channel TEXT NOT NULL,
    -- What a repeated booking is known by.
    key TEXT,
    -- The element Ntry of camt.052.001.06.
    entry TEXT NOT NULL
) STRICT;

-- A page of a day: read from one entry on, in either order, without sorting.
CREATE UNIQUE INDEX bankrail_account_entry_day ON bankrail_account_entry (account, day, number);

CREATE UNIQUE INDEX bankrail_account_entry_key ON bankrail_account_entry (account, key) WHERE key IS NOT NULL;
