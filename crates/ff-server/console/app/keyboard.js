// Keyboard shortcuts: go to a page, move through rows, open a row, search, show the help.

import { signal } from "./preact.js";
import { go } from "./router.js";

export const helpIsOpen = signal(false);

addEventListener("hashchange", () => {
  helpIsOpen.value = false;
});

let prefix = 0;

const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable], dialog[open]");

/** Listens for keys. Each page has a letter: `g` and the letter opens the page. */
export function listenForKeys(pages) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isTyping(event.target)) return event.target.blur?.();
    if (isTyping(event.target)) return;
    if (Date.now() - prefix < 1_500) {
      prefix = 0;
      const page = pages.find((page) => page.letter === event.key);
      if (page) {
        event.preventDefault();
        go(page.name === "overview" ? [] : [page.name]);
      }
      return;
    }
    const action = { g: startPrefix, "/": search, "?": help, j: () => move(1), k: () => move(-1), Enter: enter, x: select }[event.key];
    if (action && action(event) !== false) event.preventDefault();
  });
}

function startPrefix() {
  prefix = Date.now();
}

function help() {
  helpIsOpen.value = !helpIsOpen.value;
}

function search() {
  document.querySelector("#search")?.focus();
}

const rows = () => [...document.querySelectorAll("main [data-row]")];
const current = () => document.activeElement?.closest?.("[data-row]");

function move(by) {
  const all = rows();
  const at = all.indexOf(current());
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function enter() {
  const row = document.activeElement?.matches?.("[data-row]") ? document.activeElement : null;
  if (!row) return false;
  const link = row.querySelector("a[data-main]") ?? row.querySelector("a");
  link ? link.click() : row.click();
}

function select() {
  const box = current()?.querySelector("input[type=checkbox]");
  if (!box) return false;
  box.click();
}
