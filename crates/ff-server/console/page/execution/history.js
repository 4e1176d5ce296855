// What happened to an execution, the latest first: from the feed of events where it was recorded, otherwise from its records.

import { html } from "../../app/preact.js";
import { get, isOfAll, may, path } from "../../app/api.js";
import { clock, exact, words } from "../../app/format.js";
import { useAnswer } from "../../app/live.js";

export function History({ info, attempts, leases, steps, signals }) {
  const id = info.execution_id;
  const follows = may("submit", "work", "operate") && isOfAll();
  const ask = () => (follows ? get(path`/v1/executions/${id}/events`, { after: Math.max(0, info.created_at - 1), limit: 500 }) : { events: [] });
  const answer = useAnswer(ask, [id], { concerns: (event) => event.execution_id === id, gap: 1_000 });
  const told = (answer.data?.events || []).map((event) => ({ at: Number(event.position.split("-")[0]), what: words(event.event), detail: detailOf(event) }));
  const lines = [...(told.length ? told : recorded(info, attempts, leases)), ...said(steps, signals)].sort((a, b) => b.at - a.at);
  return html`<ol class="history">${lines.map((line) => html`<li><time title=${exact(line.at)} datetime=${new Date(line.at).toISOString()}>${clock(line.at)}</time><span>${line.what}</span><span class="none">${line.detail}</span></li>`)}</ol>`;
}

function detailOf({ attempt, until, at, reason, by, from, to, outcome }) {
  if (attempt !== undefined) return `attempt ${attempt + 1}`;
  if (until || at) return `until ${clock(until || at)}`;
  if (from !== undefined) return `from ${from} to ${to}`;
  return words(reason || by || outcome || "");
}

/** The same as far as the records of an execution tell. */
function recorded(info, attempts, leases) {
  const lines = [{ at: info.created_at, what: "submitted", detail: "" }];
  for (const attempt of attempts) {
    lines.push({ at: attempt.started_at, what: "started", detail: `attempt ${attempt.index + 1}, ${attempt.worker_instance_id}` });
    if (attempt.end) lines.push({ at: attempt.end.at, what: words(attempt.end.outcome), detail: attempt.end.failure?.message || "" });
  }
  for (const lease of leases) lines.push({ at: lease.ended_at, what: words(lease.how), detail: lease.reason || lease.worker_instance_id });
  if (info.finished_at) lines.push({ at: info.finished_at, what: "finished", detail: words(info.public_state) });
  return lines;
}

function said(steps, signals) {
  const recordedSteps = steps.map((step) => ({ at: step.recorded_at, what: `${step.kind} ${step.name}`, detail: step.failure?.message || "recorded" }));
  const received = signals.map((signal) => ({ at: signal.received_at, what: `signal ${signal.name}`, detail: [words(signal.source.type), signal.source.identity].filter(Boolean).join(" ") }));
  return [...recordedSteps, ...received];
}
