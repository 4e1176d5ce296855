// The feed of events as they come, filtered, and halted while one reads.

import { html, useEffect, useRef, useState } from "../app/preact.js";
import { get, isOfAll, serverNow } from "../app/api.js";
import { clock, count, exact, words } from "../app/format.js";
import { useEvents } from "../app/live.js";
import { href, namespace, place, refine } from "../app/router.js";
import { Icon } from "../view/icon.js";
import { Empty, Id } from "../view/text.js";

/** How many events the page keeps. */
const KEPT = 500;

/** How far back the page begins, and how many pages of the feed are read for that. */
const BACK = 5 * 60_000;
const PAGES = 10;

const TONES = { success: "completed", failed: "failed", cancelled: "cancelled", expired: "expired", skipped: "skipped" };
const LOOKS = { submitted: "waiting", started: "active", resumed: "active", suspended: "suspended", retry_scheduled: "delayed", delayed: "delayed", lease_expired: "failed", lease_revoked: "failed", blocked: "rate_limited", waits_for_children: "waiting_children" };

export function Events() {
  const { params } = place.value;
  const [events, setEvents] = useState([]);
  const [halted, setHalted] = useState(false);
  const held = useRef([]);
  const take = (more) => setEvents((before) => [...more].reverse().concat(before).slice(0, KEPT));
  useEffect(() => {
    setEvents([]);
    held.current = [];
    if (!isOfAll()) return;
    recent(namespace.value).then((earlier) => setEvents((before) => before.concat(earlier.reverse()).slice(0, KEPT)));
  }, [namespace.value]);
  useEvents((more) => {
    if (!more) return;
    if (halted) held.current = held.current.concat(more).slice(-KEPT);
    else take(more);
  });
  const goOn = () => {
    take(held.current);
    held.current = [];
    setHalted(false);
  };
  const set = (name) => (event) => refine({ [name]: event.target.value });
  const kinds = [...new Set([...events.map((one) => one.event), params.event].filter(Boolean))].sort();
  const fits = (one) => (!params.event || one.event === params.event) && (!params.lane || one.lane_id === params.lane) && (!params.kind || one.kind === params.kind);
  const shown = unique(events).filter(fits);
  return html`<div class="head"><h1>Events</h1><div class="actions"><button type="button" aria-pressed=${halted ? "true" : "false"} onClick=${() => (halted ? goOn() : setHalted(true))}><${Icon} name=${halted ? "play" : "pause"} />${halted ? "Go on" : "Halt"}</button></div></div>
    <form class="filter" role="search" aria-label="Filter" onSubmit=${(event) => event.preventDefault()}><div class="fields">
      <label class="sub"><span>Event</span><select onChange=${set("event")}><option value="">any</option>${kinds.map((name) => html`<option value=${name} selected=${params.event === name}>${words(name)}</option>`)}</select></label>
      <label class="sub"><span>Lane</span><input value=${params.lane ?? ""} onChange=${set("lane")} placeholder="any" /></label><label class="sub"><span>Kind</span><input value=${params.kind ?? ""} onChange=${set("kind")} placeholder="any" /></label></div></form>
    ${shown.length
      ? html`<div class="table"><table class="rows events"><thead><tr><th>Time</th><th>Event</th><th>Kind</th><th class="md">Execution</th><th class="md">Lane</th></tr></thead><tbody>${shown.map((one) => html`<${Row} key=${one.position + one.execution_id} one=${one} />`)}</tbody></table></div><div class="more"><span class="none">The latest ${count(shown.length)}</span></div>`
      : html`<${Empty} title="Nothing has happened yet">Events are recorded while somebody follows them, as this page does from now on. They appear here as they happen.<//>`}`;
}

/** The latest events before now, in their order. A feed is read from a moment on, so all since then are read and the last are kept. */
async function recent(ns) {
  let [found, after] = [[], Math.round(serverNow() - BACK)];
  for (let pages = 0; pages < PAGES; pages += 1) {
    const page = await get("/v1/events", { namespace: ns, after, limit: 1_000 }).catch(() => ({ events: [] }));
    found = [...found, ...page.events].slice(-KEPT);
    if (page.events.length < 1_000) break;
    after = page.next;
  }
  return found;
}

/** Each event once: what came over the feed may be among those that were asked for. */
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
  return html`<tr data-row tabindex="-1"><td class="mono" title=${exact(at)}>${clock(at)}</td><td><span class="event s-${look}">${words(one.event)}</span> <span class="none">${words(detail)}</span></td>
    <td><a data-main href=${href(["executions", one.execution_id])}>${one.kind}</a></td><td class="md"><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /></td><td class="md">${one.lane_id}</td></tr>`;
}
