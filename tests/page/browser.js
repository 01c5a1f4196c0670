// A headless Chromium, spoken to through a pipe with the DevTools protocol. No package is needed.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The program of the browser: that of CHROMIUM, or one of the usual names in PATH. */
function findProgram() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const folder of (process.env.PATH ?? "").split(":")) {
    for (const name of NAMES) {
      const file = path.join(folder, name);
      if (fs.existsSync(file)) return file;
    }
  }
  throw new Error("no Chromium: install the package chromium-headless-shell, or name the program in CHROMIUM");
}

/** Waits until the check gives something true. The time is a bound for a failure; nothing waits for it to pass. */
async function until(what, check) {
  const end = Date.now() + 20000;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) throw new Error("did not happen: " + what);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

class Browser {
  static async start() {
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), "bankrail-browser-"));
    const flags = ["--headless", "--remote-debugging-pipe", "--user-data-dir=" + profile, "--no-first-run",
      "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--no-default-browser-check", "--hide-scrollbars", "--force-color-profile=srgb"];
    // Its sandbox does not start for root.
    if (process.getuid() === 0) flags.push("--no-sandbox");
    const stdio = ["ignore", "ignore", "pipe", "pipe", "pipe"];
    const child = spawn(findProgram(), [...flags, "about:blank"], { stdio });
    const browser = new Browser(child, profile);
    browser.version = (await browser.send("Browser.getVersion")).product;
    return browser;
  }

  constructor(child, profile) {
    Object.assign(this, { child, profile, number: 0, asked: new Map(), listeners: new Map(), said: "" });
    child.stderr.on("data", (bytes) => { this.said = (this.said + bytes).slice(-4000); });
    this.gone = new Promise((resolve) => child.on("exit", resolve));
    this.gone.then(() => {
      for (const { reject } of this.asked.values()) reject(new Error("the browser ended: " + this.said));
    });
    let rest = Buffer.alloc(0);
    child.stdio[4].on("data", (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        const message = rest.subarray(0, end).toString();
        rest = rest.subarray(end + 1);
        this.receive(JSON.parse(message));
      }
    });
    child.stdio[3].on("error", () => {});
  }

  receive(message) {
    const asked = this.asked.get(message.id);
    if (asked) {
      this.asked.delete(message.id);
      if (message.error) asked.reject(new Error(asked.method + ": " + message.error.message));
      else asked.resolve(message.result);
    } else if (message.method) {
      for (const listen of this.listeners.get(message.sessionId) ?? []) listen(message.method, message.params);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    this.number += 1;
    const id = this.number;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.asked.set(id, { resolve, reject, method }));
  }

  /** A new tab with cookies of its own. */
  async tab() {
    const { browserContextId } = await this.send("Target.createBrowserContext");
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, sessionId);
    await tab.begin();
    return tab;
  }

  async stop() {
    this.send("Browser.close").catch(() => {});
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 5000);
    await this.gone;
    clearTimeout(timer);
    fs.rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What an exception in a page says. */
function described(details) {
  return details.exception?.description ?? details.text;
}

/** A tab, and everything that went wrong in it. */
class Tab {
  constructor(browser, sessionId) {
    Object.assign(this, { browser, sessionId, complaints: [], requests: [], downloads: 0, loaded: 0 });
    browser.listeners.set(sessionId, [(method, params) => this.happened(method, params)]);
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  async begin() {
    const domains = ["Page", "Runtime", "Log", "Network", "Audits", "Accessibility"];
    for (const domain of domains) await this.send(domain + ".enable");
    await this.width(1280, 900);
  }

  happened(method, params) {
    if (method === "Runtime.exceptionThrown") {
      this.complaints.push("exception: " + described(params.exceptionDetails));
    } else if (method === "Runtime.consoleAPICalled") {
      this.complaints.push("console: " + params.args.map((value) => value.value).join(" "));
    } else if (method === "Log.entryAdded") {
      this.complaints.push("log: " + params.entry.text + " " + (params.entry.url ?? ""));
    } else if (method === "Audits.issueAdded" && params.issue.code === "ContentSecurityPolicyIssue") {
      this.complaints.push("policy: " + JSON.stringify(params.issue.details));
    } else if (method === "Network.requestWillBeSent") {
      this.requests.push(params.request.url);
    } else if (method === "Page.loadEventFired") {
      this.loaded += 1;
    }
  }

  /** The value of an expression in the page. */
  async value(expression) {
    const asked = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", asked);
    if (exceptionDetails) throw new Error(expression + ": " + described(exceptionDetails));
    return result.value;
  }

  text(selector = "body") {
    return this.value(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
  }

  count(selector) {
    return this.value(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
  }

  /** What happens next loads a page. */
  async loads(action) {
    const before = this.loaded;
    await action();
    await until("a page is loaded", () => this.loaded > before);
  }

  open(url) {
    return this.loads(() => this.send("Page.navigate", { url }));
  }

  reload() {
    return this.loads(() => this.send("Page.reload"));
  }

  /** Clicks with the mouse into the middle of an element; of a link whose text wraps, into its first line. */
  async click(selector) {
    const place = await this.value(`(() => {
      const found = document.querySelector(${JSON.stringify(selector)});
      if (!found) return null;
      found.scrollIntoView({ block: "center", behavior: "instant" });
      const { x, y, width, height } = found.getClientRects()[0];
      return { x: x + width / 2, y: y + height / 2 };
    })()`);
    if (!place) throw new Error("nothing to click: " + selector);
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.send("Input.dispatchMouseEvent", { type, ...place, button: "left", clickCount: 1 });
    }
  }

  async key(key, code = key) {
    const codes = { Tab: 9, Enter: 13 };
    const text = key === "Enter" ? "\r" : undefined;
    const common = { key, code, windowsVirtualKeyCode: codes[key] };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", text, ...common });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...common });
  }

  /** Types into what has the focus, character by character. */
  async type(text) {
    for (const character of text) {
      await this.send("Input.dispatchKeyEvent", { type: "keyDown", text: character, key: character });
      await this.send("Input.dispatchKeyEvent", { type: "keyUp", key: character });
    }
  }

  width(width, height, mobile = false) {
    const deviceScaleFactor = mobile ? 2 : 1;
    return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor, mobile });
  }

  /** `light` or `dark`, on `screen` or in `print`. */
  media(scheme, media = "screen") {
    const features = [
      { name: "prefers-color-scheme", value: scheme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ];
    return this.send("Emulation.setEmulatedMedia", { media, features });
  }

  async screenshot(file) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true });
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }

  /** The roles of the elements as a screen reader gets them. */
  async roles() {
    const { nodes } = await this.send("Accessibility.getFullAXTree");
    return nodes.filter((node) => !node.ignored).map((node) => node.role.value);
  }
}

module.exports = { Browser, until };
