PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE bankrail_replay (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_token (
    hash     BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    customer TEXT    NOT NULL,
    scopes   TEXT    NOT NULL,
    issued   INTEGER NOT NULL,
    expires  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_seen (
    account TEXT    NOT NULL,
    key     BLOB    NOT NULL CHECK (length(key) = 32),
    count   INTEGER NOT NULL CHECK (count > 0),
    day     TEXT,
    PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_inbox (
    id              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind            TEXT    NOT NULL,
    attributes      BLOB    NOT NULL,
    fingerprint     BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    acknowledgement BLOB    NOT NULL,
    received        INTEGER NOT NULL,
    conflicts_with  INTEGER,
    state           TEXT    NOT NULL CHECK (state = 'pending' OR state = 'completed' OR state = 'dead_letter'),
    due             INTEGER NOT NULL,
    owner           BLOB    CHECK (length(owner) = 16),
    until           INTEGER CHECK ((owner IS NULL) = (until IS NULL)),
    attempts        INTEGER NOT NULL DEFAULT 0,
    last_error      TEXT,
    waits           INTEGER,
    finished        INTEGER,
    interim INTEGER NOT NULL DEFAULT 0 CHECK (interim IN (0, 1)), follows INTEGER) STRICT;
CREATE TABLE bankrail_inbox_key (
    key BLOB    NOT NULL CHECK (length(key) = 32),
    id  INTEGER NOT NULL REFERENCES bankrail_inbox (id) ON DELETE CASCADE,
    PRIMARY KEY (key, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_outbox (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    endpoint       TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    message_id     TEXT    NOT NULL,
    fingerprint    BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    attributes     BLOB    NOT NULL,
    state          TEXT    NOT NULL CHECK (state = 'pending' OR state = 'delivered' OR state = 'dead_letter'),
    enqueued       INTEGER NOT NULL,
    due            INTEGER NOT NULL,
    owner          BLOB    CHECK (length(owner) = 16),
    until          INTEGER CHECK ((owner IS NULL) = (until IS NULL)),
    deliveries     INTEGER NOT NULL DEFAULT 0,
    finished       INTEGER,
    UNIQUE (endpoint, message_id)
) STRICT;
CREATE TABLE bankrail_delivery (
    entry    INTEGER NOT NULL REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    started  INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    status   INTEGER,
    note     TEXT,
    PRIMARY KEY (entry, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_stopped (
    endpoint TEXT    NOT NULL PRIMARY KEY,
    since    INTEGER NOT NULL,
    reason   TEXT    NOT NULL
, stopped_by TEXT NOT NULL DEFAULT 'unknown') STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_counter (
    customer   TEXT    NOT NULL,
    call_type  TEXT    NOT NULL,
    high_water INTEGER NOT NULL,
    counts     TEXT    NOT NULL,
    expires    INTEGER NOT NULL,
    PRIMARY KEY (customer, call_type)
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_seen_position (
    account  TEXT NOT NULL PRIMARY KEY,
    position TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_cached_token (
    key     BLOB    NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    sealed  BLOB    NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_history (
    id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    scope   TEXT    NOT NULL,
    state   TEXT    NOT NULL,
    final   INTEGER NOT NULL CHECK (final IN (0, 1)),
    changed INTEGER NOT NULL,
    change  INTEGER NOT NULL UNIQUE,
    history BLOB    NOT NULL
) STRICT;
CREATE TABLE bankrail_history_name (
    scope TEXT    NOT NULL,
    name  TEXT    NOT NULL,
    id    INTEGER NOT NULL REFERENCES bankrail_history (id) ON DELETE CASCADE,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_history_change (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO bankrail_history_change VALUES(0);
CREATE TABLE bankrail_account (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL UNIQUE,
    currency TEXT NOT NULL,
    -- An exact decimal, negative if the account is overdrawn.
    balance TEXT NOT NULL,
    -- The number of the entry that was booked last; 0 before the first.
    last_entry INTEGER NOT NULL
) STRICT;
INSERT INTO bankrail_account VALUES(1,'999001400100101','AUD','4752.50',5);
INSERT INTO bankrail_account VALUES(2,'999001400100102','VND','0',0);
CREATE TABLE bankrail_account_customer (
    customer TEXT NOT NULL,
    account INTEGER NOT NULL REFERENCES bankrail_account (id),
    name TEXT,
    virtual_accounts INTEGER NOT NULL,
    reporting_source TEXT,
    PRIMARY KEY (customer, account)
) STRICT, WITHOUT ROWID;
INSERT INTO bankrail_account_customer VALUES('ACME',1,'Täglich',1,NULL);
INSERT INTO bankrail_account_customer VALUES('ACME',2,NULL,0,'X');
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
INSERT INTO bankrail_account_entry VALUES(1,1,'2027-01-14','5.00','ordinary','Y-1','<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2027-01-14</Dt></BookgDt><ValDt><Dt>2027-01-14</Dt></ValDt><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>Y-1</AcctSvcrRef></Refs><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></TxDtls></NtryDtls></Ntry>');
INSERT INTO bankrail_account_entry VALUES(1,2,'2027-01-15','1250.00','fast_payment','FP0001','<Ntry><Amt Ccy="AUD">1250.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2027-01-15</Dt></BookgDt><ValDt><Dt>2027-01-15</Dt></ValDt><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>FP0001</AcctSvcrRef></Refs><Amt Ccy="AUD">1250.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RltdPties><Dbtr><Nm>Jarrah Joinery</Nm></Dbtr></RltdPties><RmtInf><Ustrd>Invoice 2041 👍</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>');
INSERT INTO bankrail_account_entry VALUES(1,3,'2027-01-15','1250.00','fast_payment',NULL,'<Ntry><Amt Ccy="AUD">1250.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2027-01-15</Dt></BookgDt><ValDt><Dt>2027-01-15</Dt></ValDt><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Amt Ccy="AUD">1250.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RltdPties><Dbtr><Nm>Jarrah Joinery</Nm></Dbtr></RltdPties><RmtInf><Ustrd>Invoice 2041 👍</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>');
INSERT INTO bankrail_account_entry VALUES(1,4,'2027-01-15','1250.00','fast_payment',NULL,'<Ntry><Amt Ccy="AUD">1250.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2027-01-15</Dt></BookgDt><ValDt><Dt>2027-01-15</Dt></ValDt><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Amt Ccy="AUD">1250.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RltdPties><Dbtr><Nm>Jarrah Joinery</Nm></Dbtr></RltdPties><RmtInf><Ustrd>Invoice 2041 👍</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>');
INSERT INTO bankrail_account_entry VALUES(1,5,'2027-01-15','-2.50','ordinary','fee','<Ntry><Amt Ccy="AUD">2.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2027-01-15</Dt></BookgDt><ValDt><Dt>2027-01-15</Dt></ValDt><BkTxCd><Domn><Cd>ACMT</Cd><Fmly><Cd>MDOP</Cd><SubFmlyCd>CHRG</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>fee</AcctSvcrRef></Refs><Amt Ccy="AUD">2.50</Amt><CdtDbtInd>DBIT</CdtDbtInd></TxDtls></NtryDtls></Ntry>');
CREATE TABLE bankrail_customer (
    code   TEXT    NOT NULL PRIMARY KEY,
    scopes TEXT    NOT NULL,
    change INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO bankrail_customer VALUES('ACME','GBL.INSTO.ACCOUNTS.STATEMENT.READ',1);
CREATE TABLE bankrail_customer_change (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO bankrail_customer_change VALUES(1);
CREATE TABLE bankrail_customer_key (
    id       INTEGER NOT NULL PRIMARY KEY,
    customer TEXT    NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    kid      TEXT,
    key      BLOB    NOT NULL
) STRICT;
INSERT INTO bankrail_customer_key VALUES(1,'ACME','2026',X'30820122300d06092a864886f70d01010105000382010f003082010a0282010100c5873d4ae0d3002c502adc6ab08c75f13487d36a23f78e1ab038d661fd4f2e1041c10ff754622e5a0b855322d86f403a39bea66933acae6d9455a2c0e275bbf5686e7edd0bb9e1718588db9d16cf2019eab2bec281ef883a931c92802e544c22d2d668f079b0b2220bf9a91e0f9f64f92cf95e7c7b7397df6d9f74ec57e28ed4add8f5f4eba7f0df394856ce11bcaa7df8dd2afe4b9def292134f653790751c64fb6b55e528f37170fb8dce3b9598cc73c1bfc8444bd5fa1410371284257cc80629a20f47cd00e0f05dc704825da87729741d617cf1c24471b91ddec7ca885b2ab918791aa8396838cd072f6801219f7643cd211e0ab4bbe727e5c8efe4cc60f0203010001');
CREATE TABLE bankrail_customer_api_key (
    id         INTEGER NOT NULL PRIMARY KEY,
    customer   TEXT    NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    not_before INTEGER,
    expires    INTEGER
) STRICT;
INSERT INTO bankrail_customer_api_key VALUES(1,'ACME',X'689febd264f8b977e29c0fdb75f839eb248ba07d1561b14f2b95f42756943245',NULL,NULL);
INSERT INTO bankrail_customer_api_key VALUES(2,'ACME',X'188880c8b7663e5e46652f7cf754855176053d8cb6f7e8c13573bf15de86e952',1793491200000,1825027200000);
CREATE TABLE bankrail_customer_limit (
    id         INTEGER NOT NULL PRIMARY KEY,
    customer   TEXT    NOT NULL REFERENCES bankrail_customer (code) ON DELETE CASCADE,
    call_type  TEXT    NOT NULL,
    per_hour   INTEGER,
    per_minute INTEGER,
    per_second INTEGER,
    until      INTEGER
) STRICT;
INSERT INTO bankrail_customer_limit VALUES(1,'ACME','token',100,NULL,3,NULL);
INSERT INTO bankrail_customer_limit VALUES(2,'ACME','statement',NULL,NULL,NULL,1829606400000);
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
INSERT INTO bankrail_customer_account VALUES(1,'ACME','999001400100101','AUD','Täglich',1,NULL);
INSERT INTO bankrail_customer_account VALUES(2,'ACME','999001400100102','VND',NULL,0,'X');
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
INSERT INTO bankrail_customer_endpoint VALUES(1,'ACME','acme','https://biller.example/hooks','x-key','not-a-secret','e1',X'30820122300d06092a864886f70d01010105000382010f003082010a0282010100c92a64e93fec605b4aec14c90cba100be134242e37c58aa4fbb4384364d9c8e3fc070ab13506f24bb21bfc4e688818be3f0fd0198b06dad1992ccdd865498e9a46812bff14018ca7db9875b2c39ca5afdcfa843ccb22083f4b454a7693179316afdc51f3e197e31d38ba1af5b64c2cc1fe38f2e8e0a02bf8b5f0811d9f792af3d1a2e807756113284ada33ff7d0c22b56f6efcf14a35a9b62886f7f4695801f8a6d07a3a435938a5c8cfdcc9f48d42c5a3262582763f2a2ce815500bf9aa3576aa0109cc4b418719c5ac39e6b439450a732765f55ff407dd64d33f6f9a1f25864c1f9c1992eb84536e041385c02355a9b9132c3e55e1a4ed7a1e7a214808cdb10203010001');
CREATE TABLE bankrail_customer_endpoint_path (
    endpoint INTEGER NOT NULL REFERENCES bankrail_customer_endpoint (id) ON DELETE CASCADE,
    kind     TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    PRIMARY KEY (endpoint, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO bankrail_customer_endpoint_path VALUES(1,'query','/queries');
CREATE TABLE bankrail_dropped (
    entry      INTEGER NOT NULL PRIMARY KEY REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    dropped_by TEXT    NOT NULL,
    reason     TEXT    NOT NULL
) STRICT;
CREATE TABLE bankrail_circuit (
    endpoint    TEXT    NOT NULL PRIMARY KEY,
    openings    INTEGER NOT NULL,
    open_until  INTEGER,
    rests_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE bankrail_outbox_body (
    id   INTEGER NOT NULL PRIMARY KEY REFERENCES bankrail_outbox (id) ON DELETE CASCADE,
    body BLOB    NOT NULL
) STRICT;
CREATE TABLE bankrail_inbox_body (
    id   INTEGER NOT NULL PRIMARY KEY REFERENCES bankrail_inbox (id) ON DELETE CASCADE,
    body BLOB    NOT NULL
) STRICT;
CREATE TABLE bankrail_schema (version INTEGER NOT NULL) STRICT;
INSERT INTO bankrail_schema VALUES(9);
DELETE FROM sqlite_sequence;
CREATE INDEX bankrail_replay_expires ON bankrail_replay (expires);
CREATE INDEX bankrail_token_expires ON bankrail_token (expires);
CREATE INDEX bankrail_seen_day ON bankrail_seen (account, day) WHERE day IS NOT NULL;
CREATE INDEX bankrail_inbox_waiting ON bankrail_inbox (waits) WHERE state = 'pending' AND waits IS NOT NULL;
CREATE INDEX bankrail_inbox_completed ON bankrail_inbox (finished) WHERE state = 'completed';
CREATE INDEX bankrail_inbox_dead_letter ON bankrail_inbox (id) WHERE state = 'dead_letter';
CREATE INDEX bankrail_inbox_key_id ON bankrail_inbox_key (id);
CREATE INDEX bankrail_outbox_pending ON bankrail_outbox (endpoint, due, id) WHERE state = 'pending';
CREATE INDEX bankrail_outbox_leased ON bankrail_outbox (endpoint, until) WHERE owner IS NOT NULL;
CREATE INDEX bankrail_outbox_delivered ON bankrail_outbox (finished) WHERE state = 'delivered';
CREATE INDEX bankrail_outbox_dead_letter ON bankrail_outbox (id) WHERE state = 'dead_letter';
CREATE INDEX bankrail_counter_expires ON bankrail_counter (expires);
CREATE INDEX bankrail_cached_token_expires ON bankrail_cached_token (expires);
CREATE INDEX bankrail_inbox_ready ON bankrail_inbox (id, due, until, kind, follows)
    WHERE state = 'pending' AND waits IS NULL;
CREATE INDEX bankrail_history_state ON bankrail_history (scope, state, id);
CREATE INDEX bankrail_history_final ON bankrail_history (changed) WHERE final = 1;
CREATE INDEX bankrail_history_name_id ON bankrail_history_name (id);
CREATE UNIQUE INDEX bankrail_account_entry_day ON bankrail_account_entry (account, day, number);
CREATE UNIQUE INDEX bankrail_account_entry_key ON bankrail_account_entry (account, key) WHERE key IS NOT NULL;
CREATE INDEX bankrail_customer_key_customer ON bankrail_customer_key (customer);
CREATE INDEX bankrail_customer_api_key_customer ON bankrail_customer_api_key (customer);
CREATE INDEX bankrail_customer_limit_customer ON bankrail_customer_limit (customer);
CREATE INDEX bankrail_customer_account_account ON bankrail_customer_account (account);
CREATE INDEX bankrail_customer_endpoint_customer ON bankrail_customer_endpoint (customer);
COMMIT;
