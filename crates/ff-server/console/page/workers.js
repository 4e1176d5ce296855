// Worker instances that have registered, and what is assigned to them.

import { html } from "../app/preact.js";
import { all, get, may, serverNow } from "../app/api.js";
import { plural } from "../app/format.js";
import { now, useAnswer } from "../app/live.js";
import { href, namespace } from "../app/router.js";
import { unassign } from "../view/assign.js";
import { Answer, Copy, Empty, Id, Moment } from "../view/text.js";

/** How many assignments are looked at, and how many of one worker are named beside it. */
const GRANTS = 500;
const NAMED = 2;

export function Workers() {
  const ns = namespace.value;
  const ask = async () => {
    const [{ workers }, grants] = await Promise.all([
      get("/v1/workers", { namespace: ns, limit: 1_000 }),
      all("/v1/grants", { namespace: ns, limit: 500 }, { items: "grants", next: "next_cursor", as: "cursor", most: GRANTS }),
    ]);
    return { workers, grants };
  };
  const answer = useAnswer(ask, [ns], { gap: 5_000 });
  return html`<h1>Workers</h1>
    <${Answer} of=${answer} lines=${5}>${({ workers, grants }) => html`${workers.length
        ? html`<div class="table"><table class="rows"><thead><tr><th>Instance</th><th>Lanes</th><th class="md">Kinds</th><th class="md">Capabilities</th><th class="md">Assigned</th><th class="num">Seen</th><th class="num md">Since</th></tr></thead>
          <tbody>${workers.map((worker) => html`<${Row} key=${worker.worker_instance_id} worker=${worker} grants=${grants.filter((grant) => grant.worker_instance_id === worker.worker_instance_id)} />`)}</tbody></table></div><div class="more"><span class="none">${plural(workers.length, "worker")}</span></div>`
        : html`<${Empty} title="No worker is there" commands=${["ff worker --kind echo --exec cat"]}>A worker claims executions of some kinds and runs them. This one runs a command for each.<//>`}
      ${grants.length > 0 && html`<${Assigned} grants=${grants} reload=${answer.reload} />`}`}<//>`;
}

function Row({ worker, grants }) {
  now.value;
  const isLate = serverNow() - worker.seen_at > worker.ttl_ms * 0.7;
  const list = (names) => (names?.length ? html`<span class="tags">${names.map((name) => html`<span class="tag">${name}</span>`)}</span>` : html`<span class="none">any</span>`);
  return html`<tr data-row tabindex="-1"><td><span class="id"><span class="mono">${worker.worker_instance_id}</span><${Copy} text=${worker.worker_instance_id} /></span></td>
    <td>${list(worker.lanes)}</td><td class="md">${list(worker.kinds)}</td><td class="md">${worker.capabilities?.length ? list(worker.capabilities) : html`<span class="none">–</span>`}</td>
    <td class="md"><${Short} grants=${grants} /></td>
    <td class="num ${isLate ? "warn" : ""}"><${Moment} at=${worker.seen_at} /></td><td class="num md"><${Moment} at=${worker.registered_at} /></td></tr>`;
}

/** The executions that are assigned to one worker, the first of them by name. */
function Short({ grants }) {
  if (!grants.length) return html`<span class="none">–</span>`;
  return html`<span class="tags">${grants.slice(0, NAMED).map((grant) => html`<a class="tag" href=${href(["executions", grant.execution_id])} title=${grant.execution_id}>${grant.kind}</a>`)}${grants.length > NAMED && html`<span class="tag">+${grants.length - NAMED}</span>`}</span>`;
}

function Assigned({ grants, reload }) {
  return html`<section><h2>Assigned to one worker</h2><div class="table"><table class="rows"><thead><tr><th>Kind</th><th class="md">Id</th><th>Worker</th><th class="md">By</th><th class="num">Until</th><th></th></tr></thead>
    <tbody>${grants.map((grant) => html`<tr key=${grant.execution_id} data-row tabindex="-1"><td><a data-main href=${href(["executions", grant.execution_id])}>${grant.kind}</a></td><td class="md"><${Id} id=${grant.execution_id} to=${["executions", grant.execution_id]} /></td>
      <td class="mono">${grant.worker_instance_id}</td><td class="md what">${grant.requested_by || html`<span class="none">–</span>`}${grant.reason && html`<span class="remark">${grant.reason}</span>`}</td><td class="num"><${Moment} at=${grant.expires_at} /></td>
      <td class="num tools">${may("operate") && html`<button type="button" class="plain" onClick=${() => unassign(grant.execution_id, grant.worker_instance_id, reload)}>Unassign</button>`}</td></tr>`)}</tbody></table></div></section>`;
}
