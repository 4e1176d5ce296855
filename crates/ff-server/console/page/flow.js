// One flow: its graph, coloured by the states of its members, its usage, and the list of members.

import { html, useMemo, useState } from "../app/preact.js";
import { getAll, get, may, path, post, serverNow } from "../app/api.js";
import { count, duration, plural, humanize } from "../app/format.js";
import { now, useResponse } from "../app/live.js";
import { href } from "../app/router.js";
import { openDialog } from "../view/dialog.js";
import { usageText } from "../view/drawing/gauge.js";
import { Graph } from "../view/drawing/graph.js";
import { layout, criticalPath } from "../view/drawing/layout.js";
import { FINAL_STATES, State, StateBar } from "../view/state.js";
import { ResponseView, Id, Moment, Tags, rowLink } from "../view/text.js";
import { progressOf } from "./flows.js";

/** With more members than this, the graph shows groups of members of one kind. */
const MAX_SINGLE_NODES = 300;

export function Flow({ id }) {
  const at = (what = "") => path`/v1/flows/${id}` + what;
  const load = async () => {
    const [flow, members, edges, { usage }] = await Promise.all([
      get(at(), { graph: 0 }),
      getAll(at("/members"), { limit: 1_000 }, { items: "members", next: "next", as: "from" }),
      getAll(at("/edges"), { limit: 1_000 }, { items: "edges", next: "next", as: "after" }),
      get(at("/usage")),
    ]);
    return { flow, members, edges, usage };
  };
  // Loading a large flow takes several requests, so the page refreshes it less often.
  const [large, setLarge] = useState(false);
  const response = useResponse(async () => {
    const data = await load();
    setLarge(data.members.length > MAX_SINGLE_NODES);
    return data;
  }, [id], { intervalMs: large ? 10_000 : 1_500, isRelevant: (event) => event.flow_id === id });
  return html`<${ResponseView} of=${response} lines=${10}>${(data) => html`<${FlowDetails} ...${data} reload=${response.reload} />`}<//>`;
}

function FlowDetails({ flow, members, edges, usage, reload }) {
  if (!flow.ended_at) now.value;
  const { ended, of } = progressOf(flow);
  const path = useMemo(() => criticalPathOf(members, edges), [members, edges]);
  const rows = [
    ["Progress", html`<span class="share"><${StateBar} counts=${flow.counts} total=${of} /><span>${count(ended)} of ${count(of)}</span></span>`],
    ["Took", flow.started_at && duration((flow.ended_at ?? serverNow()) - flow.started_at)],
    ["Critical path", path.sum > 0 && html`${duration(path.sum)} in ${plural(path.chain.size, "member")}`],
    ["Spent", usageText(usage)],
    ["Created", html`<${Moment} at=${flow.created_at} />`],
    ["Cancelled", flow.cancel && [humanize(flow.cancel.policy), flow.cancel.requested_by, flow.cancel.reason].filter(Boolean).join(", ")],
    ["Held open", flow.held_open && "members can be added"],
    ["Tags", Object.keys(flow.tags || {}).length > 0 && html`<${Tags} tags=${flow.tags} />`],
  ];
  return html`<article>
    <div class="head"><div class="named"><h1>${flow.kind} <${State} of=${flow.state} /></h1><${Id} id=${flow.flow_id} whole /></div>
      <div class="actions">${!flow.ended_at && html`<button type="button" class="danger" disabled=${!may("submit", "operate")} onClick=${() => cancel(flow, reload)}>Cancel</button>`}</div></div>
    <dl class="line">${rows.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <section class="card graph-card"><${FlowGraph} members=${members} edges=${edges} chain=${path.chain} flow=${flow} /></section>
    <${Members} members=${members} chain=${path.chain} flow=${flow} reload=${reload} />
  </article>`;
}

/** The critical path through the members, by their run times so far. */
function criticalPathOf(members, edges) {
  const byId = new Map(members.map((member) => [member.execution_id, member]));
  const took = (member) => (member.started_at ? (member.finished_at ?? (FINAL_STATES.has(member.public_state) ? member.started_at : serverNow())) - member.started_at : 0);
  const found = criticalPath(byId, edges.map(ends), took);
  // A path of one member is shown only if the flow has no other member.
  return found.chain.size > 1 || members.length === 1 ? found : { chain: new Set(), sum: 0 };
}

const ends = (edge) => ({ from: edge.upstream_execution_id, to: edge.downstream_execution_id });

function FlowGraph({ members, edges, chain, flow }) {
  const isGrouped = members.length > MAX_SINGLE_NODES;
  const graph = isGrouped ? groupedNodes(members, edges, chain) : singleNodes(members, edges, chain);
  return html`${isGrouped && html`<p class="none">${plural(members.length, "member")}, grouped by kind. The list below shows each member.</p>`}
    <${Graph} ...${graph} shape=${`${flow.flow_id} ${members.length} ${edges.length}`} />`;
}

function singleNodes(members, edges, chain) {
  const nodes = members.map((member) => ({
    id: member.execution_id,
    title: member.node,
    detail: `${member.kind}${member.started_at ? ` · ${duration((member.finished_at ?? serverNow()) - member.started_at)}` : ""}`,
    state: member.public_state,
    to: ["executions", member.execution_id],
    marked: chain.has(member.execution_id),
  }));
  return { nodes, edges: edges.map((edge) => ({ ...ends(edge), state: edge.state, marked: chain.has(edge.upstream_execution_id) && chain.has(edge.downstream_execution_id) })) };
}

/** Groups the members of one kind in one layer into one node, so that the graph still shows the dependencies. */
function groupedNodes(members, edges, chain) {
  const placed = layout(members.map((member) => ({ id: member.execution_id })), edges.map(ends)).nodes;
  const group = (member) => `${placed.get(member.execution_id).layer} ${member.kind}`;
  const groups = new Map();
  const groupOf = new Map();
  for (const member of members) {
    const id = group(member);
    groupOf.set(member.execution_id, id);
    if (!groups.has(id)) groups.set(id, { id, title: member.kind, counts: {}, size: 0, marked: false });
    const one = groups.get(id);
    one.counts[member.public_state] = (one.counts[member.public_state] || 0) + 1;
    one.size += 1;
    one.marked ||= chain.has(member.execution_id);
    one.last = member.execution_id;
  }
  const between = new Map();
  for (const { from, to } of edges.map(ends)) {
    const [a, b] = [groupOf.get(from), groupOf.get(to)];
    const key = `${a} > ${b}`;
    const marked = chain.has(from) && chain.has(to);
    if (a && b && a !== b) between.set(key, { from: a, to: b, marked: marked || between.get(key)?.marked });
  }
  const nodes = [...groups.values()].map((one) => {
    const done = one.counts.completed || 0;
    const worst = ["failed", "active", "suspended", "waiting", "waiting_children", "delayed", "completed"].find((state) => one.counts[state]) || "completed";
    return { ...one, state: worst, detail: `${count(one.size)} members, ${count(done)} completed`, to: ["executions"], params: { kind: one.title } };
  });
  return { nodes, edges: [...between.values()] };
}

/** The number of members that the list shows at first. */
const INITIAL_ROWS = 200;

function Members({ members, chain, flow, reload }) {
  const [most, setMost] = useState(INITIAL_ROWS);
  return html`<section><h2>Members</h2><div class="table"><table class="rows"><thead><tr><th>State</th><th>Node</th><th class="md">Kind</th><th class="md">Lane</th><th class="num md">Attempts</th><th class="num">Took</th><th class="md"></th></tr></thead>
    <tbody>${members.slice(0, most).map((member) => html`<tr key=${member.execution_id} data-row tabindex="-1" class="opens" ...${rowLink(["executions", member.execution_id])}>
      <td><${State} of=${member.public_state} /></td>
      <td class="what"><a data-main href=${href(["executions", member.execution_id])}>${member.node}</a>${chain.has(member.execution_id) && html` <span class="tag">critical path</span>`}${member.failure && html`<span class="remark bad">${member.failure.message}</span>`}</td>
      <td class="md">${member.kind}</td><td class="md">${member.lane_id}</td><td class="num md">${member.attempts_made || html`<span class="none">0</span>`}</td>
      <td class="num">${member.started_at ? duration((member.finished_at ?? serverNow()) - member.started_at) : html`<span class="none">–</span>`}</td>
      <td class="num md">${FINAL_STATES.has(member.public_state) && may("operate") && html`<button type="button" class="plain" onClick=${() => replay(flow, member, reload)}>Replay</button>`}</td></tr>`)}</tbody></table></div>
    ${members.length > most && html`<div class="more"><button type="button" onClick=${() => setMost(most + 800)}>Show more of ${count(members.length)} members</button></div>`}</section>`;
}

const POLICIES = [
  { value: "cancel_all", label: "all members, including running ones" },
  { value: "cancel_pending", label: "members that have not started; running members continue" },
  { value: "let_active_finish", label: "members that are not running; running members may finish" },
  { value: "flow_only", label: "the flow only; members continue" },
];

function cancel(flow, done) {
  openDialog({
    title: "Cancel the flow",
    fields: [{ name: "policy", label: "Cancel", type: "choice", options: POLICIES }, { name: "reason", label: "Reason" }],
    action: "Cancel the flow",
    danger: true,
    run: async (body) => {
      const report = await post(path`/v1/flows/${flow.flow_id}/cancel`, body);
      done();
      return `${plural(report.cancelled + report.scheduled, "member")} cancelled`;
    },
  });
}

function replay(flow, member, done) {
  openDialog({
    title: `Replay ${member.node}`,
    text: "The member runs again with the same payload.",
    fields: [{ name: "reason", label: "Reason" }, { name: "reopen_downstream", label: "Also run the downstream members again", type: "check", value: true }],
    action: "Replay",
    run: async (body) => {
      await post(path`/v1/flows/${flow.flow_id}/nodes/${member.node}/replay`, body);
      done();
      return "The member is waiting again";
    },
  });
}
