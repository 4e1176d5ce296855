// The layout around every page: menu, search, banner, help and log-in.

import { html, useEffect, useRef, useState } from "../app/preact.js";
import { get, hasAllNamespaces, may, path, session } from "../app/api.js";
import { helpIsOpen } from "../app/keyboard.js";
import { connectionState, useResponse } from "../app/live.js";
import { logIn, logOut } from "../app/session.js";
import { go, href, namespace, route, updateParams } from "../app/router.js";
import { PAGES } from "../page/index.js";
import { Dialogs } from "./dialog.js";
import { Icon } from "./icon.js";
import { STATES } from "./state.js";
import { Toasts, showToast } from "./toast.js";
import { EmptyState } from "./text.js";

export function StartupScreen({ error }) {
  return html`<div class="login"><${Brand} />${error && html`<p class="wrong" role="alert">${error.message}. Retrying …</p>`}</div>`;
}

const Brand = () => html`<a class="brand" href="#/"><img src="/console/icon.svg" alt="" width="22" height="22" />FlowFabric</a>`;

const mayOpen = (page) => !page.roles || may(...page.roles);

export function Shell() {
  const [menu, setMenu] = useState(false);
  const main = useRef();
  const { parts } = route.value;
  const page = PAGES.find((page) => page.name === (parts[0] || "overview"));
  const key = parts.join("/");
  useEffect(() => {
    document.title = page ? `${parts[1] ? `${parts[1].slice(-8)} · ` : ""}${page.title} · FlowFabric` : "FlowFabric";
    setMenu(false);
    scrollTo(0, 0);
  }, [key]);
  if (!session.value) return html`<${LogIn} /><${Toasts} />`;
  return html`<a class="skip" href="#main" onClick=${(event) => (event.preventDefault(), main.current.focus())}>Skip to the content</a>
    <div class="shell">
      <header class="side ${menu ? "open" : ""}">
        <${Brand} />
        <button type="button" class="menu plain" aria-expanded=${menu ? "true" : "false"} aria-controls="nav" aria-label="Menu" onClick=${() => setMenu(!menu)}><${Icon} name="menu" /></button>
        <nav id="nav" aria-label="Pages">
          ${PAGES.filter(mayOpen).map((one) => html`<a href=${href(one.name === "overview" ? [] : [one.name])} aria-current=${one === page ? "page" : undefined} title="g ${one.letter}">
            <${Icon} name=${one.name} />${one.title}${one.name === "approvals" && html`<${ApprovalCount} />`}</a>`)}
        </nav>
        <${Footer} />
      </header>
      <div class="body">
        <${Banner} />
        <div class="top"><${Search} /><${Namespaces} /></div>
        <main id="main" tabindex="-1" ref=${main} key=${key}>${page && mayOpen(page) ? html`<${page.one && parts[1] ? page.one : page.show} id=${parts[1]} />` : html`<${PageUnavailable} page=${page} />`}</main>
      </div>
    </div>
    <${Dialogs} /><${Help} /><${Toasts} />`;
}

/** The number of executions that wait for an approval, for the menu. */
function ApprovalCount() {
  const load = () => get("/v1/executions", { state: "suspended", blocking_reason: undefined, namespace: namespace.value, limit: 100 });
  const response = useResponse(load, [namespace.value], { intervalMs: 3_000, isRelevant: ({ event }) => event === "suspended" || event === "released" || event === "finished" });
  const open = (response.data?.executions || []).filter((one) => one.suspension?.reason === "waiting_for_approval").length;
  return open > 0 && html`<span class="n">${open >= 100 ? "99+" : open}<span class="sr"> waiting</span></span>`;
}

function Footer() {
  const { keys, key, version } = session.value;
  const statusText = { live: "live", polling: "every 5 s", away: "no response", connecting: "connecting" }[connectionState.value];
  return html`<div class="foot">
    <span class="link ${connectionState.value}" role="status"><span class="lamp"></span>${statusText}</span>
    ${keys && html`<span class="who" title=${key.roles.join(", ")}>${key.name}</span><button type="button" class="plain" onClick=${logOut}>Log out</button>`}
    <span class="version">${version}</span>
  </div>`;
}

function Banner() {
  if (connectionState.value !== "away") return null;
  return html`<p class="banner" role="alert"><${Icon} name="alert" />The server does not respond. The page shows the last data it received, and continues when the server is back.</p>`;
}

function Namespaces() {
  const own = session.value.key?.namespace;
  const load = () => (hasAllNamespaces() && may("submit", "work", "operate") ? get("/v1/lanes", { limit: 1_000, finished: false }) : { lanes: [] });
  const response = useResponse(load, [], { intervalMs: 60_000, isRelevant: () => false });
  if (own) return html`<span class="ns" title="The namespace of this key">${own}</span>`;
  const names = [...new Set(["default", namespace.value, ...(response.data?.lanes || []).map((lane) => lane.namespace)])].sort();
  if (names.length < 2) return null;
  return html`<label class="ns"><span class="sr">Namespace</span><select onChange=${(event) => updateParams({ ns: event.target.value })}>
    ${names.map((name) => html`<option selected=${name === namespace.value}>${name}</option>`)}</select></label>`;
}

/** Opens the execution or flow with an id, or the list of executions filtered by state, tag or kind. */
function Search() {
  const submit = async (event) => {
    event.preventDefault();
    const text = event.target.elements.search.value.trim();
    if (!text) return;
    event.target.elements.search.blur();
    if (/^\{fp:\d+\}:/.test(text)) return go(["executions", text]);
    if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/i.test(text)) {
      const found = await get(path`/v1/flows/${text}`, { graph: 0 }).catch(() => null);
      return found ? go(["flows", text]) : showToast("No flow has this id. Execution ids start with {fp:", "bad");
    }
    if (STATES.includes(text.replace(/ /g, "_"))) return go(["executions"], { state: text.replace(/ /g, "_") });
    go(["executions"], text.includes("=") ? { tag: text } : { kind: text });
  };
  return html`<form class="search" role="search" onSubmit=${submit}><${Icon} name="search" />
    <input id="search" name="search" type="search" placeholder="Id, kind, state or tag=value" aria-label="Search" autocomplete="off" spellcheck=${false} /><kbd>/</kbd></form>`;
}

function PageUnavailable({ page }) {
  return page
    ? html`<${EmptyState} title="This key has no access">This page needs a key with the role ${page.roles.join(" or ")}.<//>`
    : html`<${EmptyState} title="This page does not exist">The menu lists all pages.<//>`;
}

function LogIn() {
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    await logIn(event.target.elements.key.value.trim()).catch((problem) => setError(problem.message));
  };
  if (session.value === null) return html`<${StartupScreen} />`;
  return html`<main class="login"><form onSubmit=${submit}>
    <${Brand} />
    <p>This server needs an API key. The browser stores it in a cookie that scripts cannot read, for twelve hours or until you log out.</p>
    <div class="field"><label for="key">API key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" placeholder="ff_…" required autofocus spellcheck=${false} /></div>
    ${error && html`<p class="wrong" role="alert">${error}</p>`}
    <button type="submit" class="primary">Log in</button>
    <p class="none">No key yet? An administrator creates one:</p>
    <code class="block">ff keys create --name you --role operate</code>
  </form></main>`;
}

const KEYS = [
  ["/", "search"],
  ["j  k", "next, previous row"],
  ["Enter", "open the row"],
  ["x", "select the row"],
  ["?", "this help"],
  ["Esc", "leave a field or a dialog"],
];

function Help() {
  const box = useRef();
  useEffect(() => {
    if (helpIsOpen.value) box.current?.showModal();
  }, [helpIsOpen.value]);
  if (!helpIsOpen.value) return null;
  const close = () => {
    helpIsOpen.value = false;
  };
  const goTo = PAGES.filter(mayOpen).map((page) => [`g  ${page.letter}`, page.title]);
  return html`<dialog ref=${box} class="dialog" aria-label="Keys" onClose=${close} onClick=${(event) => event.target === box.current && close()}>
    <header><h2>Keys</h2><button type="button" class="plain" aria-label="Close" onClick=${close}><${Icon} name="cross" /></button></header>
    <dl class="keys">${[...KEYS, ...goTo].map(([keys, what]) => html`<dt>${keys.split("  ").map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${what}</dd>`)}</dl>
  </dialog>`;
}
