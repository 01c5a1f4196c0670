-- The bank's ledger (`PostgresLedger` of bankrail-bank): accounts, the customers that may ask for them, entries. A
-- booking locks the row of its account until it is committed, so that entries become visible in the order of their
-- numbers.
CREATE TABLE bankrail_account (
    id         BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    account    TEXT   NOT NULL UNIQUE COLLATE "C",
    currency   TEXT   NOT NULL,
    -- An exact decimal, negative if the account is overdrawn.
    balance    TEXT   NOT NULL,
    -- The number of the entry that was booked last; 0 before the first.
    last_entry BIGINT NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE bankrail_account_customer (
    customer         TEXT    NOT NULL COLLATE "C",
    account          BIGINT  NOT NULL REFERENCES bankrail_account (id),
    name             TEXT,
    virtual_accounts BOOLEAN NOT NULL,
    reporting_source TEXT,
    PRIMARY KEY (customer, account)
);

CREATE TABLE bankrail_account_entry (
    account  BIGINT NOT NULL REFERENCES bankrail_account (id),
    -- Counts the entries of the account in the order in which they were booked, from 1.
    number   BIGINT NOT NULL,
    -- The booking day, YYYY-MM-DD.
    day      TEXT   NOT NULL COLLATE "C",
    -- An exact decimal, negative for a debit.
    amount   TEXT   NOT NULL,
    channel  TEXT   NOT NULL,
    -- What a repeated booking is known by.
    key      TEXT   COLLATE "C",
    -- The element Ntry of camt.052.001.06.
    entry    TEXT   NOT NULL,
    -- CRC-32 (ISO-HDLC) over number, day, amount, channel and entry.
    checksum BIGINT NOT NULL
);
CREATE UNIQUE INDEX bankrail_account_entry_day ON bankrail_account_entry (account, day, number);
CREATE UNIQUE INDEX bankrail_account_entry_key ON bankrail_account_entry (account, key) WHERE key IS NOT NULL;

-- The bank's customers (`PostgresDirectory` of bankrail-bank). Instants are milliseconds, lists are in the order of id.
-- `change` is the number of the customer's last change.
CREATE TABLE bankrail_customer (
    code   TEXT   PRIMARY KEY COLLATE "C",
    scopes TEXT   NOT NULL,
    change BIGINT NOT NULL
);

-- The number of the last change of any customer. Whoever changes one locks the row first.
CREATE TABLE bankrail_customer_change (
    last BIGINT NOT NULL
);
INSERT INTO bankrail_customer_change (last) VALUES (0);

-- Public keys for assertions: SubjectPublicKeyInfo.
CREATE TABLE bankrail_customer_key (
    id       BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    customer TEXT   NOT NULL COLLATE "C" REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    kid      TEXT,
    key      BYTEA  NOT NULL
);
CREATE INDEX bankrail_customer_key_customer ON bankrail_customer_key (customer, id);

-- SHA-256 of API keys.
CREATE TABLE bankrail_customer_api_key (
    id         BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    customer   TEXT   NOT NULL COLLATE "C" REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    hash       BYTEA  NOT NULL UNIQUE CHECK (length(hash) = 32),
    not_before BIGINT,
    expires    BIGINT
);
CREATE INDEX bankrail_customer_api_key_customer ON bankrail_customer_api_key (customer, id);

-- Limits other than everybody's. Without any number there is no limit; with until it is temporary.
CREATE TABLE bankrail_customer_limit (
    id         BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    customer   TEXT   NOT NULL COLLATE "C" REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    call_type  TEXT   NOT NULL,
    per_hour   BIGINT,
    per_minute BIGINT,
    per_second BIGINT,
    until      BIGINT
);
CREATE INDEX bankrail_customer_limit_customer ON bankrail_customer_limit (customer, id);

-- Accounts that are registered for statements.
CREATE TABLE bankrail_customer_account (
    id               BIGINT  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    customer         TEXT    NOT NULL COLLATE "C" REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    account          TEXT    NOT NULL COLLATE "C",
    currency         TEXT    NOT NULL,
    name             TEXT,
    virtual_accounts BOOLEAN NOT NULL,
    reporting_source TEXT,
    UNIQUE (customer, account)
);
CREATE INDEX bankrail_customer_account_customer ON bankrail_customer_account (customer, id);
CREATE INDEX bankrail_customer_account_account ON bankrail_customer_account (account);

-- Webhook receivers. The API key is in clear, because it is sent.
CREATE TABLE bankrail_customer_endpoint (
    id       BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    customer TEXT   NOT NULL COLLATE "C" REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    endpoint TEXT   NOT NULL UNIQUE COLLATE "C",
    url      TEXT   NOT NULL,
    header   TEXT,
    api_key  TEXT,
    kid      TEXT,
    key      BYTEA  NOT NULL
);
CREATE INDEX bankrail_customer_endpoint_customer ON bankrail_customer_endpoint (customer, id);

-- Paths of webhook receivers by kind of message.
CREATE TABLE bankrail_customer_endpoint_path (
    endpoint BIGINT NOT NULL REFERENCES bankrail_customer_endpoint (id) ON DELETE CASCADE,
    kind     TEXT   NOT NULL,
    path     TEXT   NOT NULL,
    PRIMARY KEY (endpoint, kind)
);
