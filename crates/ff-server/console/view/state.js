// States: always a colour, an icon and a word.

import { html } from "../app/preact.js";
import { words } from "../app/format.js";
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

/** The states of executions, in the order people look for them. */
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

export const ENDED = new Set(["completed", "failed", "cancelled", "expired", "skipped"]);

export function State({ of, quiet }) {
  return html`<span class="state s-${of} ${quiet ? "quiet" : ""}"><${Icon} name=${ICONS[of] || "dot"} />${words(of)}</span>`;
}

/** How many of something are in each state, as one bar. */
export function StateBar({ counts, total }) {
  const all = total || Object.values(counts).reduce((sum, n) => sum + n, 0) || 1;
  const parts = [...STATES.filter((state) => ENDED.has(state)), ...STATES.filter((state) => !ENDED.has(state))].filter((state) => counts[state]);
  const said = parts.map((state) => `${counts[state]} ${words(state)}`).join(", ");
  return html`<span class="statebar" role="img" aria-label=${said || "nothing"} title=${said}>
    ${parts.map((state) => html`<span class="fill s-${state}" style=${{ width: `${(100 * counts[state]) / all}%` }}></span>`)}
  </span>`;
}
