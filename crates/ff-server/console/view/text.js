// Small pieces of text: moments, ids, tags, empty pages, problems.

import { html, useState } from "../app/preact.js";
import { serverNow } from "../app/api.js";
import { exact, relative, shortId } from "../app/format.js";
import { minute, now } from "../app/live.js";
import { go, href } from "../app/router.js";
import { Icon } from "./icon.js";
import { say } from "./toast.js";

/** A moment, relative, with the exact one on hover. */
export function Moment({ at }) {
  if (!at) return html`<span class="none">–</span>`;
  (Math.abs(serverNow() - at) < 120_000 ? now : minute).value;
  return html`<time datetime=${new Date(at).toISOString()} title=${exact(at)}>${relative(at, serverNow())}</time>`;
}

/** A moment as the clocks of a time zone show it. */
export function Exact({ at, zone = "UTC" }) {
  const shown = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(at);
  return html`<time datetime=${new Date(at).toISOString()} title=${zone}>${shown}</time>`;
}

export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    say(what);
  } catch {
    say("The browser does not let this page copy", "bad");
  }
}

export function Copy({ text, label = "Copy" }) {
  const take = (event) => {
    event.preventDefault();
    event.stopPropagation();
    copy(text);
  };
  return html`<button type="button" class="copy" title=${label} aria-label=${label} onClick=${take}><${Icon} name="copy" /></button>`;
}

/** An id that leads somewhere, short, and copied whole. */
export function Id({ id, to, whole }) {
  const text = whole ? id : shortId(id);
  const shown = to ? html`<a class="mono" href=${href(to)} title=${id}>${text}</a>` : html`<span class="mono" title=${id}>${text}</span>`;
  return html`<span class="id">${shown}<${Copy} text=${id} label="Copy the id" /></span>`;
}

/** Labels; each leads to what has it. */
export function Tags({ tags, most = 99 }) {
  const pairs = Object.entries(tags || {});
  if (!pairs.length) return null;
  const shown = pairs.slice(0, most);
  return html`<span class="tags">
    ${shown.map(([key, value]) => html`<a class="tag" href=${href(["executions"], { tag: `${key}=${value}` })}>
      <span class="key">${key}</span>${value}</a>`)}
    ${pairs.length > most && html`<span class="tag more">+${pairs.length - most}</span>`}
  </span>`;
}

/** A command that can be pasted. */
export function Command({ text }) {
  return html`<span class="command"><code>${text}</code><${Copy} text=${text} label="Copy the command" /></span>`;
}

/** Where `ff` looks for a server by itself. */
const USUAL = "http://127.0.0.1:7070";

/** A command that asks this very server. */
const here = (command) => (location.origin === USUAL ? command : command.replace(/^ff /, `ff --server ${location.origin} `));

/** A page with nothing on it says what to do first. */
export function Empty({ title, children, commands = [] }) {
  return html`<div class="empty">
    <p class="title">${title}</p>
    ${children && html`<p>${children}</p>`}
    ${commands.map((text) => html`<${Command} text=${here(text)} />`)}
  </div>`;
}

export function Trouble({ error, retry }) {
  return html`<div class="trouble" role="alert">
    <${Icon} name="alert" /><span>${error.status === 403 ? "This key may not see that. " : ""}${error.message}</span>
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

/** Lines in place of what is on its way. */
export function Skeleton({ lines = 6 }) {
  return html`<div class="skeleton" role="status" aria-busy="true" aria-label="Loading">${Array.from({ length: lines }, () => html`<span></span>`)}</div>`;
}

/** What an answer holds: bones until it is there, what went wrong, or what `children` make of it. */
export function Answer({ of, lines, children }) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return html`<${Trouble} error=${of.error} retry=${of.reload} />`;
  return html`<${Skeleton} lines=${lines} />`;
}

/** A row that opens something. Links and buttons inside it work as they are. */
export function opens(parts, params) {
  return {
    onClick: (event) => {
      if (event.target.closest("a, button, input, label") || getSelection().toString()) return;
      if (event.metaKey || event.ctrlKey) window.open(href(parts, params), "_blank", "noopener");
      else go(parts, params);
    },
  };
}

export function Tabs({ tabs, label }) {
  const [chosen, choose] = useState(0);
  const at = Math.min(chosen, tabs.length - 1);
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (at + step + tabs.length) % tabs.length;
    choose(next);
    event.currentTarget.children[next].focus();
  };
  return html`<div class="tabbed">
    <div class="tabs" role="tablist" aria-label=${label} onKeyDown=${move}>
      ${tabs.map((tab, nth) => html`<button type="button" role="tab" aria-selected=${nth === at ? "true" : "false"}
        tabindex=${nth === at ? 0 : -1} onClick=${() => choose(nth)}>${tab.name}${tab.count !== undefined && html` <span class="n">${tab.count}</span>`}</button>`)}
    </div>
    <div class="panel" role="tabpanel" aria-label=${tabs[at].name}>${tabs[at].show()}</div>
  </div>`;
}
