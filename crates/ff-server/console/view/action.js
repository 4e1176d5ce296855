// What can be done to one execution: which role it needs, when it makes sense, and what is asked before.

import { may, path, post } from "../app/api.js";
import { plural } from "../app/format.js";
import { go } from "../app/router.js";
import { assign, grantOf, unassign } from "./assign.js";
import { ask } from "./dialog.js";
import { ENDED } from "./state.js";

const REASON = { name: "reason", label: "Reason", hint: "Kept with the execution." };
const LIVE = (info) => !ENDED.has(info.public_state);
const at = (info, verb) => path`/v1/executions/${info.execution_id}/` + verb;

/** Each is `{ name, roles, fits(info), danger, start(info, done) }`; `done` is called when it has been done. */
export const ACTIONS = [
  {
    name: "Approve",
    roles: ["operate"],
    primary: true,
    fits: (info) => info.public_state === "suspended",
    start: (info, done) => decide(info, "approve", done),
  },
  {
    name: "Reject",
    roles: ["operate"],
    fits: (info) => info.public_state === "suspended",
    start: (info, done) => decide(info, "reject", done),
  },
  {
    name: "Replay",
    roles: ["operate"],
    fits: (info) => ENDED.has(info.public_state),
    start(info, done, steps = []) {
      const points = steps.map((step) => ({ value: String(step.seq), label: `the step ${step.name}${step.key ? ` ${step.key}` : ""}` }));
      const fields = [REASON];
      if (points.length) fields.unshift({ name: "from", label: "Run again", type: "choice", options: [{ value: "", label: "with the steps that are recorded" }, ...points.map((point) => ({ ...point, label: `from ${point.label}` }))] });
      if (info.flow_id) fields.push({ name: "downstream", label: "Run what depends on it again, too", type: "check" });
      question("Replay", "It runs again. What it recorded stays, up to the step that is chosen.", fields, async ({ from, reason, downstream }) => {
        const step = steps.find((step) => String(step.seq) === from);
        const from_step = step && { name: step.name, ...(step.key ? { key: step.key } : {}) };
        await post(at(info, "replay"), { reason, from_step, ...(downstream ? { reopen_downstream: true } : {}) });
        return "It waits again";
      }, done);
    },
  },
  {
    name: "Hold",
    roles: ["operate"],
    fits: (info) => LIVE(info) && !info.hold,
    start: (info, done) => question("Hold", "It is not handed to a worker until it is released. One that runs goes on.", [REASON], async ({ reason }) => {
      await post(at(info, "hold"), { reason });
      return "It is held";
    }, done),
  },
  {
    name: "Release",
    roles: ["operate"],
    primary: true,
    fits: (info) => LIVE(info) && Boolean(info.hold),
    start: (info, done) => question("Release", "Ends the hold.", [], async () => {
      await post(at(info, "release"));
      return "It is released";
    }, done),
  },
  {
    name: "Assign",
    roles: ["operate"],
    fits: (info) => (info.public_state === "waiting" || info.public_state === "rate_limited") && !info.hold && !grantOf(info),
    start: (info, done) => assign(info, done),
  },
  {
    name: "Unassign",
    roles: ["operate"],
    fits: (info) => Boolean(grantOf(info)),
    start: (info, done) => unassign(info.execution_id, grantOf(info).worker_instance_id, done),
  },
  {
    name: "Priority",
    roles: ["operate"],
    fits: LIVE,
    start: (info, done) => question("Priority", "The highest goes first within its lane.", [{ name: "priority", label: "Priority", type: "number", value: info.priority, min: 0, max: 9000, required: true }], async ({ priority }) => {
      await post(at(info, "priority"), { priority });
      return `Its priority is ${priority}`;
    }, done),
  },
  {
    name: "Tags",
    roles: ["submit", "operate"],
    fits: () => true,
    start(info, done) {
      const before = Object.entries(info.tags || {});
      const value = before.map((pair) => pair.join("=")).join("\n");
      question("Tags", "One in each line, as name=value.", [{ name: "tags", label: "Tags", type: "long", value }], async ({ tags = "" }) => {
        const wanted = readTags(tags);
        await post(at(info, "tags"), { tags: wanted, remove: before.map(([key]) => key).filter((key) => !(key in wanted)) });
        return "Its tags are changed";
      }, done);
    },
  },
  {
    name: "Revoke lease",
    roles: ["operate"],
    danger: true,
    fits: (info) => Boolean(info.lease),
    start: (info, done) => question("Revoke the lease", `Takes it from ${info.lease.worker_instance_id}. Another worker runs it again; what this one reports afterwards does not count.`, [REASON], async ({ reason }) => {
      await post(at(info, "revoke"), { reason });
      return "The lease is revoked";
    }, done, true),
  },
  {
    name: "Fork",
    roles: ["submit"],
    fits: (info) => (info.steps || 0) > 0,
    start(info, done, steps = []) {
      const options = [{ value: "", label: "with all of its steps" }, ...steps.map((step) => ({ value: String(step.seq), label: `with those before ${step.name}${step.key ? ` ${step.key}` : ""}` }))];
      question("Fork", "Starts a new execution that has what this one did.", [{ name: "before", label: "Begin", type: "choice", options }], async ({ before }) => {
        const step = steps.find((step) => String(step.seq) === before);
        const before_step = step && { name: step.name, ...(step.key ? { key: step.key } : {}) };
        const forked = await post(at(info, "fork"), { before_step });
        go(["executions", forked.execution_id]);
        return "The fork is submitted";
      }, done);
    },
  },
  {
    name: "Cancel",
    roles: ["submit", "operate"],
    danger: true,
    fits: LIVE,
    start: (info, done) => question("Cancel", "It ends as cancelled. A worker that runs it is told and must stop.", [REASON], async ({ reason }) => {
      await post(at(info, "cancel"), { reason });
      return "It is cancelled";
    }, done, true),
  },
];

/** What fits an execution, and whether this key may do it. */
export function actionsOf(info) {
  return ACTIONS.filter((action) => action.fits(info)).map((action) => ({ ...action, allowed: may(...action.roles) }));
}

export function decide(info, verb, done) {
  const isYes = verb === "approve";
  const fields = [
    { name: "reason", label: "Comment", type: "long", hint: "The worker can read it." },
    { name: "requested_by", label: "Your name", value: localStorage.getItem("ff-name") ?? "", hint: "Kept as who decided." },
  ];
  question(isYes ? "Approve" : "Reject", info.progress?.message, fields, async ({ reason, requested_by }) => {
    if (requested_by) localStorage.setItem("ff-name", requested_by);
    await post(at(info, verb), { reason, requested_by, suspension_id: info.suspension?.suspension_id });
    return isYes ? "Approved" : "Rejected";
  }, done, !isYes);
}

function question(title, text, fields, run, done, danger) {
  ask({
    title,
    text,
    fields,
    danger,
    action: title,
    run: async (values) => {
      const said = await run(values);
      done?.();
      return said;
    },
  });
}

export function readTags(text) {
  const tags = {};
  for (const line of text.split("\n").filter((line) => line.trim())) {
    const at = line.indexOf("=");
    if (at < 1) throw new Error(`“${line}” is not name=value`);
    tags[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return tags;
}

/** What can be done to many. `body` is what the API calls it; tags are set one by one. */
export const MANY = ["cancel", "replay", "hold", "release", "tag"];

/** Does something to each of some executions. */
export async function each(ids, run) {
  const failed = [];
  const rest = [...ids];
  const lane = async () => {
    for (let id = rest.shift(); id; id = rest.shift()) await run(id).catch((error) => failed.push(error));
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  if (failed.length) throw new Error(`${plural(failed.length, "execution")} of ${ids.length} refused: ${failed[0].message}`);
  return `Done to ${plural(ids.length, "execution")}`;
}
