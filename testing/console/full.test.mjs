// The full tests of the console: every action, roles, light and dark, narrow windows, large lists and flows, and a server that restarts.

import test, { after, before } from "node:test";
import assert from "node:assert/strict";

import { TestServer, closeBrowser, seriousViolations, goTo, encodeId, saveScreenshot, open, overflow } from "./browser.mjs";
import { createSamples } from "./fill.mjs";
import { layeredFlow } from "./work.mjs";

let server, samples;

before(async () => {
  server = await TestServer.start();
  samples = await createSamples(server.client);
});

after(async () => {
  await closeBrowser();
  await server.dispose();
});

const PLACES = () => [
  ["overview", "#/"],
  ["executions", "#/executions"],
  ["execution", `#/executions/${encodeId(samples.agent)}`],
  ["flows", "#/flows"],
  ["flow", `#/flows/${samples.flow}`],
  ["approvals", "#/approvals"],
  ["lanes", "#/lanes?lane=reports"],
  ["workers", "#/workers"],
  ["schedules", "#/schedules"],
  ["schedule", "#/schedules/weekly-report"],
  ["quotas", "#/quotas"],
  ["budgets", "#/budgets"],
  ["budget", "#/budgets/agents"],
  ["usage", `#/executions/${encodeId(samples.spender)}`],
  ["assigned", `#/executions/${encodeId(samples.assigned)}`],
  ["events", "#/events"],
  ["settings", "#/settings"],
];

for (const scheme of ["light", "dark"]) {
  for (const width of [1440, 360]) {
    test(`every page in ${scheme} at ${width} pixels is not wider than its window, and axe finds no serious violation`, async () => {
      const page = await open(server, "", { scheme, width });
      for (const [name, where] of PLACES()) {
        await goTo(page, where);
        await page.locator("main h1").waitFor();
        await page.locator("main .skeleton").first().waitFor({ state: "detached" });
        assert.deepEqual(await seriousViolations(page), [], name);
        assert.ok((await overflow(page)) <= 0, `${name} is wider than its window`);
        assert.equal(await page.locator("main dl.facts:not(:visible)").count(), 0, `${name} hides facts`);
        await saveScreenshot(page, `${name}-${scheme}-${width}`);
      }
      await page.done();
    });
  }
}

test("executions are filtered by a range of creation times", async () => {
  const page = await open(server, "#/executions");
  await page.getByLabel("Created").selectOption("exact");
  const rows = page.locator("main tbody tr");
  await rows.first().waitFor();
  await page.getByLabel("From").fill("2020-01-01T00:00:05");
  await page.getByLabel("Until").fill("2020-01-02T00:00:00");
  await page.getByLabel("Until").press("Enter");
  await page.getByText("No execution matches this filter").waitFor();
  assert.match(page.url(), /from=2020-01-01/);
  await page.getByLabel("Until").fill("2099-01-01T00:00:00");
  await page.getByLabel("Until").press("Enter");
  await rows.first().waitFor();
  await page.reload();
  assert.equal(await page.getByLabel("From").inputValue(), "2020-01-01T00:00:05", "the address contains the filter");
  await page.getByLabel("Created").selectOption("1h");
  await page.getByLabel("From").waitFor({ state: "detached" });
  await rows.first().waitFor();
  await page.done();
});

test("a filter is saved under a name, opened again, and deleted", async () => {
  const page = await open(server, "#/executions");
  await page.getByRole("row").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Save this filter" }).count(), 0, "without a filter there is no button to save it");
  await goTo(page, "#/executions?kind=mail.send&state=failed");
  await page.getByRole("button", { name: "Save this filter" }).click();
  await page.getByLabel("Name").fill("broken <b>mails</b>");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await goTo(page, "#/executions");
  await page.reload();
  await page.getByRole("link", { name: "broken <b>mails</b>" }).click();
  assert.match(page.url(), /kind=mail\.send&state=failed/);
  assert.deepEqual(await seriousViolations(page), []);
  await page.getByRole("button", { name: "Delete broken" }).click();
  await page.getByRole("link", { name: "broken" }).waitFor({ state: "detached" });
  await page.done();
});

test("a list of 1 000 executions renders only the rows near the window, and scrolls to the last one", async () => {
  const submits = Array.from({ length: 1_000 }, () => server.client.submit("speed"));
  await Promise.all(submits);
  const page = await open(server, "#/executions?kind=speed");
  await page.getByRole("button", { name: "Show 300" }).click();
  await page.getByRole("button", { name: /^Show 1.000$/ }).click();
  await page.getByText(/^1.000 executions$/).waitFor();
  const rows = page.locator("main tbody tr[data-row]");
  assert.ok((await rows.count()) < 300);
  await saveScreenshot(page, "executions-1000");
  await page.getByText(/^1.000 executions$/).scrollIntoViewIfNeeded();
  const widths = () => page.locator("main thead th").evaluateAll((cells) => cells.map((cell) => cell.offsetWidth));
  const before = await widths();
  await rows.last().waitFor();
  await page.waitForFunction(() => document.querySelector("main tbody:last-of-type tr[data-row]"));
  assert.deepEqual(await widths(), before, "column widths do not change");
  assert.ok((await rows.count()) < 300);
  await page.done();
});

/** Clicks an action of an execution, and fills and submits its dialog. */
async function act(page, name, fillDialog = async () => {}) {
  await page.getByRole("group", { name: "Actions" }).getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await fillDialog(dialog);
  await dialog.locator("footer button[type=submit]").click();
  await dialog.waitFor({ state: "detached" });
}

const stateOf = async (id) => server.client.get(`/v1/executions/${encodeId(id)}`);

test("every action on an execution changes the execution", async () => {
  const id = await server.client.submit("acted.on", { lane: "acted", payload: {} });
  const page = await open(server, `#/executions/${encodeId(id)}`);
  await act(page, "Priority", (dialog) => dialog.getByLabel("Priority").fill("70"));
  assert.equal((await stateOf(id)).priority, 70);
  await act(page, "Tags", (dialog) => dialog.getByLabel("Tags").fill("customer=acme\nenv=test"));
  assert.deepEqual((await stateOf(id)).tags, { customer: "acme", env: "test" });
  await act(page, "Hold", (dialog) => dialog.getByLabel("Reason").fill("under review"));
  assert.equal((await stateOf(id)).hold.reason, "under review");
  await act(page, "Release");
  assert.equal((await stateOf(id)).hold ?? null, null);
  const claimed = await server.client.claim("acted.on", { lane: "acted" });
  await claimed.step("first", { done: true });
  await act(page, "Revoke lease");
  assert.equal((await stateOf(id)).public_state, "waiting");
  await (await server.client.claim("acted.on", { lane: "acted" })).complete({ ok: true });
  await act(page, "Replay", (dialog) => dialog.getByLabel("Run again").selectOption({ label: "from the step first" }));
  assert.equal((await stateOf(id)).replays, 1);
  await act(page, "Cancel", (dialog) => dialog.getByLabel("Reason").fill("enough"));
  assert.equal((await stateOf(id)).public_state, "cancelled");
  await page.getByText("It has ended: it is cancelled.").waitFor();
  await page.done();
});

test("an execution is submitted, and then a changed copy of it", async () => {
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
  assert.deepEqual(await seriousViolations(page), []);
  await act(page, "Submit a copy", async (dialog) => {
    const field = dialog.getByLabel("Payload, as JSON");
    await field.fill((await field.inputValue()).replace("ada", "grace"));
  });
  await page.waitForFunction(() => document.querySelector("main")?.innerText.includes("by.hand"));
  const { executions } = await server.client.get("/v1/executions?kind=by.hand");
  const payloads = await Promise.all(executions.map(async ({ execution_id }) => (await fetch(`${server.url}/v1/executions/${encodeId(execution_id)}/payload`)).text()));
  assert.equal(payloads.length, 2);
  assert.ok(payloads.every((text) => text.includes("12345678901234567890")), "a large number is not rounded");
  assert.ok(payloads[0].includes("grace") && payloads[1].includes("ada"));
  assert.ok(executions.every(({ tags }) => tags.env === "test"));
  await page.done();
});

test("bulk actions apply to selected executions, and to all that match the filter after counting them", async () => {
  for (let nth = 0; nth < 5; nth += 1) await server.client.submit("bulk.job", { lane: "bulk" });
  const page = await open(server, "#/executions?kind=bulk.job");
  await page.getByRole("checkbox", { name: "Select bulk.job" }).first().check();
  await page.getByRole("button", { name: "Hold", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Hold", exact: true }).click();
  await page.getByText("Applied to 1 execution").waitFor();
  await page.getByRole("button", { name: "Cancel all" }).click();
  await page.getByRole("heading", { name: "Cancel 5 executions?" }).waitFor();
  await page.getByRole("button", { name: "Cancel 5 executions" }).click();
  await page.getByText("Applied to 5 executions").waitFor();
  const { executions } = await server.client.get("/v1/executions?kind=bulk.job");
  assert.ok(executions.every((one) => one.public_state === "cancelled"));
  await page.done();
});

test("lanes, quotas, keys and secrets are changed in the console", async () => {
  const page = await open(server, "#/lanes");
  const reports = page.getByRole("row").filter({ hasText: "reports" });
  await reports.getByRole("button", { name: "Resume" }).click();
  await reports.getByText("active").waitFor();
  await reports.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Concurrency limit").fill("3");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The lane is configured").waitFor();
  assert.equal((await server.client.get("/v1/lanes/reports")).settings.concurrency, 3);
  await goTo(page, "#/quotas");
  await page.getByRole("button", { name: "Define a quota" }).click();
  await page.getByLabel("Name").fill("slow");
  await page.getByLabel("Applies to").fill("lane:slow");
  await page.getByLabel("Maximum concurrent executions").fill("1");
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
  await page.getByRole("button", { name: "Check the store" }).click();
  await page.getByText("no problems found").waitFor();
  await page.done();
});

test("a member of a flow is replayed, and the flow is cancelled", async () => {
  const page = await open(server, `#/flows/${samples.flow}`);
  await page.getByRole("row").filter({ hasText: "completed" }).getByRole("button", { name: "Replay" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await page.getByText("The member is waiting again").waitFor();
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByLabel("Reason").fill("not tonight");
  await page.getByRole("button", { name: "Cancel the flow" }).click();
  await page.getByRole("heading", { name: /cancelled/ }).waitFor();
  await page.done();
});

test("a member shows its upstream and downstream members", async () => {
  const { members } = await server.client.get(`/v1/flows/${samples.flow}/members`);
  const join = members.find((member) => member.node === "join");
  const page = await open(server, `#/executions/${encodeId(join.execution_id)}`);
  await page.getByRole("tab", { name: "Flow" }).click();
  for (const node of ["orders", "users", "report"]) await page.getByRole("tabpanel").getByRole("link", { name: node }).waitFor();
  await page.done();
});

test("the critical path is the chain with the longest run time, not a single member", async () => {
  const nodes = { long: { kind: "path.long" }, short: { kind: "path.short" }, last: { kind: "path.last", after: ["long", "short"] } };
  const { flow_id } = await server.client.post("/v1/flows", { kind: "path", nodes });
  const page = await open(server, `#/flows/${flow_id}`);
  const long = await server.client.claim("path.long");
  await (await server.client.claim("path.short")).complete({});
  await page.getByRole("row").filter({ hasText: "path.short" }).getByText("completed").waitFor();
  assert.equal(await page.getByText("critical path", { exact: true }).count(), 0);
  await long.complete({});
  await (await server.client.claim("path.last")).complete({});
  await page.getByText("in 2 members").waitFor();
  for (const kind of ["path.long", "path.last"]) await page.getByRole("row").filter({ hasText: kind }).getByText("critical path").waitFor();
  await page.done();
});

test("a graph shows 300 members as single nodes and 10 000 members as groups, and renders quickly", async () => {
  const large = (await server.client.post("/v1/flows", { kind: "large", nodes: layeredFlow("large", 15, 20) })).flow_id;
  const huge = (await server.client.post("/v1/flows", { kind: "huge", nodes: layeredFlow("huge", 10, 1_000) })).flow_id;
  const page = await open(server, `#/flows/${large}`);
  await page.locator(".graph .node").first().waitFor();
  assert.equal(await page.locator(".graph .node").count(), 300);
  const drawn = await page.evaluate(() => new Promise((done) => {
    const began = performance.now();
    document.querySelector('.graph button[aria-label="Zoom in"]').click();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
  }));
  assert.ok(drawn < 1_000, `zooming 300 nodes took ${drawn} ms`);
  await goTo(page, `#/flows/${huge}`);
  await page.getByText("grouped by kind").waitFor({ timeout: 60_000 });
  assert.equal(await page.locator(".graph .node").count(), 10);
  await page.done();
});

test("the page shows that the server does not respond, and continues when it is back", async () => {
  const short = await TestServer.start();
  try {
    const page = await open(short, "#/executions", { expects: ["ERR_", "Failed to load resource"] });
    await page.getByText("No executions submitted yet").waitFor();
    await short.stop("SIGKILL");
    await page.getByText("The server does not respond").waitFor({ timeout: 30_000 });
    await short.restart();
    await page.getByText("The server does not respond").waitFor({ state: "detached", timeout: 30_000 });
    await short.client.submit("after.return");
    await page.getByRole("row").filter({ hasText: "after.return" }).waitFor();
    await page.done();
  } finally {
    await short.dispose();
  }
});

test("every page without data shows what to do first", async () => {
  const empty = await TestServer.start();
  try {
    const page = await open(empty);
    for (const [where, text] of [["#/", "No execution has run yet"], ["#/executions", "No executions submitted yet"], ["#/flows", "No flows yet"], ["#/approvals", "No execution waits for an approval"], ["#/lanes", "No lane has executions"], ["#/workers", "No worker is registered"], ["#/schedules", "No schedule is defined"], ["#/quotas", "No quota is defined"], ["#/budgets", "No budget is defined"], ["#/events", "No events yet"]]) {
      await goTo(page, where);
      await page.getByText(text).waitFor();
    }
    await page.done();
  } finally {
    await empty.dispose();
  }
});

test("the demo shows approvals, flows, quotas, budgets and failures", async () => {
  const demo = await TestServer.demo();
  try {
    const page = await open(demo, "#/approvals");
    await page.getByText("Send this offer to acme?").waitFor({ timeout: 60_000 });
    await page.getByRole("link", { name: "agent.offer" }).first().click();
    await page.getByText("superseded by attempt 2").waitFor();
    await page.getByText("keeps its seats").waitFor();
    await saveScreenshot(page, "readme");
    await goTo(page, "#/");
    await page.getByText("Lane reports is paused").waitFor();
    await goTo(page, "#/flows");
    await page.getByRole("row").filter({ hasText: "demo.nightly" }).first().waitFor();
    await goTo(page, "#/quotas");
    await page.getByText("mails-per-customer").waitFor();
    await goTo(page, "#/budgets/answer-tokens");
    await page.getByText("no further execution starts until the budget resets").waitFor({ timeout: 90_000 });
    await page.getByRole("heading", { name: "Waiting executions" }).waitFor({ timeout: 30_000 });
    await saveScreenshot(page, "demo-budget");
    await goTo(page, "#/executions?state=failed");
    await page.getByText("is not a table").waitFor();
    await page.done();
  } finally {
    await demo.dispose();
  }
});

test("a key of one namespace sees only this namespace", async () => {
  const roles = { root: ["--role", "admin", "--role", "operate", "--role", "submit"], tenant: ["--role", "operate", "--role", "submit", "--namespace", "acme"] };
  const keyed = await TestServer.start(roles);
  try {
    await keyed.client.submit("ours", { namespace: "acme" });
    await keyed.client.submit("theirs", { namespace: "globex" });
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
    await keyed.dispose();
  }
});
