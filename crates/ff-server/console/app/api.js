// Calls of the HTTP API, and the session of this browser.

import { signal } from "./preact.js";

/** An error response of the server. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the server responded with ${status}`);
    this.status = status;
    this.code = body.code;
  }
}

/** The request did not reach the server, or the server sent no response. */
export class ServerUnreachable extends Error {
  constructor() {
    super("the server does not respond");
  }
}

/** The session: `{ keys, key: { key_id, name, roles, namespace }, version }`. Null while it loads; false if the server needs a key. */
export const session = signal(null);

/** The number of calls that got no response. When it increases, live.js polls until the server responds. */
export const unreachableCalls = signal(0);

/** How far the server's clock is ahead, in milliseconds. A difference of up to five seconds counts as 0: it may be the response time. */
export let clockAhead = 0;

/** Whether the session's key has one of these roles. The role `admin` allows everything, and so does a server without keys. */
export function may(...roles) {
  const who = session.value;
  if (!who) return false;
  return !who.keys || [...roles, "admin"].some((role) => who.key.roles.includes(role));
}

/** Whether the session's key is not limited to one namespace. */
export function hasAllNamespaces() {
  const who = session.value;
  return Boolean(who) && (!who.keys || !who.key.namespace);
}

export function query(params = {}) {
  const pairs = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(pairs).toString();
  return text ? `?${text}` : "";
}

/** A template tag that builds a path and encodes each value. */
export function path(parts, ...values) {
  return parts.reduce((whole, part, at) => whole + encodeURIComponent(values[at - 1]) + part);
}

export const get = (where, params, options) => call("GET", where + query(params), undefined, options);
export const post = (where, body = {}, options) => call("POST", where, body, options);

async function call(method, where, body, { abort, exact, headers } = {}) {
  const requestHeaders = { Accept: "application/json", ...headers };
  if (method === "POST") {
    requestHeaders["Content-Type"] = "application/json";
    // Pages of other origins cannot send this header, so it shows that the request comes from this console.
    requestHeaders["FF-Console"] = "1";
  }
  let response, text;
  try {
    response = await fetch(where, {
      method,
      headers: requestHeaders,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: abort,
      credentials: "same-origin",
      cache: "no-store",
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    unreachableCalls.value += 1;
    throw new ServerUnreachable();
  }
  noteClock(response);
  if (response.ok) return text ? parse(text, exact) : null;
  const apiError = new ApiError(response.status, problemOf(text));
  if (response.status === 401 && session.value) session.value = false;
  throw apiError;
}

function problemOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** A number that JavaScript cannot represent exactly, kept as its source text. */
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

/** Parses JSON. With `exact`, numbers that JavaScript cannot represent exactly become `ExactNumber`. */
export function parse(text, exact) {
  if (!exact) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) => {
    const isChanged = typeof value === "number" && context && context.source !== String(value);
    return isChanged ? new ExactNumber(context.source) : value;
  });
}

function noteClock(response) {
  const serverTime = Date.parse(response.headers.get("date") || "");
  const ahead = serverTime - Date.now();
  clockAhead = Math.abs(ahead) > 5_000 ? ahead : 0;
}

/** The current time of the server's clock. */
export const serverNow = () => Date.now() + clockAhead;

/** Reads the pages of a listing, following its cursor, until the last page or until `most` items are found. */
export async function getAll(where, params, { items, next, as, most = Infinity }) {
  const found = [];
  let from;
  do {
    const page = await get(where, { ...params, [as]: from });
    found.push(...page[items]);
    from = page[next];
  } while (from !== undefined && from !== null && found.length < most);
  return found;
}
