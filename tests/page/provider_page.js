// The page of `bankrail provider`.
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { until } = require("./browser.js");
const { accessible, fits } = require("./checks.js");

const VIEWS = ["Overview", "Calls", "Outbox", "Endpoints", "Control"];

async function check(browser, provider, shots, axe) {
  const origin = new URL(provider.link).origin;
  await notWithoutTheLink(browser, origin, shots, axe);
  const tab = await browser.tab();
  await tab.media("light");
  await tab.open(provider.link);
  assert.equal(await tab.value("location.href"), origin + "/", "the token is out of the address");
  assert.equal(await tab.value("document.cookie"), "", "the script does not see the cookie");
  await everyView(tab, shots, axe);
  await callsAppear(tab, provider, shots);
  await linksLead(tab, axe);
  await commandsAreCopied(browser, tab, origin);
  if (provider.run) await callsAreRepeated(tab, origin, provider, axe);
  if (provider.run) await commandsDoWhatTheySay(tab, origin, provider);
  if (provider.run) await messagesAreShown(tab, origin, provider, axe, shots);
  if (provider.run) await buttonsDoWhatTheySay(tab, origin, axe);
  if (provider.run) await mistakesAreToldInPlace(tab, origin, axe, shots);
  if (provider.run) await ordersAreSeen(tab, origin, provider, axe, shots);
  if (provider.run) await narrow(tab, origin, provider, axe, shots);
  await keyboard(tab, origin);
  await withoutScript(tab, origin);
  assert.deepEqual(tab.complaints, []);
  // The icons of the browser's own fields are addresses that hold their data.
  const elsewhere = tab.requests.filter((url) => !url.startsWith(origin + "/") && !url.startsWith("data:"));
  assert.deepEqual(elsewhere, [], "requests elsewhere");
  await tab.open(origin + "/calls");
  await until("the page is live", async () => (await tab.text("#live")).startsWith("Live"));
  console.log("the provider's page: " + tab.requests.length + " requests");
}

async function notWithoutTheLink(browser, origin, shots, axe) {
  const stranger = await browser.tab();
  await stranger.open(origin + "/");
  assert.match(await stranger.text(), /needs the link/);
  assert.equal(await stranger.count("nav"), 0);
  await accessible(stranger, axe, "the refusal");
  await stranger.screenshot(path.join(shots, "refused.png"));
}

async function everyView(tab, shots, axe) {
  for (const view of VIEWS) {
    const at = VIEWS.indexOf(view) + 1;
    await tab.loads(() => tab.click(`header li:nth-child(${at}) a`));
    assert.equal(await tab.text("h1"), view);
    assert.equal(await tab.text("header [aria-current]"), view);
    await accessible(tab, axe, view);
    for (const width of [1600, 1100, 1000, 700, 320]) {
      await tab.width(width, 900);
      await fits(tab, view + " at " + width);
    }
    await tab.width(1280, 900);
    const name = path.join(shots, view.toLowerCase());
    await tab.screenshot(name + ".png");
    await tab.media("dark");
    await tab.screenshot(name + "-dark.png");
    await tab.media("light");
    await tab.width(390, 844, true);
    await fits(tab, view + " on a phone");
    await tab.screenshot(name + "-phone.png");
    const roles = await tab.roles();
    for (const role of ["banner", "navigation", "main", "contentinfo", "heading"]) {
      assert.ok(roles.includes(role), view + " has no " + role);
    }
    // Rows that look like cards are rows to a screen reader.
    if (await tab.count("tbody tr")) {
      assert.ok(roles.includes("row") && roles.includes("columnheader"), view + ": " + roles);
    }
    await tab.width(1280, 900);
  }
}

/** A call that is refused while the page is open appears by itself, with its reason. */
async function callsAppear(tab, provider, shots) {
  await tab.loads(() => tab.click("header li:nth-child(2) a"));
  await until("the page is live", async () => (await tab.text("#live")).startsWith("Live"));
  const loaded = tab.loaded;
  const first = await tab.text(".calls > li");
  await provider.refuse();
  await until("the refused call appears", async () => {
    return (await tab.text(".calls > li")) !== first && (await tab.count(".calls > .new.refused")) > 0;
  });
  assert.equal(tab.loaded, loaded, "without loading the page again");
  const reason = await tab.text(".calls > .new.refused .reason");
  assert.ok(reason.length > 5, "the reason: " + reason);
  assert.match(await tab.text(".calls > .new.refused .badge"), /^4\d\d$/);
  const line = await tab.value("document.querySelector('.calls > .new.refused summary').offsetHeight");
  assert.ok(line < 40, "a call is one line, found " + line);
  await tab.click(".calls > .new.refused summary");
  assert.match(await tab.text(".calls > .new.refused .id"), /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  await until("it is told", async () => /new calls?, \d+ refused/.test(await tab.text("#live")));
  assert.ok((await tab.roles()).includes("status"));
  await fits(tab, "calls");
  await tab.screenshot(path.join(shots, "calls-refused.png"));
  await tab.width(390, 844, true);
  await fits(tab, "calls on a phone");
  await tab.screenshot(path.join(shots, "calls-refused-phone.png"));
  await tab.width(1280, 900);
  // What was shown is there after a reload, and under its filter.
  await tab.loads(() => tab.click(".choice a:nth-child(2)"));
  assert.equal(await tab.count(".calls > li:not(.refused)"), 0);
  assert.ok((await tab.text(".calls")).includes(reason));
}

/** The links within the views. */
async function linksLead(tab, axe) {
  const follow = async (view, link, heading) => {
    await tab.loads(() => tab.click(`header li:nth-child(${VIEWS.indexOf(view) + 1}) a`));
    if (!(await tab.count(link))) return false;
    await tab.loads(() => tab.click(link));
    assert.match(await tab.text("h1"), heading);
    await accessible(tab, axe, link);
    await tab.width(390, 844, true);
    await fits(tab, link + " on a phone");
    await tab.width(1280, 900);
    return true;
  };
  assert.ok(await follow("Overview", ".tiles li:nth-child(2) a", /^Calls$/));
  // What is in the outbox depends on what the provider has done so far.
  await follow("Outbox", "tbody td a", /^Message /);
  await follow("Endpoints", "main h2 a", /^Outbox$/);
}

async function commandsAreCopied(browser, tab, origin) {
  await tab.open(origin + "/endpoints");
  const command = await tab.text("code.command");
  assert.match(command, /^bankrail provider --data /);
  await tab.click(".command + button");
  // Headless browsers may have no clipboard; the command is selected then.
  await until("the command is copied", async () => /^(Copied|Selected)$/.test(await tab.text(".command + button")));
}

/** What is shown can be given to a shell as it is, and the page shows what has come of it. */
async function commandsDoWhatTheySay(tab, origin, provider) {
  const command = async (does) => {
    const commands = await tab.value(`Array.from(document.querySelectorAll(".commands > div"), (command) =>
      [command.querySelector("dt").textContent.trim(), command.querySelector("code").textContent])`);
    const found = commands.find(([name]) => name.startsWith(does));
    assert.ok(found, does + ": " + commands);
    return provider.run(found[1]);
  };
  await tab.open(origin + "/endpoints");
  await command("Pause deliveries");
  await tab.reload();
  assert.equal(await tab.text(".cards .badge"), "stopped");
  await tab.open(origin + "/");
  assert.match(await tab.text(".concerns"), /Nothing is delivered to the endpoint/);
  await command("Resume deliveries");
  await tab.reload();
  assert.doesNotMatch(await tab.text(".concerns"), /Nothing is delivered/);
}

/** The command of a call sends it again. */
async function callsAreRepeated(tab, origin, provider, axe) {
  await tab.open(origin + "/calls?refused=yes");
  await tab.click(".calls summary");
  await accessible(tab, axe, "a call that is open");
  const texts = await tab.value("Array.from(document.querySelectorAll('.calls [open] pre'), (text) => text.innerText)");
  assert.match(texts[0], /^POST \/v1.0\/auth\n[^]*apikey: \(masked\)\n[^]*\n\ngrant_type=client_credentials$/);
  assert.match(texts[1], /^401\n[^]*x-requestkey: [^]*\n\n\{/);
  assert.match(provider.run(await tab.text(".calls [open] code.command")), /^HTTP\/\S+ 401/);
}

/** Nobody receives a message: its page shows what was sent, and that there was no answer. */
async function messagesAreShown(tab, origin, provider, axe, shots) {
  await tab.open(origin + "/endpoints");
  const lines = await tab.value("Array.from(document.querySelectorAll('.commands code'), (code) => code.innerText)");
  provider.run(lines.find((line) => line.includes(" send ")) + " || true");
  await tab.open(origin + "/outbox");
  await tab.loads(() => tab.click("tbody td a"));
  await tab.click(".calls summary");
  await accessible(tab, axe, "a message");
  for (const width of [1280, 400, 320]) {
    await tab.width(width, 900);
    await fits(tab, "a message at " + width);
    await tab.screenshot(path.join(shots, "message-" + width + ".png"));
  }
  await tab.width(1280, 900);
  const texts = await tab.value("Array.from(document.querySelectorAll('main pre'), (text) => text.innerText)");
  assert.match(texts[0], /^X-Message-Id: [^]*\n\n\{"creation_date_time"/);
  assert.match(texts[1], /^POST \S+\n[^]*: \(masked\)[^]*\n\n\{"creation_date_time"/);
  assert.equal(texts[2], "no answer");
}

/** Without a terminal: an endpoint is paused and resumed, the clock is stepped, a fault is ordered and ended. */
async function buttonsDoWhatTheySay(tab, origin, axe) {
  const press = (words) => tab.loads(() => tab.click(`button[value="${words}"]`));
  await tab.open(origin + "/endpoints");
  await press("pause");
  assert.equal(await tab.text(".cards .badge"), "stopped");
  await tab.open(origin + "/");
  await accessible(tab, axe, "what needs attention");
  await press("resume");
  assert.equal(await tab.text(".cards .badge"), "running");
  await tab.open(origin + "/control");
  const before = Date.parse(await tab.text(".facts b"));
  await tab.value("document.querySelector('[name=seconds]').value = '7200'");
  await press("step-clock");
  assert.ok(Date.parse(await tab.text(".facts b")) - before >= 7200000);
  await tab.value("document.querySelector('[name=now]').value = 'real'");
  await press("set-clock");
  await tab.value("document.querySelector('[name=fault]').value = 'statement-500'");
  await press("add-fault");
  assert.match(await tab.text("main .line"), /statement-500/);
  await accessible(tab, axe, "a fault");
  await press("remove-fault");
  assert.equal(await tab.count("main .line"), 0);
}

/** What was wrong stands beside its field, which has the focus and what was typed; nothing else is lost. */
async function mistakesAreToldInPlace(tab, origin, axe, shots) {
  await tab.open(origin + "/control");
  const offered = (name) => tab.value(`Array.from(document.querySelectorAll("[name=${name}] option"), ({ value }) => value)`);
  const faults = await offered("fault");
  for (const name of ["429", "token-429", "statement-another-account", "webhook-flood"]) assert.ok(faults.includes(name));
  assert.ok((await offered("customer")).includes("DEMOCUSTOMER"));
  assert.ok((await offered("endpoint")).includes("democustomer"));
  await tab.value("document.querySelector('[name=now]').value = '2026-03-02T00:00:00Z'");
  await tab.value("document.querySelector('[name=rate]').value = '2000000'");
  await tab.loads(() => tab.click("button[value=set-clock]"));
  assert.equal(await tab.text("h1"), "Control");
  assert.equal(await tab.value("document.querySelector('[name=now]').value"), "2026-03-02T00:00:00Z");
  assert.equal(await tab.value("document.activeElement.name + document.activeElement.value"), "rate2000000");
  assert.match(await tab.text("[name=rate] + .wrong"), /^rate: expected at most 1000000/);
  assert.doesNotMatch(await tab.text(), /Go back/);
  await accessible(tab, axe, "a mistake");
  await tab.width(400, 900);
  await tab.screenshot(path.join(shots, "mistake-400.png"));
  await tab.width(1280, 900);
  // The answer to what is refused is no success; browsers note that.
  tab.complaints = tab.complaints.filter((complaint) => !/status of 409/.test(complaint));
}

/** Clock and faults are on every view, and what they cause is no alarm. A real failure is one. */
async function ordersAreSeen(tab, origin, provider, axe, shots) {
  const control = (words) => provider.run("bankrail provider control --data " + provider.data + " " + words);
  await until("the failed delivery is seen", async () => {
    await tab.open(origin + "/");
    return /to the endpoint democustomer (keep )?fail/.test(await tab.text(".concerns"));
  });
  control("set-clock --now 2026-03-02T00:00:00.000Z --rate 0");
  control("add-fault --fault statement-500 --count 3");
  control("add-fault --fault webhook-flood --customer DEMOCUSTOMER --share 1%");
  for (const view of VIEWS) {
    await tab.loads(() => tab.click(`header li:nth-child(${VIEWS.indexOf(view) + 1}) a`));
    const seen = await tab.text("aside");
    assert.match(seen, /clock is set: 2026-03-02 00:00:00 UTC, standing still/, view);
    assert.match(seen, /statement-500, count 3; webhook-flood, of DEMOCUSTOMER, 1%/, view);
    await accessible(tab, axe, view + " with faults");
  }
  await tab.open(origin + "/control");
  await tab.width(400, 900);
  const gap = await tab.value(`(() => {
    const [first, second] = Array.from(document.querySelectorAll("button[value=remove-fault]"), (button) =>
      button.getBoundingClientRect());
    return second.top - first.bottom;
  })()`);
  assert.ok(gap >= 8, "between the buttons: " + gap);
  await tab.screenshot(path.join(shots, "control-faults-400.png"));
  await tab.width(1280, 900);
  const refusals = async () => {
    await tab.open(origin + "/");
    return Number((await tab.text(".concerns li:last-child")).match(/^(\d+) of the newest 500/)[1]);
  };
  const before = await refusals();
  provider.run(`bankrail statement fetch --connection ${path.join(provider.data, "demo/democustomer")} 999001400100101 || true`);
  assert.equal(await refusals(), before, "what was ordered is not counted");
  assert.match(await tab.text(".calls .wait.reason"), /the fault statement-500/);
  control("remove-fault");
  control("set-clock --now real");
  await tab.open(origin + "/");
  assert.equal(await tab.count("aside"), 0);
  // The tile of calls and deliveries leads to both.
  assert.match(await tab.text(".tiles li:first-child"), /calls and deliveries/);
  await tab.loads(() => tab.click(".tiles li:first-child a"));
  assert.match(await tab.text(".calls"), /webhook/);
  await tab.loads(() => tab.click(".choice a:nth-child(3)"));
  assert.deepEqual(await tab.value(`Array.from(new Set(Array.from(document.querySelectorAll(".calls summary > b"),
    (name) => name.textContent)))`), ["webhook"]);
}

/** On a phone of 400 pixels. */
async function narrow(tab, origin, provider, axe, shots) {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) {
    provider.run(`bankrail provider control --data ${provider.data} send --endpoint democustomer --story payment --seed ${seed}`);
  }
  await tab.width(400, 800, true);
  await tab.open(origin + "/outbox");
  const rows = await tab.count("tbody tr");
  assert.equal(rows, 25);
  const height = await tab.value("document.documentElement.scrollHeight");
  assert.ok(height < 100 * rows, "the outbox is " + height + " high");
  const hidden = await tab.value(`Array.from(document.querySelectorAll("thead th")).map((head, index) =>
    Array.from(document.querySelectorAll("tbody tr"), (row) => row.cells[index].textContent.trim()).some(Boolean))`);
  assert.ok(hidden.every(Boolean), "a column is empty");
  assert.doesNotMatch(await tab.text("footer"), /Point at/);
  await tab.screenshot(path.join(shots, "outbox-400.png"));
  for (const view of ["/calls?refused=yes", "/calls?customer=DEMOCUSTOMER", "/calls?customer=" + "ACME-HOLDINGS-".repeat(3)]) {
    await tab.open(origin + view);
    await tab.value("document.querySelectorAll('.calls details').forEach((call) => { call.open = true; })");
    await fits(tab, view + " at 400");
    const cut = await tab.value(`Array.from(document.querySelectorAll(".calls .reason")).filter((reason) =>
      reason.scrollWidth > reason.clientWidth || reason.scrollHeight > reason.clientHeight + 1).length`);
    assert.equal(cut, 0, "a reason is cut");
    await tab.screenshot(path.join(shots, "calls-400.png"));
  }
  await tab.width(1280, 900);
}

async function keyboard(tab, origin) {
  await tab.open(origin + "/endpoints");
  await tab.key("Tab");
  assert.equal(await tab.value("document.activeElement.className"), "skip");
  const left = await tab.value("document.activeElement.getBoundingClientRect().left");
  assert.ok(left >= 0, "it is seen when it has the focus");
  await tab.key("Enter");
  await until("the content has the focus", () => tab.value("document.activeElement.id === 'main'"));
  await tab.key("Tab");
  assert.ok(await tab.value("document.querySelector('main').contains(document.activeElement)"));
}

async function withoutScript(tab, origin) {
  await tab.send("Emulation.setScriptExecutionDisabled", { value: true });
  for (const view of ["/calls", "/endpoints"]) {
    await tab.open(origin + view);
    assert.ok(await tab.count(".cards > li, .calls > li"), view);
    assert.equal(await tab.count(".command + button"), 0, "no button that does nothing");
  }
  await tab.send("Emulation.setScriptExecutionDisabled", { value: false });
}

module.exports = { check };
