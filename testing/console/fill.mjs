// Sample data for every page of the console.

const RETRY_POLICY = { retry_policy: { max_retries: 5, backoff: { type: "fixed", delay_ms: 300, jitter: false } } };

/** Creates the samples and returns their ids. */
export async function createSamples(client) {
  const samples = {};
  await client.register("mail-1", { lanes: ["mail"], kinds: ["mail.send"], capabilities: ["smtp"] });
  await client.post("/v1/quotas/per-customer", { scope: "kind:mail.send", per: "tag:customer", rate: { limit: 100, window_ms: 3_600_000 }, max_concurrent: 5 });
  for (let nth = 0; nth < 6; nth += 1) {
    const tags = { customer: nth % 2 ? "globex" : "acme" };
    await client.submit("mail.send", { lane: "mail", payload: { to: `user${nth}@example.org` }, tags });
  }
  for (let nth = 0; nth < 3; nth += 1) await (await client.claim("mail.send", { lane: "mail" })).complete({ accepted: true, nth });
  const broken = await client.claim("mail.send", { lane: "mail" });
  await broken.fail("550 no such mailbox", { category: "smtp", permanent: true });
  samples.failed = broken.id;
  const running = await client.claim("mail.send", { lane: "mail", instance: "mail-1" });
  await running.progress(40, "sending");
  samples.running = running.id;
  samples.agent = await agent(client);
  samples.waiting = await client.submit("report.weekly", { lane: "reports", payload: { week: 7 } });
  await client.post("/v1/lanes/reports", { state: "paused" });
  samples.later = await client.submit("cleanup", { delay_ms: 3_600_000 });
  samples.flow = await flow(client);
  samples.spender = await budgets(client);
  samples.assigned = await client.submit("mail.send", { lane: "mail", payload: { to: "user7@example.org" } });
  await client.post(`/v1/executions/${encodeURIComponent(samples.assigned)}/assign`, { worker_instance_id: "mail-1", ttl_ms: 3_600_000, reason: "it has the templates", requested_by: "ada" });
  await client.post("/v1/schedules/weekly-report", { cron: "0 9 * * MON", time_zone: "Europe/Berlin", execution: { kind: "report.weekly", lane: "reports", payload: { tick: "{{tick}}" } } });
  await client.post("/v1/schedules/weekly-report/trigger");
  return samples;
}

/** Creates an execution with two attempts, steps and output. The first attempt is superseded, the second waits for an approval. */
async function agent(client) {
  await client.submit("agent.deploy", { lane: "agents", payload: { repo: "site", env: { region: "eu" }, big: 1 }, tags: { env: "production" }, policy: RETRY_POLICY });
  const first = await client.claim("agent.deploy", { lane: "agents" });
  await first.step("checkout", { commit: "9fceb02" });
  await first.writeFrames({ text: "Building with 8 GiB\n" });
  await first.fail("out of memory", { category: "oom" });
  const second = await client.claim("agent.deploy", { lane: "agents" });
  await second.writeFrames({ text: "Building with 16 GiB\n" });
  await second.step("build", { image: "site:9fceb02" });
  await second.suspend({ approval: { question: "Deploy 9fceb02 to production?" }, timeout_in_ms: 86_400_000, timeout_behavior: "escalate" });
  return second.id;
}

/** Creates a budget below its limits, one above its soft limit, and an exhausted one with waiting executions. */
async function budgets(client) {
  const daily = { calendar: { unit: "day", time_zone: "Europe/Berlin" } };
  await client.post("/v1/budgets/agents", { scope: "kind:agent.answer", limits: { tokens: { hard: 5_000, soft: 4_000 }, usd_micros: { hard: 5_000_000, soft: 4_000_000 } }, reset: daily, estimate: { "agent.answer": { tokens: 1_000 } } });
  await client.post("/v1/budgets/acme", { scope: "tag:customer=acme", limits: { calls: { hard: 1_000, soft: 10 } }, reset: { calendar: { unit: "month", time_zone: "UTC" } } });
  await client.post("/v1/budgets/everything", { scope: "namespace", limits: { seconds: { hard: 86_400 } } });
  for (let nth = 0; nth < 3; nth += 1) await client.submit("agent.answer", { lane: "answers", tags: { customer: "acme" } });
  const spender = await client.claim("agent.answer", { lane: "answers" });
  await spender.reportUsage({ tokens: 3_900, usd_micros: 1_950_000, calls: 12, seconds: 40 });
  await spender.reportUsage({ tokens: 600, usd_micros: 300_000, seconds: 8 });
  // The budget is exhausted, so this claim returns no execution and the other two wait for the budget.
  await client.post("/v1/workers/tests-1/claim", { worker_id: "tests", lanes: ["answers"], kinds: ["agent.answer"], max: 2, wait_ms: 0, lease_ttl_ms: 600_000 });
  return spender.id;
}

/** Creates a flow with one completed member. */
async function flow(client) {
  const nodes = {
    orders: { kind: "fetch" },
    users: { kind: "fetch" },
    join: { kind: "transform", after: ["orders", "users"] },
    report: { kind: "report", after: ["join"] },
  };
  const { flow_id } = await client.post("/v1/flows", { kind: "nightly", nodes, tags: { team: "data" } });
  await (await client.claim("fetch")).complete({ rows: 10 });
  return flow_id;
}
