// Tests of the console in a browser that run for every change.

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

const PAGES = () => [
  ["overview", "#/", "Needs attention"],
  ["executions", "#/executions", "agent.deploy"],
  ["execution", `#/executions/${encodeId(samples.agent)}`, "Deploy 9fceb02 to production?"],
  ["flows", "#/flows", "nightly"],
  ["flow", `#/flows/${samples.flow}`, "1 of 4"],
  ["approvals", "#/approvals", "Deploy 9fceb02 to production?"],
  ["lanes", "#/lanes?lane=reports", "the lane is paused"],
  ["workers", "#/workers", "mail-1"],
  ["schedules", "#/schedules", "weekly-report"],
  ["schedule", "#/schedules/weekly-report", "Europe/Berlin"],
  ["quotas", "#/quotas", "per-customer"],
  ["budgets", "#/budgets", "exhausted"],
  ["budget", "#/budgets/agents", "Too few tokens are left"],
  ["usage", `#/executions/${encodeId(samples.spender)}`, "12 calls"],
  ["events", "#/events", "Events"],
  ["settings", "#/settings", "This server"],
];

test("every page shows its data, and axe finds no serious violation", async () => {
  const page = await open(server);
  for (const [name, where, text] of PAGES()) {
    await goTo(page, where);
    await page.locator("main").getByText(text).first().waitFor();
    assert.deepEqual(await seriousViolations(page), [], name);
    assert.ok((await overflow(page)) <= 0, `${name} is wider than its window`);
  }
  await page.done();
});

test("an execution shows its explanation, timeline, output, payload and steps", async () => {
  const page = await open(server, `#/executions/${encodeId(samples.agent)}`);
  await page.getByLabel("Why").getByText("It is suspended").waitFor();
  const timeline = page.getByRole("table", { name: "Timeline" });
  for (const row of ["attempt 1", "checkout", "attempt 2", "build"]) await timeline.getByText(row).first().waitFor();
  const output = page.getByRole("log", { name: "Output" });
  await output.getByText("Building with 16 GiB").waitFor();
  const struck = output.locator(".superseded .out");
  assert.equal(await struck.evaluate((element) => getComputedStyle(element).textDecorationLine), "line-through");
  await page.getByRole("tab", { name: "Payload" }).click();
  await page.getByRole("tree").getByText("region").waitFor();
  await page.getByRole("tab", { name: "Steps" }).click();
  await page.getByText("site:9fceb02").waitFor();
  await page.done();
});

test("an approval in the console reaches the worker", async () => {
  await server.client.submit("refund.pay", { lane: "refunds" });
  const claimed = await server.client.claim("refund.pay", { lane: "refunds" });
  await claimed.suspend({ approval: { question: "Refund 42 €?" }, timeout_in_ms: 3_600_000, timeout_behavior: "fail" });
  const page = await open(server, "#/approvals");
  const item = page.getByRole("listitem").filter({ hasText: "Refund 42 €?" });
  await item.getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Comment").fill("fine");
  await dialog.getByLabel("Your name").fill("Ada");
  await dialog.getByRole("button", { name: "Approve" }).click();
  await item.waitFor({ state: "detached" });
  await page.getByRole("row").filter({ hasText: "Ada" }).waitFor();
  const { signals } = await server.client.get(`/v1/executions/${encodeId(claimed.id)}/signals`);
  assert.deepEqual(signals.map(({ name, source }) => [name, source.identity]), [["approved", "Ada"]]);
  await (await server.client.claim("refund.pay", { lane: "refunds" })).complete({});
  await page.done();
});

test("the page updates without a reload, over one connection", async () => {
  const page = await open(server, "#/executions?kind=live.job");
  await page.getByText("No execution matches this filter").waitFor();
  const id = await server.client.submit("live.job");
  const row = page.getByRole("row").filter({ hasText: "live.job" });
  await row.getByText("waiting").waitFor();
  const claimed = await server.client.claim("live.job");
  await row.getByText("active").waitFor();
  await goTo(page, `#/executions/${encodeId(id)}`);
  await claimed.writeFrames({ text: "live output" });
  await page.getByText("live output").waitFor();
  await claimed.complete({ answer: 42 });
  await page.getByText("It has ended: it is completed.").waitFor();
  assert.equal(page.streams, 1, "a tab has one connection to the event feed");
  await page.done();
});

test("keyboard shortcuts open every page, the help, the search and a row", async () => {
  const page = await open(server);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  for (const [letter, title] of [["e", "Executions"], ["f", "Flows"], ["a", "Approvals"], ["l", "Lanes"], ["w", "Workers"], ["c", "Schedules"], ["q", "Quotas"], ["b", "Budgets"], ["v", "Events"], ["s", "Settings"], ["o", "Overview"]]) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("failed");
  await page.keyboard.press("Enter");
  await page.getByText("550 no such mailbox").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "mail.send" }).waitFor();
  await page.getByText("It has ended").waitFor();
  await page.done();
});

test("hostile names, payloads and output are rendered as text", async () => {
  const hostile = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>";
  await server.client.submit("hostile", { payload: { [hostile]: hostile, html: hostile }, tags: { note: hostile } });
  const claimed = await server.client.claim("hostile");
  await claimed.progress(10, hostile);
  await claimed.writeFrames({ text: hostile }, { json: { [hostile]: hostile } });
  await claimed.step("a step", { [hostile]: hostile });
  await claimed.fail(hostile, { permanent: true, category: "bad" });
  const page = await open(server, "#/executions?kind=hostile");
  await page.getByRole("row").filter({ hasText: "window.hacked" }).first().waitFor();
  await goTo(page, `#/executions/${encodeId(claimed.id)}`);
  for (const tab of ["Error", "Payload", "Output", "Steps", "History"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.getByRole("tabpanel").getByText(tab === "History" ? "a step" : "window.hacked").first().waitFor();
  }
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("main img, main script").count(), 0);
  await page.done();
});

test("the content security policy forbids inline code and embedding", async () => {
  const { headers } = await fetch(`${server.url}/`);
  const policy = headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.match(policy, /frame-ancestors 'none'/);
  const page = await open(server, "", { expects: ["TrustedHTML", "TrustedScript", "Content Security Policy"] });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const attempts = [
    () => document.createElement("button").setAttribute("onclick", "window.ran = 1"),
    () => (document.body.innerHTML = "<img src=x onerror='window.ran = 1'>"),
    () => document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = 1" })),
  ];
  for (const attempt of attempts) await page.evaluate(attempt).catch((error) => assert.match(error.message, /Trusted/));
  assert.equal(await page.evaluate(() => window.ran), undefined);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.done();
});

test("a server with keys requires a log-in, and scripts cannot read the cookie", async () => {
  const keyed = await TestServer.start({ root: ["--role", "admin", "--role", "operate", "--role", "submit", "--role", "work"], reader: ["--role", "submit", "--namespace", "default"] });
  try {
    const id = await keyed.client.submit("job", { namespace: "default" });
    const page = await open(keyed, `#/executions/${encodeId(id)}`, { expects: ["401"] });
    await page.getByLabel("API key").fill(`ff_abc_${"0".repeat(64)}`);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("API key").fill(keyed.keys.reader);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "job" }).waitFor();
    const [cookie] = await page.context().cookies();
    assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite], ["ff_session", true, "Strict"]);
    assert.ok(!cookie.value.includes(keyed.keys.reader), "the cookie does not contain the key");
    assert.equal(await page.evaluate(() => document.cookie), "");
    assert.ok(await page.getByRole("button", { name: "Hold" }).isDisabled(), "the role submit does not allow a hold");
    assert.ok(await page.getByRole("button", { name: "Cancel" }).isEnabled());
    assert.equal(await page.getByRole("link", { name: "Workers" }).count(), 0, "the menu shows only pages that the role allows");
    await page.reload();
    await page.getByRole("heading", { name: "job" }).waitFor();
    const forged = await page.evaluate(async (id) => (await fetch(`/v1/executions/${encodeURIComponent(id)}/cancel`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" })).status, id);
    assert.equal(forged, 403, "a change without the header FF-Console is refused");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("API key").waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    await page.context().close();
  } finally {
    await keyed.dispose();
  }
});
