// The overview: problems that need attention, and the activity of each lane and kind.

import { html } from "../app/preact.js";
import { get, serverNow } from "../app/api.js";
import { compact, count, duration, plural, shortDuration } from "../app/format.js";
import { now, useResponse } from "../app/live.js";
import { href, namespace } from "../app/router.js";
import { Latency, Throughput } from "../view/drawing/chart.js";
import { exhaustedDimensions, joinDimensions, dimensionsOverSoftLimit } from "../view/drawing/gauge.js";
import { Icon } from "../view/icon.js";
import { State } from "../view/state.js";
import { ResponseView, EmptyState } from "../view/text.js";
import { loadBudgets } from "./budgets.js";
import { lanesWithActivity } from "./lanes.js";

/** A lane whose oldest waiting execution waits longer than this needs attention. */
const LONG_WAIT_MS = 5 * 60_000;

/** Severities, the worst first. */
const TONES = ["bad", "warn", "note"];

/** The maximum number of budgets that are loaded. */
const MAX_BUDGETS = 20;

export function Overview() {
  const ns = namespace.value;
  const load = async () => {
    const [lanes, activity, waiting, budgets, { grants }] = await Promise.all([
      get("/v1/lanes", { namespace: ns, limit: 500, finished: false }),
      get("/v1/activity", { namespace: ns }),
      get("/v1/executions", { namespace: ns, state: "suspended", limit: 100 }),
      loadBudgets(ns, MAX_BUDGETS),
      get("/v1/grants", { namespace: ns, limit: 500 }),
    ]);
    return { lanes: lanes.lanes, activity, budgets, grants, approvals: waiting.executions.filter((one) => one.suspension?.reason === "waiting_for_approval") };
  };
  const response = useResponse(load, [ns], { intervalMs: 5_000 });
  return html`<h1>Overview</h1><${ResponseView} of=${response} lines=${8}>${(data) => html`<${Dashboard} ...${data} />`}<//>`;
}

function Dashboard({ lanes, activity, budgets, grants, approvals }) {
  now.value;
  const moment = serverNow();
  const byLane = new Map(activity.lanes.map((lane) => [lane.lane_id, lane]));
  const rows = lanesWithActivity(lanes, activity);
  if (!rows.length && !activity.kinds.length) return html`<${GettingStarted} />`;
  const sum = (state) => lanes.reduce((all, lane) => all + (lane.depths[state]?.count || 0), 0);
  const hour = (what) => activity.lanes.reduce((all, lane) => all + lane[what], 0);
  const tiles = [
    ["Waiting", sum("waiting"), { state: "waiting" }, "waiting"],
    ["Running", sum("active"), { state: "active" }, "active"],
    ["Suspended", sum("suspended"), { state: "suspended" }, "suspended"],
    ["Delayed", sum("delayed"), { state: "delayed" }, "delayed"],
    ["Completed, last hour", hour("completed"), { state: "completed", since: "1h" }, "completed"],
    ["Failed, last hour", hour("failed"), { state: "failed", since: "1h" }, "failed"],
  ];
  return html`<section class="tiles" aria-label="Counts">
      ${tiles.map(([title, number, filter, state]) => html`<a class="tile s-${state} ${number ? "" : "zero"}" href=${href(["executions"], filter)}><span class="number">${compact(number)}</span><span class="title">${title}</span></a>`)}
    </section>
    <${Attention} lanes=${lanes} activity=${activity} budgets=${budgets} grants=${grants} approvals=${approvals} moment=${moment} />
    <section><h2>Lanes</h2>
      <div class="table"><table><thead><tr><th>Lane</th><th class="num">Waiting</th><th class="num">Running</th><th class="num md">Suspended</th><th class="num md">Oldest waiting</th><th class="num">Failed, 1 h</th><th class="lg spark">Ended per minute</th><th class="lg spark">Time to start, p95</th><th class="num md">Run, p50</th></tr></thead>
        <tbody>${rows.map((lane) => html`<${LaneRow} lane=${lane} activity=${byLane.get(lane.lane_id)} moment=${moment} />`)}</tbody></table></div>
    </section>
    <${Kinds} kinds=${activity.kinds} />`;
}

function LaneRow({ lane, activity, moment }) {
  const at = (state) => lane.depths[state]?.count || 0;
  const filter = (state) => href(["executions"], { lane: lane.lane_id, state });
  const number = (state) => (at(state) ? html`<a href=${filter(state)}>${count(at(state))}</a>` : html`<span class="none">0</span>`);
  const oldest = lane.depths.waiting?.first_at;
  return html`<tr data-row tabindex="-1">
    <td><a data-main href=${href(["lanes"], { lane: lane.lane_id })}>${lane.lane_id}</a> ${lane.settings.state !== "active" && html`<${State} of=${lane.settings.state} quiet />`}</td>
    <td class="num">${number("waiting")}</td><td class="num">${number("active")}</td><td class="num md">${number("suspended")}</td>
    <td class="num md ${oldest && moment - oldest > LONG_WAIT_MS ? "warn" : ""}">${oldest ? shortDuration(moment - oldest) : html`<span class="none">–</span>`}</td>
    <td class="num">${activity?.failed ? html`<a class="bad" href=${href(["executions"], { lane: lane.lane_id, state: "failed", since: "1h" })}>${count(activity.failed)}</a>` : html`<span class="none">0</span>`}</td>
    <td class="lg spark"><${Throughput} buckets=${activity?.minutes} now=${moment} label=${lane.lane_id} /></td>
    <td class="lg spark"><${Latency} buckets=${activity?.minutes} now=${moment} of="start_p95_ms" label="Time to start" /><span class="last">${duration(activity?.start_p95_ms)}</span></td>
    <td class="num md">${duration(activity?.run_p50_ms)}</td>
  </tr>`;
}

/** The problems that need attention, the worst first. */
function Attention({ lanes, activity, budgets, grants, approvals, moment }) {
  const found = [];
  for (const kind of activity.kinds) {
    if (kind.failed) found.push({ icon: "cross", tone: "bad", text: html`<strong>${kind.kind}</strong> failed ${plural(kind.failed, "time")} in the last hour, of ${count(kind.failed + kind.completed)}`, to: href(["executions"], { kind: kind.kind, state: "failed", since: "1h" }) });
  }
  for (const budget of budgets) {
    const { name, waiting } = budget;
    const [exhausted, overSoftLimit] = [exhaustedDimensions(budget), dimensionsOverSoftLimit(budget)];
    if (exhausted.length) found.push({ icon: "budgets", tone: "bad", text: html`Budget <strong>${name}</strong> has too few ${joinDimensions(exhausted)} left${waiting ? `, ${plural(waiting, "execution")} waiting` : ""}`, to: href(["budgets", name]) });
    else if (overSoftLimit.length) found.push({ icon: "budgets", tone: "warn", text: html`Budget <strong>${name}</strong> exceeds its soft limit of ${joinDimensions(overSoftLimit)}`, to: href(["budgets", name]) });
  }
  for (const lane of lanes) {
    const waiting = lane.depths.waiting;
    if (lane.settings.state === "paused") {
      found.push({ icon: "pause", tone: "warn", text: html`Lane <strong>${lane.lane_id}</strong> is paused${waiting ? `, ${plural(waiting.count, "execution")} waiting` : ""}`, to: href(["lanes"], { lane: lane.lane_id }) });
    } else if (waiting?.first_at && moment - waiting.first_at > LONG_WAIT_MS) {
      found.push({ icon: "clock", tone: "warn", text: html`Lane <strong>${lane.lane_id}</strong>: the oldest of ${count(waiting.count)} waiting executions waits for ${shortDuration(moment - waiting.first_at)}`, to: href(["executions"], { lane: lane.lane_id, state: "waiting" }) });
    }
    for (const [state, word, reason] of [["blocked_by_quota", "by a quota", "waiting_for_quota"], ["blocked_by_budget", "by a budget", "waiting_for_budget"], ["blocked_by_operator", "by an operator", "paused_by_operator"], ["blocked_by_route", "because no worker matches", "waiting_for_capable_worker"]]) {
      if (state === "blocked_by_budget" && budgets.some((budget) => exhaustedDimensions(budget).length)) continue;
      // The depth includes executions that are assigned to a worker. They do not need attention.
      const assigned = state === "blocked_by_route" ? grants.filter((grant) => grant.lane_id === lane.lane_id).length : 0;
      const blocked = (lane.depths[state]?.count || 0) - assigned;
      if (blocked > 0) found.push({ icon: "alert", tone: "warn", text: html`Lane <strong>${lane.lane_id}</strong>: ${plural(blocked, "execution")} blocked ${word}`, to: href(["executions"], { lane: lane.lane_id, reason }) });
    }
  }
  if (approvals.length) {
    found.push({ icon: "hand", tone: "note", text: html`<strong>${plural(approvals.length, "execution")}</strong> ${approvals.length === 1 ? "waits" : "wait"} for an approval`, to: href(["approvals"]) });
  }
  found.sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
  if (!found.length) return html`<p class="calm"><${Icon} name="check" />Nothing needs attention.</p>`;
  return html`<section class="attention" aria-label="Needs attention"><h2>Needs attention</h2><ul>
    ${found.slice(0, 8).map(({ icon, tone, text, to }) => html`<li><a class=${tone} href=${to}><${Icon} name=${icon} /><span>${text}</span><${Icon} name="arrow" /></a></li>`)}
  </ul></section>`;
}

function Kinds({ kinds }) {
  if (!kinds.length) return null;
  return html`<section><h2>Kinds, last hour</h2><div class="table"><table>
    <thead><tr><th>Kind</th><th class="num">Completed</th><th class="num">Failed</th><th class="num md">Retried</th><th class="num md">Run, p50</th><th class="num">Run, p95</th></tr></thead>
    <tbody>${kinds.slice(0, 20).map((kind) => html`<tr data-row tabindex="-1"><td><a data-main href=${href(["executions"], { kind: kind.kind })}>${kind.kind}</a></td>
      <td class="num">${count(kind.completed)}</td>
      <td class="num">${kind.failed ? html`<a class="bad" href=${href(["executions"], { kind: kind.kind, state: "failed", since: "1h" })}>${count(kind.failed)}</a>` : html`<span class="none">0</span>`}</td>
      <td class="num md">${kind.retried ? count(kind.retried) : html`<span class="none">0</span>`}</td><td class="num md">${duration(kind.run_p50_ms)}</td><td class="num">${duration(kind.run_p95_ms)}</td></tr>`)}</tbody></table></div></section>`;
}

const COMMANDS = ["ff worker --kind echo --exec cat", `ff submit echo --payload '{"hi":1}' --wait`];

function GettingStarted() {
  return html`<${EmptyState} title="No execution has run yet" commands=${COMMANDS}>
    Start a worker in one terminal and submit an execution in another. The page updates automatically.<//>`;
}
