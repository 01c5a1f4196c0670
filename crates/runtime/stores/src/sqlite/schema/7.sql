-- The bank's customers (`SqliteDirectory` of bankrail-bank). Instants are milliseconds, lists are in the order of
-- id. `change` is the number of the customer's last change.
CREATE TABLE bankrail_customer (
    code   TEXT    NOT NULL PRIMARY KEY,
    scopes TEXT    NOT NULL,
    change INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The number of the last change of any customer.
CREATE TABLE bankrail_customer_change (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO bankrail_customer_change (last) VALUES (0);

-- Public keys for assertions: SubjectPublicKeyInfo.
CREATE TABLE bankrail_customer_key (
    id       INTEGER NOT NULL PRIMARY KEY,
    customer TEXT    NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    kid      TEXT,
    key      BLOB    NOT NULL
) STRICT;
CREATE INDEX bankrail_customer_key_customer ON bankrail_customer_key (customer);

-- SHA-256 of API keys.
CREATE TABLE bankrail_customer_api_key (
    id         INTEGER NOT NULL PRIMARY KEY,
    customer   TEXT    NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    not_before INTEGER,
    expires    INTEGER
) STRICT;
CREATE INDEX bankrail_customer_api_key_customer ON bankrail_customer_api_key (customer);

-- Limits other than everybody's. Without any number there is no limit; with until it is temporary.
CREATE TABLE bankrail_customer_limit (
    id         INTEGER NOT NULL PRIMARY KEY,
    customer   TEXT    NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    call_type  TEXT    NOT NULL,
    per_hour   INTEGER,
    per_minute INTEGER,
    per_second INTEGER,
    until      INTEGER
) STRICT;
CREATE INDEX bankrail_customer_limit_customer ON bankrail_customer_limit (customer);

-- Accounts that are registered for statements.
CREATE TABLE bankrail_customer_account (
    id               INTEGER NOT NULL PRIMARY KEY,
    customer         TEXT    NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    account          TEXT    NOT NULL,
    currency         TEXT    NOT NULL,
    name             TEXT,
    virtual_accounts INTEGER NOT NULL CHECK (virtual_accounts IN (0, 1)),
    reporting_source TEXT,
    UNIQUE (customer, account)
) STRICT;
CREATE INDEX bankrail_customer_account_account ON bankrail_customer_account (account);

-- Webhook receivers. The API key is in clear, because it is sent.
CREATE TABLE bankrail_customer_endpoint (
    id       INTEGER NOT NULL PRIMARY KEY,
    customer TEXT    NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    endpoint TEXT    NOT NULL UNIQUE,
    url      TEXT    NOT NULL,
    header   TEXT,
    api_key  TEXT,
    kid      TEXT,
    key      BLOB    NOT NULL
) STRICT;
CREATE INDEX bankrail_customer_endpoint_customer ON bankrail_customer_endpoint (customer);

-- Paths of webhook receivers by kind of message.
CREATE TABLE bankrail_customer_endpoint_path (
    endpoint INTEGER NOT NULL REFERENCES bankrail_customer_endpoint (id) ON DELETE CASCADE,
    kind     TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    PRIMARY KEY (endpoint, kind)
) STRICT, WITHOUT ROWID;
