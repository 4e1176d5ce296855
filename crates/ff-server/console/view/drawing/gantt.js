// The timeline of an execution: its attempts, its steps, and its waits with their reasons.

import { html } from "../../app/preact.js";
import { serverNow } from "../../app/api.js";
import { clock, duration, timestamp, humanize } from "../../app/format.js";
import { now } from "../../app/live.js";

/** The shortest wait before the first attempt that gets a row, in milliseconds. */
const MIN_WAIT_MS = 50;

/** The maximum width of a shortened wait, relative to the total run time. */
const WAIT_SHARE = 0.5;

/** The rows of the timeline: `{ name, detail, depth, bars: [{ from, to, look, title }] }`. A bar without `to` has not ended. */
export function rowsOf(info, attempts, leases, steps) {
  const rows = [];
  const first = attempts[0]?.started_at;
  const isFinal = info.finished_at !== undefined && info.finished_at !== null;
  if (first === undefined || first - info.created_at >= MIN_WAIT_MS) {
    const to = first ?? info.finished_at;
    const look = info.public_state === "delayed" && first === undefined ? "delayed" : "queued";
    rows.push({ name: look === "delayed" ? "delayed" : "waited", bars: [{ from: info.created_at, to, look, title: "before the first attempt" }] });
  }
  attempts.forEach((attempt, at) => {
    const bars = runsOf(attempt, leases, info);
    const next = attempts[at + 1];
    if (attempt.end && (next || !isFinal)) {
      const until = next?.started_at ?? (info.lease ? info.lease.acquired_at : undefined);
      const why = next ? humanize(next.type) : humanize(info.state.blocking_reason);
      bars.push({ from: attempt.end.at, to: until, look: "between", title: next ? `until the ${why}` : why });
    }
    const outcome = attempt.end ? humanize(attempt.end.outcome) : humanize(info.public_state);
    rows.push({ name: `attempt ${attempt.index + 1}`, detail: [attempt.type === "initial" ? null : attempt.type, outcome, attempt.worker_instance_id].filter(Boolean).join(" · "), bars });
    for (const step of steps.filter((step) => step.attempt === attempt.index)) {
      rows.push({ name: step.key ? `${step.name} ${step.key}` : step.name, depth: 1, bars: [barOf(step)] });
    }
  });
  return rows;
}

const barOf = (step) => ({
  from: Math.min(step.started_at, step.recorded_at),
  to: step.recorded_at,
  look: step.failure ? "failed" : step.kind === "wait" ? "waits" : step.kind === "undo" ? "undo" : "step",
  title: step.failure ? `${step.kind}: ${step.failure.message}` : step.kind,
});

/** The bars of an attempt: its leases, and the waits between them. */
function runsOf(attempt, leases, info) {
  const ended = leases.filter((lease) => lease.attempt_index === attempt.index).sort((a, b) => a.acquired_at - b.acquired_at);
  const bars = [];
  let ran = 0;
  ended.forEach((lease, at) => {
    ran += lease.ended_at - lease.acquired_at;
    const isEnd = attempt.end && attempt.end.at === lease.ended_at;
    bars.push({ from: lease.acquired_at, to: lease.ended_at, look: isEnd ? attempt.end.outcome : "ran", title: `held by ${lease.worker_instance_id}, ${humanize(lease.how)}` });
    if (!isEnd) bars.push({ from: lease.ended_at, to: ended[at + 1]?.acquired_at, look: "waits", title: lease.how === "suspended" ? suspendedFor(info) : humanize(lease.how) });
  });
  const open = bars.at(-1);
  const isOwn = info.lease && info.lease.attempt_index === attempt.index;
  const since = isOwn ? info.lease.acquired_at : attempt.end ? attempt.end.at - Math.max(0, attempt.ran_ms - ran) : undefined;
  const hasMore = isOwn || (attempt.end && (!ended.length || attempt.end.at > ended.at(-1).ended_at));
  if (!hasMore) return bars;
  if (open && open.to === undefined) open.to = since;
  bars.push({ from: ended.length ? since : attempt.started_at, to: attempt.end?.at, look: attempt.end ? attempt.end.outcome : "running", title: attempt.end ? humanize(attempt.end.outcome) : "running" });
  return bars;
}

function suspendedFor(info) {
  return info.suspension ? humanize(info.suspension.reason) : "suspended";
}

export function Gantt({ info, attempts, leases, steps }) {
  const rows = rowsOf(info, attempts, leases, steps);
  const hasOpenBar = rows.some((row) => row.bars.some((bar) => isOpen(bar)));
  if (hasOpenBar) now.value;
  const serverTime = serverNow();
  const bars = rows.flatMap((row) => row.bars.map((bar) => ({ ...bar, to: bar.to ?? serverTime })));
  const begin = info.created_at;
  const end = Math.max(begin + 1, info.finished_at ?? begin, ...bars.map((bar) => bar.to));
  const { at, marks, isShortened } = scale(bars, begin, end);
  const percent = (share) => `${(100 * share).toFixed(3)}%`;
  return html`<div class="gantt" role="table" aria-label="Timeline">
    <div class="axis" aria-hidden="true"><span>${isShortened && "long waits are drawn shorter"}</span><div class="track">
      ${marks.map((mark) => html`<span class="mark" style=${{ left: percent(at(mark)) }}>${mark === begin ? clock(begin) : `+${duration(mark - begin)}`}</span>`)}
    </div></div>
    ${rows.map((row) => html`<div class="row depth-${row.depth || 0}" role="row">
      <div class="label" role="cell"><span class="name" title=${row.name}>${row.name}</span>${row.detail && html`<span class="detail" title=${row.detail}>${row.detail}</span>`}</div>
      <div class="track" role="cell">
        ${marks.slice(1).map((mark) => html`<span class="grid" style=${{ left: percent(at(mark)) }}></span>`)}
        ${row.bars.map((bar) => {
          const to = bar.to ?? serverTime;
          const took = duration(to - bar.from);
          const description = `${bar.title}: ${took}, from ${timestamp(bar.from)}${isOpen(bar) ? ", not ended" : ""}`;
          const width = at(to) - at(bar.from);
          return html`<span class="bar ${bar.look} ${isOpen(bar) ? "open" : ""}" title=${description} style=${{ left: percent(at(bar.from)), width: `max(3px, ${percent(width)})` }}>${width > 0.04 && html`<span class="took">${took}</span>`}</span>`;
        })}
      </div>
    </div>`)}
  </div>`;
}

const isOpen = (bar) => bar.to === undefined || bar.to === null;
const WAIT_LOOKS = new Set(["queued", "delayed", "between", "waits"]);

/**
 * Maps times to positions from 0 to 1. The scale is linear, unless the execution waited most of the time: then waits are shortened so
 * that the run time is visible.
 */
function scale(bars, begin, end) {
  const busy = mergeSpans(bars.filter((bar) => !WAIT_LOOKS.has(bar.look)));
  const ran = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const most = ran * WAIT_SHARE;
  const edges = [begin, ...busy.flat(), end];
  const pieces = [];
  for (let nth = 0; nth + 1 < edges.length; nth += 1) {
    const [from, to] = [edges[nth], edges[nth + 1]];
    if (to > from) pieces.push({ from, to, drawn: nth % 2 || !ran ? to - from : Math.min(to - from, most) });
  }
  const total = pieces.reduce((sum, piece) => sum + piece.drawn, 0);
  const isShortened = total < (end - begin) / 2;
  const drawn = (piece) => (isShortened ? piece.drawn : piece.to - piece.from);
  const whole = isShortened ? total : end - begin;
  const at = (time) => pieces.reduce((sum, piece) => sum + drawn(piece) * Math.min(1, Math.max(0, (time - piece.from) / (piece.to - piece.from))), 0) / whole;
  const candidates = isShortened ? [begin, ...busy.flat()] : ticks(end - begin).map((tick) => begin + tick);
  const marks = candidates.reduce((kept, mark) => (at(mark) < 0.9 && (!kept.length || at(mark) - at(kept.at(-1)) > 0.11) ? [...kept, mark] : kept), []);
  return { at, marks, isShortened };
}

/** Sorts spans and merges those that overlap or touch. */
function mergeSpans(bars) {
  const spans = [];
  for (const { from, to } of [...bars].sort((a, b) => a.from - b.from)) {
    const last = spans.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else spans.push([from, to]);
  }
  return spans;
}

/** Round durations for the axis of a span, at most seven. */
function ticks(span) {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5, 1728e5, 6048e5];
  const step = steps.find((size) => span / size <= 6) ?? span;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, nth) => nth * step);
}
