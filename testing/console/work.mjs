// A client of the HTTP API: submits executions and runs them as a worker.

/** A client of one server, with an optional API key. */
export class ApiClient {
  constructor(url, key) {
    this.url = url;
    this.key = key;
  }

  async call(method, path, body) {
    const headers = { "Content-Type": "application/json" };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    const response = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  get(path) {
    return this.call("GET", path);
  }

  post(path, body = {}) {
    return this.call("POST", path, body);
  }

  async submit(kind, more = {}) {
    return (await this.post("/v1/executions", { kind, ...more })).execution_id;
  }

  /** Claims one execution of a kind, and returns its id and the calls of its worker. */
  async claim(kind, { lane = "default", namespace = "default", instance = "tests-1", lease_ttl_ms = 600_000 } = {}) {
    const body = { worker_id: "tests", namespace, lanes: [lane], kinds: [kind], max: 1, wait_ms: 5_000, lease_ttl_ms };
    const { executions } = await this.post(`/v1/workers/${instance}/claim`, body);
    if (!executions.length) throw new Error(`no execution of kind ${kind} to claim`);
    const { execution_id, lease_id, lease_epoch, attempt_id } = executions[0];
    const fence = { lease_id, lease_epoch, attempt_id };
    let reports = 0;
    const at = `/v1/executions/${encodeURIComponent(execution_id)}`;
    return {
      id: execution_id,
      complete: (result) => this.post(`${at}/complete`, { ...fence, result }),
      fail: (message, more = {}) => this.post(`${at}/fail`, { ...fence, message, ...more }),
      suspend: (more) => this.post(`${at}/suspend`, { ...fence, ...more }),
      step: (name, result, more = {}) => this.post(`${at}/steps`, { ...fence, name, result, ...more }),
      writeFrames: (...frames) => this.post(`${at}/frames`, { ...fence, frames }),
      reportUsage: (amounts) => this.post(`${at}/usage`, { ...fence, report_id: `${attempt_id}-${(reports += 1)}`, amounts }),
      progress: (percent, message) => this.post(`${at}/progress`, { ...fence, percent, message }),
    };
  }

  register(instance, more = {}) {
    return this.post(`/v1/workers/${instance}/register`, { worker_id: "tests", ttl_ms: 3_600_000, ...more });
  }
}

/** The nodes of a flow of `layers` by `width`. Each node depends on one or two nodes of the previous layer. */
export function layeredFlow(kind, layers, width) {
  const nodes = {};
  for (let layer = 0; layer < layers; layer += 1) {
    for (let nth = 0; nth < width; nth += 1) {
      const after = layer ? [`${kind}-${layer - 1}-${nth}`, `${kind}-${layer - 1}-${(nth + 1) % width}`] : [];
      nodes[`${kind}-${layer}-${nth}`] = { kind: `${kind}.${layer}`, payload: { layer, nth }, after: [...new Set(after)] };
    }
  }
  return nodes;
}
