// The history of an execution, latest first: from the event feed if it has events of the execution, otherwise from its records.

import { html } from "../../app/preact.js";
import { get, hasAllNamespaces, may, path } from "../../app/api.js";
import { clock, timestamp, humanize } from "../../app/format.js";
import { useResponse } from "../../app/live.js";

export function History({ info, attempts, leases, steps, signals }) {
  const id = info.execution_id;
  const canReadEvents = may("submit", "work", "operate") && hasAllNamespaces();
  const after = Math.max(0, info.created_at - 1);
  const load = () => (canReadEvents ? get(path`/v1/executions/${id}/events`, { after, limit: 500 }) : { events: [] });
  const response = useResponse(load, [id], { isRelevant: (event) => event.execution_id === id, intervalMs: 1_000 });
  const feedLines = (response.data?.events || []).map((event) => ({ at: Number(event.position.split("-")[0]), what: humanize(event.event), detail: detailOf(event) }));
  const transitions = feedLines.length ? feedLines : recordLines(info, attempts, leases);
  const lines = [...transitions, ...stepAndSignalLines(steps, signals)].sort((a, b) => b.at - a.at);
  return html`<ol class="history">${lines.map((line) => html`<li><time title=${timestamp(line.at)} datetime=${new Date(line.at).toISOString()}>${clock(line.at)}</time><span>${line.what}</span><span class="none">${line.detail}</span></li>`)}</ol>`;
}

function detailOf({ attempt, until, at, reason, by, from, to, outcome }) {
  if (attempt !== undefined) return `attempt ${attempt + 1}`;
  if (until || at) return `until ${clock(until || at)}`;
  if (from !== undefined) return `from ${from} to ${to}`;
  return humanize(reason || by || outcome || "");
}

/** The history as far as the attempts and leases show it. */
function recordLines(info, attempts, leases) {
  const lines = [{ at: info.created_at, what: "submitted", detail: "" }];
  for (const attempt of attempts) {
    lines.push({ at: attempt.started_at, what: "started", detail: `attempt ${attempt.index + 1}, ${attempt.worker_instance_id}` });
    if (attempt.end) lines.push({ at: attempt.end.at, what: humanize(attempt.end.outcome), detail: attempt.end.failure?.message || "" });
  }
  for (const lease of leases) lines.push({ at: lease.ended_at, what: humanize(lease.how), detail: lease.reason || lease.worker_instance_id });
  if (info.finished_at) lines.push({ at: info.finished_at, what: "finished", detail: humanize(info.public_state) });
  return lines;
}

function stepAndSignalLines(steps, signals) {
  const recordedSteps = steps.map((step) => ({ at: step.recorded_at, what: `${step.kind} ${step.name}`, detail: step.failure?.message || "recorded" }));
  const received = signals.map((signal) => ({ at: signal.received_at, what: `signal ${signal.name}`, detail: [humanize(signal.source.type), signal.source.identity].filter(Boolean).join(" ") }));
  return [...recordedSteps, ...received];
}
