// Which page is shown, from the part of the address behind the #. Filters are in the address, so a link holds them.

import { signal, computed } from "./preact.js";
import { session } from "./api.js";

const read = () => {
  const [where, search] = location.hash.replace(/^#/, "").split("?");
  const parts = where.split("/").filter(Boolean).map(decodeURIComponent);
  return { parts, params: Object.fromEntries(new URLSearchParams(search || "")) };
};

/** `{ parts, params }` of the address. */
export const place = signal(read());

addEventListener("hashchange", () => {
  place.value = read();
});

/** The namespace that is looked at: that of the key, or the one in the address. */
export const namespace = computed(() => (session.value && session.value.key?.namespace) || place.value.params.ns || "default");

/** The address of a page. The namespace goes along. */
export function href(parts, params = {}) {
  const ns = "ns" in params ? params.ns : place.value.params.ns;
  const pairs = Object.entries({ ...params, ns: ns === "default" ? "" : ns });
  const search = new URLSearchParams(pairs.filter(([, value]) => value !== undefined && value !== "")).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

export function go(parts, params) {
  location.hash = href(parts, params);
}

/** Changes the filter of the page that is shown, without a step in the history of the browser. */
export function refine(changes) {
  const { parts, params } = place.value;
  const where = href(parts, { ...params, ...changes });
  history.replaceState(null, "", where);
  place.value = read();
}
