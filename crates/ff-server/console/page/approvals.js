// The inbox: what waits for people, the oldest first, and what was decided.

import { html, useState } from "../app/preact.js";
import { get, may, path, serverNow } from "../app/api.js";
import { plural, words } from "../app/format.js";
import { useAnswer } from "../app/live.js";
import { href, namespace } from "../app/router.js";
import { decide } from "../view/action.js";
import { Icon } from "../view/icon.js";
import { Content } from "../view/json.js";
import { State } from "../view/state.js";
import { Answer, Empty, Id, Moment, Tags } from "../view/text.js";

/** How many decisions are shown. */
const DECIDED = 50;

export function Approvals() {
  const ns = namespace.value;
  const answer = useAnswer(() => get("/v1/executions", { namespace: ns, state: "suspended", limit: 1_000 }), [ns], {
    concerns: ({ event }) => event === "suspended" || event === "released" || event === "finished",
    gap: 1_500,
  });
  return html`<h1>Approvals</h1>
    <${Answer} of=${answer} lines=${8}>${({ executions, next_cursor }) => html`<${Inbox} executions=${executions} more=${next_cursor} reload=${answer.reload} />`}<//>
    ${may("operate") && html`<${Decided} />`}`;
}

function Inbox({ executions, more, reload }) {
  const since = (one) => one.suspension?.suspended_at ?? one.changed_at;
  const oldest = [...executions].sort((a, b) => since(a) - since(b));
  const asks = oldest.filter((one) => one.suspension?.reason === "waiting_for_approval");
  const others = oldest.filter((one) => one.suspension?.reason !== "waiting_for_approval");
  return html`${asks.length
      ? html`<ul class="inbox">${asks.map((one) => html`<${Question} key=${one.execution_id} one=${one} reload=${reload} />`)}</ul>`
      : html`<${Empty} title="Nothing waits for an approval">An execution that asks a person appears here. Its worker can send a link to the same question.<//>`}
    ${more && html`<p class="none">More wait than are shown: these are the newest 1 000.</p>`}
    ${others.length > 0 && html`<section><h2>Waits for a signal</h2><div class="table"><table class="rows"><thead><tr><th>Waits for</th><th>Kind</th><th class="md">Id</th><th class="num">Since</th><th class="num md">Until</th></tr></thead>
      <tbody>${others.map((one) => html`<tr data-row tabindex="-1"><td>${words(one.suspension?.reason || "suspended")}</td><td><a data-main href=${href(["executions", one.execution_id])}>${one.kind}</a></td><td class="md"><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /></td>
        <td class="num"><${Moment} at=${since(one)} /></td><td class="num md"><${Moment} at=${one.suspension?.timeout_at} /></td></tr>`)}</tbody></table></div></section>`}`;
}

function Question({ one, reload }) {
  const [open, setOpen] = useState(false);
  const allowed = may("operate");
  const why = allowed ? undefined : "Needs a key with the role operate";
  const { suspension } = one;
  return html`<li class="card" data-row tabindex="-1">
    <p class="asked">${one.progress?.message || "An approval is wanted."}</p>
    <p class="about"><a data-main href=${href(["executions", one.execution_id])}>${one.kind}</a><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /><span>asked <${Moment} at=${suspension.suspended_at} /></span>
      ${suspension.timeout_at && html`<span class=${suspension.timeout_at - serverNow() < 3_600_000 ? "warn" : ""}>${words(suspension.timeout_behavior)}s <${Moment} at=${suspension.timeout_at} /></span>`}
      ${suspension.escalated_at && html`<span class="warn">escalated <${Moment} at=${suspension.escalated_at} /></span>`}<${Tags} tags=${one.tags} most=${4} /></p>
    ${open && html`<${Context} id=${one.execution_id} />`}
    <div class="actions">
      <button type="button" class="primary" disabled=${!allowed} title=${why} onClick=${() => decide(one, "approve", reload)}>Approve</button>
      <button type="button" disabled=${!allowed} title=${why} onClick=${() => decide(one, "reject", reload)}>Reject</button>
      <button type="button" class="plain" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}><${Icon} name=${open ? "unfold" : "fold"} />Payload</button>
    </div></li>`;
}

function Context({ id }) {
  const answer = useAnswer(() => get(path`/v1/executions/${id}/payload`, { encoding: "json" }, { exact: true }), [id], { concerns: () => false });
  return html`<${Answer} of=${answer} lines=${2}>${(data) => html`<${Content} json=${data.payload} base64=${data.payload_base64 ?? undefined} type=${data.content_type} name="payload" />`}<//>`;
}

/** Who decided what in the last week. */
function Decided() {
  const ns = namespace.value;
  const answer = useAnswer(() => get("/v1/decisions", { namespace: ns, limit: DECIDED }), [ns], { gap: 1_500, concerns: ({ event }) => event === "released" || event === "finished" });
  const { decisions = [], more } = answer.data || {};
  if (!decisions.length) return null;
  return html`<section><h2>Decided</h2><div class="table"><table class="rows"><thead><tr><th>Decision</th><th>By</th><th class="md">Execution</th><th class="num">When</th></tr></thead>
    <tbody>${decisions.map((one) => html`<tr key=${one.signal_id} data-row tabindex="-1"><td><${State} of=${one.decision} quiet /></td><td>${one.source.identity || words(one.source.type)}</td>
      <td class="md"><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /></td><td class="num"><${Moment} at=${one.at} /></td></tr>`)}</tbody></table></div>
    <p class="none">${more ? `The latest ${plural(decisions.length, "decision")}.` : `${plural(decisions.length, "decision")} in the last seven days.`}</p></section>`;
}
