// What happens on the server, over one connection per tab, and whether the server is there.

import { signal, effect, useEffect, useRef, useState } from "./preact.js";
import { get, may, misses, session, Away } from "./api.js";
import { namespace } from "./router.js";

/** How often pages look again while nothing is pushed. */
const LOOK_AGAIN = 5_000;

/** `live`: events are pushed. `polling`: this key may not follow them. `away`: the server is gone. */
export const link = signal("connecting");

/** The moment, for what counts up on the page; and the minute, for what counts slowly. */
export const now = signal(Date.now());
export const minute = signal(0);
setInterval(() => {
  if (document.hidden) return;
  now.value = Date.now();
  minute.value = Math.floor(now.value / 60_000);
}, 1_000);

const readers = new Set();
const tell = (events) => readers.forEach((reader) => reader(events));

let source = null;
let cursor = null;
let polling = 0;

/** Follows the events of a namespace. Each connection goes on where the one before broke off. */
function connect(ns) {
  close();
  if (!may("operate")) {
    link.value = "polling";
    polling = setInterval(() => document.hidden || tell(null), LOOK_AGAIN);
    return;
  }
  const from = cursor ? `&after=${encodeURIComponent(cursor)}` : "";
  const opened = new EventSource(`/v1/events?namespace=${encodeURIComponent(ns)}${from}`);
  source = opened;
  opened.addEventListener("events", (message) => {
    const isBack = link.value === "away";
    link.value = "live";
    cursor = message.lastEventId;
    const page = JSON.parse(message.data);
    // What was missed is looked up.
    if (isBack || page.missed) tell(null);
    else if (page.events.length) tell(page.events);
  });
  opened.onerror = () => {
    if (source !== opened) return;
    close();
    lookForServer(ns);
  };
}

function close() {
  source?.close();
  source = null;
  clearInterval(polling);
}

let looking = false;

/** Asks now and then whether the server is there, and goes on when it is. */
async function lookForServer(ns) {
  if (looking) return;
  looking = true;
  for (;;) {
    try {
      await get("/v1/session");
      break;
    } catch (error) {
      if (!(error instanceof Away) && error.status < 500) break;
      link.value = "away";
    }
    await new Promise((done) => setTimeout(done, LOOK_AGAIN));
  }
  looking = false;
  if (session.value) {
    connect(ns);
    tell(null);
  }
}

/** Starts following, and begins anew for another namespace or another key. */
export function follow() {
  effect(() => {
    const ns = namespace.value;
    if (!session.value) return close();
    cursor = null;
    connect(ns);
  });
  effect(() => {
    if (misses.value && link.peek() !== "away") lookForServer(namespace.peek());
  });
}

/** Hears of events while a component is shown: a list of them, or null when all may be different. */
export function useEvents(reader) {
  const latest = useRef(reader);
  latest.current = reader;
  useEffect(() => {
    const heard = (events) => latest.current(events);
    readers.add(heard);
    return () => readers.delete(heard);
  }, []);
}

/**
 * What the server answers to a question, asked again when something happens that `concerns` it, at most once in `gap` milliseconds.
 * The answer before stays until the next one is there.
 */
export function useAnswer(ask, depends, { concerns = () => true, gap = 2_000 } = {}) {
  const [answer, setAnswer] = useState({ loading: true });
  const state = useRef({});
  const look = useRef(null);
  useEffect(() => {
    const abort = new AbortController();
    const own = { at: 0, timer: 0, busy: false, again: false };
    state.current = own;
    look.current = async () => {
      clearTimeout(own.timer);
      own.timer = 0;
      if (own.busy) {
        own.again = true;
        return;
      }
      own.busy = true;
      try {
        const data = await ask(abort.signal);
        if (!abort.signal.aborted) setAnswer({ data });
      } catch (error) {
        if (abort.signal.aborted) return;
        setAnswer((before) => (error instanceof Away && before.data !== undefined ? before : { error }));
      } finally {
        own.busy = false;
        own.at = Date.now();
      }
      if (own.again) {
        own.again = false;
        own.soon();
      }
    };
    own.soon = () => {
      const wait = Math.max(150, own.at + gap - Date.now());
      if (!own.timer && !document.hidden) own.timer = setTimeout(look.current, wait);
      own.stale = document.hidden;
    };
    const shown = () => !document.hidden && own.stale && own.soon();
    document.addEventListener("visibilitychange", shown);
    setAnswer((before) => ({ ...before, loading: true }));
    look.current();
    return () => {
      abort.abort();
      clearTimeout(own.timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, depends);
  useEvents((events) => {
    if (events === null || events.some(concerns)) state.current.soon?.();
  });
  return { ...answer, reload: () => look.current?.() };
}
