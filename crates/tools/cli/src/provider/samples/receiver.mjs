// Receives webhooks, and prints each message once. Needs Node and jose (npm install jose).
// What came is kept in memory: a real receiver commits it, and what the message changes, before it answers. It also
// refuses messages that are malformed, which this one takes: `bankrail conformance receiver --help`.

import { createPrivateKey, createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { compactDecrypt, compactVerify, createLocalJWKSet } from "jose";

const file = (name) => readFileSync(new URL(name, import.meta.url));
const decryption = createPrivateKey(file("decryption.pem"));
const bank = createLocalJWKSet(JSON.parse(file("provider.jwks.json")));
// By the path that a message comes to: what identifies it, and what makes another message of the same one.
const keys = {
  "/payto/mandates/outcomes": [["request_id"], ["action_status"]],
  "/payto/mandates/notifications": [["action_identification"], []],
  "/payto/mpirs/outcomes": [["instruction_identification", "uetr"], ["transaction_status"]],
  "/payto/queries": [["case_id"], ["reminder_count", "re_open_case_indication"]],
};
const acknowledged = new Map();
const hash = (text) => createHash("sha256").update(text).digest();

async function opened(body) {
  const algorithms = { keyManagementAlgorithms: ["RSA-OAEP"], contentEncryptionAlgorithms: ["A256CBC-HS512"] };
  const sealed = await compactDecrypt(JSON.parse(body).secured_payload, decryption, algorithms);
  const signed = await compactVerify(sealed.plaintext, bank, { algorithms: ["RS256"] });
  return JSON.parse(new TextDecoder().decode(signed.payload));
}

async function receive(request) {
  if (!Object.hasOwn(keys, request.url)) return { status: 404, title: "not here" };
  let body = "";
  for await (const piece of request.setEncoding("utf8")) {
    if ((body += piece).length > 1 << 20) return { status: 413, title: "too long" };
  }
  const apiKey = hash(request.headers.apikey ?? "");
  if (!timingSafeEqual(apiKey, hash("@RECEIVER_API_KEY@"))) return { status: 401, title: "another API key" };
  let message;
  try {
    message = await opened(body);
  } catch (error) {
    console.log(`refused: ${error}`);
    return { status: 400, title: "not a message of the bank" };
  }
  const [identity, other] = keys[request.url].map((names) => names.map((name) => message[name]));
  const known = identity.some(Boolean) ? identity : request.headers["x-message-id"];
  const key = JSON.stringify([request.url, known, other]);
  if (!acknowledged.has(key)) {
    acknowledged.set(key, randomUUID());
    console.log(JSON.stringify(message));
  }
  return { id: acknowledged.get(key), status: "RCVD" };
}

createServer({ cert: file("receiver.pem"), key: file("receiver-key.pem") }, async (request, response) => {
  const content = await receive(request);
  response.writeHead(content.title ? content.status : 200, { "Content-Type": "application/json" });
  response.end(JSON.stringify(content));
}).listen(@RECEIVER_PORT@, "@RECEIVER_HOST@", () => console.log("receiving"));
