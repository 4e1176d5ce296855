// The direct upstream and downstream executions of an execution in its flow.

import { html } from "../../app/preact.js";
import { get, path } from "../../app/api.js";
import { useResponse } from "../../app/live.js";
import { href } from "../../app/router.js";
import { State } from "../../view/state.js";
import { ResponseView } from "../../view/text.js";

/** The maximum number of members and edges of the flow that are loaded. */
const MAX_MEMBERS = 1_000;

export function Neighbours({ info }) {
  const { execution_id: id, flow_id: flow } = info;
  const response = useResponse(() => get(path`/v1/flows/${flow}`, { graph: MAX_MEMBERS }), [flow], { isRelevant: (event) => event.flow_id === flow, intervalMs: 2_000 });
  return html`<${ResponseView} of=${response} lines=${3}>${({ graph, kind, nodes }) => {
    const members = new Map(graph.members.map((member) => [member.execution_id, member]));
    const before = graph.edges.filter((edge) => edge.downstream_execution_id === id).map((edge) => edge.upstream_execution_id);
    const after = graph.edges.filter((edge) => edge.upstream_execution_id === id).map((edge) => edge.downstream_execution_id);
    return html`<p>${info.node} of <a class="plain-link" href=${href(["flows", flow])}>${kind}</a>${nodes > MAX_MEMBERS && html`<span class="none">, based on the first 1 000 members</span>`}</p>
      <${Side} title="Runs after" ids=${before} members=${members} /><${Side} title="Runs before" ids=${after} members=${members} />`;
  }}<//>`;
}

function Side({ title, ids, members }) {
  const rows = ids.map((id) => members.get(id)).filter(Boolean);
  return html`<h3>${title}</h3>
    ${rows.length ? html`<ul class="side-list">${rows.map((member) => html`<li><${State} of=${member.public_state} /><a href=${href(["executions", member.execution_id])}>${member.node}</a><span class="none">${member.kind}</span></li>`)}</ul>` : html`<p class="none">none</p>`}`;
}
