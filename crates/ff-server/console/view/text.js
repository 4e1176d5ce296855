// Shared elements: times, ids, tags, commands, empty pages, errors, tabs.

import { html, useState } from "../app/preact.js";
import { serverNow } from "../app/api.js";
import { timestamp, relative, shortId } from "../app/format.js";
import { minute, now } from "../app/live.js";
import { go, href } from "../app/router.js";
import { Icon } from "./icon.js";
import { showToast } from "./toast.js";

/** A relative time, with the exact time on hover. */
export function Moment({ at }) {
  if (!at) return html`<span class="none">–</span>`;
  (Math.abs(serverNow() - at) < 120_000 ? now : minute).value;
  return html`<time datetime=${new Date(at).toISOString()} title=${timestamp(at)}>${relative(at, serverNow())}</time>`;
}

/** A time in a time zone. */
export function ZonedTime({ at, zone = "UTC" }) {
  const shown = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(at);
  return html`<time datetime=${new Date(at).toISOString()} title=${zone}>${shown}</time>`;
}

export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    showToast(what);
  } catch {
    showToast("The browser does not allow this page to copy", "bad");
  }
}

export function CopyButton({ text, label = "Copy" }) {
  const onClick = (event) => {
    event.preventDefault();
    event.stopPropagation();
    copy(text);
  };
  return html`<button type="button" class="copy" title=${label} aria-label=${label} onClick=${onClick}><${Icon} name="copy" /></button>`;
}

/** An id, shortened unless `whole`, as a link if `to` is set, with a button that copies the full id. */
export function Id({ id, to, whole }) {
  const text = whole ? id : shortId(id);
  const shown = to ? html`<a class="mono" href=${href(to)} title=${id}>${text}</a>` : html`<span class="mono" title=${id}>${text}</span>`;
  return html`<span class="id">${shown}<${CopyButton} text=${id} label="Copy the id" /></span>`;
}

/** Tags, each a link to the executions with this tag. */
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

/** A command with a copy button. */
export function Command({ text }) {
  return html`<span class="command"><code>${text}</code><${CopyButton} text=${text} label="Copy the command" /></span>`;
}

/** The server that `ff` uses without the option --server. */
const DEFAULT_SERVER = "http://127.0.0.1:7070";

/** Adds --server to a command if this server is not the default of `ff`. */
const withServer = (command) => (location.origin === DEFAULT_SERVER ? command : command.replace(/^ff /, `ff --server ${location.origin} `));

/** The content of a page without data: a title, an explanation, and commands to run. */
export function EmptyState({ title, children, commands = [] }) {
  return html`<div class="empty">
    <p class="title">${title}</p>
    ${children && html`<p>${children}</p>`}
    ${commands.map((text) => html`<${Command} text=${withServer(text)} />`)}
  </div>`;
}

export function ErrorNotice({ error, retry }) {
  return html`<div class="trouble" role="alert">
    <${Icon} name="alert" /><span>${error.status === 403 ? "This key has no access. " : ""}${error.message}</span>
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

/** Placeholder lines while data loads. */
export function Skeleton({ lines = 6 }) {
  return html`<div class="skeleton" role="status" aria-busy="true" aria-label="Loading">${Array.from({ length: lines }, () => html`<span></span>`)}</div>`;
}

/** Renders a response: a placeholder while it loads, the error, or `children` with the data. */
export function ResponseView({ of, lines, children }) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return html`<${ErrorNotice} error=${of.error} retry=${of.reload} />`;
  return html`<${Skeleton} lines=${lines} />`;
}

/** The attributes of a row that opens a page on click. Links and buttons inside it keep their own behaviour. */
export function rowLink(parts, params) {
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
