// Submits, claims and completes one execution with the types that openapi-typescript generated.
import type { components } from "./api.mjs";

type Schemas = components["schemas"];
const url = process.argv[2];

async function call<Answer>(method: "GET" | "POST", path: string, body?: unknown): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

const submit: Schemas["Submit"] = { kind: "greet", payload: { name: "Ada" } };
const submitted = await call<Schemas["SubmittedExecution"]>("POST", "/v1/executions", submit);
const claim: Schemas["Claim"] = { worker_id: "ts", kinds: ["greet"], wait_ms: 5000 };
const claims = await call<Schemas["Claims"]>("POST", "/v1/workers/ts-1/claim", claim);
const [work] = claims.executions;
if (work.execution_id !== submitted.execution_id) throw new Error(`claimed ${work.execution_id}`);
const { lease_id, lease_epoch, attempt_id } = work;
const complete: Schemas["Complete"] = { lease_id, lease_epoch, attempt_id, result: { greeting: "hello, Ada" } };
await call("POST", `/v1/executions/${encodeURIComponent(work.execution_id)}/complete`, complete);
const ended = await call<Schemas["ExecutionEnd"]>("GET", `/v1/executions/${encodeURIComponent(work.execution_id)}/result`);
if (JSON.stringify(ended.result) !== JSON.stringify({ greeting: "hello, Ada" })) throw new Error(JSON.stringify(ended));
console.log("checked: the generated TypeScript types");
