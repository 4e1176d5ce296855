// The pages of the console: name in the address, title in the menu, key after `g`, and roles. To add a page, add a file and a row here.

import { Overview } from "./overview.js";
import { Executions } from "./executions.js";
import { Execution } from "./execution/execution.js";
import { Flows } from "./flows.js";
import { Flow } from "./flow.js";
import { Approvals } from "./approvals.js";
import { Lanes } from "./lanes.js";
import { Workers } from "./workers.js";
import { Schedule, Schedules } from "./schedules.js";
import { Quotas } from "./quotas.js";
import { Budget, Budgets } from "./budgets.js";
import { Events } from "./events.js";
import { Settings } from "./settings.js";

const READ = ["submit", "work", "operate"];

/** `show` renders `/name`. `one` renders `/name/id`, if the page has details. */
export const PAGES = [
  { name: "overview", title: "Overview", letter: "o", roles: READ, show: Overview },
  { name: "executions", title: "Executions", letter: "e", roles: READ, show: Executions, one: Execution },
  { name: "flows", title: "Flows", letter: "f", roles: READ, show: Flows, one: Flow },
  { name: "approvals", title: "Approvals", letter: "a", roles: READ, show: Approvals },
  { name: "lanes", title: "Lanes", letter: "l", roles: READ, show: Lanes },
  { name: "workers", title: "Workers", letter: "w", roles: ["operate"], show: Workers },
  { name: "schedules", title: "Schedules", letter: "c", roles: READ, show: Schedules, one: Schedule },
  { name: "quotas", title: "Quotas", letter: "q", roles: READ, show: Quotas },
  { name: "budgets", title: "Budgets", letter: "b", roles: READ, show: Budgets, one: Budget },
  { name: "events", title: "Events", letter: "v", roles: ["operate"], show: Events },
  { name: "settings", title: "Settings", letter: "s", show: Settings },
];
