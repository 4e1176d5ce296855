// The live output of an execution. The output of superseded attempts is struck out.

import { html, useEffect, useRef, useState } from "../app/preact.js";
import { get, path, ServerUnreachable } from "../app/api.js";
import { humanize } from "../app/format.js";
import { Content } from "./json.js";

/** The number of output items that the page keeps. */
const MAX_ITEMS = 5_000;

const RETRY = 5_000;

/** Follows the output by long polls. The event feed already uses a connection, and browsers open only a few per server. */
function useStream(id) {
  const [stream, setStream] = useState({ items: [], ended: false, loading: true });
  useEffect(() => {
    const abort = new AbortController();
    const pause = () => new Promise((done) => setTimeout(done, RETRY));
    (async () => {
      let [from, wait] = [undefined, 0];
      while (!abort.signal.aborted) {
        try {
          const page = await get(path`/v1/executions/${id}/stream`, { from, limit: 1_000, wait_ms: wait }, { abort: abort.signal });
          setStream((before) => ({ items: [...before.items, ...page.items].slice(-MAX_ITEMS), ended: page.ended }));
          from = page.next;
          if (page.ended) return;
          wait = page.items.length >= 1_000 ? 0 : 30_000;
        } catch (error) {
          if (abort.signal.aborted) return;
          setStream((before) => ({ ...before, loading: false, error }));
          if (!(error instanceof ServerUnreachable) && error.status < 500 && error.status !== 429) return;
          await pause();
        }
      }
    })();
    return () => abort.abort();
  }, [id]);
  return stream;
}

export function Stream({ id }) {
  const { items, ended, loading, error } = useStream(id);
  const box = useRef();
  const followsEnd = useRef(true);
  useEffect(() => {
    if (followsEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [items]);
  const attempts = byAttempt(items);
  const attemptsWithOutput = attempts.filter((attempt) => attempt.parts.length);
  if (loading) return html`<p class="none">…</p>`;
  if (error && !items.length) return html`<p class="none">${error.message}</p>`;
  if (!attemptsWithOutput.length) return html`<p class="none">${ended ? "The execution has no output." : "No output yet."}</p>`;
  const scrolled = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
    followsEnd.current = scrollHeight - scrollTop - clientHeight < 24;
  };
  return html`<div class="stream" ref=${box} onScroll=${scrolled} tabindex="0" role="log" aria-label="Output">
    ${attemptsWithOutput.map((attempt) => html`<section class=${attempt.by === undefined ? "" : "superseded"}>
      ${(attempts.length > 1 || attempt.by !== undefined) && html`<h4>attempt ${attempt.nth + 1}${attempt.by === undefined ? "" : html`, superseded by attempt ${attempt.by + 1}: its output no longer counts`}</h4>`}
      <div class="out">${attempt.parts.map((part) => part.show())}</div>
      ${attempt.outcome && html`<p class="none">${humanize(attempt.outcome)}</p>`}
    </section>`)}
    ${!ended && html`<span class="caret" aria-hidden="true"></span>`}
  </div>`;
}

/** Groups items by attempt, and joins consecutive text of the same channel. */
function byAttempt(items) {
  const attempts = new Map();
  for (const item of items) {
    if (!attempts.has(item.attempt)) attempts.set(item.attempt, { nth: item.attempt, parts: [] });
    const attempt = attempts.get(item.attempt);
    if (item.item === "superseded") attempt.by = item.by;
    else if (item.item === "closed") attempt.outcome = item.outcome;
    else if (item.item === "trimmed") attempt.parts.push(note(`${item.to - item.from} frames were trimmed`));
    else if (item.item === "summary") attempt.parts = [tree(item.document)];
    else add(attempt.parts, item);
  }
  return [...attempts.values()];
}

function add(parts, frame) {
  const last = parts.at(-1);
  if (frame.text !== undefined && frame.text !== null) {
    if (last?.channel === frame.channel) last.text += frame.text;
    else parts.push(text(frame.channel, frame.text));
  } else if (frame.json !== undefined) parts.push(tree(frame.json));
  else parts.push(note(`${Math.floor(((frame.base64 || "").length * 3) / 4)} bytes`));
}

function text(channel, first) {
  const part = { channel, text: first };
  part.show = () => html`<span class=${channel === "out" ? "" : "other"} title=${channel === "out" ? undefined : channel}>${part.text}</span>`;
  return part;
}

const tree = (json) => ({ show: () => html`<div class="doc"><${Content} json=${json} name="frame" open=${1} /></div>` });
const note = (text) => ({ show: () => html`<span class="none">[${text}]</span>` });
