// The current page, from the part of the address after the #. The address includes the filter, so a link does too.

import { signal, computed } from "./preact.js";
import { session } from "./api.js";

const read = () => {
  const [where, search] = location.hash.replace(/^#/, "").split("?");
  const parts = where.split("/").filter(Boolean).map(decodeURIComponent);
  return { parts, params: Object.fromEntries(new URLSearchParams(search || "")) };
};

/** The current address as `{ parts, params }`. */
export const route = signal(read());

addEventListener("hashchange", () => {
  route.value = read();
});

/** The current namespace: the namespace of the key, otherwise that of the address, otherwise `default`. */
export const namespace = computed(() => (session.value && session.value.key?.namespace) || route.value.params.ns || "default");

/** The address of a page. It keeps the namespace of the current address unless `params` sets one. */
export function href(parts, params = {}) {
  const ns = "ns" in params ? params.ns : route.value.params.ns;
  const pairs = Object.entries({ ...params, ns: ns === "default" ? "" : ns });
  const search = new URLSearchParams(pairs.filter(([, value]) => value !== undefined && value !== "")).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

export function go(parts, params) {
  location.hash = href(parts, params);
}

/** Changes URL parameters of the current page without a new entry in the browser's history. */
export function updateParams(changes) {
  const { parts, params } = route.value;
  const where = href(parts, { ...params, ...changes });
  history.replaceState(null, "", where);
  route.value = read();
}
