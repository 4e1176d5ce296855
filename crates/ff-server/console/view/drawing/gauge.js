// The used, reserved and remaining amounts of a budget.

import { html } from "../../app/preact.js";
import { count, humanize } from "../../app/format.js";

const MICROS = 1_000_000;

/** Formats an amount of a dimension. `usd_micros` are millionths of a dollar. */
export function amount(dimension, number) {
  if (dimension !== "usd_micros") return count(number);
  const dollars = number / MICROS;
  const [whole, cents] = dollars.toFixed(number && dollars < 0.1 ? 4 : 2).split(".");
  return `$${count(whole)}.${cents}`;
}

/** The unit after an amount; empty for dollars, because the amount has a `$`. */
export const unit = (dimension) => (dimension === "usd_micros" ? "" : ` ${humanize(dimension)}`);

/** Formats usage as text: `812 tokens, $0.41`. */
export const usageText = (usage) => Object.entries(usage).map(([dimension, number]) => amount(dimension, number) + unit(dimension)).join(", ");

/** The smallest amount of a dimension that a claim reserves: its estimate, or 1 if the budget has none. */
function minimumReservation({ scope, estimate = {} }, dimension) {
  const kind = scope.startsWith("kind:") ? scope.slice(5) : "*";
  return (estimate[kind] ?? estimate["*"])?.[dimension] || 1;
}

const dimensionsWhere = ({ balance }, test) => Object.keys(balance).filter((dimension) => test(balance[dimension], dimension));

/** The dimensions of a budget whose remaining amount is too small to start another execution. */
export const exhaustedDimensions = (budget) => dimensionsWhere(budget, ({ used, reserved, hard }, dimension) => isSet(hard) && used + reserved + minimumReservation(budget.definition, dimension) > hard);

/** The dimensions of a budget whose usage exceeds the soft limit. */
export const dimensionsOverSoftLimit = (budget) => dimensionsWhere(budget, isOverSoftLimit);

const isSet = (limit) => limit !== undefined && limit !== null;
const isOverSoftLimit = ({ used, soft }) => isSet(soft) && used > soft;

/** Joins the names of dimensions for a sentence. */
export const joinDimensions = (dimensions, joint = " and ") => dimensions.map((dimension) => (dimension === "usd_micros" ? "money" : humanize(dimension))).join(joint);

/** A bar of the used and reserved amounts, scaled to the hard limit, with a mark at the soft limit. */
export function Gauge({ budget, dimension }) {
  const balance = budget.balance[dimension];
  const { used, reserved, hard, soft } = balance;
  const isLimited = isSet(hard);
  const isSoft = isSet(soft);
  const whole = Math.max(isLimited ? hard : Math.max(soft * 1.25, used + reserved), 1);
  const part = (number) => `${Math.min(100, (100 * number) / whole).toFixed(2)}%`;
  const tone = exhaustedDimensions(budget).includes(dimension) ? "full" : isOverSoftLimit(balance) ? "warned" : "";
  const of = (number) => amount(dimension, number);
  const summary = [`${of(used)} used`, reserved && `${of(reserved)} reserved`, isLimited && `limit ${of(hard)}`, isSoft && `soft limit ${of(soft)}`].filter(Boolean).join(", ");
  return html`<div class="gauge ${tone}">
    <p class="said"><span class="dimension">${dimension === "usd_micros" ? "dollars" : humanize(dimension)}</span>
      <span><strong>${of(used)}</strong>${reserved > 0 && html`<span class="none"> + ${of(reserved)} reserved</span>`}<span class="none">${isLimited ? ` of ${of(hard)}` : ` · soft limit ${of(soft)}`}</span></span></p>
    <div class="bar" role="img" aria-label="${dimension}: ${summary}" title=${summary}>
      <span class="used" style=${{ width: part(used) }}></span><span class="reserved" style=${{ width: part(Math.min(reserved, Math.max(0, whole - used))) }}></span>
      ${isSoft && html`<span class="soft" style=${{ left: part(soft) }}></span>`}</div></div>`;
}
