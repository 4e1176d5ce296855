// The event feed of the server, over one connection per tab, and the state of that connection.

import { signal, effect, useEffect, useRef, useState } from "./preact.js";
import { get, may, unreachableCalls, session, ServerUnreachable } from "./api.js";
import { namespace } from "./router.js";

/** The polling interval while the server pushes no events, and the pause between attempts to reach the server. */
const POLL_INTERVAL_MS = 5_000;

/** `live`: the server pushes events. `polling`: this key may not follow the event feed. `away`: the server does not respond. */
export const connectionState = signal("connecting");

/** The current time in milliseconds and in minutes. Components that show relative times read one of them and are rendered again. */
export const now = signal(Date.now());
export const minute = signal(0);
setInterval(() => {
  if (document.hidden) return;
  now.value = Date.now();
  minute.value = Math.floor(now.value / 60_000);
}, 1_000);

const listeners = new Set();
const notify = (events) => listeners.forEach((listener) => listener(events));

let source = null;
let cursor = null;
let polling = 0;

/** Follows the event feed of a namespace. A new connection continues at the cursor of the previous one. */
function connect(ns) {
  close();
  if (!may("operate")) {
    connectionState.value = "polling";
    polling = setInterval(() => document.hidden || notify(null), POLL_INTERVAL_MS);
    return;
  }
  const from = cursor ? `&after=${encodeURIComponent(cursor)}` : "";
  const stream = new EventSource(`/v1/events?namespace=${encodeURIComponent(ns)}${from}`);
  source = stream;
  stream.addEventListener("events", (message) => {
    const isReconnected = connectionState.value === "away";
    connectionState.value = "live";
    cursor = message.lastEventId;
    const page = JSON.parse(message.data);
    // Listeners reload everything if events were missed.
    if (isReconnected || page.missed) notify(null);
    else if (page.events.length) notify(page.events);
  });
  stream.onerror = () => {
    if (source !== stream) return;
    close();
    waitForServer(ns);
  };
}

function close() {
  source?.close();
  source = null;
  clearInterval(polling);
}

let isWaitingForServer = false;

/** Polls the session until the server responds, then connects again. */
async function waitForServer(ns) {
  if (isWaitingForServer) return;
  isWaitingForServer = true;
  for (;;) {
    try {
      await get("/v1/session");
      break;
    } catch (error) {
      if (!(error instanceof ServerUnreachable) && error.status < 500) break;
      connectionState.value = "away";
    }
    await new Promise((done) => setTimeout(done, POLL_INTERVAL_MS));
  }
  isWaitingForServer = false;
  if (session.value) {
    connect(ns);
    notify(null);
  }
}

/** Follows the event feed, and reconnects when the namespace or the session changes. */
export function followEvents() {
  effect(() => {
    const ns = namespace.value;
    if (!session.value) return close();
    cursor = null;
    connect(ns);
  });
  effect(() => {
    if (unreachableCalls.value && connectionState.peek() !== "away") waitForServer(namespace.peek());
  });
}

/** Calls `listener` with new events while the component is mounted, or with null if anything may have changed. */
export function useEvents(listener) {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const onEvents = (events) => latest.current(events);
    listeners.add(onEvents);
    return () => listeners.delete(onEvents);
  }, []);
}

/**
 * Loads data, and loads it again after an event for which `isRelevant` is true, at most once per `intervalMs` milliseconds.
 * Keeps the previous response until the next one arrives.
 */
export function useResponse(load, dependencies, { isRelevant = () => true, intervalMs = 2_000 } = {}) {
  const [response, setResponse] = useState({ loading: true });
  const loaderRef = useRef({});
  const fetchRef = useRef(null);
  useEffect(() => {
    const abort = new AbortController();
    const loader = { finishedAt: 0, timer: 0, isLoading: false, isRequested: false };
    loaderRef.current = loader;
    fetchRef.current = async () => {
      clearTimeout(loader.timer);
      loader.timer = 0;
      if (loader.isLoading) {
        loader.isRequested = true;
        return;
      }
      loader.isLoading = true;
      try {
        const data = await load(abort.signal);
        if (!abort.signal.aborted) setResponse({ data });
      } catch (error) {
        if (abort.signal.aborted) return;
        setResponse((before) => (error instanceof ServerUnreachable && before.data !== undefined ? before : { error }));
      } finally {
        loader.isLoading = false;
        loader.finishedAt = Date.now();
      }
      if (loader.isRequested) {
        loader.isRequested = false;
        loader.schedule();
      }
    };
    loader.schedule = () => {
      const delay = Math.max(150, loader.finishedAt + intervalMs - Date.now());
      if (!loader.timer && !document.hidden) loader.timer = setTimeout(fetchRef.current, delay);
      loader.isStale = document.hidden;
    };
    const onVisible = () => !document.hidden && loader.isStale && loader.schedule();
    document.addEventListener("visibilitychange", onVisible);
    setResponse((before) => ({ ...before, loading: true }));
    fetchRef.current();
    return () => {
      abort.abort();
      clearTimeout(loader.timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, dependencies);
  useEvents((events) => {
    if (events === null || events.some(isRelevant)) loaderRef.current.schedule?.();
  });
  return { ...response, reload: () => fetchRef.current?.() };
}
