// graphile-worker on Postgres: jobs with a priority and attempts, added in bulk and then drained. Prints jobs per second.
//
// usage: node graphile-worker.mjs URL JOBS plain|tuned
import { Logger, makeWorkerUtils, run } from 'graphile-worker';

const [connectionString, count, how] = process.argv.slice(2);
const jobs = Number(count);
const BULK = 1000;
const AT_ONCE = 50;
// It asks for more jobs than run at once, and deletes finished ones in batches.
const tuned = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

// A line for every job would cost more than the job.
const logger = new Logger(() => () => {});
const payload = { payload: 'x'.repeat(100) };
const utils = await makeWorkerUtils({ connectionString, logger });
await utils.migrate();
const began = performance.now();
for (let from = 0; from < jobs; from += BULK) {
  const some = Math.min(BULK, jobs - from);
  const specs = Array.from({ length: some }, () => ({ identifier: 'job', payload, priority: 5, maxAttempts: 6 }));
  await utils.addJobs(specs);
}
let left = jobs;
let runner;
await new Promise((drained) => {
  const taskList = { job: async () => { --left || drained(); } };
  const worker = { connectionString, concurrentJobs: AT_ONCE, maxPoolSize: AT_ONCE, logger, ...(how === 'tuned' ? tuned : {}) };
  run({ preset: { worker }, taskList }).then((started) => { runner = started; });
});
// The last jobs are deleted before it has stopped.
await runner.stop();
console.log(Math.round(jobs / ((performance.now() - began) / 1000)));
await utils.release();
