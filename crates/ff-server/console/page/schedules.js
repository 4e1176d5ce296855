// Schedules: their next ticks, and the outcome of their last ticks.

import { html } from "../app/preact.js";
import { get, may, path, post } from "../app/api.js";
import { duration, humanize } from "../app/format.js";
import { useResponse } from "../app/live.js";
import { go, href, namespace } from "../app/router.js";
import { openDialog, runAndReport } from "../view/dialog.js";
import { Content } from "../view/json.js";
import { State } from "../view/state.js";
import { ResponseView, EmptyState, ZonedTime, Id, Moment, rowLink } from "../view/text.js";

const OVERLAPS = [
  { value: "skip", label: "skip: the tick starts nothing" },
  { value: "queue_one", label: "queue one: the tick waits until the previous execution ends" },
  { value: "allow", label: "allow: the tick starts another execution" },
  { value: "cancel_previous", label: "cancel previous: the previous execution is cancelled" },
];

export function Schedules() {
  const ns = namespace.value;
  const response = useResponse(() => get("/v1/schedules", { namespace: ns, limit: 500 }), [ns], { intervalMs: 5_000 });
  return html`<div class="head"><h1>Schedules</h1><div class="actions"><button type="button" disabled=${!may("operate")} onClick=${() => createSchedule(response.reload)}>Create a schedule</button></div></div>
    <${ResponseView} of=${response} lines=${6}>${({ schedules }) =>
      schedules.length
        ? html`<div class="table"><table class="rows"><thead><tr><th>Schedule</th><th>Ticks</th><th class="md">Starts</th><th class="num">Next</th><th class="md">Last</th><th></th></tr></thead>
            <tbody>${schedules.map((schedule) => html`<${Row} key=${schedule.name} schedule=${schedule} reload=${response.reload} />`)}</tbody></table></div>`
        : html`<${EmptyState} title="No schedule is defined" commands=${["ff schedules create report --cron '0 9 * * *' --time-zone Europe/Berlin --kind report"]}>A schedule starts an execution or a flow: by a cron expression, at an interval, or once.<//>`}<//>`;
}

function Row({ schedule, reload }) {
  const { name, ticks, paused } = schedule;
  const last = ticks.at(-1);
  return html`<tr data-row tabindex="-1" class="opens" ...${rowLink(["schedules", name])}>
    <td class="what"><a data-main href=${href(["schedules", name])}>${name}</a>${paused && html`<span class="remark">paused${paused.reason ? `: ${paused.reason}` : ""}</span>`}</td>
    <td>${triggerText(schedule.definition)}</td><td class="md">${targetText(schedule.definition)}</td>
    <td class="num"><${NextTick} schedule=${schedule} /></td><td class="md">${last ? html`<${TickOutcome} tick=${last} />` : html`<span class="none">–</span>`}</td>
    <td class="num tools">${may("operate") && html`<button type="button" class="plain" onClick=${() => togglePause(schedule, reload)}>${paused ? "Resume" : "Pause"}</button>`}</td></tr>`;
}

export function Schedule({ id: name }) {
  const ns = namespace.value;
  const response = useResponse(() => get(path`/v1/schedules/${name}`, { namespace: ns }), [name, ns], { intervalMs: 5_000 });
  return html`<${ResponseView} of=${response} lines=${8}>${(data) => html`<${ScheduleDetails} schedule=${data} reload=${response.reload} />`}<//>`;
}

function ScheduleDetails({ schedule, reload }) {
  const { name, definition, paused, next_ticks, ticks, queued_tick } = schedule;
  return html`<div class="head"><div class="named"><h1>${name} ${paused && html`<${State} of="paused" />`}</h1><p class="none">${triggerText(definition)}, starts ${targetText(definition)}; if the previous one is still running: ${humanize(definition.overlap ?? "skip")}</p></div>
      <div class="actions" role="group" aria-label="Actions">${may("operate") && html`
        <button type="button" onClick=${() => trigger(name, reload)}>Trigger</button>
        <button type="button" onClick=${() => togglePause(schedule, reload)}>${paused ? "Resume" : "Pause"}</button>
        <button type="button" onClick=${() => backfill(name, reload)}>Backfill</button>
        <button type="button" onClick=${() => editSchedule(schedule, reload)}>Edit</button>
        <button type="button" class="danger" onClick=${() => deleteSchedule(name)}>Delete</button>`}</div></div>
    ${paused && html`<section class="why" aria-label="Why"><p class="sentence"><span>The schedule is paused${paused.reason ? `: ${paused.reason}` : ""}, since <${Moment} at=${paused.at} />.</span></p></section>`}
    ${queued_tick && html`<p class="none">The tick of <${Moment} at=${queued_tick} /> waits until the previous execution ends.</p>`}
    <div class="columns"><section class="card"><h2>Definition</h2><${Content} json=${definition} name=${name} /></section>
      <section class="card"><h2>Next ticks</h2>${next_ticks.length ? html`<ul class="ticks">${next_ticks.map((tick) => html`<li><${ZonedTime} at=${tick} zone=${definition.time_zone} /><span class="none"><${Moment} at=${tick} /></span></li>`)}</ul>` : html`<p class="none">${paused ? "None while the schedule is paused." : "No further ticks."}</p>`}</section></div>
    <section class="card"><h2>Last ticks</h2>${ticks.length
      ? html`<div class="table flat"><table><thead><tr><th>Tick</th><th>Outcome</th><th>Started</th><th class="num md">Late by</th></tr></thead><tbody>
          ${[...ticks].reverse().map((tick) => html`<tr key=${tick.tick}><td><${ZonedTime} at=${tick.tick} zone=${definition.time_zone} />${tick.triggered && html` <span class="none">triggered</span>`}</td><td><${TickOutcome} tick=${tick} /></td>
            <td>${tick.execution_id ? html`<${Id} id=${tick.execution_id} to=${["executions", tick.execution_id]} />` : tick.flow_id ? html`<${Id} id=${tick.flow_id} to=${["flows", tick.flow_id]} />` : html`<span class="none">–</span>`}</td>
            <td class="num md">${duration(Math.max(0, tick.handled_at - tick.tick))}</td></tr>`)}</tbody></table></div>`
      : html`<p class="none">No ticks yet.</p>`}</section>`;
}

/** The trigger of a schedule as text: cron expression, interval or time. */
function triggerText({ cron, every_ms, at, time_zone }) {
  if (cron) return html`<code>${cron}</code> ${time_zone ?? "UTC"}`;
  if (every_ms) return `every ${duration(every_ms)}`;
  return html`once, at <${ZonedTime} at=${at} />`;
}

const targetText = ({ execution, flow }) => (execution ? execution.kind : `flow ${flow.kind}`);

function NextTick({ schedule: { paused, next_tick } }) {
  if (paused) return html`<span class="none">paused</span>`;
  return next_tick ? html`<${Moment} at=${next_tick} />` : html`<span class="none">none</span>`;
}

function TickOutcome({ tick }) {
  const why = tick.reason ? humanize(tick.reason) : tick.detail;
  const tone = tick.outcome === "refused" ? "bad" : "";
  return html`<span class=${tone}>${humanize(tick.outcome)}</span>${why && html` <span class="none">${why}</span>`}`;
}

const call = (name, verb, body = {}) => post(path`/v1/schedules/${name}/${verb}`, { namespace: namespace.value, ...body });
const put = (name, definition) => post(path`/v1/schedules/${name}`, { ...definition, namespace: namespace.value });

async function togglePause({ name, paused }, done) {
  if (paused) {
    await runAndReport(() => call(name, "resume"), `Schedule ${name} is resumed`);
    return done();
  }
  openDialog({
    title: `Pause ${name}`,
    fields: [{ name: "reason", label: "Reason" }],
    action: "Pause",
    run: async ({ reason }) => {
      await call(name, "pause", { reason });
      done();
      return `Schedule ${name} is paused`;
    },
  });
}

async function trigger(name, done) {
  await runAndReport(() => call(name, "trigger"), "The schedule is triggered");
  done();
}

function backfill(name, done) {
  openDialog({
    title: `Backfill ${name}`,
    text: "Runs the missed ticks of a past time range. Ticks that already ran do not run again.",
    fields: [
      { name: "from", label: "From", type: "datetime-local", required: true },
      { name: "to", label: "To", type: "datetime-local", required: true },
    ],
    action: "Backfill",
    run: async ({ from, to }) => {
      const { ticks } = await call(name, "backfill", { from: Date.parse(from), to: Date.parse(to) });
      done();
      return `${ticks.filter((tick) => tick.outcome === "started").length} of ${ticks.length} ticks started an execution or a flow`;
    },
  });
}

function createSchedule(done) {
  openDialog({
    title: "Create a schedule",
    fields: [
      { name: "name", label: "Name", required: true },
      { name: "cron", label: "Cron expression", hint: "For example 0 9 * * MON-FRI or @daily. Leave empty to use an interval." },
      { name: "every", label: "Interval in seconds", type: "number", min: 1 },
      { name: "time_zone", label: "Time zone", value: Intl.DateTimeFormat().resolvedOptions().timeZone },
      { name: "overlap", label: "If the previous execution is still running", type: "choice", value: "skip", options: OVERLAPS },
      { name: "kind", label: "Kind of the execution", required: true },
      { name: "lane", label: "Lane", hint: "default if empty." },
      { name: "payload", label: "Payload, as JSON", type: "long", hint: "{{tick}} and {{schedule}} are replaced." },
    ],
    action: "Create",
    run: async ({ name, cron, every, time_zone, overlap, kind, lane, payload }) => {
      const execution = { kind, lane, payload: payload && JSON.parse(payload) };
      await put(name, { cron, every_ms: every && every * 1_000, time_zone, overlap, execution });
      done();
      return `Schedule ${name} is created`;
    },
  });
}

function editSchedule({ name, definition }, done) {
  openDialog({
    title: `Schedule ${name}`,
    fields: [{ name: "definition", label: "Definition, as JSON", type: "long", rows: 16, required: true, value: JSON.stringify(definition, null, 2) }],
    action: "Save",
    run: async ({ definition }) => {
      await put(name, JSON.parse(definition));
      done();
      return "The schedule is changed";
    },
  });
}

function deleteSchedule(name) {
  openDialog({
    title: `Delete ${name}?`,
    text: "The schedule does not tick again. Executions and flows that it started continue.",
    action: "Delete",
    danger: true,
    run: async () => {
      await call(name, "delete");
      go(["schedules"]);
      return `Schedule ${name} is deleted`;
    },
  });
}
