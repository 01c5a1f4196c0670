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
