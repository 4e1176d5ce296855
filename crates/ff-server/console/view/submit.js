// Submitting an execution from the console, or one like another.

import { get, parse, path, post } from "../app/api.js";
import { go, namespace } from "../app/router.js";
import { readTags } from "./action.js";
import { ask } from "./dialog.js";
import { say } from "./toast.js";

/** Asks what to submit. `like` is what the fields begin with; its `sealed` is a payload that is no JSON and is sent as it is. */
export function submit(like = {}) {
  const { kind, lane, payload, tags = {}, priority, policy, sealed } = like;
  const fields = [
    { name: "kind", label: "Kind", required: true, value: kind },
    ...(sealed ? [] : [{ name: "payload", label: "Payload, as JSON", type: "long", rows: 8, value: payload, hint: "null when empty." }]),
    { name: "lane", label: "Lane", value: lane, hint: "default when empty." },
    { name: "delay", label: "Start in so many seconds", type: "number", min: 0, hint: "At once when empty." },
    { name: "priority", label: "Priority", type: "number", min: 0, max: 9000, value: priority },
    { name: "tags", label: "Tags, one name=value in each line", type: "long", value: Object.entries(tags).map((pair) => pair.join("=")).join("\n") },
    { name: "idempotency_key", label: "Idempotency key", hint: "A second submission with it is the first." },
  ];
  ask({
    title: kind ? `Submit one like this ${kind}` : "Submit an execution",
    text: sealed ? `Its payload of type ${sealed.content_type} goes along as it is.` : undefined,
    fields,
    action: "Submit",
    run: async ({ payload, delay, tags = "", ...rest }) => {
      const body = { ...rest, ...sealed, namespace: namespace.value, policy, tags: readTags(tags), delay_ms: delay && delay * 1_000 };
      if (payload) body.payload = parse(payload, true);
      const { execution_id, duplicate } = await post("/v1/executions", body);
      go(["executions", execution_id]);
      return duplicate ? "It was submitted before" : "It is submitted";
    },
  });
}

/** Asks for changes to an execution, and submits it as a new one. */
export async function submitLike(info) {
  const { kind, lane_id: lane, tags, priority, policy } = info;
  try {
    const { payload, payload_base64, content_type } = await get(path`/v1/executions/${info.execution_id}/payload`, { encoding: "json" }, { exact: true });
    const sealed = payload_base64 ? { payload_base64, content_type } : undefined;
    submit({ kind, lane, tags, priority, policy, sealed, payload: payload === undefined ? "" : JSON.stringify(payload, null, 2) });
  } catch (error) {
    say(error.message, "bad");
  }
}
