// Something of everything the console shows.

const ROOM = { retry_policy: { max_retries: 5, backoff: { type: "fixed", delay_ms: 300, jitter: false } } };

/** Fills a store and says what is where. */
export async function fill(work) {
  const made = {};
  await work.register("mail-1", { lanes: ["mail"], kinds: ["mail.send"], capabilities: ["smtp"] });
  await work.post("/v1/quotas/per-customer", { scope: "kind:mail.send", per: "tag:customer", rate: { limit: 100, window_ms: 3_600_000 }, max_concurrent: 5 });
  for (let nth = 0; nth < 6; nth += 1) {
    const tags = { customer: nth % 2 ? "globex" : "acme" };
    await work.submit("mail.send", { lane: "mail", payload: { to: `user${nth}@example.org` }, tags });
  }
  for (let nth = 0; nth < 3; nth += 1) await (await work.claim("mail.send", { lane: "mail" })).complete({ accepted: true, nth });
  const broken = await work.claim("mail.send", { lane: "mail" });
  await broken.fail("550 no such mailbox", { category: "smtp", permanent: true });
  made.failed = broken.id;
  const running = await work.claim("mail.send", { lane: "mail", instance: "mail-1" });
  await running.progress(40, "sending");
  made.running = running.id;
  made.agent = await agent(work);
  made.waiting = await work.submit("report.weekly", { lane: "reports", payload: { week: 7 } });
  await work.post("/v1/lanes/reports", { state: "paused" });
  made.later = await work.submit("cleanup", { delay_ms: 3_600_000 });
  made.flow = await flow(work);
  made.spender = await budgets(work);
  made.assigned = await work.submit("mail.send", { lane: "mail", payload: { to: "user7@example.org" } });
  await work.post(`/v1/executions/${encodeURIComponent(made.assigned)}/assign`, { worker_instance_id: "mail-1", ttl_ms: 3_600_000, reason: "it has the templates", requested_by: "ada" });
  await work.post("/v1/schedules/weekly-report", { cron: "0 9 * * MON", time_zone: "Europe/Berlin", execution: { kind: "report.weekly", lane: "reports", payload: { tick: "{{tick}}" } } });
  await work.post("/v1/schedules/weekly-report/trigger");
  return made;
}

/** Two attempts with steps and output, the first superseded; then a question. */
async function agent(work) {
  await work.submit("agent.deploy", { lane: "agents", payload: { repo: "site", env: { region: "eu" }, big: 1 }, tags: { env: "production" }, policy: ROOM });
  const first = await work.claim("agent.deploy", { lane: "agents" });
  await first.step("checkout", { commit: "9fceb02" });
  await first.say({ text: "Building with 8 GiB\n" });
  await first.fail("out of memory", { category: "oom" });
  const second = await work.claim("agent.deploy", { lane: "agents" });
  await second.say({ text: "Building with 16 GiB\n" });
  await second.step("build", { image: "site:9fceb02" });
  await second.suspend({ approval: { question: "Deploy 9fceb02 to production?" }, timeout_in_ms: 86_400_000, timeout_behavior: "escalate" });
  return second.id;
}

/** One budget with room, one past its soft limit, and one that has run out and keeps executions waiting. */
async function budgets(work) {
  const daily = { calendar: { unit: "day", time_zone: "Europe/Berlin" } };
  await work.post("/v1/budgets/agents", { scope: "kind:agent.answer", limits: { tokens: { hard: 5_000, soft: 4_000 }, usd_micros: { hard: 5_000_000, soft: 4_000_000 } }, reset: daily, estimate: { "agent.answer": { tokens: 1_000 } } });
  await work.post("/v1/budgets/acme", { scope: "tag:customer=acme", limits: { calls: { hard: 1_000, soft: 10 } }, reset: { calendar: { unit: "month", time_zone: "UTC" } } });
  await work.post("/v1/budgets/everything", { scope: "namespace", limits: { seconds: { hard: 86_400 } } });
  for (let nth = 0; nth < 3; nth += 1) await work.submit("agent.answer", { lane: "answers", tags: { customer: "acme" } });
  const spender = await work.claim("agent.answer", { lane: "answers" });
  await spender.spend({ tokens: 3_900, usd_micros: 1_950_000, calls: 12, seconds: 40 });
  await spender.spend({ tokens: 600, usd_micros: 300_000, seconds: 8 });
  // No room is left for another, so that this claim gets nothing and the two others wait.
  await work.post("/v1/workers/tests-1/claim", { worker_id: "tests", lanes: ["answers"], kinds: ["agent.answer"], max: 2, wait_ms: 0, lease_ttl_ms: 600_000 });
  return spender.id;
}

async function flow(work) {
  const nodes = {
    orders: { kind: "fetch" },
    users: { kind: "fetch" },
    join: { kind: "transform", after: ["orders", "users"] },
    report: { kind: "report", after: ["join"] },
  };
  const { flow_id } = await work.post("/v1/flows", { kind: "nightly", nodes, tags: { team: "data" } });
  await (await work.claim("fetch")).complete({ rows: 10 });
  return flow_id;
}
