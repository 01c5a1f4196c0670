// A provider of tokens and statements as another team would write it, on Node's own modules alone:
// `server.mjs FOLDER PORT [--fault NAME]`. The faults are listed in faults.tsv.
import { createPublicKey, randomUUID, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";

const [folder, port, , fault] = process.argv.slice(2);
const faulty = (name) => fault === name;
const file = (name) => readFileSync(join(folder, name));
const limits = JSON.parse(file("limits.json"));
const issuer = `https://localhost:${port}/v1.0/auth`;
const READ = "GBL.INSTO.ACCOUNTS.STATEMENT.READ";
const SCOPES = [READ, "AU.INSTO.PAYTO.MANDATE.READ"];
const ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const LIFETIME = 3600;

const customers = ["first", "second"].map((name) => ({
    code: `${name.toUpperCase()}MERCHANT`,
    apiKey: `key-of-${name}`,
    key: createPublicKey(file(`${name}/signing.pub.pem`)),
}));
let ahead = 0;
const now = () => Date.now() / 1000 + ahead;

// Amounts are integers of the smallest unit.
const digits = (currency) => (currency === "VND" ? 0 : 2);
const entry = (units, text, party, more = {}) => ({ units, text, party, fast: true, reference: true, ...more });
const account = (owner, currency, entries) => ({ owner, currency, opening: 500000, entries });
const accounts = new Map([
    ["062001000000101", account(0, "AUD", [
        entry(125000, "Invoice 77 – thanks 🎉", "Banksia Pty Ltd"),
        entry(-8995, "meter 12 <power & water>", "Wattle Energy"),
        entry(-1500, "fee", "", { fast: false, reference: false }),
        entry(-1500, "fee", "", { fast: false, reference: false }),
        entry(20050, "rent, unit 4", "M. Papadopoulos"),
        entry(-300000, "works at no 7", "Ferry Road Builders"),
    ])],
    ["062001000000102", account(0, "USD", [
        entry(99900, "order 5", "Harbour Kayak Hire"), entry(-10, "rounding", "Blue Gum"), entry(77, "café", "Zoë"),
    ])],
    ["062001000000103", account(0, "VND", [entry(250000, "tiền thuê", "Trần Đức Hiếu"), entry(-90000, "phí", "VCB")])],
    ["062099000000104", account(0, "AUD", [
        entry(4200, "membership", "Lê", { virtual: { number: "880000017", issuer: "062099" } }),
        entry(4300, "membership", "Ngô", { virtual: { number: "880000018", issuer: "062099" } }),
    ])],
    ["062001000000105", account(0, "SGD", [])],
    ["062001000000201", account(1, "AUD", [entry(100, "x", "Y")])],
]);

const tokens = new Map();
const windows = new Map();
// True if a call is within its limit. Refused calls are not counted.
function within(name, seconds, limit) {
    const key = `${name}/${Math.floor(now() / seconds)}`;
    const count = windows.get(key) ?? 0;
    if (count >= limit) {
        if (faulty("limit-once")) windows.set(key, 0);
        return false;
    }
    windows.set(key, count + 1);
    return true;
}

const answer = (status, body, headers = {}) => ({ status, body, headers });
const oauth = (status, error) => answer(status, { error });
const statementError = (status, statusCode, title) =>
    answer(status, { requestKey: null, error: { statusCode, title } });

function token(headers, body, key) {
    const type = (headers["content-type"] ?? "").split(";")[0].trim().toLowerCase();
    const at = customers.findIndex((one) => one.apiKey === headers.apikey);
    if (at < 0) return oauth(401, "invalid_client");
    if (type !== "application/x-www-form-urlencoded") return oauth(400, "invalid_request");
    const form = new URLSearchParams(body);
    const names = [...form.keys()];
    if (new Set(names).size !== names.length) return oauth(400, "invalid_request");
    if (faulty("missing-assertion-401") && !form.has("client_assertion")) return oauth(401, "invalid_client");
    const wanted = form.get("scope") ?? (faulty("scope-default") ? SCOPES.join(" ") : "");
    for (const name of ["grant_type", "client_assertion_type", "client_assertion"]) {
        if (!form.get(name)) {
            if (name === "grant_type" && faulty("grant-type-any")) continue;
            return oauth(400, "invalid_request");
        }
    }
    if (!wanted) return oauth(400, "invalid_request");
    if (form.get("grant_type") !== "client_credentials" && !faulty("grant-type-any")) {
        return oauth(400, "unsupported_grant_type");
    }
    if (form.get("client_assertion_type") !== ASSERTION) return oauth(400, "invalid_request");
    const scopes = faulty("scope-first-only") ? wanted.split(" ").slice(0, 1) : wanted.split(" ");
    if (!scopes.every((scope) => SCOPES.includes(scope))) return oauth(400, "invalid_scope");
    let proved;
    try {
        proved = proves(form.get("client_assertion"), customers[at]);
    } catch (error) {
        return faulty("garbage-500") ? answer(500, { error: "server_error" }) : oauth(401, "invalid_client");
    }
    if (!proved) return oauth(401, "invalid_client");
    const second = faulty("limit-three-tokens") ? 3 : limits.tokens_per_second;
    if (!within(`second/${at}`, 1, second) || !within(`token/${at}`, 3600, limits.tokens_per_hour)) {
        return answer(429, { error: "slow_down" }, { "retry-after": "1" });
    }
    if (faulty("token-single")) {
        for (const [old, its] of tokens) if (its.at === at) tokens.delete(old);
    }
    const value = faulty("token-hex") ? (randomUUID() + randomUUID()).replaceAll("-", "") : randomUUID();
    tokens.set(value, { at, scopes, issued: now() });
    const said = answer(200, {
        access_token: value,
        token_type: "Bearer",
        expires_in: faulty("expires-text") ? String(LIFETIME) : LIFETIME,
    }, { "cache-control": "no-store", pragma: "no-cache" });
    if (faulty("token-key-missing")) said.headers["x-requestkey"] = undefined;
    return said;
}

function part(text) {
    if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new Error("base64url");
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
}

function proves(assertion, customer) {
    const parts = assertion.split(".");
    if (parts.length !== 3) throw new Error("parts");
    const [header, claims] = [part(parts[0]), part(parts[1])];
    if (header.typ !== "jwt" && !faulty("assertion-typ-any")) return false;
    const signed = Buffer.from(`${parts[0]}.${parts[1]}`);
    const keys = faulty("assertion-other-key") ? customers.map((one) => one.key) : [customer.key];
    const hash = { RS256: "sha256", ...(faulty("assertion-rs512") ? { RS512: "sha512" } : {}) }[header.alg];
    const unsigned = faulty("assertion-alg-none") && header.alg === "none" && parts[2] === "";
    if (!unsigned) {
        if (!hash || !/^[A-Za-z0-9_-]+$/.test(parts[2])) return false;
        const signature = Buffer.from(parts[2], "base64url");
        if (!keys.some((key) => verify(hash, signed, key, signature))) return false;
    }
    // Assertions are judged by the real time.
    const real = Date.now() / 1000;
    if (typeof claims.exp !== "number") return false;
    if (real >= claims.exp + (faulty("assertion-grace") ? 300 : 0)) return false;
    if (claims.exp > real + (faulty("assertion-two-hours") ? 7200 : 3600)) return false;
    const sub = faulty("assertion-sub-lower") ? String(claims.sub).toUpperCase() : claims.sub;
    return sub === customer.code && claims.aud === issuer;
}

function statement(headers, body, key) {
    const found = /^Bearer (\S+)$/i.exec(headers.authorization ?? "");
    const its = found && tokens.get(found[1]);
    const lifetime = faulty("token-ends-early") ? LIFETIME * 0.9 : LIFETIME + (faulty("token-lives-on") ? 300 : 0);
    if (!its || now() >= its.issued + lifetime) return statementError(401, "EC401", "Unauthorized");
    const caller = customers.findIndex((one) => one.apiKey === headers.apikey);
    const known = faulty("apikey-any") ? headers.apikey : caller >= 0;
    const same = caller === its.at || faulty("apikey-any") || faulty("apikey-of-another");
    if (!known || !same) return statementError(401, "EC401", "Unauthorized");
    if (!its.scopes.includes(READ) && !faulty("token-scope-ignored")) return statementError(403, "EC403", "Forbidden");
    const type = (headers["content-type"] ?? "").split(";")[0].trim().toLowerCase();
    if (type !== "application/json") return statementError(415, "EC415", "Unsupported Media Type");
    let request;
    try {
        request = JSON.parse(body);
    } catch {
        return statementError(400, "EC42001", "The body is no JSON");
    }
    if (typeof request?.accountId !== "string") return statementError(400, "EC42001", "accountId is missing");
    const who = faulty("limit-per-token") ? found[1] : its.at;
    const limit = limits.statements_per_hour + (faulty("limit-26") ? 1 : 0);
    if (!within(`statement/${who}`, 3600, limit)) {
        return answer(429, { requestKey: key, error: { statusCode: "EC429", title: "Too Many Requests" } });
    }
    const id = request.accountId;
    let one = accounts.get(id);
    if (id === "000000000000000" && faulty("zeros-empty")) one = account(its.at, "AUD", []);
    if (!one || (one.owner !== its.at && !faulty("account-of-another"))) {
        const title = faulty("error-title-other") ? `No account ${id}` : `Account Id: '${id}' not found`;
        return statementError(404, faulty("error-code-other") ? "EC20003" : "EC20001", title);
    }
    const first = id === "062001000000101";
    const hides = request.includeNarrative === false && (first || !faulty("narrative-first-account"));
    let entries = one.entries;
    if (faulty("twins-collapsed")) {
        const seen = new Set();
        entries = entries.filter((it) => {
            const same = JSON.stringify([it.units, it.text, it.party]);
            return !seen.has(same) && seen.add(same);
        });
    }
    let begin = Number(request.cursor ? Buffer.from(request.cursor, "base64").toString() : 0);
    const size = Number(request.maxEntries ?? 1000);
    const page = entries.slice(begin + (begin > 0 && faulty("page-loses-one") ? 1 : 0), begin + size);
    const left = entries.length - begin - size;
    const more = left > (faulty("page-last-early") ? 1 : 0);
    const said = { accountId: id, extract: "intraday", payload: report(id, one, page, begin, !hides, key), requestKey: key };
    if (more) said.cursor = Buffer.from(String(begin + size)).toString("base64");
    if (more || !faulty("more-missing")) said.moreTransactionsAvailable = more;
    return answer(200, said);
}

const escaped = (text) => {
    const plain = faulty("text-question-marks") ? text.replace(/[\u{10000}-\u{10ffff}]/gu, "?") : text;
    return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
};

function money(units, currency) {
    const places = digits(currency);
    const text = String(Math.abs(units)).padStart(places + 1, "0");
    return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
}

function report(id, { currency, opening, entries: all }, page, begin, shows, key) {
    const stamp = new Date(now() * 1000).toISOString().replace("Z", "+00:00");
    const day = stamp.slice(0, 10);
    const side = (units) => (units < 0 ? "DBIT" : "CRDT");
    const total = (list) => list.reduce((sum, { units }) => sum + Math.abs(units), 0);
    const [credits, debits] = [page.filter(({ units }) => units >= 0), page.filter(({ units }) => units < 0)];
    const net = total(credits) - total(debits);
    const sum = (list) => money(total(list), currency);
    const balance = opening + all.reduce((sum, { units }) => sum + units, 0);
    const rounded = faulty("sum-rounded") ? String(Math.round(total(page) / 10 ** digits(currency))) : sum(page);
    const ntry = (it, number) => {
        const shown = faulty("currency-first") && it.booked ? "AUD" : currency;
        const amount = `<Amt Ccy="${shown}">${money(it.units, currency)}</Amt><CdtDbtInd>${side(it.units)}</CdtDbtInd>`;
        const value = it.units < 0 && faulty("value-date-missing") ? "" : `<ValDt><Dt>${day}</Dt></ValDt>`;
        const issuer = it.virtual && !faulty("virtual-no-issuer") ? `<Issr>${it.virtual.issuer}</Issr>` : "";
        const virtual = it.virtual ? `<CdtrAcct><Id><Othr><Id>${it.virtual.number}</Id>${issuer}</Othr></Id></CdtrAcct>` : "";
        const other = it.units < 0 ? "Cdtr" : "Dbtr";
        const parties = `<RltdPties><${other}><Nm>${escaped(it.party)}</Nm></${other}>${virtual}</RltdPties>`;
        const reference = it.reference
            ? `<Refs><AcctSvcrRef>PN${id.slice(-3)}${String(begin + number).padStart(6, "0")}</AcctSvcrRef></Refs>` : "";
        const narrative = it.fast && shows ? `${parties}<RmtInf><Ustrd>${escaped(it.text)}</Ustrd></RmtInf>` : "";
        return `<Ntry>${amount}<Sts>BOOK</Sts><BookgDt><Dt>${day}</Dt></BookgDt>${value}<BkTxCd><Domn><Cd>PMNT</Cd>` +
            `<Fmly><Cd>${it.units < 0 ? "ICDT" : "RCDT"}</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd>` +
            `<NtryDtls><TxDtls>${reference}${amount}${narrative}</TxDtls></NtryDtls></Ntry>`;
    };
    const direction = net < 0 && !faulty("net-always-credit") ? "DBIT" : "CRDT";
    return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>` +
        `<GrpHdr><MsgId>${key.replaceAll("-", "")}</MsgId><CreDtTm>${stamp}</CreDtTm></GrpHdr>` +
        `<Rpt><Id>${randomUUID().replaceAll("-", "")}</Id><CreDtTm>${stamp}</CreDtTm><RptgSrc><Prtry>LEDG</Prtry></RptgSrc>` +
        `<Acct><Id><Othr><Id>${id}</Id></Othr></Id><Ccy>${currency}</Ccy></Acct>` +
        `<Bal><Tp><CdOrPrtry><Cd>ITAV</Cd></CdOrPrtry><SubTp><Prtry>Current</Prtry></SubTp></Tp>` +
        `<Amt Ccy="${currency}">${money(balance, currency)}</Amt><CdtDbtInd>${side(balance)}</CdtDbtInd>` +
        `<Dt><Dt>${day}</Dt></Dt></Bal><TxsSummry><TtlNtries><NbOfNtries>${page.length}</NbOfNtries>` +
        `<Sum>${rounded}</Sum><TtlNetNtry><Amt>${money(net, currency)}</Amt><CdtDbtInd>${direction}</CdtDbtInd></TtlNetNtry>` +
        `</TtlNtries><TtlCdtNtries><NbOfNtries>${credits.length}</NbOfNtries><Sum>${sum(credits)}</Sum></TtlCdtNtries>` +
        `<TtlDbtNtries><NbOfNtries>${debits.length}</NbOfNtries><Sum>${sum(debits)}</Sum></TtlDbtNtries></TxsSummry>` +
        `${page.map(ntry).join("")}</Rpt></BkToCstmrAcctRpt></Document>`;
}

// What a test orders, beside the service.
function order(path, body) {
    const wish = JSON.parse(body);
    if (path === "/order/clock") {
        ahead += wish.seconds;
        return answer(200, {});
    }
    const one = accounts.get(wish.account);
    const units = Math.round(Number(wish.amount) * 10 ** digits(one.currency));
    const fast = wish.kind.startsWith("fast");
    const more = { fast, booked: true };
    one.entries.push(entry(wish.kind.endsWith("_in") ? units : -units, wish.narrative, wish.counterparty, more));
    return answer(200, {});
}

const routes = { "/v1.0/auth": token, "/accounts/v2.0/statement": statement };
const server = createServer({ cert: file("server.pem"), key: file("server-key.pem") }, (request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
        const path = request.url.split("?")[0];
        const body = Buffer.concat(pieces).toString("utf8");
        const key = randomUUID();
        let said;
        if (path.startsWith("/order/")) said = order(path, body);
        else if (!routes[path]) said = answer(404, {});
        else if (request.method !== "POST") said = answer(405, {});
        else said = routes[path](request.headers, body, key);
        if (said.body.requestKey === null) said.body.requestKey = key;
        const headers = { "content-type": "application/json", "x-requestkey": key, ...said.headers };
        for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
        response.writeHead(said.status, headers).end(JSON.stringify(said.body));
    });
});
server.listen(Number(port), "127.0.0.1", () => console.log("ready"));
