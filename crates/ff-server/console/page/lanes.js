// Lanes: how full each is, how it is configured, and why its work does not run.

import { html } from "../app/preact.js";
import { get, may, path, post, serverNow } from "../app/api.js";
import { capital, count, duration, roughly, words } from "../app/format.js";
import { now, useAnswer } from "../app/live.js";
import { href, namespace, place } from "../app/router.js";
import { Latency, Throughput } from "../view/drawing/chart.js";
import { ask, attempt } from "../view/dialog.js";
import { State } from "../view/state.js";
import { Answer, Command, Empty, opens } from "../view/text.js";

const COLUMNS = ["waiting", "active", "delayed", "suspended"];

export function Lanes() {
  const ns = namespace.value;
  const { lane } = place.value.params;
  const asked = async () => {
    const [{ lanes }, activity] = await Promise.all([get("/v1/lanes", { namespace: ns, limit: 500, finished: false }), get("/v1/activity", { namespace: ns })]);
    return { lanes: withActive(lanes, activity), activity };
  };
  const answer = useAnswer(asked, [ns], { gap: 3_000 });
  return html`<div class="head"><h1>Lanes</h1><div class="actions"><button type="button" disabled=${!may("operate")} onClick=${() => configure({ lane_id: "", settings: { state: "active" } }, answer.reload)}>Configure a lane</button></div></div>
    ${lane && html`<${Why} lane=${lane} />`}
    <${Answer} of=${answer} lines=${6}>${({ lanes, activity }) =>
      lanes.length ? html`<${Table} lanes=${lanes} activity=${activity} chosen=${lane} reload=${answer.reload} />` : html`<${Empty} title="No lane has anything" commands=${["ff submit echo --lane mail"]}>A lane is a named queue. It is there as soon as something is submitted to it.<//>`}<//>`;
}

/** Lanes that have something or are configured, and those whose work has all ended in the last hour. */
export function withActive(lanes, activity) {
  const ended = activity.lanes.filter((lane) => !lanes.some((known) => known.lane_id === lane.lane_id));
  const rows = [...lanes, ...ended.map(({ lane_id }) => ({ lane_id, settings: { state: "active" }, depths: {} }))];
  return rows.sort((a, b) => a.lane_id.localeCompare(b.lane_id));
}

function Table({ lanes, activity, chosen, reload }) {
  now.value;
  const moment = serverNow();
  const byLane = new Map(activity.lanes.map((lane) => [lane.lane_id, lane]));
  return html`<div class="table"><table class="rows"><thead><tr><th>Lane</th><th>State</th>${COLUMNS.map((column) => html`<th class="num ${column === "waiting" ? "" : "md"}">${words(column === "active" ? "running" : column)}</th>`)}<th class="num md">Oldest</th><th class="num md">Limit</th><th class="lg spark">Ended each minute</th><th class="lg spark">Time to start, p95</th><th></th></tr></thead>
    <tbody>${lanes.map((lane) => {
      const did = byLane.get(lane.lane_id);
      const oldest = lane.depths.waiting?.first_at;
      return html`<tr key=${lane.lane_id} data-row tabindex="-1" class="opens ${lane.lane_id === chosen ? "chosen" : ""}" ...${opens(["lanes"], { lane: lane.lane_id })}>
        <td><a data-main href=${href(["lanes"], { lane: lane.lane_id })}>${lane.lane_id}</a></td><td><${State} of=${lane.settings.state} quiet=${lane.settings.state === "active"} /></td>
        ${COLUMNS.map((column) => html`<td class="num ${column === "waiting" ? "" : "md"}">${lane.depths[column]?.count ? html`<a href=${href(["executions"], { lane: lane.lane_id, state: column })}>${count(lane.depths[column].count)}</a>` : html`<span class="none">0</span>`}</td>`)}
        <td class="num md">${oldest ? roughly(moment - oldest) : html`<span class="none">–</span>`}</td><td class="num md">${lane.settings.concurrency ?? html`<span class="none">none</span>`}</td>
        <td class="lg spark"><${Throughput} buckets=${did?.minutes} now=${moment} label=${lane.lane_id} /></td><td class="lg spark"><${Latency} buckets=${did?.minutes} now=${moment} of="start_p95_ms" label="Time to start" /><span class="last">${duration(did?.start_p95_ms)}</span></td>
        <td class="num tools">${may("operate") && html`<button type="button" class="plain" onClick=${() => turn(lane, reload)}>${lane.settings.state === "active" ? "Pause" : "Resume"}</button><button type="button" class="plain" onClick=${() => configure(lane, reload)}>Edit</button>`}</td></tr>`;
    })}</tbody></table></div>`;
}

/** Why the work of a lane does not run. */
function Why({ lane }) {
  const answer = useAnswer(() => get(path`/v1/lanes/${lane}/explain`, { namespace: namespace.value }), [lane, namespace.value], { concerns: (event) => event.lane_id === lane, gap: 3_000 });
  return html`<${Answer} of=${answer} lines=${2}>${({ summary, causes, actions = [] }) => html`<section class="why" aria-label="Why"><p class="sentence"><span>${summary}</span></p>
    ${causes.length > 1 && html`<table><tbody>${causes.map((cause) => html`<tr><td class="num">${count(cause.count)}</td><td>${words(cause.term)}</td><td>${cause.detail}</td></tr>`)}</tbody></table>`}
    ${actions.map((action) => html`<p class="advice">${capital(action.what)}: <${Command} text=${action.command} /></p>`)}</section>`}<//>`;
}

const set = (lane, body) => post(path`/v1/lanes/${lane}`, { namespace: namespace.value, ...body });

async function turn(lane, done) {
  const state = lane.settings.state === "active" ? "paused" : "active";
  await attempt(() => set(lane.lane_id, { state }), state === "paused" ? `Lane ${lane.lane_id} is paused` : `Lane ${lane.lane_id} is active`);
  done();
}

function configure(lane, done) {
  const { settings, lane_id } = lane;
  const seconds = (ms) => (ms === undefined || ms === null ? "" : ms / 1_000);
  const ms = (number) => (number === undefined ? null : Math.round(number * 1_000));
  const fields = [
    ...(lane_id ? [] : [{ name: "lane", label: "Lane", required: true }]),
    { name: "state", label: "State", type: "choice", value: settings.state, options: [{ value: "active", label: "active: submissions and claims" }, { value: "paused", label: "paused: submissions only" }, { value: "draining", label: "draining: claims only" }] },
    { name: "concurrency", label: "Run at once, at most", type: "number", min: 1, value: settings.concurrency, hint: "No limit when empty." },
    { name: "ageing", label: "Seconds of waiting that weigh as much as one step of priority", type: "number", min: 0, value: seconds(settings.ageing_ms), hint: "Strict priority when empty." },
    { name: "retention", label: "Seconds that are kept after the end", type: "number", min: 0, value: seconds(settings.retention_ms), hint: "7 days when empty." },
  ];
  ask({
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
