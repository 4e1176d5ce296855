// Starts a server and a browser for the tests.

import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import assert from "node:assert/strict";

import { ApiClient } from "./work.mjs";

// scripts/console-test installs the dependencies outside of this repository.
const require = createRequire(`${process.env.FF_CONSOLE_TOOLS}/package.json`);
const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core/axe.min.js");

const FF = process.env.FF_BIN;
const BROWSER_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"];

/** A server with its own store. */
export class TestServer {
  /** Starts a server; `roles` maps the names of its keys to the options that create them. */
  static async start(roles = {}) {
    const server = new TestServer();
    server.folder = mkdtempSync(join(tmpdir(), "ff-console-"));
    server.store = `sqlite:${join(server.folder, "store.db")}`;
    server.keys = {};
    for (const [name, args] of Object.entries(roles)) {
      const output = execFileSync(FF, ["keys", "create", "--store", server.store, "--name", name, ...args, "--json"], { encoding: "utf8" });
      server.keys[name] = JSON.parse(output).key;
    }
    await server.serve("127.0.0.1:0");
    server.client = new ApiClient(server.url, server.keys.root);
    return server;
  }

  /** Starts `ff dev --demo`. */
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
    this.url = (await startupReport(this.process)).server;
  }

  /** Stops the server with a signal and waits for its exit. */
  async stop(signal = "SIGTERM") {
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill(signal);
    await ended;
  }

  /** Starts the server again at the same address. */
  restart() {
    return this.serve(new URL(this.url).host);
  }

  /** Kills the server and deletes its folder. */
  async dispose() {
    await this.stop("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Reads the JSON document that a server prints when it has started. It may span several lines. */
async function startupReport(process) {
  const lines = createInterface({ input: process.stdout });
  let text = "";
  for await (const line of lines) {
    text += line;
    try {
      return JSON.parse(text);
    } catch {
      // The document is not complete yet.
    }
  }
  throw new Error(`the server did not start: ${text}`);
}

let browser;

export async function closeBrowser() {
  await browser?.close();
}

/** Opens the console in a new browser context. `page.done` closes it and fails on errors of the page that are not in `expects`. */
export async function open(server, where = "", { width = 1440, scheme = "light", expects = [] } = {}) {
  browser ??= await chromium.launch({ executablePath: process.env.FF_CHROMIUM || "chromium", args: BROWSER_OPTIONS });
  const context = await browser.newContext({ viewport: { width, height: width > 600 ? 900 : 740 }, colorScheme: scheme });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => request.url().startsWith(server.url) || errors.push(`a request to ${request.url()}`));
  page.streams = 0;
  page.on("request", (request) => (page.streams += Number(request.resourceType() === "eventsource")));
  page.on("dialog", (dialog) => errors.push(`a dialog: ${dialog.message()}`));
  page.setDefaultTimeout(15_000);
  await page.goto(`${server.url}/${where}`);
  page.done = async () => {
    const unexpected = errors.filter((text) => !expects.some((known) => text.includes(known)));
    await context.close();
    assert.deepEqual(unexpected, []);
  };
  return page;
}

/** Goes to another page of the console. */
export async function goTo(page, where) {
  await page.evaluate((where) => (location.hash = where), where);
}

/** The serious and critical violations that axe finds on a page. */
export async function seriousViolations(page) {
  // The content security policy forbids scripts of other origins, but not code that the debugger evaluates.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(require("node:fs").readFileSync(AXE, "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

/** Saves a screenshot of the page if FF_CONSOLE_SHOTS names a folder. */
export async function saveScreenshot(page, name) {
  if (process.env.FF_CONSOLE_SHOTS) await page.screenshot({ path: join(process.env.FF_CONSOLE_SHOTS, `${name}.png`) });
}

/** The number of pixels by which a page is wider than its window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

export const encodeId = (id) => encodeURIComponent(id);
