// The usage of an execution, by attempt.

import { html } from "../../app/preact.js";
import { amount } from "../../view/drawing/gauge.js";

export function Usage({ usage: { usage, attempts = {} } }) {
  const dimensions = Object.keys(usage);
  const cells = (amounts) => dimensions.map((dimension) => html`<td class="num">${amounts[dimension] === undefined ? html`<span class="none">–</span>` : amount(dimension, amounts[dimension])}</td>`);
  return html`<table><thead><tr><th>Attempt</th>${dimensions.map((dimension) => html`<th class="num">${dimension === "usd_micros" ? "dollars" : dimension}</th>`)}</tr></thead>
    <tbody>${Object.entries(attempts).map(([index, amounts]) => html`<tr key=${index}><td>attempt ${Number(index) + 1}</td>${cells(amounts)}</tr>`)}
      <tr class="sum"><td>total</td>${cells(usage)}</tr></tbody></table>`;
}
