// Named filters, saved in this browser.

import { html, signal } from "../app/preact.js";
import { href } from "../app/router.js";
import { openDialog } from "./dialog.js";
import { Icon } from "./icon.js";

const STORAGE_KEY = "ff-views";

/** The maximum number of saved filters. */
const MAX_SAVED = 30;

const read = () => {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY)) ?? [];
  } catch {
    // The stored value is not JSON.
    return [];
  }
};

const savedFilters = signal(read());

function save(changed) {
  savedFilters.value = changed.slice(-MAX_SAVED);
  localStorage.setItem(STORAGE_KEY, JSON.stringify(savedFilters.value));
}

/** The saved filters of a page, and a button that saves the filter of the address. */
export function SavedFilters({ page, params }) {
  const { cursor, ...filter } = params;
  const text = (one) => JSON.stringify(Object.entries(one).filter(([, value]) => value).sort());
  const own = savedFilters.value.filter((view) => view.page === page);
  const isNew = text({ ...filter, ns: "" }) !== "[]" && !own.some((view) => text(view.params) === text(filter));
  if (!own.length && !isNew) return null;
  const openSaveDialog = () => openDialog({
    title: "Save this filter",
    text: "The filter is saved in this browser.",
    fields: [{ name: "name", label: "Name", required: true }],
    action: "Save",
    run: async ({ name }) => save([...savedFilters.value.filter((view) => view.page !== page || view.name !== name), { page, name, params: filter }]),
  });
  return html`<div class="chips" role="group" aria-label="Saved filters">
    ${own.map((view) => html`<span class="saved" key=${view.name}><a class="button chip" aria-current=${text(view.params) === text(filter) ? "true" : undefined} href=${href([page], view.params)}>${view.name}</a>
      <button type="button" class="copy" aria-label="Delete ${view.name}" onClick=${() => save(savedFilters.value.filter((one) => one !== view))}><${Icon} name="cross" /></button></span>`)}
    ${isNew && html`<button type="button" class="chip" onClick=${openSaveDialog}><${Icon} name="plus" />Save this filter</button>`}
  </div>`;
}
