// Keys, secrets, the doctor, and what this server is.

import { html, useState } from "../app/preact.js";
import { all, get, isOfAll, may, path, post, session } from "../app/api.js";
import { count, plural } from "../app/format.js";
import { useAnswer } from "../app/live.js";
import { namespace } from "../app/router.js";
import { ask } from "../view/dialog.js";
import { State } from "../view/state.js";
import { Answer, Copy, Empty, Moment, Trouble } from "../view/text.js";

const ROLES = ["submit", "work", "signal", "operate", "admin"];

export function Settings() {
  const isAdmin = may("admin") && isOfAll();
  return html`<h1>Settings</h1><${About} />${isAdmin && html`<${Keys} /><${Secrets} />`}${may("operate") && isOfAll() && html`<${Doctor} />`}`;
}

function About() {
  const answer = useAnswer(() => get("/v1/partitions"), [], { concerns: () => false });
  const { keys, key, version } = session.value;
  return html`<section class="card"><h2>This server</h2><${Answer} of=${answer} lines=${2}>${(deployment) => html`<dl class="facts wide">
    <dt>Version</dt><dd>${version}</dd><dt>Address</dt><dd>${location.origin}</dd><dt>Public address</dt><dd>${deployment.public_url || html`<span class="none">none: approval links begin with this server's own</span>`}</dd>
    <dt>Partitions</dt><dd>${count(deployment.num_flow_partitions)}</dd>
    <dt>Keys</dt><dd>${keys ? "every request needs one" : "none: it serves this machine only"}</dd>
    ${keys && html`<dt>You</dt><dd>${key.name} <span class="none">(${key.key_id}, ${key.roles.join(", ")}${key.namespace ? `, namespace ${key.namespace}` : ""}${key.expires_at ? ", until " : ""})</span>${key.expires_at && html` <${Moment} at=${key.expires_at} />`}</dd>`}
    <dt>API</dt><dd><a href="/openapi.json">openapi.json</a></dd></dl>`}<//></section>`;
}

function Keys() {
  const [fresh, setFresh] = useState(null);
  const answer = useAnswer(() => all("/v1/keys", { limit: 500 }, { items: "keys", next: "next", as: "after", most: 2_000 }), [], { concerns: () => false });
  const create = () =>
    ask({
      title: "Create a key",
      text: session.value.keys ? null : "From the first key on, a server asks for one after its next start.",
      fields: [
        { name: "name", label: "Name", required: true },
        { name: "roles", label: "Roles", type: "checks", options: ROLES },
        { name: "namespace", label: "Namespace", value: namespace.value, hint: "Empty for all; an administrator's key has none." },
        { name: "days", label: "Valid for so many days", type: "number", min: 1, hint: "For good when empty." },
      ],
      action: "Create",
      run: async ({ name, roles, namespace: ns, days }) => {
        const body = { name, roles, namespace: ns, ttl_ms: days && days * 86_400_000 };
        setFresh(await post("/v1/keys", body));
        answer.reload();
      },
    });
  return html`<section class="card"><div class="head"><h2>API keys</h2><div class="actions"><button type="button" onClick=${create}>Create a key</button></div></div>
    ${fresh?.key && html`<p class="fresh" role="status">The key of ${fresh.name}, shown this once: <code>${fresh.key}</code><${Copy} text=${fresh.key} label="Copy the key" /></p>`}
    <${Answer} of=${answer} lines=${3}>${(keys) => (keys.length ? html`<div class="table flat"><table><thead><tr><th>Name</th><th class="md">Id</th><th>Roles</th><th class="md">Namespace</th><th class="num md">Created</th><th class="num">Valid</th><th></th></tr></thead>
      <tbody>${keys.map((key) => html`<tr class=${key.revoked_at ? "gone" : ""}><td>${key.name}</td><td class="md mono">${key.key_id}</td><td>${key.roles.join(", ")}</td><td class="md">${key.namespace || html`<span class="none">all</span>`}</td><td class="num md"><${Moment} at=${key.created_at} /></td>
        <td class="num">${key.revoked_at ? html`revoked <${Moment} at=${key.revoked_at} />` : key.expires_at ? html`<${Moment} at=${key.expires_at} />` : "for good"}</td><td class="num">${!key.revoked_at && html`<button type="button" class="plain" onClick=${() => revoke(key, answer.reload)}>Revoke</button>`}</td></tr>`)}</tbody></table></div>`
      : html`<${Empty} title="There are no keys" commands=${["ff keys create --name admin --role admin"]}>Without keys the server serves this machine only.<//>`)}<//></section>`;
}

function revoke(key, done) {
  ask({
    title: `Revoke ${key.name}?`,
    text: "Requests with it are refused within seconds, for good.",
    action: "Revoke",
    danger: true,
    run: async () => {
      await post(path`/v1/keys/${key.key_id}/revoke`);
      done();
      return "The key is revoked";
    },
  });
}

/** The secret that signs tokens of waitpoints and streams. */
function Secrets() {
  const answer = useAnswer(() => get("/v1/secrets"), [], { concerns: () => false });
  const rotate = () =>
    ask({
      title: "Rotate the secret",
      text: "New tokens are signed with a new secret, which this browser draws. Tokens of the one before stay good for the grace.",
      fields: [
        { name: "kid", label: "Name of the new secret", required: true, value: `k${Math.floor(Date.now() / 1_000)}` },
        { name: "hours", label: "Grace in hours", type: "number", min: 0, value: 24, required: true },
      ],
      action: "Rotate",
      run: async ({ kid, hours }) => {
        const secret_hex = [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
        const report = await post("/v1/secrets/rotate", { kid, secret_hex, grace_ms: hours * 3_600_000 });
        answer.reload();
        if (report.failed.length) throw new Error(`${plural(report.failed.length, "partition")} did not take it; rotate again with the same name`);
        return "The secret is rotated";
      },
    });
  const kids = (partitions) => [...new Set(partitions.map((one) => one.current_kid).filter(Boolean))];
  return html`<section class="card"><div class="head"><h2>Secrets</h2><div class="actions"><button type="button" onClick=${rotate}>Rotate</button></div></div>
    <${Answer} of=${answer} lines=${1}>${({ partitions }) => html`<dl class="facts wide"><dt>Current</dt><dd>${kids(partitions).join(", ") || html`<span class="none">none yet: it is made when it is needed</span>`}</dd>
      <dt>Still good</dt><dd>${[...new Set(partitions.flatMap((one) => one.verifying.map((retired) => retired.kid)))].join(", ") || html`<span class="none">none</span>`}</dd></dl>`}<//></section>`;
}

/** Checks the invariants of the store, when asked to: it reads everything. */
function Doctor() {
  const [state, setState] = useState({});
  const examine = async () => {
    setState({ busy: true });
    setState(await get("/v1/doctor").then((report) => ({ report })).catch((error) => ({ error })));
  };
  const { busy, report, error } = state;
  return html`<section class="card"><div class="head"><h2>Doctor</h2><div class="actions"><button type="button" disabled=${busy} onClick=${examine}>${busy ? "Looking …" : "Examine the store"}</button></div></div>
    ${error && html`<${Trouble} error=${error} />`}
    ${!report && !error && html`<p class="none">Compares every index and counter with the records. It reads the whole store.</p>`}
    ${report && (report.findings.length ? html`<table><tbody>${report.findings.map((finding) => html`<tr><td>${finding.invariant}</td><td class="mono">${finding.about}</td><td>${finding.what}</td></tr>`)}</tbody></table>` : html`<p><${State} of="completed" quiet /> ${plural(report.executions, "execution")} on ${plural(report.partitions, "partition")}: nothing is wrong.</p>`)}</section>`;
}
