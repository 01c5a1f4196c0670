// The page that a judge writes with --html.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { accessible } = require("./checks.js");

async function check(browser, program, data, folder, shots, axe) {
  const page = path.join(folder, "judge.html");
  const connection = path.join(data, "demo/democustomer");
  const rows = ["--only", "S7", "--only", "S8"];
  const judged = spawnSync(program, ["conformance", "provider", "--connection", connection, ...rows, "--html", page]);
  assert.ok(judged.status !== null && judged.status !== 2, String(judged.stderr));
  const tab = await browser.tab();
  await tab.open(pathToFileURL(page).href);
  assert.equal(await tab.text("h1"), "Conformance of the provider");
  await accessible(tab, axe, "a judgement");
  for (const width of [400, 1280]) {
    await tab.width(width, 900);
    await tab.screenshot(path.join(shots, `judge-${width}.png`));
  }
  assert.deepEqual(tab.complaints, []);
}

module.exports = { check };
