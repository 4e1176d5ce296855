// Icons: stroke paths on a 16 by 16 grid.

import { html } from "../app/preact.js";

const STROKES = {
  overview: "M2 13V9m4 4V5m4 8V7m4 6V3",
  executions: "M2 4h12M2 8h12M2 12h8",
  flows: "M4 3v6a3 3 0 0 0 3 3h5M4 6h5a3 3 0 0 1 3 3M2.5 3h3M10.5 12l2-2m-2 2 2 2",
  approvals: "M5 8l2.2 2.2L11 6M8 1.5l5.5 2v4.2c0 3.3-2.3 5.6-5.5 6.8-3.2-1.2-5.5-3.5-5.5-6.8V3.5z",
  lanes: "M2 4h9l3 0M2 8h6m3 0h3M2 12h3m3 0h6",
  workers: "M3 3h10v4H3zM3 9h10v4H3zM5.5 5h.1M5.5 11h.1",
  schedules: "M3 4h10v9H3zM3 7h10M6 2.5v3M10 2.5v3",
  quotas: "M2.5 11.5a6 6 0 1 1 11 0M8 9.5l3-3.5",
  budgets: "M2.5 4.5h11v8h-11zM2.5 7h11M10.5 10h1",
  events: "M8.5 1.5 3.5 9H8l-.5 5.5 5-7.5H8z",
  settings: "M2 5h7m3 0h2M2 11h2m3 0h7M10.5 3.5v3M5.5 9.5v3",
  copy: "M6 6h7v7H6zM3 10V3h7",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  pause: "M5.5 4v8M10.5 4v8",
  play: "M5 3.5v9l7-4.5z",
  clock: "M8 4.5V8l2.5 2M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z",
  retry: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
  arrow: "M3 8h10M9 4l4 4-4 4",
  fold: "M6 4l4 4-4 4",
  unfold: "M4 6l4 4 4-4",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14",
  menu: "M2 4h12M2 8h12M2 12h12",
  hand: "M4.5 8V4a1 1 0 0 1 2 0v3-4.5a1 1 0 0 1 2 0V7 3.5a1 1 0 0 1 2 0V9c0 3-1.5 5-4 5-2 0-3-1-4.5-3.5L2 8.5",
  children: "M8 2.5v4M8 6.5 4 10m4-3.5 4 3.5M3 11.5h2M11 11.5h2M7 1.5h2",
  skip: "M3 4l5 4-5 4zM12 4v8",
  dot: "M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  download: "M8 2.5v7m-3-3 3 3 3-3M3 13h10",
  out: "M6 3H3v10h3M7 8h7m-3-3 3 3-3 3",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  alert: "M8 5.5v3.5M8 11.5h.01M8 2 14.5 13.5h-13z",
};

export function Icon({ name, label }) {
  const named = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return html`<svg class="icon" viewBox="0 0 16 16" ...${named}><path d=${STROKES[name]} /></svg>`;
}
