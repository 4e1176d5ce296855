// Actions on one execution: the roles each needs, the states it applies to, and its dialog.

import { may, path, post } from "../app/api.js";
import { plural } from "../app/format.js";
import { go } from "../app/router.js";
import { assign, grantOf, unassign } from "./assign.js";
import { openDialog } from "./dialog.js";
import { FINAL_STATES } from "./state.js";

const REASON = { name: "reason", label: "Reason", hint: "Stored with the execution." };
const isLive = (info) => !FINAL_STATES.has(info.public_state);
const at = (info, verb) => path`/v1/executions/${info.execution_id}/` + verb;

/** Each action is `{ name, roles, applies(info), danger, start(info, done, steps) }`. `start` calls `done` after the action succeeded. */
export const ACTIONS = [
  {
    name: "Approve",
    roles: ["operate"],
    primary: true,
    applies: (info) => info.public_state === "suspended",
    start: (info, done) => decide(info, "approve", done),
  },
  {
    name: "Reject",
    roles: ["operate"],
    applies: (info) => info.public_state === "suspended",
    start: (info, done) => decide(info, "reject", done),
  },
  {
    name: "Replay",
    roles: ["operate"],
    applies: (info) => FINAL_STATES.has(info.public_state),
    start(info, done, steps = []) {
      const points = steps.map((step) => ({ value: String(step.seq), label: `the step ${step.name}${step.key ? ` ${step.key}` : ""}` }));
      const fields = [REASON];
      if (points.length) fields.unshift({ name: "from", label: "Run again", type: "choice", options: [{ value: "", label: "keep all recorded steps" }, ...points.map((point) => ({ ...point, label: `from ${point.label}` }))] });
      if (info.flow_id) fields.push({ name: "downstream", label: "Also run the downstream executions again", type: "check" });
      const text = "The execution runs again. Its recorded steps are kept, up to the selected step.";
      openActionDialog("Replay", text, fields, async ({ from, reason, downstream }) => {
        const step = steps.find((step) => String(step.seq) === from);
        const from_step = step && { name: step.name, ...(step.key ? { key: step.key } : {}) };
        await post(at(info, "replay"), { reason, from_step, ...(downstream ? { reopen_downstream: true } : {}) });
        return "The execution is waiting again";
      }, done);
    },
  },
  {
    name: "Hold",
    roles: ["operate"],
    applies: (info) => isLive(info) && !info.hold,
    start: (info, done) => openActionDialog("Hold", "No worker can claim the execution until it is released. If it is running, it continues.", [REASON], async ({ reason }) => {
      await post(at(info, "hold"), { reason });
      return "The execution is held";
    }, done),
  },
  {
    name: "Release",
    roles: ["operate"],
    primary: true,
    applies: (info) => isLive(info) && Boolean(info.hold),
    start: (info, done) => openActionDialog("Release", "Ends the hold.", [], async () => {
      await post(at(info, "release"));
      return "The execution is released";
    }, done),
  },
  {
    name: "Assign",
    roles: ["operate"],
    applies: (info) => (info.public_state === "waiting" || info.public_state === "rate_limited") && !info.hold && !grantOf(info),
    start: (info, done) => assign(info, done),
  },
  {
    name: "Unassign",
    roles: ["operate"],
    applies: (info) => Boolean(grantOf(info)),
    start: (info, done) => unassign(info.execution_id, grantOf(info).worker_instance_id, done),
  },
  {
    name: "Priority",
    roles: ["operate"],
    applies: isLive,
    start: (info, done) => openActionDialog("Priority", "Within a lane, executions with a higher priority are claimed first.", [{ name: "priority", label: "Priority", type: "number", value: info.priority, min: 0, max: 9000, required: true }], async ({ priority }) => {
      await post(at(info, "priority"), { priority });
      return `The priority is ${priority}`;
    }, done),
  },
  {
    name: "Tags",
    roles: ["submit", "operate"],
    applies: () => true,
    start(info, done) {
      const before = Object.entries(info.tags || {});
      const value = before.map((pair) => pair.join("=")).join("\n");
      openActionDialog("Tags", "One name=value per line.", [{ name: "tags", label: "Tags", type: "long", value }], async ({ tags = "" }) => {
        const wanted = readTags(tags);
        await post(at(info, "tags"), { tags: wanted, remove: before.map(([key]) => key).filter((key) => !(key in wanted)) });
        return "The tags are changed";
      }, done);
    },
  },
  {
    name: "Revoke lease",
    roles: ["operate"],
    danger: true,
    applies: (info) => Boolean(info.lease),
    start: (info, done) => openActionDialog("Revoke the lease", `Ends the lease of ${info.lease.worker_instance_id}. Another worker runs the execution again; later reports of this worker are rejected.`, [REASON], async ({ reason }) => {
      await post(at(info, "revoke"), { reason });
      return "The lease is revoked";
    }, done, true),
  },
  {
    name: "Fork",
    roles: ["submit"],
    applies: (info) => (info.steps || 0) > 0,
    start(info, done, steps = []) {
      const options = [{ value: "", label: "after all recorded steps" }, ...steps.map((step) => ({ value: String(step.seq), label: `before ${step.name}${step.key ? ` ${step.key}` : ""}` }))];
      openActionDialog("Fork", "Starts a new execution with a copy of the recorded steps.", [{ name: "before", label: "Start", type: "choice", options }], async ({ before }) => {
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
    applies: isLive,
    start: (info, done) => openActionDialog("Cancel", "The execution ends as cancelled. Its worker must stop.", [REASON], async ({ reason }) => {
      await post(at(info, "cancel"), { reason });
      return "The execution is cancelled";
    }, done, true),
  },
];

/** The actions that apply to an execution, each with whether this key may do it. */
export function actionsOf(info) {
  return ACTIONS.filter((action) => action.applies(info)).map((action) => ({ ...action, allowed: may(...action.roles) }));
}

export function decide(info, verb, done) {
  const isApproval = verb === "approve";
  const fields = [
    { name: "reason", label: "Comment", type: "long", hint: "The worker can read it." },
    { name: "requested_by", label: "Your name", value: localStorage.getItem("ff-name") ?? "", hint: "Stored with the decision." },
  ];
  openActionDialog(isApproval ? "Approve" : "Reject", info.progress?.message, fields, async ({ reason, requested_by }) => {
    if (requested_by) localStorage.setItem("ff-name", requested_by);
    await post(at(info, verb), { reason, requested_by, suspension_id: info.suspension?.suspension_id });
    return isApproval ? "Approved" : "Rejected";
  }, done, !isApproval);
}

function openActionDialog(title, text, fields, run, done, danger) {
  openDialog({
    title,
    text,
    fields,
    danger,
    action: title,
    run: async (values) => {
      const message = await run(values);
      done?.();
      return message;
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

/** The actions on many executions. The bulk endpoint has no `tag`, so tags are set by one request per execution. */
export const BULK_ACTIONS = ["cancel", "replay", "hold", "release", "tag"];

/** Calls `run` for each id, eight at a time, and throws if any call failed. */
export async function runForEach(ids, run) {
  const failed = [];
  const remaining = [...ids];
  const loop = async () => {
    for (let id = remaining.shift(); id; id = remaining.shift()) await run(id).catch((error) => failed.push(error));
  };
  await Promise.all(Array.from({ length: 8 }, loop));
  if (failed.length) throw new Error(`${plural(failed.length, "execution")} of ${ids.length} refused: ${failed[0].message}`);
  return `Applied to ${plural(ids.length, "execution")}`;
}
