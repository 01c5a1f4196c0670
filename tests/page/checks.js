// What holds for every page.
"use strict";

const assert = require("node:assert/strict");

/** The page is as wide as the window at most, and no heading of a column, no code and no day is broken within a word. */
async function fits(tab, what) {
  const [found, most] = await tab.value("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
  assert.ok(found <= most, what + " is " + found + " wide, the window " + most);
  const broken = await tab.value(`Array.from(document.querySelectorAll("thead th, .badge, td.code, td.d"), (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const lines = new Set(Array.from(range.getClientRects(), (line) => line.top)).size;
    return lines > element.textContent.trim().split(/\\s+/).length ? element.textContent : "";
  }).filter(Boolean)`);
  assert.deepEqual(broken, [], what);
}

/** axe-core finds nothing wrong, in both themes at three widths. */
async function accessible(tab, axe, what) {
  const run = `axe.run({ resultTypes: ["violations"], preload: false }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 200))))`;
  if (!(await tab.value("'axe' in window"))) await tab.value(axe + "\n0");
  for (const scheme of ["light", "dark"]) {
    await tab.media(scheme);
    for (const width of [400, 800, 1280]) {
      await tab.width(width, 900);
      await fits(tab, what + " at " + width);
      assert.deepEqual(await tab.value(run), [], `${what}, ${scheme} at ${width}`);
    }
  }
  await tab.media("light");
}

module.exports = { accessible, fits };
