// Filters that this browser remembers under a name.

import { html, signal } from "../app/preact.js";
import { href } from "../app/router.js";
import { ask } from "./dialog.js";
import { Icon } from "./icon.js";

const STORED = "ff-views";

/** How many are remembered. */
const MOST = 30;

const read = () => {
  try {
    return JSON.parse(localStorage.getItem(STORED)) ?? [];
  } catch {
    // Something else was written there.
    return [];
  }
};

const views = signal(read());

function remember(changed) {
  views.value = changed.slice(-MOST);
  localStorage.setItem(STORED, JSON.stringify(views.value));
}

/** The saved filters of a page, and a button that saves the one in the address. */
export function Saved({ page, params }) {
  const { cursor, ...filter } = params;
  const text = (one) => JSON.stringify(Object.entries(one).filter(([, value]) => value).sort());
  const own = views.value.filter((view) => view.page === page);
  const isNew = text({ ...filter, ns: "" }) !== "[]" && !own.some((view) => text(view.params) === text(filter));
  if (!own.length && !isNew) return null;
  const save = () => ask({
    title: "Save this filter",
    text: "This browser remembers it.",
    fields: [{ name: "name", label: "Name", required: true }],
    action: "Save",
    run: async ({ name }) => remember([...views.value.filter((view) => view.page !== page || view.name !== name), { page, name, params: filter }]),
  });
  return html`<div class="chips" role="group" aria-label="Saved filters">
    ${own.map((view) => html`<span class="saved" key=${view.name}><a class="button chip" aria-current=${text(view.params) === text(filter) ? "true" : undefined} href=${href([page], view.params)}>${view.name}</a>
      <button type="button" class="copy" aria-label="Forget ${view.name}" onClick=${() => remember(views.value.filter((one) => one !== view))}><${Icon} name="cross" /></button></span>`)}
    ${isNew && html`<button type="button" class="chip" onClick=${save}><${Icon} name="plus" />Save this filter</button>`}
  </div>`;
}
