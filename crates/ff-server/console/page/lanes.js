// Lanes: their executions by state, their settings, and the reasons why executions do not run.

import { html } from "../app/preact.js";
import { get, may, path, post, serverNow } from "../app/api.js";
import { capitalize, count, duration, shortDuration, humanize } from "../app/format.js";
import { now, useResponse } from "../app/live.js";
import { href, namespace, route } from "../app/router.js";
import { Latency, Throughput } from "../view/drawing/chart.js";
import { openDialog, runAndReport } from "../view/dialog.js";
import { State } from "../view/state.js";
import { ResponseView, Command, EmptyState, rowLink } from "../view/text.js";

const COLUMNS = ["waiting", "active", "delayed", "suspended"];

export function Lanes() {
  const ns = namespace.value;
  const { lane } = route.value.params;
  const load = async () => {
    const [{ lanes }, activity] = await Promise.all([get("/v1/lanes", { namespace: ns, limit: 500, finished: false }), get("/v1/activity", { namespace: ns })]);
    return { lanes: lanesWithActivity(lanes, activity), activity };
  };
  const response = useResponse(load, [ns], { intervalMs: 3_000 });
  return html`<div class="head"><h1>Lanes</h1><div class="actions"><button type="button" disabled=${!may("operate")} onClick=${() => configure({ lane_id: "", settings: { state: "active" } }, response.reload)}>Configure a lane</button></div></div>
    ${lane && html`<${Explanation} lane=${lane} />`}
    <${ResponseView} of=${response} lines=${6}>${({ lanes, activity }) =>
      lanes.length ? html`<${Table} lanes=${lanes} activity=${activity} chosen=${lane} reload=${response.reload} />` : html`<${EmptyState} title="No lane has executions" commands=${["ff submit echo --lane mail"]}>A lane is a named queue. Submitting an execution to a lane creates it.<//>`}<//>`;
}

/** Adds the lanes whose executions all ended in the last hour to the lanes that have executions or settings. */
export function lanesWithActivity(lanes, activity) {
  const ended = activity.lanes.filter((lane) => !lanes.some((known) => known.lane_id === lane.lane_id));
  const rows = [...lanes, ...ended.map(({ lane_id }) => ({ lane_id, settings: { state: "active" }, depths: {} }))];
  return rows.sort((a, b) => a.lane_id.localeCompare(b.lane_id));
}

function Table({ lanes, activity, chosen, reload }) {
  now.value;
  const moment = serverNow();
  const byLane = new Map(activity.lanes.map((lane) => [lane.lane_id, lane]));
  return html`<div class="table"><table class="rows"><thead><tr><th>Lane</th><th>State</th>${COLUMNS.map((column) => html`<th class="num ${column === "waiting" ? "" : "md"}">${humanize(column === "active" ? "running" : column)}</th>`)}<th class="num md">Oldest</th><th class="num md">Limit</th><th class="lg spark">Ended per minute</th><th class="lg spark">Time to start, p95</th><th></th></tr></thead>
    <tbody>${lanes.map((lane) => {
      const laneActivity = byLane.get(lane.lane_id);
      const oldest = lane.depths.waiting?.first_at;
      return html`<tr key=${lane.lane_id} data-row tabindex="-1" class="opens ${lane.lane_id === chosen ? "chosen" : ""}" ...${rowLink(["lanes"], { lane: lane.lane_id })}>
        <td><a data-main href=${href(["lanes"], { lane: lane.lane_id })}>${lane.lane_id}</a></td><td><${State} of=${lane.settings.state} quiet=${lane.settings.state === "active"} /></td>
        ${COLUMNS.map((column) => html`<td class="num ${column === "waiting" ? "" : "md"}">${lane.depths[column]?.count ? html`<a href=${href(["executions"], { lane: lane.lane_id, state: column })}>${count(lane.depths[column].count)}</a>` : html`<span class="none">0</span>`}</td>`)}
        <td class="num md">${oldest ? shortDuration(moment - oldest) : html`<span class="none">–</span>`}</td><td class="num md">${lane.settings.concurrency ?? html`<span class="none">none</span>`}</td>
        <td class="lg spark"><${Throughput} buckets=${laneActivity?.minutes} now=${moment} label=${lane.lane_id} /></td><td class="lg spark"><${Latency} buckets=${laneActivity?.minutes} now=${moment} of="start_p95_ms" label="Time to start" /><span class="last">${duration(laneActivity?.start_p95_ms)}</span></td>
        <td class="num tools">${may("operate") && html`<button type="button" class="plain" onClick=${() => togglePause(lane, reload)}>${lane.settings.state === "active" ? "Pause" : "Resume"}</button><button type="button" class="plain" onClick=${() => configure(lane, reload)}>Edit</button>`}</td></tr>`;
    })}</tbody></table></div>`;
}

/** Explains why executions of a lane do not run. */
function Explanation({ lane }) {
  const response = useResponse(() => get(path`/v1/lanes/${lane}/explain`, { namespace: namespace.value }), [lane, namespace.value], { isRelevant: (event) => event.lane_id === lane, intervalMs: 3_000 });
  return html`<${ResponseView} of=${response} lines=${2}>${({ summary, causes, actions = [] }) => html`<section class="why" aria-label="Why"><p class="sentence"><span>${summary}</span></p>
    ${causes.length > 1 && html`<table><tbody>${causes.map((cause) => html`<tr><td class="num">${count(cause.count)}</td><td>${humanize(cause.term)}</td><td>${cause.detail}</td></tr>`)}</tbody></table>`}
    ${actions.map((action) => html`<p class="advice">${capitalize(action.what)}: <${Command} text=${action.command} /></p>`)}</section>`}<//>`;
}

const set = (lane, body) => post(path`/v1/lanes/${lane}`, { namespace: namespace.value, ...body });

async function togglePause(lane, done) {
  const state = lane.settings.state === "active" ? "paused" : "active";
  await runAndReport(() => set(lane.lane_id, { state }), state === "paused" ? `Lane ${lane.lane_id} is paused` : `Lane ${lane.lane_id} is active`);
  done();
}

function configure(lane, done) {
  const { settings, lane_id } = lane;
  const seconds = (ms) => (ms === undefined || ms === null ? "" : ms / 1_000);
  const ms = (number) => (number === undefined ? null : Math.round(number * 1_000));
  const fields = [
    ...(lane_id ? [] : [{ name: "lane", label: "Lane", required: true }]),
    { name: "state", label: "State", type: "choice", value: settings.state, options: [{ value: "active", label: "active: submissions and claims" }, { value: "paused", label: "paused: submissions only" }, { value: "draining", label: "draining: claims only" }] },
    { name: "concurrency", label: "Concurrency limit", type: "number", min: 1, value: settings.concurrency, hint: "No limit if empty." },
    { name: "ageing", label: "Ageing: seconds of waiting that count as one step of priority", type: "number", min: 0, value: seconds(settings.ageing_ms), hint: "Strict priority if empty." },
    { name: "retention", label: "Retention of ended executions, in seconds", type: "number", min: 0, value: seconds(settings.retention_ms), hint: "7 days if empty." },
  ];
  openDialog({
    title: lane_id ? `Lane ${lane_id}` : "Configure a lane",
    fields,
    action: "Save",
    run: async ({ lane: named, state, concurrency, ageing, retention }) => {
      await set(lane_id || named, { state, concurrency: concurrency ?? null, ageing_ms: ms(ageing), retention_ms: ms(retention) });
      done();
      return "The lane is configured";
    },
  });
}
