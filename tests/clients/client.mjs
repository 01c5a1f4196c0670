// Foreign OAuth clients in JavaScript: `client.mjs LIBRARY CUSTOMER-FILE OTHER-KEY`, with NODE_EXTRA_CA_CERTS.
// Prints what client.py prints.

import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";

const [library, file, other] = process.argv.slice(2);
const customer = JSON.parse(readFileSync(file, "utf8"));
const { customer_code, api_key, issuer, scope, statement_url, token_url, accounts } = customer;
const statuses = [];

// All that a customer adds to the libraries: the header with the API key.
async function withApiKey(url, options) {
    const headers = new Headers(options.headers);
    headers.set("apikey", api_key);
    const answer = await fetch(url, { ...options, headers });
    if (String(url) === token_url) statuses.push(answer.status);
    return answer;
}

async function key(name) {
    const path = name === "wrong key" ? other : join(dirname(file), customer.assertion_key);
    const pkcs8 = createPrivateKey(readFileSync(path)).export({ type: "pkcs8", format: "der" });
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
    return crypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]);
}

function spoil(name) {
    return (header, claims) => {
        if (name === "stale exp") claims.exp = Math.floor(Date.now() / 1000) - 60;
        if (name === "wrong aud") claims.aud = "https://elsewhere.example";
    };
}

const asked = (name) => (name === "missing field" ? {} : { scope });
const body = JSON.stringify({ accountId: accounts[0] });
const json = new Headers({ "content-type": "application/json" });

async function oauth4webapi(name) {
    const options = { [oauth.customFetch]: withApiKey };
    const found = await oauth.discoveryRequest(new URL(issuer), options);
    const server = await oauth.processDiscoveryResponse(new URL(issuer), found);
    const auth = oauth.PrivateKeyJwt(await key(name), { [oauth.modifyAssertion]: spoil(name) });
    const client = { client_id: customer_code };
    const form = new URLSearchParams(asked(name));
    const granted = await oauth.clientCredentialsGrantRequest(server, client, auth, form, options);
    const token = await oauth.processClientCredentialsResponse(server, client, granted);
    const answer = await oauth.protectedResourceRequest(
        token.access_token, "POST", new URL(statement_url), json, body, options);
    return answer.status;
}

async function openid_client(name) {
    const auth = openid.PrivateKeyJwt(await key(name), { [openid.modifyAssertion]: spoil(name) });
    const options = { [openid.customFetch]: withApiKey };
    const config = await openid.discovery(new URL(issuer), customer_code, undefined, auth, options);
    const token = await openid.clientCredentialsGrant(config, asked(name));
    const answer = await openid.fetchProtectedResource(
        config, token.access_token, new URL(statement_url), "POST", body, json);
    return answer.status;
}

const run = { oauth4webapi, "openid-client": openid_client }[library];
for (const name of ["good", "wrong key", "stale exp", "wrong aud", "missing field"]) {
    statuses.length = 0;
    let statement = null, error = null;
    try {
        statement = await run(name);
    } catch (thrown) {
        error = `${thrown} ${thrown.error ?? ""} ${thrown.error_description ?? ""}`;
    }
    console.log(JSON.stringify({ case: name, token: statuses[0] ?? null, statement, error }));
}
