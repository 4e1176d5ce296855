// The list of executions. The address contains the filter.

import { html, useState } from "../app/preact.js";
import { get, may, path, post, serverNow } from "../app/api.js";
import { capitalize, count, duration, plural, humanize } from "../app/format.js";
import { now, useResponse } from "../app/live.js";
import { href, namespace, route, updateParams } from "../app/router.js";
import { BULK_ACTIONS, runForEach, readTags } from "../view/action.js";
import { openDialog } from "../view/dialog.js";
import { Icon } from "../view/icon.js";
import { Rows, isLong } from "../view/rows.js";
import { SavedFilters } from "../view/saved.js";
import { openSubmitDialog } from "../view/submit.js";
import { FINAL_STATES, State, STATES } from "../view/state.js";
import { ResponseView, EmptyState, Id, Moment, Tags, rowLink } from "../view/text.js";
import { showToast } from "../view/toast.js";

const SPANS = { "15m": 15 * 60_000, "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 };
const EXACT = "exact";
const CREATED = [["", "any time"], ["15m", "last 15 minutes"], ["1h", "last hour"], ["24h", "last 24 hours"], ["7d", "last 7 days"], [EXACT, "between …"]];
const REASONS = [["", "any"], ["waiting_for_quota", "a quota"], ["waiting_for_budget", "a budget"], ["paused_by_operator", "a hold"], ["waiting_for_locality_match", "an assignment"], ["waiting_for_capable_worker", "no matching worker"]];
const LIMITS = [100, 300, 1_000];

/** The number of executions that a dry run counts before the dialog says "or more". */
const MAX_COUNTED = 20_000;

/** Converts the filter of the address to the query parameters of the API. */
function filterOf({ state, lane, kind, tag, since, reason, from, until }) {
  const filter = { namespace: namespace.value, state, lane, kind, blocking_reason: reason };
  if (since in SPANS) filter.created_from = serverNow() - SPANS[since];
  if (!Number.isNaN(Date.parse(from))) filter.created_from = Date.parse(from);
  if (!Number.isNaN(Date.parse(until))) filter.created_until = Date.parse(until);
  for (const pair of (tag || "").split(",").filter((pair) => pair.includes("="))) {
    const at = pair.indexOf("=");
    filter[`tag.${pair.slice(0, at)}`] = pair.slice(at + 1);
  }
  return filter;
}

export function Executions() {
  const { params } = route.value;
  const [size, setSize] = useState(0);
  const [chosen, setChosen] = useState(new Set());
  const { cursor } = params;
  const shape = JSON.stringify({ ...params, ns: namespace.value });
  const response = useResponse(() => get("/v1/executions", { ...filterOf(params), cursor, limit: LIMITS[size] }), [shape, size], {
    isRelevant: (event) => (!params.lane || event.lane_id === params.lane) && (!params.kind || event.kind === params.kind),
  });
  return html`<div class="head"><h1>Executions</h1><div class="actions"><${BulkActions} chosen=${chosen} clear=${() => setChosen(new Set())} reload=${response.reload} params=${params} />
      <button type="button" class="primary" disabled=${!may("submit")} title=${may("submit") ? undefined : "Needs a key with the role submit"} onClick=${() => openSubmitDialog()}>Submit</button></div></div>
    <${Filter} params=${params} />
    <${ResponseView} of=${response} lines=${12}>${({ executions, next_cursor }) =>
      executions.length
        ? html`<${List} executions=${executions} chosen=${chosen} setChosen=${setChosen} />
            <div class="more"><span class="none">${plural(executions.length, "execution")}${next_cursor ? " and more" : ""}</span>
              ${next_cursor && size < LIMITS.length - 1 && html`<button type="button" onClick=${() => setSize(size + 1)}>Show ${count(LIMITS[size + 1])}</button>`}
              ${next_cursor && html`<a class="button" href=${href(["executions"], { ...params, cursor: next_cursor })}>Older</a>`}
              ${cursor && html`<a class="button" href=${href(["executions"], { ...params, cursor: "" })}>Newest</a>`}</div>`
        : html`<${NoExecutions} params=${params} more=${next_cursor} />`}<//>`;
}

/** Converts a time of the address to the value of a datetime-local field; empty if it is not valid. */
function localTime(text) {
  const at = Date.parse(text);
  return Number.isNaN(at) ? "" : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function Filter({ params }) {
  const set = (name) => (event) => updateParams({ [name]: event.target.value, cursor: "" });
  const field = (name, label, hint, list) => html`<label class="sub"><span>${label}</span><input list=${list} value=${params[name] ?? ""} onChange=${set(name)} placeholder=${hint} spellcheck=${false} autocomplete="off" /></label>`;
  const since = params.from || params.until ? EXACT : params.since || "";
  const moment = (name, label) => html`<label class="sub"><span>${label}</span><input type="datetime-local" step="1" value=${localTime(params[name])} onChange=${(event) => updateParams({ [name]: event.target.value && new Date(event.target.value).toISOString(), since: EXACT, cursor: "" })} /></label>`;
  const isFiltered = ["state", "lane", "kind", "tag", "since", "from", "until", "reason"].some((name) => params[name]);
  return html`<form class="filter" role="search" aria-label="Filter" onSubmit=${(event) => event.preventDefault()}>
    <div class="chips" role="group" aria-label="State">
      ${["", ...STATES].map((state) => html`<button type="button" class="chip ${state ? `s-${state}` : ""}" aria-pressed=${(params.state || "") === state ? "true" : "false"} onClick=${() => updateParams({ state, cursor: "" })}>${state ? humanize(state) : "any state"}</button>`)}
    </div>
    <div class="fields">
      ${field("lane", "Lane", "any", "lanes")}${field("kind", "Kind", "any", "kinds")}<${Suggestions} />${field("tag", "Tag", "name=value")}
      <label class="sub"><span>Created</span><select onChange=${(event) => updateParams({ since: event.target.value, from: "", until: "", cursor: "" })}>${CREATED.map(([value, text]) => html`<option value=${value} selected=${since === value}>${text}</option>`)}</select></label>
      <label class="sub"><span>Blocked by</span><select onChange=${set("reason")}>${REASONS.map(([value, text]) => html`<option value=${value} selected=${(params.reason || "") === value}>${text}</option>`)}</select></label>
      ${since === EXACT && html`${moment("from", "From")}${moment("until", "Until")}`}
      ${isFiltered && html`<a class="button plain" href=${href(["executions"])}>Clear</a>`}
    </div>
    <${SavedFilters} page="executions" params=${params} />
  </form>`;
}

/** Suggestions for the lane and kind fields. */
function Suggestions() {
  const ns = namespace.value;
  const load = () => Promise.all([get("/v1/lanes", { namespace: ns, limit: 500, finished: false }), get("/v1/activity", { namespace: ns })]);
  const response = useResponse(load, [ns], { intervalMs: 60_000 });
  const [{ lanes }, activity] = response.data || [{ lanes: [] }, { lanes: [], kinds: [] }];
  const names = [...new Set([...lanes, ...activity.lanes].map((lane) => lane.lane_id))].sort();
  return html`<datalist id="lanes">${names.map((name) => html`<option value=${name}></option>`)}</datalist><datalist id="kinds">${activity.kinds.map(({ kind }) => html`<option value=${kind}></option>`)}</datalist>`;
}

function List({ executions, chosen, setChosen }) {
  const ids = executions.map((one) => one.execution_id);
  const isAll = ids.length > 0 && ids.every((id) => chosen.has(id));
  const toggle = (id) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const mayAct = may("operate", "submit");
  return html`<div class="table"><table class="rows ${isLong(executions) ? "long" : ""}">
    <thead><tr>${mayAct && html`<th class="box"><input type="checkbox" aria-label="Select all" checked=${isAll} onChange=${() => setChosen(isAll ? new Set() : new Set(ids))} /></th>`}
      <th class="states">State</th><th>Kind</th><th class="md">Id</th><th class="md">Lane</th><th class="lg">Tags</th><th class="num md">Attempts</th><th class="num md">Took</th><th class="num">Created</th></tr></thead>
    <${Rows} items=${executions} show=${(one) => html`<${Row} key=${one.execution_id} one=${one} chosen=${chosen.has(one.execution_id)} toggle=${mayAct && toggle} />`} /></table></div>`;
}

function Row({ one, chosen, toggle }) {
  const id = one.execution_id;
  return html`<tr data-row tabindex="-1" class="opens" aria-selected=${chosen ? "true" : undefined} ...${rowLink(["executions", id])}>
    ${toggle && html`<td class="box"><input type="checkbox" aria-label="Select ${one.kind}" checked=${chosen} onChange=${() => toggle(id)} /></td>`}
    <td><${State} of=${one.public_state} /></td>
    <td class="what"><a data-main href=${href(["executions", id])}>${one.kind}</a><${Remark} one=${one} /></td>
    <td class="md"><${Id} id=${id} to=${["executions", id]} /></td><td class="md">${one.lane_id}</td><td class="lg"><${Tags} tags=${one.tags} most=${2} /></td>
    <td class="num md">${one.attempts_made || html`<span class="none">0</span>`}</td>
    <td class="num md"><${Elapsed} one=${one} /></td><td class="num"><${Moment} at=${one.created_at} /></td></tr>`;
}

/** A remark on an execution in the list: its failure, progress, hold or blocking reason. */
function Remark({ one }) {
  if (one.failure && one.public_state === "failed") return html`<span class="remark bad">${one.failure.message}</span>`;
  if (!FINAL_STATES.has(one.public_state) && one.progress) return html`<span class="remark">${one.progress.percent !== undefined && one.progress.percent !== null ? `${one.progress.percent} % ` : ""}${one.progress.message}</span>`;
  if (one.hold) return html`<span class="remark">held${one.hold.reason ? `: ${one.hold.reason}` : ""}</span>`;
  if (one.failure && !FINAL_STATES.has(one.public_state)) return html`<span class="remark">failed before: ${one.failure.message}</span>`;
  const detail = one.blocking_detail;
  if (detail?.on === "assignment") return html`<span class="remark">assigned to ${detail.worker_instance_id}</span>`;
  if (detail?.on === "budget") return html`<span class="remark">budget ${detail.name}: no ${detail.dimension} left</span>`;
  if (detail?.on === "quota") return html`<span class="remark">quota ${detail.name}${detail.key ? ` of ${detail.key}` : ""}: ${count(detail.used)} of ${count(detail.limit)}</span>`;
  return null;
}

function Elapsed({ one }) {
  if (!one.started_at) return html`<span class="none">–</span>`;
  if (one.finished_at) return duration(one.finished_at - one.started_at);
  now.value;
  return duration(serverNow() - one.started_at);
}

function NoExecutions({ params, more }) {
  if (more) return html`<${EmptyState} title="No match yet">None of the first 10 000 executions matches this filter. <a href=${href(["executions"], { ...params, cursor: more })}>Continue the search</a><//>`;
  const isFiltered = Object.keys(params).some((name) => name !== "ns");
  if (isFiltered) return html`<${EmptyState} title="No execution matches this filter"><a href=${href(["executions"])}>Show all executions</a><//>`;
  return html`<${EmptyState} title="No executions submitted yet" commands=${["ff submit echo --payload '{\"hi\":1}'"]}>Submitted executions appear here.<//>`;
}

/** Applies an action to the selected executions, or to all that match the filter; it counts the latter first. */
function BulkActions({ chosen, clear, reload, params }) {
  if (!may("operate", "submit")) return null;
  const verbs = BULK_ACTIONS.filter((verb) => may("operate") || verb === "cancel" || verb === "tag");
  const run = (verb) => (chosen.size ? runOnSelected(verb, [...chosen], () => (clear(), reload())) : runOnMatching(verb, params, reload));
  return html`<div class="actions" role="group" aria-label="Bulk actions">
    ${chosen.size > 0 && html`<span class="none">${chosen.size} selected</span>`}
    ${verbs.filter((verb) => chosen.size || (verb !== "tag" && may("operate"))).map((verb) => html`<button type="button" onClick=${() => run(verb)}>${capitalize(verb)}${chosen.size ? "" : " all …"}</button>`)}
    ${chosen.size > 0 && html`<button type="button" class="plain" aria-label="Select none" onClick=${clear}><${Icon} name="cross" /></button>`}
  </div>`;
}

function runOnSelected(verb, ids, done) {
  const fields = verb === "tag" ? [{ name: "tags", label: "Tags, one name=value per line", type: "long", required: true }] : verb === "release" ? [] : [{ name: "reason", label: "Reason" }];
  openDialog({
    title: `${capitalize(verb)} ${plural(ids.length, "execution")}`,
    fields,
    action: capitalize(verb),
    danger: verb === "cancel",
    run: async ({ reason, tags }) => {
      const body = verb === "tag" ? { tags: readTags(tags) } : verb === "release" ? {} : { reason };
      try {
        return await runForEach(ids, (id) => post(path`/v1/executions/${id}/` + (verb === "tag" ? "tags" : verb), body));
      } finally {
        done();
      }
    },
  });
}

async function runOnMatching(verb, params, done) {
  const { namespace: ns, state, lane, kind, blocking_reason, created_from, created_until, ...rest } = filterOf(params);
  const tags = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name.slice(4), value]));
  const body = { action: verb, namespace: ns, state, lane, kind, blocking_reason, created_from, created_until, tags };
  const pages = async (more, most) => {
    let [cursor, as_of, found, refused] = [undefined, undefined, 0, 0];
    do {
      const page = await post("/v1/executions/bulk", { ...body, ...more, cursor, as_of, limit: 1_000 });
      found += page.executions.length;
      refused += page.refused?.length || 0;
      [cursor, as_of] = [page.next, page.as_of];
    } while (cursor && found < most);
    return { found, refused, more: Boolean(cursor) };
  };
  let counted;
  try {
    counted = await pages({ dry_run: true }, MAX_COUNTED);
  } catch (error) {
    return showToast(error.message, "bad");
  }
  if (!counted.found) return showToast(`No execution that matches the filter can be ${verb === "cancel" ? "cancelled" : verb === "hold" ? "held" : verb === "release" ? "released" : "replayed"}`, "bad");
  const number = `${plural(counted.found, "execution")}${counted.more ? " or more" : ""}`;
  openDialog({
    title: `${capitalize(verb)} ${number}?`,
    text: `Applies to all executions that match the filter${counted.refused ? `. ${plural(counted.refused, "other")} would be refused` : ""}.`,
    fields: verb === "release" ? [] : [{ name: "reason", label: "Reason" }],
    action: `${capitalize(verb)} ${number}`,
    danger: verb === "cancel",
    run: async ({ reason }) => {
      const applied = await pages({ reason }, Infinity);
      done();
      return `Applied to ${plural(applied.found, "execution")}${applied.refused ? `, ${applied.refused} refused` : ""}`;
    },
  });
}
