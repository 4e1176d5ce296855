// How much of a budget is used, set aside and left.

import { html } from "../../app/preact.js";
import { count, words } from "../../app/format.js";

const MICROS = 1_000_000;

/** An amount of a dimension. Money is counted in millionths of a dollar. */
export function amount(dimension, number) {
  if (dimension !== "usd_micros") return count(number);
  const dollars = number / MICROS;
  const [whole, cents] = dollars.toFixed(number && dollars < 0.1 ? 4 : 2).split(".");
  return `$${count(whole)}.${cents}`;
}

/** The name of a dimension beside an amount that does not say it. */
export const unit = (dimension) => (dimension === "usd_micros" ? "" : ` ${words(dimension)}`);

/** What was spent, in words: `812 tokens, $0.41`. */
export const spent = (usage) => Object.entries(usage).map(([dimension, number]) => amount(dimension, number) + unit(dimension)).join(", ");

/** What a claim reserves of a dimension at least, as far as that is known. */
function least({ scope, estimate = {} }, dimension) {
  const kind = scope.startsWith("kind:") ? scope.slice(5) : "*";
  return (estimate[kind] ?? estimate["*"])?.[dimension] || 1;
}

const names = ({ balance }, test) => Object.keys(balance).filter((dimension) => test(balance[dimension], dimension));

/** The dimensions of a budget of which too little is left for anything more to start. */
export const exhausted = (budget) => names(budget, ({ used, reserved, hard }, dimension) => isSet(hard) && used + reserved + least(budget.definition, dimension) > hard);

/** The dimensions of which more is spent than the soft limit. */
export const warned = (budget) => names(budget, isWarned);

const isSet = (limit) => limit !== undefined && limit !== null;
const isWarned = ({ used, soft }) => isSet(soft) && used > soft;

/** Dimensions in a sentence. */
export const listed = (dimensions, joint = " and ") => dimensions.map((dimension) => (dimension === "usd_micros" ? "money" : words(dimension))).join(joint);

/** A bar of what is used and reserved, as long as the hard limit, with a mark at the soft one. */
export function Gauge({ budget, dimension }) {
  const balance = budget.balance[dimension];
  const { used, reserved, hard, soft } = balance;
  const isLimited = isSet(hard);
  const isSoft = isSet(soft);
  const whole = Math.max(isLimited ? hard : Math.max(soft * 1.25, used + reserved), 1);
  const part = (number) => `${Math.min(100, (100 * number) / whole).toFixed(2)}%`;
  const tone = exhausted(budget).includes(dimension) ? "full" : isWarned(balance) ? "warned" : "";
  const of = (number) => amount(dimension, number);
  const said = [`${of(used)} used`, reserved && `${of(reserved)} reserved`, isLimited && `limit ${of(hard)}`, isSoft && `soft limit ${of(soft)}`].filter(Boolean).join(", ");
  return html`<div class="gauge ${tone}">
    <p class="said"><span class="dimension">${dimension === "usd_micros" ? "dollars" : words(dimension)}</span>
      <span><strong>${of(used)}</strong>${reserved > 0 && html`<span class="none"> + ${of(reserved)} reserved</span>`}<span class="none">${isLimited ? ` of ${of(hard)}` : ` · soft limit ${of(soft)}`}</span></span></p>
    <div class="bar" role="img" aria-label="${dimension}: ${said}" title=${said}>
      <span class="used" style=${{ width: part(used) }}></span><span class="reserved" style=${{ width: part(Math.min(reserved, Math.max(0, whole - used))) }}></span>
      ${isSoft && html`<span class="soft" style=${{ left: part(soft) }}></span>`}</div></div>`;
}
