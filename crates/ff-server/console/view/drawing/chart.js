// Small charts of the last hour, with one column per minute.

import { html } from "../../app/preact.js";
import { clock, count, duration } from "../../app/format.js";

const MINUTE = 60_000;
const MINUTES = 60;

/** The last hour as one entry per minute; a minute without activity is undefined. */
export function lastHour(buckets, now) {
  const last = Math.floor(now / MINUTE);
  const byMinute = new Map((buckets || []).map((bucket) => [Math.floor(bucket.at / MINUTE), bucket]));
  return Array.from({ length: MINUTES }, (_, nth) => byMinute.get(last - MINUTES + 1 + nth));
}

/** The number of completed and failed executions per minute. */
export function Throughput({ buckets, now, label }) {
  const minutes = lastHour(buckets, now);
  const most = Math.max(4, ...minutes.map((minute) => (minute ? minute.completed + minute.failed : 0)));
  const total = minutes.reduce((sum, minute) => sum + (minute ? minute.completed + minute.failed : 0), 0);
  const bars = minutes.map((minute, nth) => {
    if (!minute) return null;
    const good = (20 * minute.completed) / most;
    const bad = (20 * minute.failed) / most;
    return html`<g><title>${clock(minute.at).slice(0, 5)}: ${minute.completed} completed, ${minute.failed} failed</title>
      <rect class="hit" x=${nth * 2} y="0" width="2" height="22" />
      <rect class="s-completed" x=${nth * 2} y=${21 - good} width="1.5" height=${good} />
      <rect class="s-failed" x=${nth * 2} y=${21 - good - bad} width="1.5" height=${bad} /></g>`;
  });
  return html`<svg class="spark" viewBox="0 0 120 22" preserveAspectRatio="none" role="img" aria-label="${label}: ${count(total)} ended in the last hour">
    <line class="ground" x1="0" x2="120" y1="21.5" y2="21.5" />${bars}</svg>`;
}

/** A latency per minute, as a line. */
export function Latency({ buckets, now, of, label }) {
  const minutes = lastHour(buckets, now);
  const values = minutes.map((minute) => minute?.[of]);
  const known = values.filter((value) => value !== undefined && value !== null);
  const most = Math.max(1, ...known);
  const points = values.map((value, nth) => (value === undefined || value === null ? null : [nth * 2 + 1, 20 - (17 * value) / most]));
  const lines = segments(points).map((run) => run.map(([x, y]) => `${x} ${y.toFixed(1)}`).join("L"));
  const summary = known.length ? `${label}: at most ${duration(most)} in the last hour` : `${label}: no data in the last hour`;
  return html`<svg class="spark" viewBox="0 0 120 22" preserveAspectRatio="none" role="img" aria-label=${summary}>
    <title>${summary}</title><line class="ground" x1="0" x2="120" y1="21.5" y2="21.5" />
    ${lines.map((line) => html`<path class="line" d="M${line}h.01" />`)}</svg>`;
}

/** Splits points into lines. A gap of more than five minutes starts a new line. */
function segments(points) {
  const found = [];
  let gap = 9;
  for (const point of points) {
    if (!point) gap += 1;
    else {
      if (gap > 5) found.push([]);
      found.at(-1).push(point);
      gap = 0;
    }
  }
  return found;
}
