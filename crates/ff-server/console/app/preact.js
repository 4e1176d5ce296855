// Re-exports of Preact: templates, hooks and signals.

import { h, render, Fragment } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export { render, Fragment };
export { useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback } from "../vendor/hooks.js";
export { signal, computed, effect, batch, useSignal, useComputed } from "../vendor/signals.js";
