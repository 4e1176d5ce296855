// Budgets: their limits, their usage in the current period, and their next reset.

import { html, useState } from "../app/preact.js";
import { get, may, path, post } from "../app/api.js";
import { count, duration, plural } from "../app/format.js";
import { useResponse } from "../app/live.js";
import { go, href, namespace } from "../app/router.js";
import { openDialog } from "../view/dialog.js";
import { Gauge, amount, exhaustedDimensions, joinDimensions, dimensionsOverSoftLimit } from "../view/drawing/gauge.js";
import { Icon } from "../view/icon.js";
import { Content } from "../view/json.js";
import { State } from "../view/state.js";
import { ResponseView, EmptyState, ZonedTime, Id, Moment, rowLink } from "../view/text.js";
import { changeLimits, createBudget, editBudget } from "./budget-forms.js";

/** With more budgets than this, the page refreshes less often, because each budget is a request. */
const MANY_BUDGETS = 40;

/** The maximum number of waiting executions that are shown. */
const MAX_WAITING = 50;

/** The budgets of a namespace with their balances, at most `most`. */
export async function loadBudgets(ns, most = Infinity) {
  const { budgets } = await get("/v1/budgets", { namespace: ns });
  return Promise.all(budgets.slice(0, most).map((budget) => get(path`/v1/budgets/${budget.name}`, { namespace: ns })));
}

export function Budgets() {
  const ns = namespace.value;
  const [many, setMany] = useState(false);
  const load = async () => {
    const budgets = await loadBudgets(ns);
    setMany(budgets.length > MANY_BUDGETS);
    return budgets;
  };
  const response = useResponse(load, [ns], { intervalMs: many ? 30_000 : 5_000 });
  return html`<div class="head"><h1>Budgets</h1><div class="actions"><button type="button" disabled=${!may("operate")} onClick=${() => createBudget(response.reload)}>Define a budget</button></div></div>
    <${ResponseView} of=${response} lines=${6}>${(budgets) =>
      budgets.length
        ? html`<div class="table"><table class="rows budgets"><thead><tr><th>Budget</th><th class="use">Used</th><th>Next reset</th><th class="num">Waiting</th></tr></thead>
            <tbody>${budgets.map((budget) => html`<${Row} key=${budget.name} budget=${budget} />`)}</tbody></table></div>`
        : html`<${EmptyState} title="No budget is defined" commands=${["ff budgets create agent --scope kind:agent --hard usd_micros=5000000 --soft usd_micros=4000000 --reset day@UTC"]}>A budget limits the usage of executions: tokens, money, calls or seconds. This command limits agents to five dollars per day.<//>`}<//>`;
}

function Row({ budget }) {
  const { name, definition, period, balance, waiting } = budget;
  return html`<tr data-row tabindex="-1" class="opens" ...${rowLink(["budgets", name])}>
    <td class="what"><a data-main href=${href(["budgets", name])}>${name}</a> <${BudgetState} budget=${budget} quiet /><span class="remark">${definition.scope}</span></td>
    <td class="use">${Object.keys(balance).map((dimension) => html`<${Gauge} key=${dimension} budget=${budget} dimension=${dimension} />`)}</td>
    <td class="anew"><${NextReset} definition=${definition} period=${period} /></td>
    <td class="num ${waiting ? "warn" : ""}">${waiting ? html`${count(waiting)}<span class="narrow"> waiting</span>` : html`<span class="none wide">0</span>`}</td></tr>`;
}

/** The state of a budget that is exhausted or exceeds a soft limit. */
function BudgetState({ budget, quiet }) {
  if (exhaustedDimensions(budget).length) return html`<${State} of="exhausted" quiet=${quiet} />`;
  return dimensionsOverSoftLimit(budget).length ? html`<${State} of="soft_limit_exceeded" quiet=${quiet} />` : null;
}

const zoneOf = ({ reset }) => reset?.calendar?.time_zone;

/** The reset interval of a budget, as text. */
function resetText({ reset = "never" }) {
  if (reset.interval) return `every ${duration(reset.interval.every_ms)}`;
  return reset.calendar ? `every ${reset.calendar.unit}, ${reset.calendar.time_zone}` : "never";
}

function NextReset({ definition, period }) {
  if (!period.until) return html`<span class="none">never<span class="narrow"> resets</span></span>`;
  return html`<span><span class="narrow">resets </span><${Moment} at=${period.until} /><span class="remark"><${ZonedTime} at=${period.until} zone=${zoneOf(definition)} />, ${resetText(definition)}</span></span>`;
}

export function Budget({ id: name }) {
  const ns = namespace.value;
  const load = async () => {
    const budget = await get(path`/v1/budgets/${name}`, { namespace: ns });
    const { executions } = budget.waiting ? await get("/v1/executions", { namespace: ns, blocking_reason: "waiting_for_budget", limit: 500 }) : { executions: [] };
    return { budget, waiting: executions.filter((one) => one.blocking_detail?.name === name) };
  };
  const response = useResponse(load, [name, ns], { intervalMs: 3_000 });
  return html`<${ResponseView} of=${response} lines=${8}>${(data) => html`<${BudgetDetails} ...${data} reload=${response.reload} />`}<//>`;
}

function BudgetDetails({ budget, waiting, reload }) {
  const { name, definition, period, balance } = budget;
  const zone = zoneOf(definition);
  const facts = [
    ["Applies to", html`<${Scope} scope=${definition.scope} />`],
    ["Resets", resetText(definition)],
    ["This period", html`since <${ZonedTime} at=${period.from || budget.created_at} zone=${zone} />`],
    ["Next reset", period.until && html`<${ZonedTime} at=${period.until} zone=${zone} /> <span class="none"><${Moment} at=${period.until} /></span>`],
    ["At the hard limit", RULES[definition.on_hard_limit ?? "block"] ?? definition.on_hard_limit],
    ["Created", html`<${Moment} at=${budget.created_at} />`],
    ["Changed", budget.changed_at > budget.created_at && html`<${Moment} at=${budget.changed_at} />`],
  ];
  return html`<div class="head"><div class="named"><h1>${name} <${BudgetState} budget=${budget} /></h1><p class="none">${definition.scope}</p></div>
      <div class="actions" role="group" aria-label="Actions">${may("operate") && html`
        <button type="button" onClick=${() => changeLimits(budget, reload)}>Change limits</button>
        <button type="button" onClick=${() => editBudget(budget, reload)}>Edit</button>
        <button type="button" onClick=${() => resetBudget(budget, reload)}>Reset</button>
        <button type="button" class="danger" onClick=${() => deleteBudget(name)}>Delete</button>`}</div></div>
    <${ExhaustedNotice} budget=${budget} />
    <div class="columns"><section class="card"><h2>Used in this period</h2>
        <div class="gauges">${Object.entries(balance).map(([dimension, one]) => html`<div key=${dimension}><${Gauge} budget=${budget} dimension=${dimension} /><p class="none">${amount(dimension, one.spent)} since the budget was created</p></div>`)}</div></section>
      <aside class="card facts-of" aria-label="Facts"><dl class="facts">${facts.filter(([, value]) => value).map(([title, value]) => html`<dt>${title}</dt><dd>${value}</dd>`)}</dl></aside></div>
    <${WaitingExecutions} waiting=${waiting} number=${budget.waiting} />
    <section class="card"><h2>Definition</h2><${Content} json=${definition} name=${name} /></section>`;
}

const RULES = {
  block: "running executions continue; no further execution starts",
  fail: "an execution that exceeds the limit fails",
  suspend: "an execution that exceeds the limit is suspended",
};

/** Explains an exhausted budget in a sentence. */
function ExhaustedNotice({ budget }) {
  const { balance, period, waiting } = budget;
  const exhausted = exhaustedDimensions(budget);
  if (!exhausted.length) return null;
  const hasRemainder = exhausted.every((dimension) => balance[dimension].used < balance[dimension].hard);
  return html`<section class="why s-exhausted" aria-label="Why"><p class="sentence"><${Icon} name="alert" /><span>${hasRemainder ? `Too few ${joinDimensions(exhausted)} are left` : `No ${joinDimensions(exhausted, " and no ")} left`}: no further execution starts${period.until ? html` until the budget resets <${Moment} at=${period.until} />` : ", and the budget has no automatic reset"}.${waiting > 0 && ` ${plural(waiting, "execution")} ${waiting === 1 ? "waits" : "wait"}.`}</span></p>
    <p class="besides">After a reset or with a higher limit, waiting executions can start at once.</p></section>`;
}

/** The scope of a budget, as a link. */
function Scope({ scope }) {
  const at = scope.indexOf(":");
  const [what, value] = at < 0 ? [scope, ""] : [scope.slice(0, at), scope.slice(at + 1)];
  const to = {
    namespace: () => href(["executions"]),
    lane: () => href(["executions"], { lane: value }),
    kind: () => href(["executions"], { kind: value }),
    tag: () => href(["executions"], { tag: value }),
    flow: () => href(["flows", value]),
    execution: () => href(["executions", value]),
  }[what];
  return to ? html`<a href=${to()}>${scope}</a>` : scope;
}

function WaitingExecutions({ waiting, number }) {
  if (!number) return null;
  return html`<section class="card"><h2>Waiting executions</h2>${waiting.length
    ? html`<div class="table flat"><table class="rows"><thead><tr><th>Kind</th><th>Id</th><th class="md">Lane</th><th class="md">Dimension</th><th class="num">Created</th></tr></thead><tbody>
        ${waiting.slice(0, MAX_WAITING).map((one) => html`<tr key=${one.execution_id} data-row tabindex="-1"><td><a data-main href=${href(["executions", one.execution_id])}>${one.kind}</a></td><td><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /></td>
          <td class="md">${one.lane_id}</td><td class="md">${one.blocking_detail.dimension}</td><td class="num"><${Moment} at=${one.created_at} /></td></tr>`)}</tbody></table></div>
      ${number > waiting.slice(0, MAX_WAITING).length && html`<p class="none">Up to ${count(number)} executions are waiting. <a class="plain-link" href=${href(["executions"], { reason: "waiting_for_budget" })}>Show all executions that wait for a budget</a></p>`}`
    : html`<p class="none">No execution waits any more.</p>`}</section>`;
}

function resetBudget({ name }, done) {
  openDialog({
    title: `Reset ${name}?`,
    text: "A new period starts with no usage. Executions that wait for the budget can start.",
    action: "Reset",
    run: async () => {
      await post(path`/v1/budgets/${name}/reset`, { namespace: namespace.value });
      done();
      return `Budget ${name} is reset`;
    },
  });
}

function deleteBudget(name) {
  openDialog({
    title: `Delete ${name}?`,
    text: "The limits no longer apply, and the usage is deleted. Executions that wait for the budget can start.",
    action: "Delete",
    danger: true,
    run: async () => {
      await post(path`/v1/budgets/${name}/delete`, { namespace: namespace.value });
      go(["budgets"]);
      return `Budget ${name} is deleted`;
    },
  });
}
