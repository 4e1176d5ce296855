// Assigns an execution to one worker instance, and removes the assignment.

import { get, path, post } from "../app/api.js";
import { duration } from "../app/format.js";
import { openDialog } from "./dialog.js";
import { showToast } from "./toast.js";

/** The assignment of an execution, or null: `{ worker_instance_id, granted_at, expires_at, requested_by, reason }`. */
export const grantOf = ({ blocking_detail: detail }) => (detail?.on === "assignment" ? detail : null);

const accepts = (names, name) => !names?.length || names.includes(name);

/** Opens a dialog to select a worker that accepts the execution's lane and kind. */
export async function assign(info, done) {
  let workers;
  try {
    ({ workers } = await get("/v1/workers", { namespace: info.namespace, limit: 1_000 }));
  } catch (error) {
    return showToast(error.message, "bad");
  }
  const matching = workers.filter((worker) => accepts(worker.lanes, info.lane_id) && accepts(worker.kinds, info.kind));
  if (!matching.length) return showToast(`No registered worker accepts ${info.kind} from lane ${info.lane_id}`, "bad");
  openDialog({
    title: "Assign",
    text: "Only this worker can claim the execution, and claims it first, until the assignment ends. Then any worker can claim it.",
    fields: [
      { name: "worker", label: "Worker", type: "choice", options: matching.map(({ worker_instance_id: id, capabilities = [] }) => ({ value: id, label: capabilities.length ? `${id} (${capabilities.join(", ")})` : id })) },
      { name: "seconds", label: "Duration in seconds", type: "number", min: 1, max: 3600, value: 30, required: true },
      { name: "reason", label: "Reason", hint: "Stored until the assignment ends." },
    ],
    action: "Assign",
    run: async ({ worker, seconds, reason }) => {
      await post(path`/v1/executions/${info.execution_id}/assign`, { worker_instance_id: worker, ttl_ms: seconds * 1_000, reason });
      done?.();
      return `Assigned to ${worker} for ${duration(seconds * 1_000)}`;
    },
  });
}

export function unassign(id, worker, done) {
  openDialog({
    title: "Unassign",
    text: `Removes the assignment to ${worker}. Any worker can then claim the execution.`,
    action: "Unassign",
    run: async () => {
      await post(path`/v1/executions/${id}/unassign`);
      done?.();
      return "Any worker can claim the execution";
    },
  });
}
