// The console: starts when the page is there, and shows the page that the address names.

import { html, render } from "./app/preact.js";
import { recall } from "./app/session.js";
import { follow } from "./app/live.js";
import { listen } from "./app/keyboard.js";
import { Shell, Starting } from "./view/shell.js";
import { PAGES } from "./page/index.js";

const root = document.getElementById("app");
root.replaceChildren();

async function start() {
  render(html`<${Starting} />`, root);
  for (;;) {
    try {
      await recall();
      break;
    } catch (error) {
      render(html`<${Starting} error=${error} />`, root);
      await new Promise((done) => setTimeout(done, 5_000));
    }
  }
  follow();
  listen(PAGES);
  render(html`<${Shell} />`, root);
}

start();
