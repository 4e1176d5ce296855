// Questions before something is done, one at a time.

import { html, signal, useEffect, useRef, useState } from "../app/preact.js";
import { Icon } from "./icon.js";
import { say } from "./toast.js";

const open = signal(null);

// A question belongs to the page it was asked on.
addEventListener("hashchange", () => {
  open.value = null;
});

/**
 * Asks before doing: `{ title, text, fields, action, danger, run }`. A field is `{ name, label, type, value, options, required, hint, rows }`. `run`
 * gets the values; what it returns is said, and what it throws is shown where it was asked.
 */
export function ask(question) {
  open.value = question;
}

/** Does something at once, and says how it went. */
export async function attempt(run, done) {
  try {
    const said = await run();
    say(typeof said === "string" ? said : done);
    return true;
  } catch (error) {
    say(error.message, "bad");
    return false;
  }
}

export function Dialogs() {
  const question = open.value;
  return question && html`<${Dialog} key=${question} question=${question} />`;
}

function Dialog({ question }) {
  const box = useRef();
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const { title, text, fields = [], action = "OK", danger, run } = question;
  useEffect(() => {
    box.current.showModal();
    box.current.querySelector("input, textarea, select, footer [type=submit]").focus();
  }, []);
  const close = () => {
    open.value = null;
  };
  const submit = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(fields.map((field) => [field.name, valueOf(event.target.elements[field.name], field)]));
    setBusy(true);
    setError(null);
    try {
      const said = await run(values);
      if (said) say(said);
      close();
    } catch (problem) {
      setError(problem.message);
      setBusy(false);
    }
  };
  return html`<dialog ref=${box} class="dialog" aria-labelledby="dialog-title" onCancel=${close} onClose=${close}>
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
