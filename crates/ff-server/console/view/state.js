// States, each shown with a colour, an icon and a label.

import { html } from "../app/preact.js";
import { humanize } from "../app/format.js";
import { Icon } from "./icon.js";

const ICONS = {
  waiting: "dot",
  delayed: "clock",
  rate_limited: "quotas",
  waiting_children: "children",
  active: "play",
  suspended: "hand",
  completed: "check",
  success: "check",
  failed: "cross",
  failure: "cross",
  cancelled: "minus",
  expired: "clock",
  skipped: "skip",
  // Flows and lanes.
  running: "play",
  open: "play",
  staging: "dot",
  paused: "pause",
  draining: "out",
  timed_out: "clock",
  lease_expired: "alert",
  lease_revoked: "alert",
  // Decisions.
  approved: "check",
  rejected: "cross",
  resumed: "play",
  // Budgets.
  exhausted: "alert",
  soft_limit_exceeded: "alert",
};

/** The public states of executions, in display order. */
export const STATES = [
  "waiting",
  "active",
  "suspended",
  "delayed",
  "waiting_children",
  "rate_limited",
  "completed",
  "failed",
  "cancelled",
  "expired",
  "skipped",
];

export const FINAL_STATES = new Set(["completed", "failed", "cancelled", "expired", "skipped"]);

export function State({ of, quiet }) {
  return html`<span class="state s-${of} ${quiet ? "quiet" : ""}"><${Icon} name=${ICONS[of] || "dot"} />${humanize(of)}</span>`;
}

/** A bar of the number of executions in each state. */
export function StateBar({ counts, total }) {
  const all = total || Object.values(counts).reduce((sum, n) => sum + n, 0) || 1;
  const present = STATES.filter((state) => counts[state]);
  const parts = [...present.filter((state) => FINAL_STATES.has(state)), ...present.filter((state) => !FINAL_STATES.has(state))];
  const summary = parts.map((state) => `${counts[state]} ${humanize(state)}`).join(", ");
  return html`<span class="statebar" role="img" aria-label=${summary || "nothing"} title=${summary}>
    ${parts.map((state) => html`<span class="fill s-${state}" style=${{ width: `${(100 * counts[state]) / all}%` }}></span>`)}
  </span>`;
}
