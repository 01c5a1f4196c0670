// Steers a bank in a box while it runs: `node control.mjs FOLDER-OF-DATA TOKEN-URL`, with NODE_EXTRA_CA_CERTS.
import assert from "node:assert";
import { readFileSync } from "node:fs";

const [data, tokenUrl] = process.argv.slice(2);
const access = JSON.parse(readFileSync(`${data}/control.json`, "utf8"));

async function tell(name, members = {}) {
  const headers = { authorization: `Bearer ${access.token}` };
  const answer = await fetch(`${access.url}/_bank/${name}`, { method: "POST", headers, body: JSON.stringify(members) });
  const said = await answer.json();
  assert(answer.ok, said.error);
  return said;
}

assert.equal((await tell("set-clock", { now: "2030-02-28T23:59:00.000Z", rate: 0 })).rate, 0);
assert.equal((await tell("step-clock", { seconds: 120 })).now, "2030-03-01T00:01:00.000Z");
assert.equal((await tell("book", { account: "999001400100101", amount: "25.00", narrative: "rent 👍" })).booked, 1);
await tell("forget-calls");
await tell("add-fault", { fault: "token-503", count: 1 });
assert.equal((await fetch(tokenUrl, { method: "POST" })).status, 503);
await tell("assert-calls", { endpoint: "token", status: 503, times: 1 });
await tell("reset");
console.log("node");
