// One execution: the explanation of its state, its timeline, payload, result, output, steps, signals, usage and history.

import { html, useState } from "../../app/preact.js";
import { getAll, get, hasAllNamespaces, may, path, serverNow } from "../../app/api.js";
import { bytes, capitalize, duration, timestamp, plural, humanize } from "../../app/format.js";
import { now, useResponse } from "../../app/live.js";
import { href } from "../../app/router.js";
import { actionsOf } from "../../view/action.js";
import { grantOf } from "../../view/assign.js";
import { usageText } from "../../view/drawing/gauge.js";
import { Gantt } from "../../view/drawing/gantt.js";
import { Icon } from "../../view/icon.js";
import { Content } from "../../view/json.js";
import { State, FINAL_STATES } from "../../view/state.js";
import { Stream } from "../../view/stream.js";
import { submitCopy } from "../../view/submit.js";
import { ResponseView, Command, Id, Moment, Tabs, Tags } from "../../view/text.js";
import { History } from "./history.js";
import { Neighbours } from "./neighbours.js";
import { Usage } from "./usage.js";

/** The maximum number of steps that the page shows. */
const MAX_STEPS = 500;

export function Execution({ id }) {
  const at = (what = "") => path`/v1/executions/${id}` + what;
  const load = async () => {
    const [info, explain, attempts, steps, signals, usage] = await Promise.all([
      get(at()),
      get(at("/explain")),
      get(at("/attempts")),
      getAll(at("/steps"), { limit: 500 }, { items: "steps", next: "next", as: "after", most: MAX_STEPS }),
      get(at("/signals"), { limit: 100 }),
      get(at("/usage")),
    ]);
    const result = FINAL_STATES.has(info.public_state) ? await get(at("/result"), {}, { exact: true }) : null;
    return { info, explain, ...attempts, steps, signals: signals.signals, usage, result };
  };
  const response = useResponse(load, [id], { intervalMs: 700, isRelevant: (event) => event.execution_id === id });
  return html`<${ResponseView} of=${response} lines=${10}>${(data) => html`<${ExecutionDetails} ...${data} reload=${response.reload} />`}<//>`;
}

function ExecutionDetails({ info, explain, attempts, leases, steps, signals, usage, result, reload }) {
  const isFinal = FINAL_STATES.has(info.public_state);
  const outcome = { name: isFinal && info.failure ? "Error" : "Result", show: () => html`<${Outcome} info=${info} result=${result} />` };
  const output = { name: "Output", show: () => html`<${Stream} id=${info.execution_id} />` };
  const payload = { name: "Payload", show: () => html`<${Payload} info=${info} />` };
  return html`<article class="execution">
    <${Head} info=${info} steps=${steps} reload=${reload} />
    <${Explanation} info=${info} explain=${explain} />
    <section class="card"><h2>Timeline</h2><${Gantt} info=${info} attempts=${attempts} leases=${leases} steps=${steps} /></section>
    <div class="columns">
      <section class="card grow">
        <${Tabs} label="Data" tabs=${[
          ...(isFinal ? [outcome, payload, output] : [output, payload]),
          { name: "Steps", count: steps.length || undefined, show: () => html`<${Steps} steps=${steps} />` },
          { name: "Signals", count: signals.length || undefined, show: () => html`<${Signals} signals=${signals} />` },
          ...(Object.keys(usage.usage).length ? [{ name: "Usage", show: () => html`<${Usage} usage=${usage} />` }] : []),
          ...(info.flow_id ? [{ name: "Flow", show: () => html`<${Neighbours} info=${info} />` }] : []),
          { name: "History", show: () => html`<${History} info=${info} attempts=${attempts} leases=${leases} steps=${steps} signals=${signals} />` },
        ]} />
      </section>
      <${Facts} info=${info} usage=${usage} />
    </div>
  </article>`;
}

function Head({ info, steps, reload }) {
  const copy = { name: "Submit a copy", roles: ["submit"], allowed: may("submit"), start: submitCopy };
  const fitting = actionsOf(info);
  const actions = [...fitting.filter((action) => !action.danger), copy, ...fitting.filter((action) => action.danger)];
  const show = (action) => html`<button type="button" class=${action.danger ? "danger" : action.primary ? "primary" : ""} disabled=${!action.allowed}
    title=${action.allowed ? undefined : `Needs a key with the role ${action.roles.join(" or ")}`} onClick=${() => action.start(info, reload, steps)}>${action.name}</button>`;
  return html`<div class="head">
    <div class="named"><h1>${info.kind} <${State} of=${info.public_state} /></h1><${Id} id=${info.execution_id} whole /></div>
    <div class="actions" role="group" aria-label="Actions">${actions.map(show)}</div>
  </div>`;
}

/** Explains the state of the execution in a sentence, with the conditions on request. */
function Explanation({ info, explain }) {
  const [open, setOpen] = useState(false);
  const failure = info.failure && info.public_state === "failed" ? `${humanize(info.failure.category)}: ${info.failure.message}` : null;
  const first = explain.summary.split(" Also: ");
  return html`<section class="why s-${info.public_state}" aria-label="Why">
    <p class="sentence"><${Icon} name=${explain.terms.some((term) => term.verdict === "blocks") ? "alert" : "arrow"} /><span>${first[0]}${failure && html` <span class="bad">${failure}</span>`}</span></p>
    ${info.public_state === "suspended" && info.progress?.message && html`<p class="quoted">${info.progress.message}</p>`}
    ${info.failure && info.public_state !== "failed" && html`<p class="besides">Failed before: ${info.failure.message}</p>`}
    ${first[1] && html`<p class="besides">Also: ${first[1]}</p>`}
    ${explain.next && html`<p class="besides">Next: ${explain.next.event}${explain.next.at ? html`, <${Moment} at=${explain.next.at} />` : ""}</p>`}
    ${info.public_state === "active" && info.progress && html`<${Progress} progress=${info.progress} />`}
    ${(explain.terms.length > 0 || explain.actions?.length > 0) && html`<button type="button" class="plain" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}><${Icon} name=${open ? "unfold" : "fold"} />Conditions</button>`}
    ${open && html`<div class="terms">
      ${explain.terms.length > 0 && html`<table><tbody>${explain.terms.map((term) => html`<tr><td class="verdict ${term.verdict}">${term.verdict}</td><td>${humanize(term.term)}</td><td>${term.detail}${term.until ? html` <span class="none">until ${timestamp(term.until)}</span>` : ""}</td></tr>`)}</tbody></table>`}
      ${(explain.actions || []).map((action) => html`<p class="advice">${capitalize(action.what)}: <${Command} text=${action.command} /></p>`)}
    </div>`}
  </section>`;
}

function Progress({ progress }) {
  const hasPercent = progress.percent !== undefined && progress.percent !== null;
  return html`<div class="progress">${hasPercent && html`<progress max="100" value=${progress.percent} aria-label="Progress">${progress.percent} %</progress><span>${progress.percent} %</span>`}<span>${progress.message}</span></div>`;
}

function Outcome({ info, result }) {
  if (info.failure) {
    return html`<dl class="facts wide"><dt>Category</dt><dd>${humanize(info.failure.category)}</dd><dt>Message</dt><dd class="message">${info.failure.message}</dd>
      <dt>Retried</dt><dd>${info.failure.permanent ? "no: the failure is permanent" : plural(info.retries, "time")}</dd></dl>`;
  }
  if (result.result === undefined && !result.result_base64) return html`<p class="none">${result.outcome === "success" ? "The execution has no result." : `The execution ended as ${humanize(result.outcome)}.`}</p>`;
  return html`<${Content} json=${result.result} base64=${result.result_base64 ?? undefined} type=${result.content_type} name="result" />`;
}

function Payload({ info }) {
  const response = useResponse(() => get(path`/v1/executions/${info.execution_id}/payload`, { encoding: "json" }, { exact: true }), [info.execution_id], { isRelevant: () => false });
  return html`<${ResponseView} of=${response} lines=${3}>${(data) => html`<${Content} json=${data.payload} base64=${data.payload_base64 ?? undefined} type=${data.content_type} name="payload" />`}<//>`;
}

function Steps({ steps }) {
  if (!steps.length) return html`<p class="none">No recorded steps. A recorded step does not run again after a crash.</p>`;
  return html`<ol class="steps">${steps.map((step) => html`<li><div class="title"><span class="mono">${step.name}${step.key ? ` ${step.key}` : ""}</span> <span class="none">${step.kind} · attempt ${step.attempt + 1} · ${duration(Math.max(0, step.recorded_at - step.started_at))}</span></div>
    ${step.failure ? html`<p class="bad">${step.failure.message}</p>` : html`<${Content} json=${step.result} base64=${step.result_base64 ?? undefined} type=${step.content_type} name="step-${step.name}" open=${1} />`}</li>`)}</ol>`;
}

function Signals({ signals }) {
  if (!signals.length) return html`<p class="none">No received signals.</p>`;
  return html`<table><thead><tr><th>Signal</th><th>From</th><th>Effect</th><th class="num">Received</th></tr></thead><tbody>
    ${signals.map((signal) => html`<tr><td>${signal.name}</td><td>${humanize(signal.source.type)}${signal.source.identity ? ` ${signal.source.identity}` : ""}</td><td>${humanize(signal.effect)}</td><td class="num"><${Moment} at=${signal.received_at} /></td></tr>`)}</tbody></table>`;
}

function Facts({ info, usage }) {
  now.value;
  const grant = grantOf(info);
  const detail = info.blocking_detail;
  const blocker = detail?.on === "budget" ? html`<a href=${href(["budgets", detail.name])}>budget ${detail.name}</a>` : detail?.on === "quota" && html`<a href=${href(["quotas"])}>quota ${detail.name}</a>`;
  const rows = [
    ["Lane", html`<a href=${href(["lanes"], { lane: info.lane_id })}>${info.lane_id}</a>`],
    ["Namespace", hasAllNamespaces() && info.namespace],
    ["Flow", info.flow_id && html`<a href=${href(["flows", info.flow_id])}>${info.node || "the flow"}</a>`],
    ["Forked from", info.forked_from && html`<${Id} id=${info.forked_from} to=${["executions", info.forked_from]} />`],
    ["Priority", String(info.priority)],
    ["Worker", info.lease && html`<span class="mono">${info.lease.worker_instance_id}</span>`],
    ["Assigned to", grant && html`<span class="mono">${grant.worker_instance_id}</span>, ends <${Moment} at=${grant.expires_at} />`],
    ["Assigned by", grant && [grant.requested_by, grant.reason].filter(Boolean).join(": ")],
    ["Blocked by", blocker],
    ["Lease", info.lease && html`ends <${Moment} at=${info.lease.expires_at} />`],
    ["Attempts", `${info.attempts_made}${info.retries ? `, ${plural(info.retries, "retry", "retries")}` : ""}${info.reclaims ? `, ${plural(info.reclaims, "lost lease")}` : ""}${info.replays ? `, ${plural(info.replays, "replay")}` : ""}`],
    ["Created", html`<${Moment} at=${info.created_at} />`],
    ["Started", info.started_at && html`<${Moment} at=${info.started_at} />`],
    ["Delayed until", info.delayed_until && !grant && html`<${Moment} at=${info.delayed_until} />`],
    ["Deadline", info.deadline_at && html`<${Moment} at=${info.deadline_at} />`],
    ["Ended", info.finished_at && html`<${Moment} at=${info.finished_at} />`],
    ["Took", info.started_at && duration((info.finished_at ?? serverNow()) - info.started_at)],
    ["Ended by", info.finished_by && info.finished_by.type !== "holder" && [humanize(info.finished_by.type), info.finished_by.requested_by, info.finished_by.reason].filter(Boolean).join(", ")],
    ["Held", info.hold && [info.hold.requested_by, info.hold.reason].filter(Boolean).join(": ") || (info.hold && "by an operator")],
    ["Spent", usageText(usage.usage)],
    ["Payload", bytes(info.payload_bytes)],
    ["Idempotency key", info.idempotency_key && html`<span class="mono">${info.idempotency_key}</span>`],
    ["Retries", `${info.policy.retry_policy?.max_retries ?? 0} at most`],
  ];
  return html`<aside class="card facts-of" aria-label="Facts"><dl class="facts">
    ${rows.filter(([, value]) => value).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
    ${Object.keys(info.tags || {}).length > 0 && html`<dt>Tags</dt><dd><${Tags} tags=${info.tags} /></dd>`}
  </dl></aside>`;
}
