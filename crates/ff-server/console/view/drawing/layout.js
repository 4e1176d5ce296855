// The layout of a graph: layers from left to right, each ordered so that few edges cross.

/** The number of passes that reorder the layers. */
const SWEEPS = 6;

/** Lays out nodes `{ id }` and edges `{ from, to }`. Each node gets `layer` and `row`. Flows have no cycles, so each node has a layer. */
export function layout(nodes, edges) {
  const byId = new Map(nodes.map((node) => [node.id, { ...node, layer: 0, up: [], down: [] }]));
  for (const { from, to } of edges) {
    const [upstream, downstream] = [byId.get(from), byId.get(to)];
    if (!upstream || !downstream || upstream === downstream) continue;
    upstream.down.push(downstream);
    downstream.up.push(upstream);
  }
  const all = [...byId.values()];
  const pending = new Map(all.map((node) => [node, node.up.length]));
  const ready = all.filter((node) => !node.up.length);
  for (const node of ready) {
    for (const next of node.down) {
      next.layer = Math.max(next.layer, node.layer + 1);
      pending.set(next, pending.get(next) - 1);
      if (pending.get(next) === 0) ready.push(next);
    }
  }
  const layers = [];
  all.forEach((node) => (layers[node.layer] ||= []).push(node));
  layers.forEach((layer) => layer.forEach((node, row) => (node.row = row)));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const [side, order] = sweep % 2 ? ["down", [...layers].reverse()] : ["up", layers];
    for (const layer of order) {
      const weight = new Map(layer.map((node) => [node, centre(node, node[side])]));
      layer.sort((a, b) => weight.get(a) - weight.get(b) || a.row - b.row);
      layer.forEach((node, row) => (node.row = row));
    }
  }
  const tallest = Math.max(1, ...layers.map((layer) => layer.length));
  layers.forEach((layer) => layer.forEach((node) => (node.row += (tallest - layer.length) / 2)));
  return { nodes: byId, layers: layers.length, tallest };
}

const centre = (node, neighbours) => (neighbours.length ? neighbours.reduce((sum, other) => sum + other.row, 0) / neighbours.length : node.row);

/** The critical path: the chain of dependent members with the largest sum of run times, as `took` returns them. */
export function criticalPath(members, edges, took) {
  const up = new Map();
  for (const { from, to } of edges) {
    if (!up.has(to)) up.set(to, []);
    up.get(to).push(from);
  }
  const best = new Map();
  // An explicit stack instead of recursion: a member is handled after all of its upstream members.
  const stack = [...members.keys()];
  while (stack.length) {
    const id = stack.at(-1);
    if (best.has(id)) {
      stack.pop();
      continue;
    }
    const before = (up.get(id) || []).filter((other) => members.has(other));
    const open = before.filter((other) => !best.has(other));
    if (open.length && stack.length < 4 * members.size + 16) {
      stack.push(...open);
      continue;
    }
    const last = before.filter((other) => best.has(other)).reduce((most, other) => (most && best.get(most).sum >= best.get(other).sum ? most : other), undefined);
    best.set(id, { sum: (last ? best.get(last).sum : 0) + took(members.get(id)), before: last });
    stack.pop();
  }
  let [end, sum] = [undefined, 0];
  best.forEach((value, id) => {
    if (value.sum > sum) [end, sum] = [id, value.sum];
  });
  const chain = new Set();
  for (let id = end; id !== undefined; id = best.get(id).before) chain.add(id);
  return { chain, sum };
}
