// The live event feed, with a filter and a pause button.

import { html, useEffect, useRef, useState } from "../app/preact.js";
import { get, hasAllNamespaces, serverNow } from "../app/api.js";
import { clock, count, timestamp, humanize } from "../app/format.js";
import { useEvents } from "../app/live.js";
import { href, namespace, route, updateParams } from "../app/router.js";
import { Icon } from "../view/icon.js";
import { EmptyState, Id } from "../view/text.js";

/** The number of events that the page keeps. */
const MAX_EVENTS = 500;

/** How far back the page reads the feed at first, and in at most how many requests. */
const BACKFILL_MS = 5 * 60_000;
const MAX_PAGES = 10;

const TONES = { success: "completed", failed: "failed", cancelled: "cancelled", expired: "expired", skipped: "skipped" };
const LOOKS = { submitted: "waiting", started: "active", resumed: "active", suspended: "suspended", retry_scheduled: "delayed", delayed: "delayed", lease_expired: "failed", lease_revoked: "failed", blocked: "rate_limited", waits_for_children: "waiting_children" };

export function Events() {
  const { params } = route.value;
  const [events, setEvents] = useState([]);
  const [isPaused, setPaused] = useState(false);
  const buffered = useRef([]);
  const prepend = (more) => setEvents((before) => [...more].reverse().concat(before).slice(0, MAX_EVENTS));
  useEffect(() => {
    setEvents([]);
    buffered.current = [];
    if (!hasAllNamespaces()) return;
    loadRecent(namespace.value).then((earlier) => setEvents((before) => before.concat(earlier.reverse()).slice(0, MAX_EVENTS)));
  }, [namespace.value]);
  useEvents((more) => {
    if (!more) return;
    if (isPaused) buffered.current = buffered.current.concat(more).slice(-MAX_EVENTS);
    else prepend(more);
  });
  const resume = () => {
    prepend(buffered.current);
    buffered.current = [];
    setPaused(false);
  };
  const set = (name) => (event) => updateParams({ [name]: event.target.value });
  const kinds = [...new Set([...events.map((one) => one.event), params.event].filter(Boolean))].sort();
  const matches = (one) => (!params.event || one.event === params.event) && (!params.lane || one.lane_id === params.lane) && (!params.kind || one.kind === params.kind);
  const shown = unique(events).filter(matches);
  return html`<div class="head"><h1>Events</h1><div class="actions"><button type="button" aria-pressed=${isPaused ? "true" : "false"} onClick=${() => (isPaused ? resume() : setPaused(true))}><${Icon} name=${isPaused ? "play" : "pause"} />${isPaused ? "Resume" : "Pause"}</button></div></div>
    <form class="filter" role="search" aria-label="Filter" onSubmit=${(event) => event.preventDefault()}><div class="fields">
      <label class="sub"><span>Event</span><select onChange=${set("event")}><option value="">any</option>${kinds.map((name) => html`<option value=${name} selected=${params.event === name}>${humanize(name)}</option>`)}</select></label>
      <label class="sub"><span>Lane</span><input value=${params.lane ?? ""} onChange=${set("lane")} placeholder="any" /></label><label class="sub"><span>Kind</span><input value=${params.kind ?? ""} onChange=${set("kind")} placeholder="any" /></label></div></form>
    ${shown.length
      ? html`<div class="table"><table class="rows events"><thead><tr><th>Time</th><th>Event</th><th>Kind</th><th class="md">Execution</th><th class="md">Lane</th></tr></thead><tbody>${shown.map((one) => html`<${Row} key=${one.position + one.execution_id} one=${one} />`)}</tbody></table></div><div class="more"><span class="none">The latest ${count(shown.length)} events</span></div>`
      : html`<${EmptyState} title="No events yet">The server records events only while a client follows the event feed. This page follows it and shows new events.<//>`}`;
}

/** Loads the latest events, oldest first. The feed can only be read forward from a time, so this reads all pages and keeps the last events. */
async function loadRecent(ns) {
  let [found, after] = [[], Math.round(serverNow() - BACKFILL_MS)];
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await get("/v1/events", { namespace: ns, after, limit: 1_000 }).catch(() => ({ events: [] }));
    found = [...found, ...page.events].slice(-MAX_EVENTS);
    if (page.events.length < 1_000) break;
    after = page.next;
  }
  return found;
}

/** Removes duplicates: an event of the live feed may also be in the loaded pages. */
function unique(events) {
  const seen = new Set();
  return events.filter((one) => {
    const key = `${one.position} ${one.execution_id}`;
    return !seen.has(key) && seen.add(key);
  });
}

function Row({ one }) {
  const at = Number(one.position.split("-")[0]);
  const look = one.event === "finished" ? TONES[one.outcome] : LOOKS[one.event] || "none";
  const detail = one.outcome || one.reason || one.by || (one.attempt !== undefined ? `attempt ${one.attempt + 1}` : one.until || one.at ? `until ${clock(one.until || one.at)}` : "");
  return html`<tr data-row tabindex="-1"><td class="mono" title=${timestamp(at)}>${clock(at)}</td><td><span class="event s-${look}">${humanize(one.event)}</span> <span class="none">${humanize(detail)}</span></td>
    <td><a data-main href=${href(["executions", one.execution_id])}>${one.kind}</a></td><td class="md"><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /></td><td class="md">${one.lane_id}</td></tr>`;
}
