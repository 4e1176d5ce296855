// Handing an execution to one worker instance, and ending that.

import { get, path, post } from "../app/api.js";
import { duration } from "../app/format.js";
import { ask } from "./dialog.js";
import { say } from "./toast.js";

/** To which worker instance an execution is assigned, if it is: `{ worker_instance_id, granted_at, expires_at, requested_by, reason }`. */
export const grantOf = ({ blocking_detail: detail }) => (detail?.on === "assignment" ? detail : null);

const takes = (names, name) => !names?.length || names.includes(name);

/** Asks to which worker, of those that take the lane and the kind of an execution. */
export async function assign(info, done) {
  let workers;
  try {
    ({ workers } = await get("/v1/workers", { namespace: info.namespace, limit: 1_000 }));
  } catch (error) {
    return say(error.message, "bad");
  }
  const fit = workers.filter((worker) => takes(worker.lanes, info.lane_id) && takes(worker.kinds, info.kind));
  if (!fit.length) return say(`No worker is there that takes ${info.kind} from lane ${info.lane_id}`, "bad");
  ask({
    title: "Assign",
    text: "Only this worker may claim it, before anything else, until the time is over. Then any worker may.",
    fields: [
      { name: "worker", label: "Worker", type: "choice", options: fit.map(({ worker_instance_id: id, capabilities = [] }) => ({ value: id, label: capabilities.length ? `${id} (${capabilities.join(", ")})` : id })) },
      { name: "seconds", label: "For so many seconds", type: "number", min: 1, max: 3600, value: 30, required: true },
      { name: "reason", label: "Reason", hint: "Kept while it is assigned." },
    ],
    action: "Assign",
    run: async ({ worker, seconds, reason }) => {
      await post(path`/v1/executions/${info.execution_id}/assign`, { worker_instance_id: worker, ttl_ms: seconds * 1_000, reason });
      done?.();
      return `It is assigned to ${worker} for ${duration(seconds * 1_000)}`;
    },
  });
}

export function unassign(id, worker, done) {
  ask({
    title: "Unassign",
    text: `Any worker may claim it, not only ${worker}.`,
    action: "Unassign",
    run: async () => {
      await post(path`/v1/executions/${id}/unassign`);
      done?.();
      return "Any worker may claim it";
    },
  });
}
