// BullMQ on a Valkey: jobs with a priority, attempts and a result, added in bulk and then drained. Prints jobs per second.
//
// usage: node bullmq.mjs PORT JOBS
import { Queue, Worker } from 'bullmq';

const [port, jobs] = process.argv.slice(2).map(Number);
const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
const BULK = 1000;
const WORKERS = 4;
const AT_ONCE = 50;

const payload = 'x'.repeat(100);
const result = 'r'.repeat(100);
const opts = { priority: 5, attempts: 6, backoff: { type: 'fixed', delay: 1000 } };

const queue = new Queue('bench', { connection });
await queue.waitUntilReady();
const began = performance.now();
for (let from = 0; from < jobs; from += BULK) {
  const some = Math.min(BULK, jobs - from);
  await queue.addBulk(Array.from({ length: some }, () => ({ name: 'job', data: { payload }, opts })));
}
let left = jobs;
const workers = [];
await new Promise((drained) => {
  for (let nth = 0; nth < WORKERS; nth++) {
    const worker = new Worker('bench', async () => result, { connection, concurrency: AT_ONCE });
    worker.on('completed', () => --left || drained());
    workers.push(worker);
  }
});
console.log(Math.round(jobs / ((performance.now() - began) / 1000)));
await Promise.all(workers.map((worker) => worker.close()));
await queue.close();
