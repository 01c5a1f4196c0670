// A provider whose page is looked at.
"use strict";

const { execFileSync, spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const https = require("node:https");
const path = require("node:path");
const { until } = require("./browser.js");

/** Starts `bankrail provider` with demo customers in a new folder. */
async function startProvider(program, data) {
  const listen = ["--listen", "127.0.0.1:0", "--control", "127.0.0.1:0"];
  const child = spawn(program, ["provider", "--data", data, ...listen], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => { said += bytes; });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
  let code;
  ended.then((found) => { code = found; });
  try {
    await until("the provider serves", () => {
      if (code !== undefined) throw new Error("the provider ended with " + code + ": " + said);
      return said.includes("Ctrl-C");
    });
    const found = (pattern) => {
      const match = said.match(pattern);
      if (!match) throw new Error("not printed: " + pattern + "\n" + said);
      return match[1];
    };
    const token = found(/token URL\s+(https:\S+)/);
    return {
      data,
      link: readFileSync(path.join(data, "page.url"), "utf8"),
      refuse: () => refusedCall(token),
      /** Gives a command as the page shows it. */
      run(command) {
        const env = { ...process.env, PATH: path.dirname(program) + ":" + process.env.PATH };
        return execFileSync("sh", ["-c", command], { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
      },
      async stop() {
        child.kill("SIGINT");
        if ((await ended) !== 0) throw new Error("the provider ended with " + code + ": " + said);
      },
    };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

/** A provider that somebody else started, and that refuses calls without being asked to. */
function foreignProvider(link) {
  return { link, refuse: async () => {}, stop: async () => {} };
}

/** A token request with an API key that nobody has. */
function refusedCall(url) {
  return new Promise((resolve, reject) => {
    // The certificate was made up a moment ago, and nothing secret is sent.
    const options = { method: "POST", rejectUnauthorized: false, headers: { apikey: "of-nobody" } };
    const request = https.request(url, options, (answer) => {
      answer.resume();
      answer.on("end", () => {
        if (answer.statusCode === 401) resolve();
        else reject(new Error("expected the answer 401, found " + answer.statusCode));
      });
    });
    request.on("error", reject);
    request.end("grant_type=client_credentials");
  });
}

module.exports = { startProvider, foreignProvider };
