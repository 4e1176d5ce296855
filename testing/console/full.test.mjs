// The rest of what the console promises: every action, every role, both looks, small windows, and a server that goes away.

import test, { after, before } from "node:test";
import assert from "node:assert/strict";

import { TestServer, closeBrowser, examine, goTo, idOf, keep, open, overflow } from "./browser.mjs";
import { fill } from "./fill.mjs";
import { layered } from "./work.mjs";

let server, made;

before(async () => {
  server = await TestServer.start();
  made = await fill(server.work);
});

after(async () => {
  await closeBrowser();
  await server.end();
});

const PLACES = () => [
  ["overview", "#/"],
  ["executions", "#/executions"],
  ["execution", `#/executions/${idOf(made.agent)}`],
  ["flows", "#/flows"],
  ["flow", `#/flows/${made.flow}`],
  ["approvals", "#/approvals"],
  ["lanes", "#/lanes?lane=reports"],
  ["workers", "#/workers"],
  ["schedules", "#/schedules"],
  ["schedule", "#/schedules/weekly-report"],
  ["quotas", "#/quotas"],
  ["budgets", "#/budgets"],
  ["budget", "#/budgets/agents"],
  ["usage", `#/executions/${idOf(made.spender)}`],
  ["assigned", `#/executions/${idOf(made.assigned)}`],
  ["events", "#/events"],
  ["settings", "#/settings"],
];

for (const scheme of ["light", "dark"]) {
  for (const width of [1440, 360]) {
    test(`every page in ${scheme} at ${width} pixels fits, and axe finds nothing serious`, async () => {
      const page = await open(server, "", { scheme, width });
      for (const [name, where] of PLACES()) {
        await goTo(page, where);
        await page.locator("main h1").waitFor();
        await page.locator("main .skeleton").first().waitFor({ state: "detached" });
        assert.deepEqual(await examine(page), [], name);
        assert.ok((await overflow(page)) <= 0, `${name} is wider than its window`);
        assert.equal(await page.locator("main dl.facts:not(:visible)").count(), 0, `${name} hides facts`);
        await keep(page, `${name}-${scheme}-${width}`);
      }
      await page.done();
    });
  }
}

test("executions are filtered by the moments they were created between", async () => {
  const page = await open(server, "#/executions");
  await page.getByLabel("Created").selectOption("exact");
  const rows = page.locator("main tbody tr");
  await rows.first().waitFor();
  await page.getByLabel("From").fill("2020-01-01T00:00:05");
  await page.getByLabel("Until").fill("2020-01-02T00:00:00");
  await page.getByLabel("Until").press("Enter");
  await page.getByText("Nothing fits this filter").waitFor();
  assert.match(page.url(), /from=2020-01-01/);
  await page.getByLabel("Until").fill("2099-01-01T00:00:00");
  await page.getByLabel("Until").press("Enter");
  await rows.first().waitFor();
  await page.reload();
  assert.equal(await page.getByLabel("From").inputValue(), "2020-01-01T00:00:05", "the address holds it");
  await page.getByLabel("Created").selectOption("1h");
  await page.getByLabel("From").waitFor({ state: "detached" });
  await rows.first().waitFor();
  await page.done();
});

test("a filter is saved under a name, found again, and forgotten", async () => {
  const page = await open(server, "#/executions");
  await page.getByRole("row").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Save this filter" }).count(), 0, "no filter is nothing to save");
  await goTo(page, "#/executions?kind=mail.send&state=failed");
  await page.getByRole("button", { name: "Save this filter" }).click();
  await page.getByLabel("Name").fill("broken <b>mails</b>");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await goTo(page, "#/executions");
  await page.reload();
  await page.getByRole("link", { name: "broken <b>mails</b>" }).click();
  assert.match(page.url(), /kind=mail\.send&state=failed/);
  assert.deepEqual(await examine(page), []);
  await page.getByRole("button", { name: "Forget broken" }).click();
  await page.getByRole("link", { name: "broken" }).waitFor({ state: "detached" });
  await page.done();
});

test("of a thousand executions only those near the window are drawn, and all are reached", async () => {
  const submits = Array.from({ length: 1_000 }, () => server.work.submit("speed"));
  await Promise.all(submits);
  const page = await open(server, "#/executions?kind=speed");
  await page.getByRole("button", { name: "Show 300" }).click();
  await page.getByRole("button", { name: /^Show 1.000$/ }).click();
  await page.getByText(/^1.000 executions$/).waitFor();
  const rows = page.locator("main tbody tr[data-row]");
  assert.ok((await rows.count()) < 300);
  await keep(page, "executions-1000");
  await page.getByText(/^1.000 executions$/).scrollIntoViewIfNeeded();
  const widths = () => page.locator("main thead th").evaluateAll((cells) => cells.map((cell) => cell.offsetWidth));
  const before = await widths();
  await rows.last().waitFor();
  await page.waitForFunction(() => document.querySelector("main tbody:last-of-type tr[data-row]"));
  assert.deepEqual(await widths(), before, "columns keep their widths");
  assert.ok((await rows.count()) < 300);
  await page.done();
});

/** Presses an action of an execution and answers its question. */
async function act(page, name, answer = async () => {}) {
  await page.getByRole("group", { name: "Actions" }).getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await answer(dialog);
  await dialog.locator("footer button[type=submit]").click();
  await dialog.waitFor({ state: "detached" });
}

const stateOf = async (id) => server.work.get(`/v1/executions/${idOf(id)}`);

test("every action on an execution does what it says", async () => {
  const id = await server.work.submit("acted.on", { lane: "acted", payload: {} });
  const page = await open(server, `#/executions/${idOf(id)}`);
  await act(page, "Priority", (dialog) => dialog.getByLabel("Priority").fill("70"));
  assert.equal((await stateOf(id)).priority, 70);
  await act(page, "Tags", (dialog) => dialog.getByLabel("Tags").fill("customer=acme\nenv=test"));
  assert.deepEqual((await stateOf(id)).tags, { customer: "acme", env: "test" });
  await act(page, "Hold", (dialog) => dialog.getByLabel("Reason").fill("let me look"));
  assert.equal((await stateOf(id)).hold.reason, "let me look");
  await act(page, "Release");
  assert.equal((await stateOf(id)).hold ?? null, null);
  const held = await server.work.claim("acted.on", { lane: "acted" });
  await held.step("first", { done: true });
  await act(page, "Revoke lease");
  assert.equal((await stateOf(id)).public_state, "waiting");
  await (await server.work.claim("acted.on", { lane: "acted" })).complete({ ok: true });
  await act(page, "Replay", (dialog) => dialog.getByLabel("Run again").selectOption({ label: "from the step first" }));
  assert.equal((await stateOf(id)).replays, 1);
  await act(page, "Cancel", (dialog) => dialog.getByLabel("Reason").fill("enough"));
  assert.equal((await stateOf(id)).public_state, "cancelled");
  await page.getByText("It has ended: it is cancelled.").waitFor();
  await page.done();
});

test("an execution is submitted, and another like it with a change", async () => {
  const page = await open(server, "#/executions");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Kind").fill("by.hand");
  await dialog.getByLabel("Payload, as JSON").fill('{"n": 12345678901234567890, "to": }');
  await dialog.getByRole("button", { name: "Submit" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Payload, as JSON").fill('{"n": 12345678901234567890, "to": "ada"}');
  await dialog.getByLabel("Tags").fill("env=test");
  await dialog.getByRole("button", { name: "Submit" }).click();
  await page.getByRole("heading", { name: "by.hand" }).waitFor();
  assert.deepEqual(await examine(page), []);
  await act(page, "Submit a copy", async (dialog) => {
    const field = dialog.getByLabel("Payload, as JSON");
    await field.fill((await field.inputValue()).replace("ada", "grace"));
  });
  await page.waitForFunction(() => document.querySelector("main")?.innerText.includes("by.hand"));
  const { executions } = await server.work.get("/v1/executions?kind=by.hand");
  const payloads = await Promise.all(executions.map(async ({ execution_id }) => (await fetch(`${server.url}/v1/executions/${idOf(execution_id)}/payload`)).text()));
  assert.equal(payloads.length, 2);
  assert.ok(payloads.every((text) => text.includes("12345678901234567890")), "a number stays as it is written");
  assert.ok(payloads[0].includes("grace") && payloads[1].includes("ada"));
  assert.ok(executions.every(({ tags }) => tags.env === "test"));
  await page.done();
});

test("many are counted before they are cancelled, and some are chosen one by one", async () => {
  for (let nth = 0; nth < 5; nth += 1) await server.work.submit("bulk.job", { lane: "bulk" });
  const page = await open(server, "#/executions?kind=bulk.job");
  await page.getByRole("checkbox", { name: "Select bulk.job" }).first().check();
  await page.getByRole("button", { name: "Hold", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Hold", exact: true }).click();
  await page.getByText("Done to 1 execution").waitFor();
  await page.getByRole("button", { name: "Cancel all" }).click();
  await page.getByRole("heading", { name: "Cancel 5 executions?" }).waitFor();
  await page.getByRole("button", { name: "Cancel 5 executions" }).click();
  await page.getByText("Done to 5 executions").waitFor();
  const { executions } = await server.work.get("/v1/executions?kind=bulk.job");
  assert.ok(executions.every((one) => one.public_state === "cancelled"));
  await page.done();
});

test("lanes, quotas, keys and secrets are changed in the console", async () => {
  const page = await open(server, "#/lanes");
  const reports = page.getByRole("row").filter({ hasText: "reports" });
  await reports.getByRole("button", { name: "Resume" }).click();
  await reports.getByText("active").waitFor();
  await reports.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Run at once, at most").fill("3");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The lane is configured").waitFor();
  assert.equal((await server.work.get("/v1/lanes/reports")).settings.concurrency, 3);
  await goTo(page, "#/quotas");
  await page.getByRole("button", { name: "Define a quota" }).click();
  await page.getByLabel("Name").fill("slow");
  await page.getByLabel("Applies to").fill("lane:slow");
  await page.getByLabel("So many may run at once").fill("1");
  await page.getByRole("button", { name: "Save" }).click();
  const slow = page.getByRole("listitem").filter({ hasText: "lane:slow" });
  await slow.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await slow.waitFor({ state: "detached" });
  await goTo(page, "#/settings");
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByLabel("Name of the new secret").fill("k2");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByText("The secret is rotated").waitFor();
  await page.getByRole("button", { name: "Examine the store" }).click();
  await page.getByText("nothing is wrong").waitFor();
  await page.done();
});

test("a flow is cancelled, and a member replayed", async () => {
  const page = await open(server, `#/flows/${made.flow}`);
  await page.getByRole("row").filter({ hasText: "completed" }).getByRole("button", { name: "Replay" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await page.getByText("It waits again").waitFor();
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByLabel("Reason").fill("not tonight");
  await page.getByRole("button", { name: "Cancel the flow" }).click();
  await page.getByRole("heading", { name: /cancelled/ }).waitFor();
  await page.done();
});

test("a member shows what it follows and what follows it", async () => {
  const { members } = await server.work.get(`/v1/flows/${made.flow}/members`);
  const join = members.find((member) => member.node === "join");
  const page = await open(server, `#/executions/${idOf(join.execution_id)}`);
  await page.getByRole("tab", { name: "Flow" }).click();
  for (const node of ["orders", "users", "report"]) await page.getByRole("tabpanel").getByRole("link", { name: node }).waitFor();
  await page.done();
});

test("the critical path is the chain that took longest, not a single member", async () => {
  const nodes = { long: { kind: "path.long" }, short: { kind: "path.short" }, last: { kind: "path.last", after: ["long", "short"] } };
  const { flow_id } = await server.work.post("/v1/flows", { kind: "path", nodes });
  const page = await open(server, `#/flows/${flow_id}`);
  const long = await server.work.claim("path.long");
  await (await server.work.claim("path.short")).complete({});
  await page.getByRole("row").filter({ hasText: "path.short" }).getByText("completed").waitFor();
  assert.equal(await page.getByText("critical path", { exact: true }).count(), 0);
  await long.complete({});
  await (await server.work.claim("path.last")).complete({});
  await page.getByText("in 2 members").waitFor();
  for (const kind of ["path.long", "path.last"]) await page.getByRole("row").filter({ hasText: kind }).getByText("critical path").waitFor();
  await page.done();
});

test("a flow of 300 is a graph of each, one of 10 000 of groups, and both are drawn soon", async () => {
  const large = (await server.work.post("/v1/flows", { kind: "large", nodes: layered("large", 15, 20) })).flow_id;
  const huge = (await server.work.post("/v1/flows", { kind: "huge", nodes: layered("huge", 10, 1_000) })).flow_id;
  const page = await open(server, `#/flows/${large}`);
  await page.locator(".graph .node").first().waitFor();
  assert.equal(await page.locator(".graph .node").count(), 300);
  const drawn = await page.evaluate(() => new Promise((done) => {
    const began = performance.now();
    document.querySelector('.graph button[aria-label="Magnify"]').click();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
  }));
  assert.ok(drawn < 1_000, `magnifying 300 nodes took ${drawn} ms`);
  await goTo(page, `#/flows/${huge}`);
  await page.getByText("grouped by kind").waitFor({ timeout: 60_000 });
  assert.equal(await page.locator(".graph .node").count(), 10);
  await page.done();
});

test("when the server goes away the page says so, and goes on when it is back", async () => {
  const short = await TestServer.start();
  try {
    const page = await open(short, "#/executions", { expects: ["ERR_", "Failed to load resource"] });
    await page.getByText("Nothing was submitted yet").waitFor();
    await short.stop("SIGKILL");
    await page.getByText("The server does not answer").waitFor({ timeout: 30_000 });
    await short.again();
    await page.getByText("The server does not answer").waitFor({ state: "detached", timeout: 30_000 });
    await short.work.submit("after.return");
    await page.getByRole("row").filter({ hasText: "after.return" }).waitFor();
    await page.done();
  } finally {
    await short.end();
  }
});

test("an empty console says what to do first", async () => {
  const empty = await TestServer.start();
  try {
    const page = await open(empty);
    for (const [where, text] of [["#/", "Nothing has run yet"], ["#/executions", "Nothing was submitted yet"], ["#/flows", "No flow yet"], ["#/approvals", "Nothing waits for an approval"], ["#/lanes", "No lane has anything"], ["#/workers", "No worker is there"], ["#/schedules", "No schedule is defined"], ["#/quotas", "No quota is defined"], ["#/budgets", "No budget is defined"], ["#/events", "Nothing has happened"]]) {
      await goTo(page, where);
      await page.getByText(text).waitFor();
    }
    await page.done();
  } finally {
    await empty.end();
  }
});

test("the demo has something for every page", async () => {
  const demo = await TestServer.demo();
  try {
    const page = await open(demo, "#/approvals");
    await page.getByText("Send this offer to acme?").waitFor({ timeout: 60_000 });
    await page.getByRole("link", { name: "agent.offer" }).first().click();
    await page.getByText("superseded by attempt 2").waitFor();
    await page.getByText("keeps its seats").waitFor();
    await keep(page, "readme");
    await goTo(page, "#/");
    await page.getByText("Lane reports is paused").waitFor();
    await goTo(page, "#/flows");
    await page.getByRole("row").filter({ hasText: "demo.nightly" }).first().waitFor();
    await goTo(page, "#/quotas");
    await page.getByText("mails-per-customer").waitFor();
    await goTo(page, "#/budgets/answer-tokens");
    await page.getByText("nothing further starts until it resets").waitFor({ timeout: 90_000 });
    await page.getByRole("heading", { name: "Waits for it" }).waitFor({ timeout: 30_000 });
    await keep(page, "demo-budget");
    await goTo(page, "#/executions?state=failed");
    await page.getByText("is not a table").waitFor();
    await page.done();
  } finally {
    await demo.end();
  }
});

test("a key of one namespace sees that one and nothing of others", async () => {
  const roles = { root: ["--role", "admin", "--role", "operate", "--role", "submit"], tenant: ["--role", "operate", "--role", "submit", "--namespace", "acme"] };
  const keyed = await TestServer.start(roles);
  try {
    await keyed.work.submit("ours", { namespace: "acme" });
    await keyed.work.submit("theirs", { namespace: "globex" });
    const page = await open(keyed, "#/executions", { expects: ["401"] });
    await page.getByLabel("API key").fill(keyed.keys.tenant);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("row").filter({ hasText: "ours" }).waitFor();
    assert.equal(await page.getByText("theirs").count(), 0);
    await goTo(page, "#/settings");
    await page.getByText("namespace acme").waitFor();
    assert.equal(await page.getByRole("heading", { name: "API keys" }).count(), 0);
    await page.done();
  } finally {
    await keyed.end();
  }
});
