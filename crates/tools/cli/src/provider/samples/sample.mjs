// Gets an access token, and prints the statement of an account. Needs Node, no package.
// Usage: node sample.mjs [ACCOUNT]

import { createSign } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:https";

const file = (name) => readFileSync(new URL(name, import.meta.url));
const ca = file("ca.pem");
const apikey = "@API_KEY@";

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const expires = Math.floor(Date.now() / 1000) + 300;
const text = [{ alg: "RS256", typ: "jwt" }, { sub: "@CUSTOMER@", aud: "@AUDIENCE@", exp: expires }].map(part).join(".");
const assertion = `${text}.${createSign("sha256").update(text).sign(file("signing.pem")).toString("base64url")}`;

function post(url, body, headers) {
  return new Promise((resolve, reject) => {
    const call = request(url, { ca, method: "POST", headers: { apikey, ...headers } }, (answer) => {
      const pieces = [];
      answer.on("data", (piece) => pieces.push(piece));
      answer.on("end", () => {
        const content = Buffer.concat(pieces).toString();
        if (answer.statusCode === 200) resolve(JSON.parse(content));
        else reject(new Error(`${answer.statusCode}: ${content}`));
      });
    });
    call.on("error", reject);
    call.end(body);
  });
}

const form = new URLSearchParams({
  grant_type: "client_credentials",
  client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  scope: "@SCOPE@",
  client_assertion: assertion,
});
const { access_token } = await post("@TOKEN_URL@", form.toString(), {
  "Content-Type": "application/x-www-form-urlencoded",
});
const statement = await post(
  "@STATEMENT_URL@",
  JSON.stringify({ accountId: process.argv[2] ?? "@ACCOUNT@", includeNarrative: true }),
  { Authorization: `Bearer ${access_token}`, "Content-Type": "application/json" },
);
console.log(JSON.stringify(statement, null, 2));
