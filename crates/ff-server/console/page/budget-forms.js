// What is asked before a budget is defined or changed.

import { path, post } from "../app/api.js";
import { namespace } from "../app/router.js";
import { ask } from "../view/dialog.js";

const RESETS = [
  { value: "never", label: "never" },
  { value: "hour", label: "every hour" },
  { value: "day", label: "each day" },
  { value: "week", label: "each week, on Monday" },
  { value: "month", label: "each month" },
];

const RULES = [
  { value: "block", label: "block: what runs may finish, nothing further starts" },
  { value: "fail", label: "fail: the execution that spends more fails" },
  { value: "suspend", label: "suspend: the execution that spends more waits for an approval" },
];

const put = (name, definition) => post(path`/v1/budgets/${name}`, { ...definition, namespace: namespace.value });

export function create(done) {
  ask({
    title: "Define a budget",
    fields: [
      { name: "name", label: "Name", required: true },
      { name: "scope", label: "Applies to", value: "namespace", required: true, hint: "namespace, lane:NAME, kind:NAME, tag:NAME=VALUE, flow:ID or execution:ID" },
      { name: "dimension", label: "What is counted", value: "tokens", required: true, hint: "tokens, calls, seconds, usd_micros (millionths of a dollar), or any name; Edit adds further ones." },
      { name: "hard", label: "Hard limit", type: "number", min: 0, hint: "Nothing more starts once so much is spent and reserved." },
      { name: "soft", label: "Soft limit", type: "number", min: 0, hint: "Spending more is an event, once in a period." },
      { name: "estimate", label: "Each execution reserves", type: "number", min: 0, hint: "Set aside when it starts, until it has reported what it spent." },
      { name: "reset", label: "Begins anew", type: "choice", value: "day", options: RESETS },
      { name: "time_zone", label: "Time zone", value: Intl.DateTimeFormat().resolvedOptions().timeZone },
      { name: "on_hard_limit", label: "Beyond the hard limit", type: "choice", value: "block", options: RULES },
    ],
    action: "Define",
    run: async ({ name, scope, dimension, hard, soft, estimate, reset, time_zone = "UTC", on_hard_limit }) => {
      const definition = { scope, limits: { [dimension]: { hard, soft } }, reset: resetOf(reset, time_zone), on_hard_limit };
      if (estimate) definition.estimate = { "*": { [dimension]: estimate } };
      await put(name, definition);
      done();
      return "The budget holds";
    },
  });
}

function resetOf(word, time_zone) {
  if (word === "never") return "never";
  return word === "hour" ? { interval: { every_ms: 3_600_000 } } : { calendar: { unit: word, time_zone } };
}

/** Asks for the limits of every dimension. */
export function change({ name, definition }, done) {
  const dimensions = Object.keys(definition.limits);
  const field = (word) => (dimension) => ({ name: `${word}-${dimension}`, label: `${dimension}, ${word} limit`, type: "number", min: 0, value: definition.limits[dimension][word] ?? undefined, hint: word === "soft" ? "None when empty." : undefined });
  ask({
    title: `Limits of ${name}`,
    text: "What is used stays counted. What waits starts at once where a limit leaves room.",
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

export function edit({ name, definition }, done) {
  ask({
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
