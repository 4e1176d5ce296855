// One flow as a graph, coloured as its members stand.

import { html, useMemo, useState } from "../app/preact.js";
import { all, get, may, path, post, serverNow } from "../app/api.js";
import { count, duration, plural, words } from "../app/format.js";
import { now, useAnswer } from "../app/live.js";
import { href } from "../app/router.js";
import { ask } from "../view/dialog.js";
import { spent } from "../view/drawing/gauge.js";
import { Graph } from "../view/drawing/graph.js";
import { layout, criticalPath } from "../view/drawing/layout.js";
import { ENDED, State, StateBar } from "../view/state.js";
import { Answer, Id, Moment, Tags, opens } from "../view/text.js";
import { share } from "./flows.js";

/** Beyond so many members a graph shows groups of one kind. */
const SINGLE = 300;

export function Flow({ id }) {
  const at = (what = "") => path`/v1/flows/${id}` + what;
  const ask = async () => {
    const [flow, members, edges, { usage }] = await Promise.all([
      get(at(), { graph: 0 }),
      all(at("/members"), { limit: 1_000 }, { items: "members", next: "next", as: "from" }),
      all(at("/edges"), { limit: 1_000 }, { items: "edges", next: "next", as: "after" }),
      get(at("/usage")),
    ]);
    return { flow, members, edges, usage };
  };
  // A large flow takes several requests to read, so it is read less often.
  const [large, setLarge] = useState(false);
  const answer = useAnswer(async () => {
    const data = await ask();
    setLarge(data.members.length > SINGLE);
    return data;
  }, [id], { gap: large ? 10_000 : 1_500, concerns: (event) => event.flow_id === id });
  return html`<${Answer} of=${answer} lines=${10}>${(data) => html`<${Shown} ...${data} reload=${answer.reload} />`}<//>`;
}

function Shown({ flow, members, edges, usage, reload }) {
  if (!flow.ended_at) now.value;
  const { ended, of } = share(flow);
  const path = useMemo(() => pathOf(members, edges), [members, edges]);
  const rows = [
    ["Progress", html`<span class="share"><${StateBar} counts=${flow.counts} total=${of} /><span>${count(ended)} of ${count(of)}</span></span>`],
    ["Took", flow.started_at && duration((flow.ended_at ?? serverNow()) - flow.started_at)],
    ["Critical path", path.sum > 0 && html`${duration(path.sum)} in ${plural(path.chain.size, "member")}`],
    ["Spent", spent(usage)],
    ["Created", html`<${Moment} at=${flow.created_at} />`],
    ["Cancelled", flow.cancel && [words(flow.cancel.policy), flow.cancel.requested_by, flow.cancel.reason].filter(Boolean).join(", ")],
    ["Held open", flow.held_open && "more may be added"],
    ["Tags", Object.keys(flow.tags || {}).length > 0 && html`<${Tags} tags=${flow.tags} />`],
  ];
  return html`<article>
    <div class="head"><div class="named"><h1>${flow.kind} <${State} of=${flow.state} /></h1><${Id} id=${flow.flow_id} whole /></div>
      <div class="actions">${!flow.ended_at && html`<button type="button" class="danger" disabled=${!may("submit", "operate")} onClick=${() => cancel(flow, reload)}>Cancel</button>`}</div></div>
    <dl class="line">${rows.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <section class="card graph-card"><${Picture} members=${members} edges=${edges} chain=${path.chain} flow=${flow} /></section>
    <${Members} members=${members} chain=${path.chain} flow=${flow} reload=${reload} />
  </article>`;
}

/** The critical path through members, by how long each ran so far. */
function pathOf(members, edges) {
  const byId = new Map(members.map((member) => [member.execution_id, member]));
  const took = (member) => (member.started_at ? (member.finished_at ?? (ENDED.has(member.public_state) ? member.started_at : serverNow())) - member.started_at : 0);
  const found = criticalPath(byId, edges.map(ends), took);
  // One member is no path, unless it is the whole flow.
  return found.chain.size > 1 || members.length === 1 ? found : { chain: new Set(), sum: 0 };
}

const ends = (edge) => ({ from: edge.upstream_execution_id, to: edge.downstream_execution_id });

function Picture({ members, edges, chain, flow }) {
  const isGrouped = members.length > SINGLE;
  const picture = isGrouped ? grouped(members, edges, chain) : single(members, edges, chain);
  return html`${isGrouped && html`<p class="none">${plural(members.length, "member")}, grouped by kind. The list below has each.</p>`}
    <${Graph} ...${picture} shape=${`${flow.flow_id} ${members.length} ${edges.length}`} />`;
}

function single(members, edges, chain) {
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

/** Members of one kind in one layer as one node, so that what follows what is still to be seen. */
function grouped(members, edges, chain) {
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

/** How many members the list begins with. */
const LISTED = 200;

function Members({ members, chain, flow, reload }) {
  const [most, setMost] = useState(LISTED);
  return html`<section><h2>Members</h2><div class="table"><table class="rows"><thead><tr><th>State</th><th>Node</th><th class="md">Kind</th><th class="md">Lane</th><th class="num md">Attempts</th><th class="num">Took</th><th class="md"></th></tr></thead>
    <tbody>${members.slice(0, most).map((member) => html`<tr key=${member.execution_id} data-row tabindex="-1" class="opens" ...${opens(["executions", member.execution_id])}>
      <td><${State} of=${member.public_state} /></td>
      <td class="what"><a data-main href=${href(["executions", member.execution_id])}>${member.node}</a>${chain.has(member.execution_id) && html` <span class="tag">critical path</span>`}${member.failure && html`<span class="remark bad">${member.failure.message}</span>`}</td>
      <td class="md">${member.kind}</td><td class="md">${member.lane_id}</td><td class="num md">${member.attempts_made || html`<span class="none">0</span>`}</td>
      <td class="num">${member.started_at ? duration((member.finished_at ?? serverNow()) - member.started_at) : html`<span class="none">–</span>`}</td>
      <td class="num md">${ENDED.has(member.public_state) && may("operate") && html`<button type="button" class="plain" onClick=${() => replay(flow, member, reload)}>Replay</button>`}</td></tr>`)}</tbody></table></div>
    ${members.length > most && html`<div class="more"><button type="button" onClick=${() => setMost(most + 800)}>Show more of ${count(members.length)}</button></div>`}</section>`;
}

const POLICIES = [
  { value: "cancel_all", label: "all members, running ones included" },
  { value: "cancel_pending", label: "what has not begun; what runs goes on" },
  { value: "let_active_finish", label: "what is not running; what runs may finish" },
  { value: "flow_only", label: "the flow only; members go on" },
];

function cancel(flow, done) {
  ask({
    title: "Cancel the flow",
    fields: [{ name: "policy", label: "Cancel", type: "choice", options: POLICIES }, { name: "reason", label: "Reason" }],
    action: "Cancel the flow",
    danger: true,
    run: async (body) => {
      const did = await post(path`/v1/flows/${flow.flow_id}/cancel`, body);
      done();
      return `${plural(did.cancelled + did.scheduled, "member")} cancelled`;
    },
  });
}

function replay(flow, member, done) {
  ask({
    title: `Replay ${member.node}`,
    text: "It runs again with the same input.",
    fields: [{ name: "reason", label: "Reason" }, { name: "reopen_downstream", label: "Run what depends on it again, too", type: "check", value: true }],
    action: "Replay",
    run: async (body) => {
      await post(path`/v1/flows/${flow.flow_id}/nodes/${member.node}/replay`, body);
      done();
      return "It waits again";
    },
  });
}
