// Quotas: limits on the rate and the concurrency of claims, per value of a key.

import { html } from "../app/preact.js";
import { get, may, path, post } from "../app/api.js";
import { count, duration } from "../app/format.js";
import { useResponse } from "../app/live.js";
import { namespace } from "../app/router.js";
import { openDialog } from "../view/dialog.js";
import { ResponseView, EmptyState } from "../view/text.js";

/** The maximum number of values of a quota's key that are shown. */
const MAX_VALUES = 12;

export function Quotas() {
  const ns = namespace.value;
  const load = async () => {
    const { quotas } = await get("/v1/quotas", { namespace: ns });
    return Promise.all(quotas.map((quota) => get(path`/v1/quotas/${quota.name}`, { namespace: ns })));
  };
  const response = useResponse(load, [ns], { intervalMs: 5_000 });
  return html`<div class="head"><h1>Quotas</h1><div class="actions"><button type="button" disabled=${!may("operate")} onClick=${() => defineQuota(null, response.reload)}>Define a quota</button></div></div>
    <${ResponseView} of=${response} lines=${5}>${(quotas) =>
      quotas.length
        ? html`<ul class="quotas">${quotas.map((quota) => html`<${Quota} key=${quota.name} quota=${quota} reload=${response.reload} />`)}</ul>`
        : html`<${EmptyState} title="No quota is defined" commands=${["ff quotas set per-customer --scope kind:mail.send --per tag:customer --rate 100/1m"]}>A quota limits the rate or the concurrency of claims, per customer, kind or lane.<//>`}<//>`;
}

export const rateOf = (rate) => rate && `${count(rate.limit)} in ${duration(rate.window_ms)}`;

function Quota({ quota, reload }) {
  const { name, scope, per, rate, max_concurrent, keys = [] } = quota;
  const limits = [rateOf(rate), max_concurrent && `${count(max_concurrent)} at once`].filter(Boolean).join(", ");
  const busiest = [...keys].sort((a, b) => b.waiting - a.waiting || b.in_window - a.in_window).slice(0, MAX_VALUES);
  return html`<li class="card" data-row tabindex="-1"><div class="head"><div class="named"><h2>${name}</h2><p class="none">${scope}${per ? `, each ${per}` : ""}: ${limits}</p></div>
      <div class="actions">${may("operate") && html`<button type="button" onClick=${() => defineQuota(quota, reload)}>Edit</button><button type="button" class="danger" onClick=${() => deleteQuota(quota, reload)}>Delete</button>`}</div></div>
    ${busiest.length
      ? html`<div class="table flat"><table><thead><tr><th>${(per || "all").replace("tag:", "")}</th><th class="num">In the window</th><th class="num">Slots</th><th class="num">Waiting</th></tr></thead><tbody>
          ${busiest.map((use) => html`<tr><td>${use.key || "all"}</td><td class="num"><${Meter} used=${use.in_window} of=${rate?.limit} /></td><td class="num"><${Meter} used=${use.held} of=${max_concurrent} /></td><td class="num ${use.waiting ? "warn" : ""}">${count(use.waiting)}</td></tr>`)}</tbody></table></div>
          ${keys.length > MAX_VALUES && html`<p class="none">${count(keys.length - MAX_VALUES)} more values have usage.</p>`}`
      : html`<p class="none">No usage.</p>`}</li>`;
}

function Meter({ used, of }) {
  if (!of) return html`<span class="none">–</span>`;
  return html`<span class="meter"><meter min="0" max=${of} high=${of * 0.8} value=${Math.min(used, of)} aria-label="${used} of ${of}"></meter>${count(used)} of ${count(of)}</span>`;
}

function defineQuota(quota, done) {
  const fields = [
    ...(quota ? [] : [{ name: "name", label: "Name", required: true }]),
    { name: "scope", label: "Applies to", value: quota?.scope ?? "namespace", required: true, hint: "namespace, lane:NAME, kind:NAME, tag:NAME=VALUE or flow:ID" },
    { name: "per", label: "Separately for each", value: quota?.per, hint: "kind, namespace or tag:NAME. One shared limit if empty." },
    { name: "limit", label: "Maximum claims per window", type: "number", min: 1, value: quota?.rate?.limit },
    { name: "window", label: "Window in seconds", type: "number", min: 1, value: quota?.rate ? quota.rate.window_ms / 1_000 : "" },
    { name: "max_concurrent", label: "Maximum concurrent executions", type: "number", min: 1, value: quota?.max_concurrent },
  ];
  openDialog({
    title: quota ? `Quota ${quota.name}` : "Define a quota",
    fields,
    action: "Save",
    run: async ({ name, scope, per, limit, window, max_concurrent }) => {
      const rate = limit || window ? { limit, window_ms: window && window * 1_000 } : undefined;
      await post(path`/v1/quotas/${quota?.name ?? name}`, { namespace: namespace.value, scope, per, rate, max_concurrent });
      done();
      return "The quota is saved";
    },
  });
}

function deleteQuota(quota, done) {
  openDialog({
    title: `Delete ${quota.name}?`,
    text: "The limits no longer apply. Executions that wait for the quota can start.",
    action: "Delete",
    danger: true,
    run: async () => {
      await post(path`/v1/quotas/${quota.name}/delete`, { namespace: namespace.value });
      done();
      return "The quota is deleted";
    },
  });
}
