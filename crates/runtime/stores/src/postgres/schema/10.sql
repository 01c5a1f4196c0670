-- A customer's record is one text, that of the customer's TOML file (`CustomerRecord::to_toml` of bankrail-bank), beside
-- the names that lookups and checks go by.
CREATE TABLE bankrail_customer_name (
    kind     TEXT NOT NULL CHECK (kind IN ('api_key', 'account', 'endpoint')),
    -- The SHA-256 of an API key in hexadecimal digits, the number of an account, the id of an endpoint.
    name     TEXT NOT NULL COLLATE "C",
    customer TEXT NOT NULL COLLATE "C" REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    PRIMARY KEY (kind, name, customer)
);
CREATE INDEX bankrail_customer_name_customer ON bankrail_customer_name (customer);
-- Only an account may be registered for several customers.
CREATE UNIQUE INDEX bankrail_customer_name_once ON bankrail_customer_name (kind, name) WHERE kind <> 'account';

INSERT INTO bankrail_customer_name (kind, name, customer)
    SELECT 'api_key', encode(hash, 'hex'), customer FROM bankrail_customer_api_key
    UNION ALL SELECT 'account', account, customer FROM bankrail_customer_account
    UNION ALL SELECT 'endpoint', endpoint, customer FROM bankrail_customer_endpoint;

-- A JSON string is a string of TOML, but for a delete character, which a kid may have. An instant is made of seconds and
-- milliseconds, because an interval of so many milliseconds alone is not exact.
ALTER TABLE bankrail_customer ADD COLUMN record TEXT NOT NULL DEFAULT '';
UPDATE bankrail_customer SET record =
    'code = ' || to_json(code)::text || E'\n'
    || 'scopes = ["' || replace(scopes, ' ', '", "') || E'"]\n'
    || coalesce((
        SELECT string_agg(E'[[keys]]\n'
            || coalesce('kid = ' || replace(to_json(kid)::text, chr(127), '\u007F') || E'\n', '')
            || 'pem = "-----BEGIN PUBLIC KEY-----\n' || translate(encode(key, 'base64'), E'\n', '')
            || '\n-----END PUBLIC KEY-----\n"' || E'\n', '' ORDER BY id)
        FROM bankrail_customer_key WHERE customer = code
    ), '')
    || coalesce((
        SELECT string_agg(E'[[api_keys]]\n'
            || 'sha256 = "' || encode(hash, 'hex') || E'"\n'
            || coalesce('not_before = ' || to_char(timestamp 'epoch' + not_before / 1000 * interval '1 second'
                + not_before % 1000 * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || E'\n', '')
            || coalesce('expires = ' || to_char(timestamp 'epoch' + expires / 1000 * interval '1 second'
                + expires % 1000 * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || E'\n', ''),
            '' ORDER BY id)
        FROM bankrail_customer_api_key WHERE customer = code
    ), '')
    || coalesce((
        SELECT string_agg(E'[[limits]]\n'
            || 'call_type = ' || to_json(call_type)::text || E'\n'
            || coalesce('per_hour = ' || per_hour || E'\n', '')
            || coalesce('per_minute = ' || per_minute || E'\n', '')
            || coalesce('per_second = ' || per_second || E'\n', '')
            || CASE WHEN coalesce(per_hour, per_minute, per_second) IS NULL THEN E'unlimited = true\n' ELSE '' END
            || coalesce('until = ' || to_char(timestamp 'epoch' + until / 1000 * interval '1 second'
                + until % 1000 * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || E'\n', ''),
            '' ORDER BY id)
        FROM bankrail_customer_limit WHERE customer = code
    ), '')
    || coalesce((
        SELECT string_agg(E'[[accounts]]\n'
            || 'id = ' || to_json(account)::text || E'\n'
            || 'currency = ' || to_json(currency)::text || E'\n'
            || coalesce('name = ' || to_json(name)::text || E'\n', '')
            || CASE WHEN virtual_accounts THEN E'virtual_accounts = true\n' ELSE '' END
            || coalesce('reporting_source = ' || to_json(reporting_source)::text || E'\n', ''),
            '' ORDER BY id)
        FROM bankrail_customer_account WHERE customer = code
    ), '')
    || coalesce((
        SELECT string_agg(E'[[endpoints]]\n'
            || 'id = ' || to_json(endpoint)::text || E'\n'
            || 'url = ' || to_json(url)::text || E'\n'
            || coalesce('paths = { ' || (
                SELECT string_agg(kind || ' = ' || to_json(path.path)::text, ', ')
                FROM bankrail_customer_endpoint_path AS path WHERE path.endpoint = bankrail_customer_endpoint.id
            ) || E' }\n', '')
            || coalesce('api_key = { header = ' || to_json(header)::text || ', value = ' || to_json(api_key)::text
                || E' }\n', '')
            || 'encryption_key = { '
            || coalesce('kid = ' || replace(to_json(kid)::text, chr(127), '\u007F') || ', ', '')
            || 'pem = "-----BEGIN PUBLIC KEY-----\n' || translate(encode(key, 'base64'), E'\n', '')
            || E'\\n-----END PUBLIC KEY-----\\n" }\n', '' ORDER BY id)
        FROM bankrail_customer_endpoint WHERE customer = code
    ), '');
ALTER TABLE bankrail_customer ALTER COLUMN record DROP DEFAULT;

DROP TABLE bankrail_customer_endpoint_path;
DROP TABLE bankrail_customer_endpoint;
DROP TABLE bankrail_customer_account;
DROP TABLE bankrail_customer_limit;
DROP TABLE bankrail_customer_api_key;
DROP TABLE bankrail_customer_key;
ALTER TABLE bankrail_customer DROP COLUMN scopes;
