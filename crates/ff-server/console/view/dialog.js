// Dialogs for input and confirmation, one at a time.

import { html, signal, useEffect, useRef, useState } from "../app/preact.js";
import { Icon } from "./icon.js";
import { showToast } from "./toast.js";

const currentOptions = signal(null);

// Leaving the page closes its dialog.
addEventListener("hashchange", () => {
  currentOptions.value = null;
});

/**
 * Opens a dialog: `{ title, text, fields, action, danger, run }`. A field is `{ name, label, type, value, options, required, hint, rows }`.
 * `run` gets the values. A text that it returns is shown as a toast, and the message of an error that it throws is shown in the dialog.
 */
export function openDialog(options) {
  currentOptions.value = options;
}

/** Calls `run` without a dialog, and shows its result or its error as a toast. */
export async function runAndReport(run, done) {
  try {
    const message = await run();
    showToast(typeof message === "string" ? message : done);
    return true;
  } catch (error) {
    showToast(error.message, "bad");
    return false;
  }
}

export function Dialogs() {
  const options = currentOptions.value;
  return options && html`<${Dialog} key=${options} options=${options} />`;
}

function Dialog({ options }) {
  const dialog = useRef();
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const { title, text, fields = [], action = "OK", danger, run } = options;
  useEffect(() => {
    dialog.current.showModal();
    dialog.current.querySelector("input, textarea, select, footer [type=submit]").focus();
  }, []);
  const close = () => {
    currentOptions.value = null;
  };
  const submit = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(fields.map((field) => [field.name, valueOf(event.target.elements[field.name], field)]));
    setBusy(true);
    setError(null);
    try {
      const message = await run(values);
      if (message) showToast(message);
      close();
    } catch (failure) {
      setError(failure.message);
      setBusy(false);
    }
  };
  return html`<dialog ref=${dialog} class="dialog" aria-labelledby="dialog-title" onCancel=${close} onClose=${close}>
    <form onSubmit=${submit}>
      <header><h2 id="dialog-title">${title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${close}><${Icon} name="cross" /></button></header>
      ${text && html`<div class="text">${text}</div>`}
      ${fields.map((field) => html`<${Field} field=${field} />`)}
      ${error && html`<p class="wrong" role="alert">${error}</p>`}
      <footer>
        <button type="button" onClick=${close}>Back</button>
        <button type="submit" class=${danger ? "danger" : "primary"} disabled=${busy}>${action}</button>
      </footer>
    </form>
  </dialog>`;
}

function valueOf(element, field) {
  if (field.type === "checks") {
    const boxes = element instanceof RadioNodeList ? [...element] : [element];
    return boxes.filter((one) => one.checked).map((one) => one.value);
  }
  if (field.type === "check") return element.checked;
  if (field.type === "number") return element.value === "" ? undefined : Number(element.value);
  return element.value.trim() || undefined;
}

function Field({ field }) {
  const { name, label, type = "text", value, options, required, hint, min, max, rows = 3 } = field;
  const id = `field-${name}`;
  if (type === "checks") {
    return html`<fieldset class="field"><legend>${label}</legend>
      <div class="checks">${options.map((option) => html`<label><input type="checkbox" name=${name} value=${option} />${option}</label>`)}</div>
      ${hint && html`<small>${hint}</small>`}</fieldset>`;
  }
  if (type === "check") {
    return html`<label class="field one"><input type="checkbox" name=${name} defaultChecked=${value} />${label}</label>`;
  }
  const input =
    type === "choice"
      ? html`<select id=${id} name=${name}>${options.map((option) => html`<option value=${option.value ?? option} selected=${(option.value ?? option) === value}>${option.label ?? option}</option>`)}</select>`
      : type === "long"
        ? html`<textarea id=${id} name=${name} rows=${rows} required=${required}>${value}</textarea>`
        : html`<input id=${id} name=${name} type=${type} defaultValue=${value ?? ""} required=${required} min=${min} max=${max} autocomplete="off" spellcheck=${false} />`;
  return html`<div class="field"><label for=${id}>${label}</label>${input}${hint && html`<small>${hint}</small>`}</div>`;
}
