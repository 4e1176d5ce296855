// Settings: this server, API keys, secrets, and the doctor.

import { html, useState } from "../app/preact.js";
import { getAll, get, hasAllNamespaces, may, path, post, session } from "../app/api.js";
import { count, plural } from "../app/format.js";
import { useResponse } from "../app/live.js";
import { namespace } from "../app/router.js";
import { openDialog } from "../view/dialog.js";
import { State } from "../view/state.js";
import { ResponseView, CopyButton, EmptyState, Moment, ErrorNotice } from "../view/text.js";

const ROLES = ["submit", "work", "signal", "operate", "admin"];

export function Settings() {
  const isAdmin = may("admin") && hasAllNamespaces();
  return html`<h1>Settings</h1><${ServerInfo} />${isAdmin && html`<${Keys} /><${Secrets} />`}
    ${may("operate") && hasAllNamespaces() && html`<${Doctor} />`}`;
}

function ServerInfo() {
  const response = useResponse(() => get("/v1/partitions"), [], { isRelevant: () => false });
  const { keys, key, version } = session.value;
  return html`<section class="card"><h2>This server</h2><${ResponseView} of=${response} lines=${2}>${(deployment) => html`<dl class="facts wide">
    <dt>Version</dt><dd>${version}</dd><dt>Address</dt><dd>${location.origin}</dd><dt>Public address</dt><dd>${deployment.public_url || html`<span class="none">none: approval links use the address of this server</span>`}</dd>
    <dt>Partitions</dt><dd>${count(deployment.num_flow_partitions)}</dd>
    <dt>Keys</dt><dd>${keys ? "every request needs a key" : "none: the server serves the local machine only"}</dd>
    ${keys && html`<dt>Your key</dt><dd>${key.name} <span class="none">(${key.key_id}, ${key.roles.join(", ")}${key.namespace ? `, namespace ${key.namespace}` : ""}${key.expires_at ? ", until " : ""})</span>${key.expires_at && html` <${Moment} at=${key.expires_at} />`}</dd>`}
    <dt>API</dt><dd><a href="/openapi.json">openapi.json</a></dd></dl>`}<//></section>`;
}

function Keys() {
  const [newKey, setNewKey] = useState(null);
  const response = useResponse(() => getAll("/v1/keys", { limit: 500 }, { items: "keys", next: "next", as: "after", most: 2_000 }), [], { isRelevant: () => false });
  const create = () =>
    openDialog({
      title: "Create a key",
      text: session.value.keys ? null : "After the first key is created, a server requires a key from its next start on.",
      fields: [
        { name: "name", label: "Name", required: true },
        { name: "roles", label: "Roles", type: "checks", options: ROLES },
        { name: "namespace", label: "Namespace", value: namespace.value, hint: "All if empty. Leave empty for the role admin." },
        { name: "days", label: "Validity in days", type: "number", min: 1, hint: "No expiry if empty." },
      ],
      action: "Create",
      run: async ({ name, roles, namespace: ns, days }) => {
        const body = { name, roles, namespace: ns, ttl_ms: days && days * 86_400_000 };
        setNewKey(await post("/v1/keys", body));
        response.reload();
      },
    });
  return html`<section class="card"><div class="head"><h2>API keys</h2><div class="actions"><button type="button" onClick=${create}>Create a key</button></div></div>
    ${newKey?.key && html`<p class="fresh" role="status">The key ${newKey.name}, shown only once: <code>${newKey.key}</code><${CopyButton} text=${newKey.key} label="Copy the key" /></p>`}
    <${ResponseView} of=${response} lines=${3}>${(keys) => (keys.length ? html`<div class="table flat"><table><thead><tr><th>Name</th><th class="md">Id</th><th>Roles</th><th class="md">Namespace</th><th class="num md">Created</th><th class="num">Expires</th><th></th></tr></thead>
      <tbody>${keys.map((key) => html`<tr class=${key.revoked_at ? "gone" : ""}><td>${key.name}</td><td class="md mono">${key.key_id}</td><td>${key.roles.join(", ")}</td><td class="md">${key.namespace || html`<span class="none">all</span>`}</td><td class="num md"><${Moment} at=${key.created_at} /></td>
        <td class="num">${key.revoked_at ? html`revoked <${Moment} at=${key.revoked_at} />` : key.expires_at ? html`<${Moment} at=${key.expires_at} />` : "never"}</td><td class="num">${!key.revoked_at && html`<button type="button" class="plain" onClick=${() => revoke(key, response.reload)}>Revoke</button>`}</td></tr>`)}</tbody></table></div>`
      : html`<${EmptyState} title="No keys yet" commands=${["ff keys create --name admin --role admin"]}>A server without keys serves the local machine only.<//>`)}<//></section>`;
}

function revoke(key, done) {
  openDialog({
    title: `Revoke ${key.name}?`,
    text: "The server refuses requests with this key within seconds. A revoked key cannot be restored.",
    action: "Revoke",
    danger: true,
    run: async () => {
      await post(path`/v1/keys/${key.key_id}/revoke`);
      done();
      return "The key is revoked";
    },
  });
}

/** The secret that signs the tokens of waitpoints and streams. */
function Secrets() {
  const response = useResponse(() => get("/v1/secrets"), [], { isRelevant: () => false });
  const rotate = () =>
    openDialog({
      title: "Rotate the secret",
      text: "This browser generates a new secret, which signs new tokens. Tokens of the previous secret stay valid for the grace period.",
      fields: [
        { name: "kid", label: "Name of the new secret", required: true, value: `k${Math.floor(Date.now() / 1_000)}` },
        { name: "hours", label: "Grace period in hours", type: "number", min: 0, value: 24, required: true },
      ],
      action: "Rotate",
      run: async ({ kid, hours }) => {
        const secret_hex = [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
        const report = await post("/v1/secrets/rotate", { kid, secret_hex, grace_ms: hours * 3_600_000 });
        response.reload();
        if (report.failed.length) throw new Error(`${plural(report.failed.length, "partition")} failed; rotate again with the same name`);
        return "The secret is rotated";
      },
    });
  const kids = (partitions) => [...new Set(partitions.map((one) => one.current_kid).filter(Boolean))];
  return html`<section class="card"><div class="head"><h2>Secrets</h2><div class="actions"><button type="button" onClick=${rotate}>Rotate</button></div></div>
    <${ResponseView} of=${response} lines=${1}>${({ partitions }) => html`<dl class="facts wide"><dt>Current</dt><dd>${kids(partitions).join(", ") || html`<span class="none">none yet: the server creates a secret when it needs one</span>`}</dd>
      <dt>Still valid</dt><dd>${[...new Set(partitions.flatMap((one) => one.verifying.map((retired) => retired.kid)))].join(", ") || html`<span class="none">none</span>`}</dd></dl>`}<//></section>`;
}

/** Checks the invariants of the store on request, because a check reads the whole store. */
function Doctor() {
  const [state, setState] = useState({});
  const check = async () => {
    setState({ busy: true });
    setState(await get("/v1/doctor").then((report) => ({ report })).catch((error) => ({ error })));
  };
  const { busy, report, error } = state;
  return html`<section class="card"><div class="head"><h2>Doctor</h2><div class="actions"><button type="button" disabled=${busy} onClick=${check}>${busy ? "Checking …" : "Check the store"}</button></div></div>
    ${error && html`<${ErrorNotice} error=${error} />`}
    ${!report && !error && html`<p class="none">The check compares every index and counter with the records. It reads the whole store.</p>`}
    ${report && (report.findings.length ? html`<table><tbody>${report.findings.map((finding) => html`<tr><td>${finding.invariant}</td><td class="mono">${finding.about}</td><td>${finding.what}</td></tr>`)}</tbody></table>` : html`<p><${State} of="completed" quiet /> ${plural(report.executions, "execution")} on ${plural(report.partitions, "partition")}: no problems found.</p>`)}</section>`;
}
