// A server and a real browser for a test. Both end with it.

import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import assert from "node:assert/strict";

import { Work } from "./work.mjs";

// What is not part of this repository is installed by scripts/console-test, outside of it.
const require = createRequire(`${process.env.FF_CONSOLE_TOOLS}/package.json`);
const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core/axe.min.js");

const FF = process.env.FF_BIN;
const OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"];

/** A server over a store of its own, with keys of these roles if any are named. */
export class TestServer {
  static async start(roles = {}) {
    const server = new TestServer();
    server.folder = mkdtempSync(join(tmpdir(), "ff-console-"));
    server.store = `sqlite:${join(server.folder, "store.db")}`;
    server.keys = {};
    for (const [name, args] of Object.entries(roles)) {
      const made = execFileSync(FF, ["keys", "create", "--store", server.store, "--name", name, ...args, "--json"], { encoding: "utf8" });
      server.keys[name] = JSON.parse(made).key;
    }
    await server.serve("127.0.0.1:0");
    server.work = new Work(server.url, server.keys.root);
    return server;
  }

  /** The demo, with work of its own. */
  static async demo() {
    const server = new TestServer();
    server.folder = mkdtempSync(join(tmpdir(), "ff-console-"));
    await server.run(["dev", "--demo", "--data", server.folder, "--listen", "127.0.0.1:0", "--json"]);
    return server;
  }

  serve(listen) {
    return this.run(["server", "--store", this.store, "--listen", listen, "--json"]);
  }

  async run(args) {
    this.process = spawn(FF, args, { stdio: ["ignore", "pipe", "ignore"] });
    this.url = (await started(this.process)).server;
  }

  /** Ends the server as it is told to, or at once. */
  async stop(signal = "SIGTERM") {
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill(signal);
    await ended;
  }

  /** Starts it again at the same address. */
  again() {
    return this.serve(new URL(this.url).host);
  }

  async end() {
    await this.stop("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a server prints when it has started: one JSON document, over however many lines. */
async function started(process) {
  const lines = createInterface({ input: process.stdout });
  let text = "";
  for await (const line of lines) {
    text += line;
    try {
      return JSON.parse(text);
    } catch {
      // There is more to come.
    }
  }
  throw new Error(`the server did not start: ${text}`);
}

let browser;

export async function closeBrowser() {
  await browser?.close();
}

/** A page of the console in a browser of its own look. What the page complains about fails the test. */
export async function open(server, where = "", { width = 1440, scheme = "light", expects = [] } = {}) {
  browser ??= await chromium.launch({ executablePath: process.env.FF_CHROMIUM || "chromium", args: OPTIONS });
  const context = await browser.newContext({ viewport: { width, height: width > 600 ? 900 : 740 }, colorScheme: scheme });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("request", (request) => request.url().startsWith(server.url) || complaints.push(`a request to ${request.url()}`));
  page.streams = 0;
  page.on("request", (request) => (page.streams += Number(request.resourceType() === "eventsource")));
  page.on("dialog", (dialog) => complaints.push(`a dialog: ${dialog.message()}`));
  page.setDefaultTimeout(15_000);
  await page.goto(`${server.url}/${where}`);
  page.done = async () => {
    const unexpected = complaints.filter((text) => !expects.some((known) => text.includes(known)));
    await context.close();
    assert.deepEqual(unexpected, []);
  };
  return page;
}

/** Goes to another place of the console. */
export async function goTo(page, where) {
  await page.evaluate((where) => (location.hash = where), where);
}

/** What axe finds serious on a page. */
export async function examine(page) {
  // The policy of the page forbids scripts from elsewhere; the debugger may still bring one.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(require("node:fs").readFileSync(AXE, "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

/** Keeps a picture of the page for people to look at, where they asked for some. */
export async function keep(page, name) {
  if (process.env.FF_CONSOLE_SHOTS) await page.screenshot({ path: join(process.env.FF_CONSOLE_SHOTS, `${name}.png`) });
}

/** By how many pixels a page is wider than its window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

export const idOf = (id) => encodeURIComponent(id);
