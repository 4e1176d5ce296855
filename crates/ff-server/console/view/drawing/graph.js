// A graph that can be panned and zoomed.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../app/preact.js";
import { go } from "../../app/router.js";
import { humanize } from "../../app/format.js";
import { Icon } from "../icon.js";
import { layout } from "./layout.js";

const NODE_WIDTH = 168;
const NODE_HEIGHT = 40;
const [COLUMN_STEP, ROW_STEP] = [NODE_WIDTH + 64, NODE_HEIGHT + 14];

/** The minimum initial scale of a graph that is higher than its frame, and of one that is only wider. A larger graph is cut off at the
 * frame and can be panned. */
const MIN_SCALE = { high: 0.5, long: 0.8 };

const MAX_HEIGHT = 560;

/** Nodes are `{ id, title, detail, state, counts, to, marked }`, edges `{ from, to, marked }`. */
export function Graph({ nodes, edges, shape }) {
  const placed = useMemo(() => layout(nodes, edges), [shape]);
  const size = { width: placed.layers * COLUMN_STEP - 64 + 24, height: placed.tallest * ROW_STEP - 14 + 24 };
  const box = useRef();
  const [view, setView] = useState(null);
  const height = Math.min(MAX_HEIGHT, Math.max(120, size.height));
  const [width, setWidth] = useState(1_100);
  useLayoutEffect(() => setWidth(box.current.clientWidth || 1_100), []);
  const shown = view ?? initialView(size, width, height);
  const zoom = (by, centre = { x: shown.x + shown.width / 2, y: shown.y + shown.height / 2 }) => {
    const [width, height] = [shown.width * by, shown.height * by];
    if (width < 120 || width > 8 * size.width + 4_000) return;
    setView({ x: centre.x - (centre.x - shown.x) * by, y: centre.y - (centre.y - shown.y) * by, width, height });
  };
  const latest = useRef();
  latest.current = { zoom, shown };
  useEffect(() => setView(null), [shape]);
  useEffect(() => {
    // Listeners of Preact may be passive, and a passive listener cannot prevent scrolling.
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
  const positionOf = (id) => {
    const node = placed.nodes.get(id);
    return node && { x: node.layer * COLUMN_STEP, y: node.row * ROW_STEP };
  };
  return html`<div class="graph">
    <div class="tools">
      <button type="button" aria-label="Zoom in" title="Zoom in" onClick=${() => zoom(0.8)}><${Icon} name="plus" /></button>
      <button type="button" aria-label="Zoom out" title="Zoom out" onClick=${() => zoom(1.25)}><${Icon} name="minus" /></button>
      <button type="button" aria-label="Show all" title="Show all" onClick=${() => setView({ x: -12, y: -12, ...size })}><${Icon} name="fit" /></button>
    </div>
    <svg ref=${box} role="group" aria-label="Graph of the flow" viewBox="${shown.x} ${shown.y} ${shown.width} ${shown.height}" onPointerDown=${drag}
      style=${{ height: `${height}px` }}>
      ${edges.map(({ from, to, marked, state }) => {
        const [a, b] = [positionOf(from), positionOf(to)];
        if (!a || !b) return null;
        const [x, y, u, v] = [a.x + NODE_WIDTH, a.y + NODE_HEIGHT / 2, b.x, b.y + NODE_HEIGHT / 2];
        const bend = Math.max(28, (u - x) / 2);
        return html`<path class="edge ${marked ? "marked" : ""} ${state || ""}" d="M${x} ${y}C${x + bend} ${y} ${u - bend} ${v} ${u} ${v}" />`;
      })}
      ${nodes.map((node) => html`<${Node} key=${node.id} node=${node} at=${positionOf(node.id)} />`)}
    </svg>
  </div>`;
}

/** The initial view: the whole graph if it is legible at that scale, otherwise its first layers. */
function initialView(size, width, height) {
  const smallest = size.height > MAX_HEIGHT ? MIN_SCALE.high : MIN_SCALE.long;
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
  const description = [title, detail, !counts && humanize(state), marked && "on the critical path"].filter(Boolean).join(", ");
  return html`<g class="node s-${state} ${marked ? "marked" : ""}" transform="translate(${at.x} ${at.y})" ...${open}>
    <title>${description}</title>
    <rect class="card" width=${NODE_WIDTH} height=${NODE_HEIGHT} rx="6" />
    ${counts ? html`<${Shares} counts=${counts} />` : html`<rect class="strip" width="4" height=${NODE_HEIGHT - 12} x="6" y="6" rx="2" />`}
    <text class="title" x="16" y="17" aria-hidden="true">${truncate(title, 22)}</text>
    <text class="detail" x="16" y="31" aria-hidden="true">${truncate(detail || "", 26)}</text>
  </g>`;
}

/** A bar of the number of executions of a group in each state. */
function Shares({ counts }) {
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  let x = 8;
  return Object.entries(counts).map(([state, n]) => {
    const width = ((NODE_WIDTH - 16) * n) / all;
    const bar = html`<rect class="share s-${state}" x=${x} y=${NODE_HEIGHT - 6} width=${width} height="3" />`;
    x += width;
    return bar;
  });
}

const truncate = (text, max) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

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
