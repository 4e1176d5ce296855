// Calls of the HTTP API, and who is asking.

import { signal } from "./preact.js";

/** What the server answers instead of what was asked for. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the server answered ${status}`);
    this.status = status;
    this.code = body.code;
  }
}

/** The server did not answer at all. */
export class Away extends Error {
  constructor() {
    super("the server does not answer");
  }
}

/** Who asks: `{ keys, key: { key_id, name, roles, namespace }, version }`. Null until it is known; false when a key is asked for. */
export const session = signal(null);

/** Increased when a call did not reach the server: live.js then asks whether the server is there. */
export const misses = signal(0);

/** How far the server's clock is ahead, in milliseconds. A difference of up to five seconds counts as none: it may be the time an answer takes. */
export let clockAhead = 0;

/** Whether the key that was shown has one of these roles. An administrator may do everything, and so may everyone where there are no keys. */
export function may(...roles) {
  const who = session.value;
  if (!who) return false;
  return !who.keys || [...roles, "admin"].some((role) => who.key.roles.includes(role));
}

/** Whether the key is for the whole deployment. */
export function isOfAll() {
  const who = session.value;
  return Boolean(who) && (!who.keys || !who.key.namespace);
}

export function query(params = {}) {
  const pairs = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(pairs).toString();
  return text ? `?${text}` : "";
}

/** A path of which each part is text. */
export function path(parts, ...values) {
  return parts.reduce((whole, part, at) => whole + encodeURIComponent(values[at - 1]) + part);
}

export const get = (where, params, options) => call("GET", where + query(params), undefined, options);
export const post = (where, body = {}, options) => call("POST", where, body, options);

async function call(method, where, body, { abort, exact, headers } = {}) {
  const sent = { Accept: "application/json", ...headers };
  if (method === "POST") {
    sent["Content-Type"] = "application/json";
    // A page of another origin cannot send this header, so a request that has it is one of this console.
    sent["FF-Console"] = "1";
  }
  let response, text;
  try {
    response = await fetch(where, {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: abort,
      credentials: "same-origin",
      cache: "no-store",
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    misses.value += 1;
    throw new Away();
  }
  noteClock(response);
  if (response.ok) return text ? parse(text, exact) : null;
  const problem = new Problem(response.status, problemOf(text));
  if (response.status === 401 && session.value) session.value = false;
  throw problem;
}

function problemOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** A number that JavaScript would change is kept as it is written. */
export class ExactNumber {
  constructor(source) {
    this.source = source;
  }
  toString() {
    return this.source;
  }
  toJSON() {
    return JSON.rawJSON ? JSON.rawJSON(this.source) : Number(this.source);
  }
}

/** JSON as a value; `exact` keeps numbers that JavaScript would change. */
export function parse(text, exact) {
  if (!exact) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) => {
    const isChanged = typeof value === "number" && context && context.source !== String(value);
    return isChanged ? new ExactNumber(context.source) : value;
  });
}

function noteClock(response) {
  const said = Date.parse(response.headers.get("date") || "");
  const ahead = said - Date.now();
  clockAhead = Math.abs(ahead) > 5_000 ? ahead : 0;
}

/** What time it is for the server. */
export const serverNow = () => Date.now() + clockAhead;

/** Every page of a listing that names its next one, up to a bound. */
export async function all(where, params, { items, next, as, most = Infinity }) {
  const found = [];
  let from;
  do {
    const page = await get(where, { ...params, [as]: from });
    found.push(...page[items]);
    from = page[next];
  } while (from !== undefined && from !== null && found.length < most);
  return found;
}
