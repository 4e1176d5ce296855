// Short messages that disappear after a few seconds.

import { html, signal } from "../app/preact.js";
import { Icon } from "./icon.js";

const messages = signal([]);
let next = 0;

export function showToast(text, tone = "good") {
  const id = (next += 1);
  messages.value = [...messages.value.slice(-3), { id, text, tone }];
  setTimeout(() => {
    messages.value = messages.value.filter((message) => message.id !== id);
  }, tone === "bad" ? 9_000 : 4_000);
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${messages.value.map(({ id, text, tone }) => html`<p key=${id} class="toast ${tone}"><${Icon} name=${tone === "bad" ? "alert" : "check"} />${text}</p>`)}
  </div>`;
}
