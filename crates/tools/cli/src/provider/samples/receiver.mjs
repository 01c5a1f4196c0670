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
const maxBytes = 1 << 20;
const acknowledged = new Map();
const hash = (text) => createHash("sha256").update(text).digest();

class Refusal extends Error {
  constructor(status, title, detail = title) {
    super(detail);
    Object.assign(this, { status, title });
  }
}

async function read(request) {
  const pieces = [];
  let length = 0;
  // A body that is too long is read to its end and not kept, because a peer that still sends sees no answer.
  for await (const piece of request) {
    if ((length += piece.length) <= maxBytes) pieces.push(piece);
  }
  if (length > maxBytes) throw new Refusal(413, "too long", `a body of ${length} bytes`);
  return Buffer.concat(pieces).toString();
}

async function opened(body) {
  const algorithms = { keyManagementAlgorithms: ["RSA-OAEP"], contentEncryptionAlgorithms: ["A256CBC-HS512"] };
  const sealed = await compactDecrypt(JSON.parse(body).secured_payload, decryption, algorithms);
  const signed = await compactVerify(sealed.plaintext, bank, { algorithms: ["RS256"] });
  const message = JSON.parse(new TextDecoder().decode(signed.payload));
  if (message === null || typeof message !== "object" || Array.isArray(message)) {
    throw new Error("the signed content is no JSON object");
  }
  return message;
}

async function receive(request) {
  const body = await read(request);
  if (!Object.hasOwn(keys, request.url)) throw new Refusal(404, "not here", `nothing is at ${request.url}`);
  if (request.method !== "POST") throw new Refusal(405, "not POST", `the method ${request.method}`);
  const apiKey = hash(request.headers.apikey ?? "");
  if (!timingSafeEqual(apiKey, hash("@RECEIVER_API_KEY@"))) throw new Refusal(401, "another API key");
  const message = await opened(body).catch((error) => {
    throw new Refusal(400, "not a message of the bank", error.message);
  });
  const [identity, other] = keys[request.url].map((names) => names.map((name) => message[name]));
  const known = identity.some(Boolean) ? identity : request.headers["x-message-id"];
  const key = JSON.stringify([request.url, known, other]);
  if (!acknowledged.has(key)) {
    acknowledged.set(key, randomUUID());
    console.log(JSON.stringify(message));
  }
  return { id: acknowledged.get(key), status: "RCVD" };
}

const refused = (error) => console.log(`refused: ${JSON.stringify(error.message)}`);

// Connections beyond the most are closed, and requests that take long are ended.
const times = { requestTimeout: 30000, headersTimeout: 10000, handshakeTimeout: 5000 };
const server = createServer({ cert: file("receiver.pem"), key: file("receiver-key.pem"), ...times });
server.maxConnections = 256;
server.on("request", async (request, response) => {
  let status = 200;
  let content;
  try {
    content = await receive(request);
  } catch (error) {
    refused(request.complete ? error : new Error("the peer hung up in the middle of its request"));
    // The reason is for our log alone: it helps whoever forges messages.
    status = error.status ?? 500;
    content = { status, title: error.title ?? "not received" };
  }
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(content));
});
server.on("clientError", (error, socket) => {
  refused(error);
  socket.destroy();
});
server.on("tlsClientError", refused);
server.on("error", (error) => {
  console.error(`cannot receive: ${error.message}`);
  process.exitCode = 1;
});
server.listen(@RECEIVER_PORT@, "@RECEIVER_HOST@", () => console.log("receiving"));
