// The registered worker instances, and the executions that are assigned to them.

import { html } from "../app/preact.js";
import { getAll, get, may, serverNow } from "../app/api.js";
import { plural } from "../app/format.js";
import { now, useResponse } from "../app/live.js";
import { href, namespace } from "../app/router.js";
import { unassign } from "../view/assign.js";
import { ResponseView, CopyButton, EmptyState, Id, Moment } from "../view/text.js";

/** The maximum number of assignments that are loaded, and that are shown in the row of a worker. */
const MAX_GRANTS = 500;
const MAX_NAMED = 2;

export function Workers() {
  const ns = namespace.value;
  const load = async () => {
    const [{ workers }, grants] = await Promise.all([
      get("/v1/workers", { namespace: ns, limit: 1_000 }),
      getAll("/v1/grants", { namespace: ns, limit: 500 }, { items: "grants", next: "next_cursor", as: "cursor", most: MAX_GRANTS }),
    ]);
    return { workers, grants };
  };
  const response = useResponse(load, [ns], { intervalMs: 5_000 });
  return html`<h1>Workers</h1>
    <${ResponseView} of=${response} lines=${5}>${({ workers, grants }) => html`${workers.length
        ? html`<div class="table"><table class="rows"><thead><tr><th>Instance</th><th>Lanes</th><th class="md">Kinds</th><th class="md">Capabilities</th><th class="md">Assigned</th><th class="num">Seen</th><th class="num md">Since</th></tr></thead>
          <tbody>${workers.map((worker) => html`<${Row} key=${worker.worker_instance_id} worker=${worker} grants=${grants.filter((grant) => grant.worker_instance_id === worker.worker_instance_id)} />`)}</tbody></table></div><div class="more"><span class="none">${plural(workers.length, "worker")}</span></div>`
        : html`<${EmptyState} title="No worker is registered" commands=${["ff worker --kind echo --exec cat"]}>A worker claims executions of its kinds and runs them. This command starts a worker that runs a program for each execution.<//>`}
      ${grants.length > 0 && html`<${Assignments} grants=${grants} reload=${response.reload} />`}`}<//>`;
}

function Row({ worker, grants }) {
  now.value;
  const isOverdue = serverNow() - worker.seen_at > worker.ttl_ms * 0.7;
  const list = (names) => (names?.length ? html`<span class="tags">${names.map((name) => html`<span class="tag">${name}</span>`)}</span>` : html`<span class="none">any</span>`);
  return html`<tr data-row tabindex="-1"><td><span class="id"><span class="mono">${worker.worker_instance_id}</span><${CopyButton} text=${worker.worker_instance_id} /></span></td>
    <td>${list(worker.lanes)}</td><td class="md">${list(worker.kinds)}</td><td class="md">${worker.capabilities?.length ? list(worker.capabilities) : html`<span class="none">–</span>`}</td>
    <td class="md"><${AssignmentTags} grants=${grants} /></td>
    <td class="num ${isOverdue ? "warn" : ""}"><${Moment} at=${worker.seen_at} /></td><td class="num md"><${Moment} at=${worker.registered_at} /></td></tr>`;
}

/** The executions that are assigned to a worker: the first ones as links, and the number of the others. */
function AssignmentTags({ grants }) {
  if (!grants.length) return html`<span class="none">–</span>`;
  return html`<span class="tags">${grants.slice(0, MAX_NAMED).map((grant) => html`<a class="tag" href=${href(["executions", grant.execution_id])} title=${grant.execution_id}>${grant.kind}</a>`)}${grants.length > MAX_NAMED && html`<span class="tag">+${grants.length - MAX_NAMED}</span>`}</span>`;
}

function Assignments({ grants, reload }) {
  return html`<section><h2>Assigned executions</h2><div class="table"><table class="rows"><thead><tr><th>Kind</th><th class="md">Id</th><th>Worker</th><th class="md">By</th><th class="num">Until</th><th></th></tr></thead>
    <tbody>${grants.map((grant) => html`<tr key=${grant.execution_id} data-row tabindex="-1"><td><a data-main href=${href(["executions", grant.execution_id])}>${grant.kind}</a></td><td class="md"><${Id} id=${grant.execution_id} to=${["executions", grant.execution_id]} /></td>
      <td class="mono">${grant.worker_instance_id}</td><td class="md what">${grant.requested_by || html`<span class="none">–</span>`}${grant.reason && html`<span class="remark">${grant.reason}</span>`}</td><td class="num"><${Moment} at=${grant.expires_at} /></td>
      <td class="num tools">${may("operate") && html`<button type="button" class="plain" onClick=${() => unassign(grant.execution_id, grant.worker_instance_id, reload)}>Unassign</button>`}</td></tr>`)}</tbody></table></div></section>`;
}
