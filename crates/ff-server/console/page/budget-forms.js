// Dialogs that define and change budgets.

import { path, post } from "../app/api.js";
import { namespace } from "../app/router.js";
import { openDialog } from "../view/dialog.js";

const RESETS = [
  { value: "never", label: "never" },
  { value: "hour", label: "every hour" },
  { value: "day", label: "every day" },
  { value: "week", label: "every week, on Monday" },
  { value: "month", label: "every month" },
];

const RULES = [
  { value: "block", label: "block: running executions continue, no further execution starts" },
  { value: "fail", label: "fail: an execution that exceeds the limit fails" },
  { value: "suspend", label: "suspend: an execution that exceeds the limit waits for an approval" },
];

const put = (name, definition) => post(path`/v1/budgets/${name}`, { ...definition, namespace: namespace.value });

export function createBudget(done) {
  openDialog({
    title: "Define a budget",
    fields: [
      { name: "name", label: "Name", required: true },
      { name: "scope", label: "Applies to", value: "namespace", required: true, hint: "namespace, lane:NAME, kind:NAME, tag:NAME=VALUE, flow:ID or execution:ID" },
      { name: "dimension", label: "Dimension", value: "tokens", required: true, hint: "tokens, calls, seconds, usd_micros (millionths of a dollar), or any other name. Use Edit to add more dimensions." },
      { name: "hard", label: "Hard limit", type: "number", min: 0, hint: "At this limit, reservations included, no further execution starts." },
      { name: "soft", label: "Soft limit", type: "number", min: 0, hint: "When usage exceeds this limit, the event feed gets one event per period." },
      { name: "estimate", label: "Estimate per execution", type: "number", min: 0, hint: "Reserved when an execution starts, until it reports its usage." },
      { name: "reset", label: "Reset", type: "choice", value: "day", options: RESETS },
      { name: "time_zone", label: "Time zone", value: Intl.DateTimeFormat().resolvedOptions().timeZone },
      { name: "on_hard_limit", label: "At the hard limit", type: "choice", value: "block", options: RULES },
    ],
    action: "Define",
    run: async ({ name, scope, dimension, hard, soft, estimate, reset, time_zone = "UTC", on_hard_limit }) => {
      const definition = { scope, limits: { [dimension]: { hard, soft } }, reset: resetOf(reset, time_zone), on_hard_limit };
      if (estimate) definition.estimate = { "*": { [dimension]: estimate } };
      await put(name, definition);
      done();
      return "The budget is defined";
    },
  });
}

function resetOf(word, time_zone) {
  if (word === "never") return "never";
  return word === "hour" ? { interval: { every_ms: 3_600_000 } } : { calendar: { unit: word, time_zone } };
}

/** Opens a dialog with the limits of each dimension. */
export function changeLimits({ name, definition }, done) {
  const dimensions = Object.keys(definition.limits);
  const field = (word) => (dimension) => ({ name: `${word}-${dimension}`, label: `${dimension}, ${word} limit`, type: "number", min: 0, value: definition.limits[dimension][word] ?? undefined, hint: word === "soft" ? "No limit if empty." : undefined });
  openDialog({
    title: `Limits of ${name}`,
    text: "The usage of the current period is kept. Waiting executions can start at once if the new limits allow it.",
    fields: dimensions.flatMap((dimension) => [field("hard")(dimension), field("soft")(dimension)]),
    action: "Save",
    run: async (values) => {
      const limits = Object.fromEntries(dimensions.map((dimension) => [dimension, { hard: values[`hard-${dimension}`], soft: values[`soft-${dimension}`] }]));
      await put(name, { ...definition, limits });
      done();
      return "The limits are changed";
    },
  });
}

export function editBudget({ name, definition }, done) {
  openDialog({
    title: `Budget ${name}`,
    fields: [{ name: "definition", label: "Definition, as JSON", type: "long", rows: 16, required: true, value: JSON.stringify(definition, null, 2) }],
    action: "Save",
    run: async ({ definition }) => {
      await put(name, JSON.parse(definition));
      done();
      return "The budget is changed";
    },
  });
}
