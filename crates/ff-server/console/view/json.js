// A viewer of payloads and results: JSON as a tree, as raw text, or as a file. It renders all content as text.

import { html, useState } from "../app/preact.js";
import { ExactNumber } from "../app/api.js";
import { bytes, count } from "../app/format.js";
import { Icon } from "./icon.js";
import { copy } from "./text.js";

/** The number of members of an object or list that are shown at first. */
const MEMBERS = 100;

/** The number of characters of a string that are shown at first. */
const CHARACTERS = 400;

/** Shows `{ json }`, or `{ base64, type }`. */
export function Content({ json, base64, type, name, open = 2 }) {
  const [raw, setRaw] = useState(false);
  const text = base64 === undefined ? JSON.stringify(json, null, 2) : readable(base64);
  if (text === undefined) return html`<p class="none">Empty.</p>`;
  const isTree = base64 === undefined && json !== null && typeof json === "object" && !(json instanceof ExactNumber);
  const body = base64 === undefined ? text : decoded(base64);
  return html`<div class="content">
    <div class="tools">
      <span class="none">${type || (base64 === undefined ? "JSON" : "bytes")} · ${bytes(new Blob([body]).size)}</span>
      ${isTree && html`<button type="button" class="plain" aria-pressed=${raw ? "true" : "false"} onClick=${() => setRaw(!raw)}>Raw</button>`}
      <button type="button" class="plain" onClick=${() => copy(text)}>Copy</button>
      <button type="button" class="plain" onClick=${() => download(body, name, base64 === undefined)}>Download</button>
    </div>
    ${isTree && !raw ? html`<div class="tree" role="tree" aria-label=${name}><${Value} value=${json} depth=${open} /></div>` : html`<pre class="raw" tabindex="0">${text}</pre>`}
  </div>`;
}

function Value({ name, value, depth, last = true }) {
  const isObject = value !== null && typeof value === "object" && !(value instanceof ExactNumber);
  return isObject
    ? html`<${Branch} name=${name} value=${value} depth=${depth} last=${last} />`
    : html`<div class="leaf" role="treeitem">${name !== undefined && html`<${Key} name=${name} />`}<${Scalar} value=${value} /></div>`;
}

function Branch({ name, value, depth }) {
  const [open, setOpen] = useState(depth > 0);
  const [most, setMost] = useState(MEMBERS);
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  const size = `${count(members.length)} ${isList ? (members.length === 1 ? "item" : "items") : members.length === 1 ? "key" : "keys"}`;
  if (!members.length) {
    return html`<div class="leaf" role="treeitem">${name !== undefined && html`<${Key} name=${name} />`}<span class="none">${isList ? "[ ]" : "{ }"}</span></div>`;
  }
  return html`<div class="branch" role="treeitem" aria-expanded=${open ? "true" : "false"}>
    <button type="button" class="twig" onClick=${() => setOpen(!open)}>
      <${Icon} name=${open ? "unfold" : "fold"} />${name !== undefined && html`<${Key} name=${name} />`}<span class="none">${isList ? "[" : "{"} ${size} ${isList ? "]" : "}"}</span>
    </button>
    ${open && html`<div class="members" role="group">
      ${members.slice(0, most).map(([key, member]) => html`<${Value} name=${key} value=${member} depth=${depth - 1} />`)}
      ${members.length > most && html`<button type="button" class="plain" onClick=${() => setMost(most + 10 * MEMBERS)}>${count(members.length - most)} more</button>`}
    </div>`}
  </div>`;
}

const Key = ({ name }) => html`<span class="name">${name}</span>`;

function Scalar({ value }) {
  const [whole, setWhole] = useState(false);
  if (typeof value === "string") {
    const long = value.length > CHARACTERS && !whole;
    return html`<span class="string">${JSON.stringify(long ? value.slice(0, CHARACTERS) : value)}</span>
      ${long && html`<button type="button" class="plain" onClick=${() => setWhole(true)}>… ${count(value.length - CHARACTERS)} more characters</button>`}`;
  }
  return html`<span class=${value === null ? "null" : value instanceof ExactNumber ? "number" : typeof value}>${String(value)}</span>`;
}

function decoded(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Decodes bytes as UTF-8, or formats the first 4 096 bytes in hexadecimal if they are not valid UTF-8. */
function readable(base64) {
  const all = decoded(base64);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(all);
  } catch {
    const line = (at) => [...all.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const lines = Array.from({ length: Math.min(256, Math.ceil(all.length / 16)) }, (_, nth) => line(nth * 16));
    return lines.join("\n") + (all.length > 4_096 ? "\n…" : "");
  }
}

function download(body, name = "data", isJson = true) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(new Blob([body], { type: "application/octet-stream" }));
  anchor.download = `${name.replace(/[^\w.-]+/g, "-")}${isJson ? ".json" : ".bin"}`;
  anchor.click();
  URL.revokeObjectURL(anchor.href);
}
