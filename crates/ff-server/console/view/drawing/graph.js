// A graph that can be moved and magnified.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../app/preact.js";
import { go } from "../../app/router.js";
import { words } from "../../app/format.js";
import { Icon } from "../icon.js";
import { layout } from "./layout.js";

const WIDE = 168;
const HIGH = 40;
const [ACROSS, DOWN] = [WIDE + 64, HIGH + 14];

/** How small a graph is drawn at first: one that is higher than its frame, and one that is only long. A larger one goes beyond its
 * frame, and is moved. */
const SMALLEST = { high: 0.5, long: 0.8 };

const TALLEST = 560;

/** Nodes are `{ id, title, detail, state, counts, to, marked }`, edges `{ from, to, marked }`. */
export function Graph({ nodes, edges, shape }) {
  const placed = useMemo(() => layout(nodes, edges), [shape]);
  const size = { width: placed.layers * ACROSS - 64 + 24, height: placed.tallest * DOWN - 14 + 24 };
  const box = useRef();
  const [view, setView] = useState(null);
  const height = Math.min(TALLEST, Math.max(120, size.height));
  const [width, setWidth] = useState(1_100);
  useLayoutEffect(() => setWidth(box.current.clientWidth || 1_100), []);
  const shown = view ?? start(size, width, height);
  const zoom = (by, centre = { x: shown.x + shown.width / 2, y: shown.y + shown.height / 2 }) => {
    const [width, height] = [shown.width * by, shown.height * by];
    if (width < 120 || width > 8 * size.width + 4_000) return;
    setView({ x: centre.x - (centre.x - shown.x) * by, y: centre.y - (centre.y - shown.y) * by, width, height });
  };
  const latest = useRef();
  latest.current = { zoom, shown };
  useEffect(() => setView(null), [shape]);
  useEffect(() => {
    // Preact's own listeners may not keep a page from scrolling.
    const wheel = (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { zoom, shown } = latest.current;
      zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, pointOf(event, box.current, shown));
    };
    const element = box.current;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);
  const drag = (down) => {
    if (down.button !== 0) return;
    const from = { x: down.clientX, y: down.clientY, ...shown };
    const scale = scaleOf(box.current, shown);
    let moved = false;
    const move = (event) => {
      moved ||= Math.hypot(event.clientX - from.x, event.clientY - from.y) > 4;
      if (moved) setView({ ...shown, x: shown.x - (event.clientX - down.clientX) * scale, y: shown.y - (event.clientY - down.clientY) * scale });
    };
    const up = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  };
  const where = (id) => {
    const node = placed.nodes.get(id);
    return node && { x: node.layer * ACROSS, y: node.row * DOWN };
  };
  return html`<div class="graph">
    <div class="tools">
      <button type="button" aria-label="Magnify" title="Magnify" onClick=${() => zoom(0.8)}><${Icon} name="plus" /></button>
      <button type="button" aria-label="Make smaller" title="Make smaller" onClick=${() => zoom(1.25)}><${Icon} name="minus" /></button>
      <button type="button" aria-label="Show all" title="Show all" onClick=${() => setView({ x: -12, y: -12, ...size })}><${Icon} name="fit" /></button>
    </div>
    <svg ref=${box} role="group" aria-label="Graph of the flow" viewBox="${shown.x} ${shown.y} ${shown.width} ${shown.height}" onPointerDown=${drag}
      style=${{ height: `${height}px` }}>
      ${edges.map(({ from, to, marked, state }) => {
        const [a, b] = [where(from), where(to)];
        if (!a || !b) return null;
        const [x, y, u, v] = [a.x + WIDE, a.y + HIGH / 2, b.x, b.y + HIGH / 2];
        const bend = Math.max(28, (u - x) / 2);
        return html`<path class="edge ${marked ? "marked" : ""} ${state || ""}" d="M${x} ${y}C${x + bend} ${y} ${u - bend} ${v} ${u} ${v}" />`;
      })}
      ${nodes.map((node) => html`<${Node} key=${node.id} node=${node} at=${where(node.id)} />`)}
    </svg>
  </div>`;
}

/** What is seen at first: all of it where it is legible, otherwise its beginning. */
function start(size, width, height) {
  const smallest = size.height > TALLEST ? SMALLEST.high : SMALLEST.long;
  const scale = Math.min(1, Math.max(smallest, Math.min(width / size.width, height / size.height)));
  const [across, down] = [width / scale, height / scale];
  const x = across >= size.width ? -12 - (across - size.width) / 2 : -12;
  return { x, y: -12 - (down - size.height) / 2, width: across, height: down };
}

function Node({ node, at }) {
  if (!at) return null;
  const { title, detail, state, counts, to, marked, params } = node;
  const open = to && {
    role: "link",
    tabindex: 0,
    onClick: () => go(to, params),
    onKeyDown: (event) => event.key === "Enter" && go(to, params),
  };
  const said = [title, detail, !counts && words(state), marked && "on the critical path"].filter(Boolean).join(", ");
  return html`<g class="node s-${state} ${marked ? "marked" : ""}" transform="translate(${at.x} ${at.y})" ...${open}>
    <title>${said}</title>
    <rect class="card" width=${WIDE} height=${HIGH} rx="6" />
    ${counts ? html`<${Shares} counts=${counts} />` : html`<rect class="strip" width="4" height=${HIGH - 12} x="6" y="6" rx="2" />`}
    <text class="title" x="16" y="17" aria-hidden="true">${fit(title, 22)}</text>
    <text class="detail" x="16" y="31" aria-hidden="true">${fit(detail || "", 26)}</text>
  </g>`;
}

/** How many of a group are in each state. */
function Shares({ counts }) {
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  let x = 8;
  return Object.entries(counts).map(([state, n]) => {
    const width = ((WIDE - 16) * n) / all;
    const bar = html`<rect class="share s-${state}" x=${x} y=${HIGH - 6} width=${width} height="3" />`;
    x += width;
    return bar;
  });
}

const fit = (text, letters) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);

function scaleOf(box, shown) {
  const { width, height } = box.getBoundingClientRect();
  return Math.max(shown.width / width, shown.height / height);
}

function pointOf(event, box, shown) {
  const { left, top, width, height } = box.getBoundingClientRect();
  const scale = scaleOf(box, shown);
  return {
    x: shown.x + shown.width / 2 + (event.clientX - left - width / 2) * scale,
    y: shown.y + shown.height / 2 + (event.clientY - top - height / 2) * scale,
  };
}
