// The list of flows. The address contains the filter.

import { html } from "../app/preact.js";
import { get, serverNow } from "../app/api.js";
import { count, duration, plural } from "../app/format.js";
import { now, useResponse } from "../app/live.js";
import { href, namespace, route, updateParams } from "../app/router.js";
import { SavedFilters } from "../view/saved.js";
import { State, StateBar } from "../view/state.js";
import { ResponseView, EmptyState, Id, Moment, Tags, rowLink } from "../view/text.js";

const FLOW_STATES = ["running", "open", "completed", "failed", "cancelled"];

export function Flows() {
  const { params } = route.value;
  const { state, kind, tag, cursor } = params;
  const filter = { namespace: namespace.value, state, kind, tag: tag?.replace("=", ":"), cursor, limit: 100 };
  const response = useResponse(() => get("/v1/flows", filter), [JSON.stringify(filter)], { isRelevant: (event) => Boolean(event.flow_id) });
  const set = (name) => (event) => updateParams({ [name]: event.target.value, cursor: "" });
  return html`<h1>Flows</h1>
    <form class="filter" role="search" aria-label="Filter" onSubmit=${(event) => event.preventDefault()}>
      <div class="chips" role="group" aria-label="State">${["", ...FLOW_STATES].map((one) => html`<button type="button" class="chip ${one ? `s-${one}` : ""}" aria-pressed=${(state || "") === one ? "true" : "false"} onClick=${() => updateParams({ state: one, cursor: "" })}>${one || "any state"}</button>`)}</div>
      <div class="fields"><label class="sub"><span>Kind</span><input value=${kind ?? ""} onChange=${set("kind")} placeholder="any" /></label>
        <label class="sub"><span>Tag</span><input value=${tag ?? ""} onChange=${set("tag")} placeholder="name=value" /></label></div>
      <${SavedFilters} page="flows" params=${params} />
    </form>
    <${ResponseView} of=${response} lines=${8}>${({ flows, next_cursor }) =>
      flows.length
        ? html`<div class="table"><table class="rows"><thead><tr><th>State</th><th>Kind</th><th class="md">Id</th><th>Progress</th><th class="num md">Nodes</th><th class="lg">Tags</th><th class="num md">Took</th><th class="num">Created</th></tr></thead>
            <tbody>${flows.map((flow) => html`<${Row} key=${flow.flow_id} flow=${flow} />`)}</tbody></table></div>
          <div class="more"><span class="none">${plural(flows.length, "flow")}</span>${next_cursor && html`<a class="button" href=${href(["flows"], { ...params, cursor: next_cursor })}>Older</a>`}${cursor && html`<a class="button" href=${href(["flows"], { ...params, cursor: "" })}>Newest</a>`}</div>`
        : state || kind || tag
          ? html`<${EmptyState} title="No flow matches this filter"><a href=${href(["flows"])}>Show all flows</a><//>`
          : html`<${EmptyState} title="No flows yet" commands=${["ff flow submit nightly.json"]}>A flow is a graph of executions with dependencies. Results can be passed to downstream executions.<//>`}<//>`;
}

/** The number of members that have ended, and the number of all members. */
export function progressOf(flow) {
  const { completed = 0, failed = 0, cancelled = 0, expired = 0, skipped = 0 } = flow.counts;
  return { ended: completed + failed + cancelled + expired + skipped, of: flow.nodes };
}

function Row({ flow }) {
  const { ended, of } = progressOf(flow);
  if (!flow.ended_at) now.value;
  const took = flow.started_at ? duration((flow.ended_at ?? serverNow()) - flow.started_at) : "–";
  return html`<tr data-row tabindex="-1" class="opens" ...${rowLink(["flows", flow.flow_id])}>
    <td><${State} of=${flow.state} /></td><td><a data-main href=${href(["flows", flow.flow_id])}>${flow.kind}</a></td><td class="md"><${Id} id=${flow.flow_id} to=${["flows", flow.flow_id]} /></td>
    <td><span class="share"><${StateBar} counts=${flow.counts} total=${of} /><span class="none">${count(ended)}/${count(of)}</span></span></td>
    <td class="num md">${count(of)}</td><td class="lg"><${Tags} tags=${flow.tags} most=${2} /></td><td class="num md">${took}</td><td class="num"><${Moment} at=${flow.created_at} /></td></tr>`;
}
