// Worker instances that have registered.

import { html } from "../app/preact.js";
import { get, serverNow } from "../app/api.js";
import { plural } from "../app/format.js";
import { now, useAnswer } from "../app/live.js";
import { namespace } from "../app/router.js";
import { Answer, Copy, Empty, Moment } from "../view/text.js";

export function Workers() {
  const ns = namespace.value;
  const answer = useAnswer(() => get("/v1/workers", { namespace: ns, limit: 1_000 }), [ns], { gap: 5_000 });
  return html`<h1>Workers</h1>
    <${Answer} of=${answer} lines=${5}>${({ workers }) =>
      workers.length
        ? html`<div class="table"><table class="rows"><thead><tr><th>Instance</th><th>Lanes</th><th class="md">Kinds</th><th class="md">Capabilities</th><th class="num">Seen</th><th class="num md">Since</th></tr></thead>
          <tbody>${workers.map((worker) => html`<${Row} key=${worker.worker_instance_id} worker=${worker} />`)}</tbody></table></div><div class="more"><span class="none">${plural(workers.length, "worker")}</span></div>`
        : html`<${Empty} title="No worker is there" commands=${["ff worker --kind echo --exec cat"]}>A worker claims executions of some kinds and runs them. This one runs a command for each.<//>`}<//>`;
}

function Row({ worker }) {
  now.value;
  const isLate = serverNow() - worker.seen_at > worker.ttl_ms * 0.7;
  const list = (names) => (names?.length ? html`<span class="tags">${names.map((name) => html`<span class="tag">${name}</span>`)}</span>` : html`<span class="none">any</span>`);
  return html`<tr data-row tabindex="-1"><td><span class="id"><span class="mono">${worker.worker_instance_id}</span><${Copy} text=${worker.worker_instance_id} /></span></td>
    <td>${list(worker.lanes)}</td><td class="md">${list(worker.kinds)}</td><td class="md">${worker.capabilities?.length ? list(worker.capabilities) : html`<span class="none">–</span>`}</td>
    <td class="num ${isLate ? "warn" : ""}"><${Moment} at=${worker.seen_at} /></td><td class="num md"><${Moment} at=${worker.registered_at} /></td></tr>`;
}
