-- A customer's record is one text, that of the customer's TOML file (`CustomerRecord::to_toml` of bankrail-bank), beside
-- the names that lookups and checks go by.
CREATE TABLE bankrail_customer_name (
    kind     TEXT NOT NULL CHECK (kind IN ('api_key', 'account', 'endpoint')),
    -- The SHA-256 of an API key in hexadecimal digits, the number of an account, the id of an endpoint.
    name     TEXT NOT NULL,
    customer TEXT NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    PRIMARY KEY (kind, name, customer)
) STRICT, WITHOUT ROWID;
CREATE INDEX bankrail_customer_name_customer ON bankrail_customer_name (customer);
-- Only an account may be registered for several customers.
CREATE UNIQUE INDEX bankrail_customer_name_once ON bankrail_customer_name (kind, name) WHERE kind <> 'account';

INSERT INTO bankrail_customer_name (kind, name, customer)
    SELECT 'api_key', lower(hex(hash)), customer FROM bankrail_customer_api_key
    UNION ALL SELECT 'account', account, customer FROM bankrail_customer_account
    UNION ALL SELECT 'endpoint', endpoint, customer FROM bankrail_customer_endpoint;

-- SQLite writes hexadecimal digits and no base64: each three digits are two characters of it.
CREATE TEMP TABLE bankrail_base64 (
    digits     TEXT NOT NULL PRIMARY KEY,
    characters TEXT NOT NULL
) STRICT, WITHOUT ROWID;
WITH RECURSIVE
    number (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM number WHERE n < 4095),
    alphabet (a) AS (VALUES ('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'))
INSERT INTO bankrail_base64 (digits, characters)
    SELECT printf('%03X', n), substr(a, 1 + n / 64, 1) || substr(a, 1 + n % 64, 1) FROM number, alphabet;

-- Public keys as PEM, quoted.
CREATE TEMP TABLE bankrail_pem (
    owner TEXT    NOT NULL,
    id    INTEGER NOT NULL,
    pem   TEXT    NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
WITH RECURSIVE
    key (owner, id, der) AS (
        SELECT 'customer', id, key FROM bankrail_customer_key
        UNION ALL SELECT 'endpoint', id, key FROM bankrail_customer_endpoint
    ),
    -- The digits that are left, and the characters so far. Two more digits fill up the last three.
    step (owner, id, bytes, rest, base64) AS (
        SELECT owner, id, length(der), hex(der) || '00', '' FROM key
        UNION ALL
        SELECT owner, id, bytes, substr(rest, 4), base64 || characters
            FROM step JOIN bankrail_base64 ON digits = substr(rest, 1, 3)
    )
INSERT INTO bankrail_pem (owner, id, pem)
    SELECT owner, id, '"-----BEGIN PUBLIC KEY-----\n'
        || substr(base64, 1, (bytes * 8 + 5) / 6) || substr('==', 1, (3 - bytes % 3) % 3)
        || '\n-----END PUBLIC KEY-----\n"'
    FROM step WHERE length(rest) < 3;

-- A JSON string is a string of TOML, but for a delete character, which a kid may have. Of no value, json_quote makes
-- the text null, without quotation marks.
ALTER TABLE bankrail_customer ADD COLUMN record TEXT NOT NULL DEFAULT '';
UPDATE bankrail_customer SET record =
    'code = ' || json_quote(code) || char(10)
    || 'scopes = ["' || replace(scopes, ' ', '", "') || '"]' || char(10)
    || coalesce((
        SELECT group_concat('[[keys]]' || char(10)
            || coalesce('kid = ' || replace(nullif(json_quote(kid), 'null'), char(127), '\u007F') || char(10), '')
            || 'pem = ' || pem || char(10), '' ORDER BY id)
        FROM bankrail_customer_key JOIN bankrail_pem USING (id)
        WHERE owner = 'customer' AND customer = code
    ), '')
    || coalesce((
        SELECT group_concat('[[api_keys]]' || char(10)
            || 'sha256 = "' || lower(hex(hash)) || '"' || char(10)
            || coalesce('not_before = ' || strftime('%Y-%m-%dT%H:%M:%fZ', not_before / 1000.0, 'unixepoch') || char(10), '')
            || coalesce('expires = ' || strftime('%Y-%m-%dT%H:%M:%fZ', expires / 1000.0, 'unixepoch') || char(10), ''),
            '' ORDER BY id)
        FROM bankrail_customer_api_key WHERE customer = code
    ), '')
    || coalesce((
        SELECT group_concat('[[limits]]' || char(10)
            || 'call_type = ' || json_quote(call_type) || char(10)
            || coalesce('per_hour = ' || per_hour || char(10), '')
            || coalesce('per_minute = ' || per_minute || char(10), '')
            || coalesce('per_second = ' || per_second || char(10), '')
            || CASE WHEN coalesce(per_hour, per_minute, per_second) IS NULL
                THEN 'unlimited = true' || char(10) ELSE '' END
            || coalesce('until = ' || strftime('%Y-%m-%dT%H:%M:%fZ', until / 1000.0, 'unixepoch') || char(10), ''),
            '' ORDER BY id)
        FROM bankrail_customer_limit WHERE customer = code
    ), '')
    || coalesce((
        SELECT group_concat('[[accounts]]' || char(10)
            || 'id = ' || json_quote(account) || char(10)
            || 'currency = ' || json_quote(currency) || char(10)
            || coalesce('name = ' || nullif(json_quote(name), 'null') || char(10), '')
            || CASE WHEN virtual_accounts THEN 'virtual_accounts = true' || char(10) ELSE '' END
            || coalesce('reporting_source = ' || nullif(json_quote(reporting_source), 'null') || char(10), ''),
            '' ORDER BY id)
        FROM bankrail_customer_account WHERE customer = code
    ), '')
    || coalesce((
        SELECT group_concat('[[endpoints]]' || char(10)
            || 'id = ' || json_quote(endpoint) || char(10)
            || 'url = ' || json_quote(url) || char(10)
            || coalesce('paths = { ' || (
                SELECT group_concat(kind || ' = ' || json_quote(path), ', ')
                FROM bankrail_customer_endpoint_path AS path WHERE path.endpoint = bankrail_customer_endpoint.id
            ) || ' }' || char(10), '')
            || coalesce('api_key = { header = ' || nullif(json_quote(header), 'null') || ', value = ' || json_quote(api_key) || ' }'
                || char(10), '')
            || 'encryption_key = { '
            || coalesce('kid = ' || replace(nullif(json_quote(kid), 'null'), char(127), '\u007F') || ', ', '')
            || 'pem = ' || pem || ' }' || char(10), '' ORDER BY id)
        FROM bankrail_customer_endpoint JOIN bankrail_pem USING (id)
        WHERE owner = 'endpoint' AND customer = code
    ), '');

DROP TABLE bankrail_pem;
DROP TABLE bankrail_base64;
DROP TABLE bankrail_customer_endpoint_path;
DROP TABLE bankrail_customer_endpoint;
DROP TABLE bankrail_customer_account;
DROP TABLE bankrail_customer_limit;
DROP TABLE bankrail_customer_api_key;
DROP TABLE bankrail_customer_key;
ALTER TABLE bankrail_customer DROP COLUMN scopes;
