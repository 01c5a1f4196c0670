// What holds for every page.
"use strict";

const assert = require("node:assert/strict");

/** The page is as wide as the window at most, and no heading of a column is broken within a word. */
async function fits(tab, what) {
  const [found, most] = await tab.value("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
  assert.ok(found <= most, what + " is " + found + " wide, the window " + most);
  const broken = await tab.value(`Array.from(document.querySelectorAll("thead th, .badge"), (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const lines = new Set(Array.from(range.getClientRects(), (line) => line.top)).size;
    return lines > element.textContent.trim().split(/\\s+/).length ? element.textContent : "";
  }).filter(Boolean)`);
  assert.deepEqual(broken, [], what);
}

module.exports = { fits };
