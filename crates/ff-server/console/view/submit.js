// Submits an execution, new or as a copy of another.

import { get, parse, path, post } from "../app/api.js";
import { go, namespace } from "../app/router.js";
import { readTags } from "./action.js";
import { openDialog } from "./dialog.js";
import { showToast } from "./toast.js";

/** Opens the submit dialog. `initial` has the initial values of the fields; its `binaryPayload` is not JSON and is sent unchanged. */
export function openSubmitDialog(initial = {}) {
  const { kind, lane, payload, tags = {}, priority, policy, binaryPayload } = initial;
  const fields = [
    { name: "kind", label: "Kind", required: true, value: kind },
    ...(binaryPayload ? [] : [{ name: "payload", label: "Payload, as JSON", type: "long", rows: 8, value: payload, hint: "null if empty." }]),
    { name: "lane", label: "Lane", value: lane, hint: "default if empty." },
    { name: "delay", label: "Delay in seconds", type: "number", min: 0, hint: "No delay if empty." },
    { name: "priority", label: "Priority", type: "number", min: 0, max: 9000, value: priority },
    { name: "tags", label: "Tags, one name=value per line", type: "long", value: Object.entries(tags).map((pair) => pair.join("=")).join("\n") },
    { name: "idempotency_key", label: "Idempotency key", hint: "A second submission with this key returns the first execution." },
  ];
  openDialog({
    title: kind ? `Submit a copy of this ${kind}` : "Submit an execution",
    text: binaryPayload ? `The payload of type ${binaryPayload.content_type} is sent unchanged.` : undefined,
    fields,
    action: "Submit",
    run: async ({ payload, delay, tags = "", ...rest }) => {
      const body = { ...rest, ...binaryPayload, namespace: namespace.value, policy, tags: readTags(tags), delay_ms: delay && delay * 1_000 };
      if (payload) body.payload = parse(payload, true);
      const { execution_id, duplicate } = await post("/v1/executions", body);
      go(["executions", execution_id]);
      return duplicate ? "This execution was already submitted" : "The execution is submitted";
    },
  });
}

/** Opens the submit dialog with the values of an execution. */
export async function submitCopy(info) {
  const { kind, lane_id: lane, tags, priority, policy } = info;
  try {
    const { payload, payload_base64, content_type } = await get(path`/v1/executions/${info.execution_id}/payload`, { encoding: "json" }, { exact: true });
    const binaryPayload = payload_base64 ? { payload_base64, content_type } : undefined;
    openSubmitDialog({ kind, lane, tags, priority, policy, binaryPayload, payload: payload === undefined ? "" : JSON.stringify(payload, null, 2) });
  } catch (error) {
    showToast(error.message, "bad");
  }
}
