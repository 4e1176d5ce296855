// Approvals: the executions that wait for one, oldest first, other suspended executions, and past decisions.

import { html, useState } from "../app/preact.js";
import { get, may, path, serverNow } from "../app/api.js";
import { plural, humanize } from "../app/format.js";
import { useResponse } from "../app/live.js";
import { href, namespace } from "../app/router.js";
import { decide } from "../view/action.js";
import { Icon } from "../view/icon.js";
import { Content } from "../view/json.js";
import { State } from "../view/state.js";
import { ResponseView, EmptyState, Id, Moment, Tags } from "../view/text.js";

/** The maximum number of decisions that are shown. */
const MAX_DECISIONS = 50;

export function Approvals() {
  const ns = namespace.value;
  const response = useResponse(() => get("/v1/executions", { namespace: ns, state: "suspended", limit: 1_000 }), [ns], {
    isRelevant: ({ event }) => event === "suspended" || event === "released" || event === "finished",
    intervalMs: 1_500,
  });
  return html`<h1>Approvals</h1>
    <${ResponseView} of=${response} lines=${8}>${({ executions, next_cursor }) => html`<${Inbox} executions=${executions} more=${next_cursor} reload=${response.reload} />`}<//>
    ${may("operate") && html`<${Decisions} />`}`;
}

function Inbox({ executions, more, reload }) {
  const suspendedAt = (one) => one.suspension?.suspended_at ?? one.changed_at;
  const oldest = [...executions].sort((a, b) => suspendedAt(a) - suspendedAt(b));
  const approvals = oldest.filter((one) => one.suspension?.reason === "waiting_for_approval");
  const others = oldest.filter((one) => one.suspension?.reason !== "waiting_for_approval");
  return html`${approvals.length
      ? html`<ul class="inbox">${approvals.map((one) => html`<${ApprovalItem} key=${one.execution_id} one=${one} reload=${reload} />`)}</ul>`
      : html`<${EmptyState} title="No execution waits for an approval">Executions that wait for an approval appear here. A worker can send a link to the approval page.<//>`}
    ${more && html`<p class="none">The list is incomplete: it shows the newest 1 000.</p>`}
    ${others.length > 0 && html`<section><h2>Waiting for a signal</h2><div class="table"><table class="rows"><thead><tr><th>Waiting for</th><th>Kind</th><th class="md">Id</th><th class="num">Since</th><th class="num md">Until</th></tr></thead>
      <tbody>${others.map((one) => html`<tr data-row tabindex="-1"><td>${humanize(one.suspension?.reason || "suspended")}</td><td><a data-main href=${href(["executions", one.execution_id])}>${one.kind}</a></td><td class="md"><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /></td>
        <td class="num"><${Moment} at=${suspendedAt(one)} /></td><td class="num md"><${Moment} at=${one.suspension?.timeout_at} /></td></tr>`)}</tbody></table></div></section>`}`;
}

function ApprovalItem({ one, reload }) {
  const [open, setOpen] = useState(false);
  const allowed = may("operate");
  const hint = allowed ? undefined : "Needs a key with the role operate";
  const { suspension } = one;
  return html`<li class="card" data-row tabindex="-1">
    <p class="asked">${one.progress?.message || "This execution waits for an approval."}</p>
    <p class="about"><a data-main href=${href(["executions", one.execution_id])}>${one.kind}</a><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /><span>suspended <${Moment} at=${suspension.suspended_at} /></span>
      ${suspension.timeout_at && html`<span class=${suspension.timeout_at - serverNow() < 3_600_000 ? "warn" : ""}>${humanize(suspension.timeout_behavior)}s <${Moment} at=${suspension.timeout_at} /></span>`}
      ${suspension.escalated_at && html`<span class="warn">escalated <${Moment} at=${suspension.escalated_at} /></span>`}<${Tags} tags=${one.tags} most=${4} /></p>
    ${open && html`<${PayloadView} id=${one.execution_id} />`}
    <div class="actions">
      <button type="button" class="primary" disabled=${!allowed} title=${hint} onClick=${() => decide(one, "approve", reload)}>Approve</button>
      <button type="button" disabled=${!allowed} title=${hint} onClick=${() => decide(one, "reject", reload)}>Reject</button>
      <button type="button" class="plain" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}><${Icon} name=${open ? "unfold" : "fold"} />Payload</button>
    </div></li>`;
}

function PayloadView({ id }) {
  const load = () => get(path`/v1/executions/${id}/payload`, { encoding: "json" }, { exact: true });
  const response = useResponse(load, [id], { isRelevant: () => false });
  return html`<${ResponseView} of=${response} lines=${2}>${(data) => html`<${Content} json=${data.payload} base64=${data.payload_base64 ?? undefined} type=${data.content_type} name="payload" />`}<//>`;
}

/** The decisions of the last seven days. */
function Decisions() {
  const ns = namespace.value;
  const response = useResponse(() => get("/v1/decisions", { namespace: ns, limit: MAX_DECISIONS }), [ns], { intervalMs: 1_500, isRelevant: ({ event }) => event === "released" || event === "finished" });
  const { decisions = [], more } = response.data || {};
  if (!decisions.length) return null;
  return html`<section><h2>Decisions</h2><div class="table"><table class="rows"><thead><tr><th>Decision</th><th>By</th><th class="md">Execution</th><th class="num">When</th></tr></thead>
    <tbody>${decisions.map((one) => html`<tr key=${one.signal_id} data-row tabindex="-1"><td><${State} of=${one.decision} quiet /></td><td>${one.source.identity || humanize(one.source.type)}</td>
      <td class="md"><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /></td><td class="num"><${Moment} at=${one.at} /></td></tr>`)}</tbody></table></div>
    <p class="none">${more ? `The latest ${plural(decisions.length, "decision")}.` : `${plural(decisions.length, "decision")} in the last seven days.`}</p></section>`;
}
