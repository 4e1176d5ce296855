// Entry point of the console: loads the session, follows events, listens for keys and renders the shell.

import { html, render } from "./app/preact.js";
import { loadSession } from "./app/session.js";
import { followEvents } from "./app/live.js";
import { listenForKeys } from "./app/keyboard.js";
import { Shell, StartupScreen } from "./view/shell.js";
import { PAGES } from "./page/index.js";

const root = document.getElementById("app");
root.replaceChildren();

async function start() {
  render(html`<${StartupScreen} />`, root);
  for (;;) {
    try {
      await loadSession();
      break;
    } catch (error) {
      render(html`<${StartupScreen} error=${error} />`, root);
      await new Promise((done) => setTimeout(done, 5_000));
    }
  }
  followEvents();
  listenForKeys(PAGES);
  render(html`<${Shell} />`, root);
}

start();
