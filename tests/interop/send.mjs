// A bank that seals messages with a library of Node and delivers them: `send.mjs jose|node-jose FILE`, as send.py does.
// It must stand in one folder with partner.mjs and the libraries.
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { partners } from "./partner.mjs";

const [library, file] = process.argv.slice(2);
const given = JSON.parse(readFileSync(file, "utf8"));
const ca = readFileSync(given.ca);

const post = (url, headers, body) =>
  new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", headers, ca, timeout: 15000 }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => (text += part));
      answer.on("end", () => resolve({ status: answer.statusCode, body: text }));
    });
    call.on("error", reject).on("timeout", () => call.destroy(new Error("no answer"))).end(body);
  });

const answers = [];
for (const { path, headers, message, keys, kid, fault } of given.deliveries) {
  const partner = partners(keys)[library];
  const input = Buffer.from(JSON.stringify(message));
  const bare = fault === "bare";
  let sealed = bare ? await partner.sign(input, "JWT", kid) : await partner.seal(input, kid);
  if (fault === "tampered") {
    // One character of the ciphertext.
    const parts = sealed.split(".");
    parts[3] = (parts[3][0] === "A" ? "B" : "A") + parts[3].slice(1);
    sealed = parts.join(".");
  }
  answers.push(await post(given.url + path, headers, JSON.stringify({ secured_payload: sealed })));
}
console.log(JSON.stringify(answers));
