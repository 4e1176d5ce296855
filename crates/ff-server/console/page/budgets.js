// Budgets: how much executions may spend, how much of it is gone, and when it resets.

import { html, useState } from "../app/preact.js";
import { get, may, path, post } from "../app/api.js";
import { count, duration, plural } from "../app/format.js";
import { useAnswer } from "../app/live.js";
import { go, href, namespace } from "../app/router.js";
import { ask } from "../view/dialog.js";
import { Gauge, amount, exhausted, listed, warned } from "../view/drawing/gauge.js";
import { Icon } from "../view/icon.js";
import { Content } from "../view/json.js";
import { State } from "../view/state.js";
import { Answer, Empty, Exact, Id, Moment, opens } from "../view/text.js";
import { change, create, edit } from "./budget-forms.js";

/** Beyond so many budgets the page looks again less often: each is a request. */
const MANY = 40;

/** How many of the executions that wait for a budget are shown. */
const WAITING = 50;

/** The budgets of a namespace with how each stands, the first of them when there are more than `most`. */
export async function standings(ns, most = Infinity) {
  const { budgets } = await get("/v1/budgets", { namespace: ns });
  return Promise.all(budgets.slice(0, most).map((budget) => get(path`/v1/budgets/${budget.name}`, { namespace: ns })));
}

export function Budgets() {
  const ns = namespace.value;
  const [many, setMany] = useState(false);
  const asked = async () => {
    const budgets = await standings(ns);
    setMany(budgets.length > MANY);
    return budgets;
  };
  const answer = useAnswer(asked, [ns], { gap: many ? 30_000 : 5_000 });
  return html`<div class="head"><h1>Budgets</h1><div class="actions"><button type="button" disabled=${!may("operate")} onClick=${() => create(answer.reload)}>Define a budget</button></div></div>
    <${Answer} of=${answer} lines=${6}>${(budgets) =>
      budgets.length
        ? html`<div class="table"><table class="rows budgets"><thead><tr><th>Budget</th><th class="use">Used</th><th>Begins anew</th><th class="num">Waiting</th></tr></thead>
            <tbody>${budgets.map((budget) => html`<${Row} key=${budget.name} budget=${budget} />`)}</tbody></table></div>`
        : html`<${Empty} title="No budget is defined" commands=${["ff budgets create agent --scope kind:agent --hard usd_micros=5000000 --soft usd_micros=4000000 --reset day@UTC"]}>A budget says how much executions may spend: tokens, money, calls, seconds. This one stops agents at five dollars a day.<//>`}<//>`;
}

function Row({ budget }) {
  const { name, definition, period, balance, waiting } = budget;
  return html`<tr data-row tabindex="-1" class="opens" ...${opens(["budgets", name])}>
    <td class="what"><a data-main href=${href(["budgets", name])}>${name}</a> <${Standing} budget=${budget} quiet /><span class="remark">${definition.scope}</span></td>
    <td class="use">${Object.keys(balance).map((dimension) => html`<${Gauge} key=${dimension} budget=${budget} dimension=${dimension} />`)}</td>
    <td class="anew"><${Anew} definition=${definition} period=${period} /></td>
    <td class="num ${waiting ? "warn" : ""}">${waiting ? html`${count(waiting)}<span class="narrow"> waiting</span>` : html`<span class="none wide">0</span>`}</td></tr>`;
}

/** A word for a budget that has run out, or is about to. */
function Standing({ budget, quiet }) {
  if (exhausted(budget).length) return html`<${State} of="exhausted" quiet=${quiet} />`;
  return warned(budget).length ? html`<${State} of="soft_limit_exceeded" quiet=${quiet} />` : null;
}

const zoneOf = ({ reset }) => reset?.calendar?.time_zone;

/** How often a budget resets. */
function often({ reset = "never" }) {
  if (reset.interval) return `every ${duration(reset.interval.every_ms)}`;
  return reset.calendar ? `each ${reset.calendar.unit}, ${reset.calendar.time_zone}` : "never";
}

function Anew({ definition, period }) {
  if (!period.until) return html`<span class="none">never<span class="narrow"> resets</span></span>`;
  return html`<span><span class="narrow">resets </span><${Moment} at=${period.until} /><span class="remark"><${Exact} at=${period.until} zone=${zoneOf(definition)} />, ${often(definition)}</span></span>`;
}

export function Budget({ id: name }) {
  const ns = namespace.value;
  const asked = async () => {
    const budget = await get(path`/v1/budgets/${name}`, { namespace: ns });
    const { executions } = budget.waiting ? await get("/v1/executions", { namespace: ns, blocking_reason: "waiting_for_budget", limit: 500 }) : { executions: [] };
    return { budget, waiting: executions.filter((one) => one.blocking_detail?.name === name) };
  };
  const answer = useAnswer(asked, [name, ns], { gap: 3_000 });
  return html`<${Answer} of=${answer} lines=${8}>${(data) => html`<${Whole} ...${data} reload=${answer.reload} />`}<//>`;
}

function Whole({ budget, waiting, reload }) {
  const { name, definition, period, balance } = budget;
  const zone = zoneOf(definition);
  const facts = [
    ["Applies to", html`<${Scope} scope=${definition.scope} />`],
    ["Begins anew", often(definition)],
    ["This period", html`since <${Exact} at=${period.from || budget.created_at} zone=${zone} />`],
    ["Next reset", period.until && html`<${Exact} at=${period.until} zone=${zone} /> <span class="none"><${Moment} at=${period.until} /></span>`],
    ["Over the limit", RULES[definition.on_hard_limit ?? "block"] ?? definition.on_hard_limit],
    ["Created", html`<${Moment} at=${budget.created_at} />`],
    ["Changed", budget.changed_at > budget.created_at && html`<${Moment} at=${budget.changed_at} />`],
  ];
  return html`<div class="head"><div class="named"><h1>${name} <${Standing} budget=${budget} /></h1><p class="none">${definition.scope}</p></div>
      <div class="actions" role="group" aria-label="Actions">${may("operate") && html`
        <button type="button" onClick=${() => change(budget, reload)}>Change limits</button>
        <button type="button" onClick=${() => edit(budget, reload)}>Edit</button>
        <button type="button" onClick=${() => restart(budget, reload)}>Reset</button>
        <button type="button" class="danger" onClick=${() => remove(name)}>Delete</button>`}</div></div>
    <${Why} budget=${budget} />
    <div class="columns"><section class="card"><h2>Used in this period</h2>
        <div class="gauges">${Object.entries(balance).map(([dimension, one]) => html`<div key=${dimension}><${Gauge} budget=${budget} dimension=${dimension} /><p class="none">${amount(dimension, one.spent)} since the budget was made</p></div>`)}</div></section>
      <aside class="card facts-of" aria-label="Facts"><dl class="facts">${facts.filter(([, value]) => value).map(([title, value]) => html`<dt>${title}</dt><dd>${value}</dd>`)}</dl></aside></div>
    <${Waiting} waiting=${waiting} number=${budget.waiting} />
    <section class="card"><h2>Definition</h2><${Content} json=${definition} name=${name} /></section>`;
}

const RULES = {
  block: "what runs may finish; nothing further starts",
  fail: "the execution that spends more fails",
  suspend: "the execution that spends more is suspended",
};

/** In a sentence, what a budget that has run out does. */
function Why({ budget }) {
  const { balance, period, waiting } = budget;
  const gone = exhausted(budget);
  if (!gone.length) return null;
  const isShort = gone.every((dimension) => balance[dimension].used < balance[dimension].hard);
  return html`<section class="why s-exhausted" aria-label="Why"><p class="sentence"><${Icon} name="alert" /><span>${isShort ? `Too few ${listed(gone)} are left` : `No ${listed(gone, " and no ")} left`}: nothing further starts${period.until ? html` until it resets <${Moment} at=${period.until} />` : ", and it does not reset by itself"}.${waiting > 0 && ` ${plural(waiting, "execution")} ${waiting === 1 ? "waits" : "wait"}.`}</span></p>
    <p class="besides">A higher limit or a reset lets what waits start at once.</p></section>`;
}

/** What a budget applies to, as a link to it. */
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

function Waiting({ waiting, number }) {
  if (!number) return null;
  return html`<section class="card"><h2>Waits for it</h2>${waiting.length
    ? html`<div class="table flat"><table class="rows"><thead><tr><th>Kind</th><th>Id</th><th class="md">Lane</th><th class="md">Lacks</th><th class="num">Created</th></tr></thead><tbody>
        ${waiting.slice(0, WAITING).map((one) => html`<tr key=${one.execution_id} data-row tabindex="-1"><td><a data-main href=${href(["executions", one.execution_id])}>${one.kind}</a></td><td><${Id} id=${one.execution_id} to=${["executions", one.execution_id]} /></td>
          <td class="md">${one.lane_id}</td><td class="md">${one.blocking_detail.dimension}</td><td class="num"><${Moment} at=${one.created_at} /></td></tr>`)}</tbody></table></div>
      ${number > waiting.slice(0, WAITING).length && html`<p class="none">${count(number)} wait at most. <a class="plain-link" href=${href(["executions"], { reason: "waiting_for_budget" })}>All that wait for a budget</a></p>`}`
    : html`<p class="none">${plural(number, "execution")} at most; none of them is waiting any longer.</p>`}</section>`;
}

function restart({ name }, done) {
  ask({
    title: `Reset ${name}?`,
    text: "A new period starts: nothing of it is used, and executions that waited for it may start.",
    action: "Reset",
    run: async () => {
      await post(path`/v1/budgets/${name}/reset`, { namespace: namespace.value });
      done();
      return `Budget ${name} was reset`;
    },
  });
}

function remove(name) {
  ask({
    title: `Delete ${name}?`,
    text: "Nothing is limited by it any longer, and what it counted is forgotten. What it kept waiting is ready again.",
    action: "Delete",
    danger: true,
    run: async () => {
      await post(path`/v1/budgets/${name}/delete`, { namespace: namespace.value });
      go(["budgets"]);
      return `Budget ${name} is deleted`;
    },
  });
}
