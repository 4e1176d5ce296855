// Tests of budgets, assignments and decisions in the console, and of the roles they need.

import test, { after, before } from "node:test";
import assert from "node:assert/strict";

import { TestServer, closeBrowser, seriousViolations, goTo, encodeId, open, overflow } from "./browser.mjs";
import { createSamples } from "./fill.mjs";

let server, samples;

before(async () => {
  server = await TestServer.start();
  samples = await createSamples(server.client);
});

after(async () => {
  await closeBrowser();
  await server.dispose();
});

/** Clicks an action of the page, and fills and submits its dialog. */
async function act(page, name, fillDialog = async () => {}) {
  await page.getByRole("group", { name: "Actions" }).getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await fillDialog(dialog);
  await dialog.locator("footer button[type=submit]").click();
  await dialog.waitFor({ state: "detached" });
}

const budget = (name) => server.client.get(`/v1/budgets/${name}`);
const execution = (id) => server.client.get(`/v1/executions/${encodeId(id)}`);

test("budgets show their usage, limits and next reset", async () => {
  const page = await open(server, "#/budgets");
  const row = page.getByRole("row").filter({ hasText: "kind:agent.answer" });
  await row.getByRole("img", { name: "tokens: 4\u202f500 used, limit 5\u202f000, soft limit 4\u202f000" }).waitFor();
  await row.getByRole("img", { name: "usd_micros: $2.25 used, limit $5.00, soft limit $4.00" }).waitFor();
  await row.getByText("exhausted").waitFor();
  await row.getByText(/^\d{4}-\d\d-\d\d 00:00:00$/).waitFor();
  assert.equal(await row.getByRole("cell").last().innerText(), "2");
  await page.getByRole("row").filter({ hasText: "tag:customer=acme" }).getByText("soft limit exceeded").waitFor();
  const used = row.locator(".gauge .used").first();
  const share = await used.evaluate((element) => element.offsetWidth / element.parentElement.offsetWidth);
  assert.ok(Math.abs(share - 0.9) < 0.02, `the bar is ${share} of the limit`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "agents", level: 1 }).waitFor();
  await page.getByText("2 executions wait.").waitFor();
  await page.getByRole("link", { name: "agent.answer", exact: true }).first().click();
  await page.getByRole("link", { name: "budget agents" }).click();
  await page.getByRole("heading", { name: "agents", level: 1 }).waitFor();
  await page.done();
});

test("the pages of an execution and of a flow show the usage", async () => {
  const page = await open(server, `#/executions/${encodeId(samples.spender)}`);
  await page.getByLabel("Facts").getByText(/12 calls, 48 seconds, 4.500 tokens, \$2\.25/).waitFor();
  await page.getByRole("tab", { name: "Usage" }).click();
  const sum = page.getByRole("tabpanel").getByRole("row").filter({ hasText: "total" });
  assert.match(await sum.innerText(), /12\s+48\s+4.500\s+\$2\.25/);
  const { flow_id } = await server.client.post("/v1/flows", { kind: "paid", nodes: { a: { kind: "paid.a" } } });
  const member = await server.client.claim("paid.a");
  await member.reportUsage({ tokens: 321 });
  await goTo(page, `#/flows/${flow_id}`);
  await page.getByText("321 tokens").waitFor();
  await page.done();
});

test("a budget is defined, changed, reset and deleted", async () => {
  const page = await open(server, "#/budgets");
  await page.getByRole("button", { name: "Define a budget" }).click();
  const dialog = page.getByRole("dialog");
  assert.deepEqual(await seriousViolations(page), []);
  await dialog.getByLabel("Name").fill("night");
  await dialog.getByLabel("Applies to").fill("lane:night");
  await dialog.getByLabel("Hard limit", { exact: true }).fill("100");
  await dialog.getByLabel("Soft limit").fill("50");
  await dialog.getByLabel("Time zone").fill("Europe/Berlin");
  await dialog.getByRole("button", { name: "Define" }).click();
  await page.getByRole("link", { name: "night" }).click();
  await page.getByRole("heading", { name: "night", level: 1 }).waitFor();
  const { definition } = await budget("night");
  assert.deepEqual([definition.scope, definition.limits, definition.reset], ["lane:night", { tokens: { hard: 100, soft: 50 } }, { calendar: { unit: "day", time_zone: "Europe/Berlin" } }]);
  await server.client.submit("late", { lane: "night" });
  const spender = await server.client.claim("late", { lane: "night" });
  await spender.reportUsage({ tokens: 120 });
  await page.getByText("No tokens left").waitFor();
  await act(page, "Change limits", (dialog) => dialog.getByLabel("tokens, hard limit").fill("200"));
  assert.deepEqual((await budget("night")).definition.limits, { tokens: { hard: 200, soft: 50 } });
  await page.getByRole("heading", { name: "soft limit exceeded" }).waitFor();
  await act(page, "Reset");
  assert.equal((await budget("night")).balance.tokens.used, 0);
  await act(page, "Edit", async (dialog) => {
    const field = dialog.getByLabel("Definition, as JSON");
    const text = await field.inputValue();
    await field.fill(text.replace('"block"', '"fail"'));
  });
  assert.equal((await budget("night")).definition.on_hard_limit, "fail");
  await page.getByText("an execution that exceeds the limit fails").waitFor();
  await act(page, "Delete", (dialog) => dialog.getByText("the usage is deleted").waitFor());
  await page.getByRole("heading", { name: "Budgets" }).waitFor();
  assert.ok((await server.client.get("/v1/budgets")).budgets.every(({ name }) => name !== "night"));
  await page.done();
});

test("an execution is assigned to a worker that accepts its lane and kind, and unassigned", async () => {
  const id = await server.client.submit("mail.send", { lane: "mail" });
  await server.client.register("other-1", { lanes: ["other"], kinds: ["mail.send"] });
  const page = await open(server, `#/executions/${encodeId(id)}`);
  await page.getByRole("button", { name: "Assign", exact: true }).click();
  const workers = page.getByLabel("Worker").locator("option");
  await workers.first().waitFor({ state: "attached" });
  assert.deepEqual(await workers.allInnerTexts(), ["mail-1 (smtp)"]);
  await page.keyboard.press("Escape");
  await act(page, "Assign", async (dialog) => {
    await dialog.getByLabel("Duration in seconds").fill("600");
    await dialog.getByLabel("Reason").fill("warm cache");
  });
  const { blocking_detail } = await execution(id);
  assert.deepEqual([blocking_detail.on, blocking_detail.worker_instance_id, blocking_detail.reason], ["assignment", "mail-1", "warm cache"]);
  await page.getByLabel("Facts").getByText("mail-1").waitFor();
  await goTo(page, "#/workers");
  const grants = page.getByRole("row").filter({ hasText: "warm cache" });
  await grants.getByRole("button", { name: "Unassign" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Unassign" }).click();
  await grants.waitFor({ state: "detached" });
  assert.equal((await execution(id)).blocking_detail ?? null, null);
  await goTo(page, `#/executions/${encodeId(samples.assigned)}`);
  await page.getByText("It is assigned to worker mail-1 by ada").waitFor();
  await act(page, "Unassign");
  await page.getByRole("button", { name: "Assign", exact: true }).waitFor();
  await page.done();
});

test("a budget is changed with the keyboard only, at 360 pixels and in the dark scheme", async () => {
  const page = await open(server, "#/budgets/everything", { width: 360, scheme: "dark" });
  await page.getByRole("button", { name: "Change limits" }).focus();
  await page.keyboard.press("Enter");
  assert.deepEqual(await seriousViolations(page), []);
  assert.ok((await overflow(page)) <= 0);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("90000");
  await page.keyboard.press("Enter");
  await page.getByText("The limits are changed").waitFor();
  assert.equal((await budget("everything")).definition.limits.seconds.hard, 90_000);
  await page.done();
});

test("a key of one namespace approves under its own name, and the decisions show the name", async () => {
  const keys = { root: ["--role", "admin", "--role", "operate", "--role", "submit", "--role", "work"], boss: ["--role", "operate", "--role", "submit", "--namespace", "acme"], reader: ["--role", "submit", "--namespace", "acme"] };
  const keyed = await TestServer.start(keys);
  const { client } = keyed;
  try {
    await client.post("/v1/budgets/ours", { namespace: "acme", scope: "namespace", limits: { tokens: { hard: 10 } } });
    await client.post("/v1/budgets/theirs", { namespace: "globex", scope: "namespace", limits: { tokens: { hard: 10 } } });
    const job = await client.submit("job", { namespace: "acme" });
    const executionId = await submitApproval(client, "acme");
    await submitApproval(client, "globex");
    const page = await open(keyed, "#/approvals", { expects: ["401", "403"] });
    const logIn = async (key) => {
      await page.getByLabel("API key").fill(key);
      await page.getByRole("button", { name: "Log in" }).click();
    };
    await logIn(keyed.keys.boss);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByRole("row").filter({ hasText: "boss" }).getByText("approved").waitFor();
    const { signals } = await client.get(`/v1/executions/${encodeId(executionId)}/signals`);
    assert.equal(signals[0].source.identity, "boss");
    await goTo(page, `#/executions/${encodeId(job)}`);
    await act(page, "Hold", (dialog) => dialog.getByLabel("Reason").fill("not now"));
    await page.getByLabel("Facts").getByText("boss: not now").waitFor();
    await goTo(page, "#/budgets");
    await page.getByRole("link", { name: "ours" }).click();
    await page.getByRole("button", { name: "Delete" }).waitFor();
    assert.equal(await page.getByText("theirs").count(), 0);
    await page.getByRole("button", { name: "Log out" }).click();
    await logIn(keyed.keys.reader);
    await page.getByRole("heading", { name: "ours", level: 1 }).waitFor();
    for (const name of ["Delete", "Reset", "Change limits"]) assert.equal(await page.getByRole("button", { name }).count(), 0, `the role submit does not allow ${name}`);
    await goTo(page, "#/budgets");
    assert.ok(await page.getByRole("button", { name: "Define a budget" }).isDisabled());
    await goTo(page, `#/executions/${encodeId(job)}`);
    await page.getByLabel("Facts").getByText("boss: not now").waitFor();
    await page.done();
  } finally {
    await keyed.dispose();
  }
});

/** Creates an execution that waits for an approval, and returns its id. */
async function submitApproval(client, namespace) {
  await client.submit("ask", { namespace, lane: namespace });
  const claimed = await client.claim("ask", { lane: namespace, namespace });
  await claimed.suspend({ approval: { question: `May ${namespace} go on?` }, timeout_in_ms: 3_600_000, timeout_behavior: "fail" });
  return claimed.id;
}
