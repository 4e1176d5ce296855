//! All limits, each defined once. A value above its limit is refused with the field, the limit and the value that was sent.

/// Names: namespaces, kinds, workers, tag keys, content types.
pub const NAME_BYTES: usize = 128;
/// Lane names.
pub const LANE_BYTES: usize = 64;
/// Ids of API keys.
pub const KEY_ID_BYTES: usize = 32;
/// Free text: idempotency keys, tag values, waitpoint keys.
pub const TEXT_BYTES: usize = 256;
/// Input and result of an execution.
pub const PAYLOAD_BYTES: usize = 1024 * 1024;
/// Requests that carry no payload.
pub const CONTROL_BODY_BYTES: usize = 64 * 1024;
/// The `tracestate` of a trace: data of tracing systems.
pub const TRACESTATE_BYTES: usize = 512;
/// Tags of one execution.
pub const TAGS: usize = 32;
/// Tags in the filter of one search.
pub const FILTER_TAGS: usize = 8;
/// Executions that one page of a search examines. Matches may be rare; a page ends after this number.
pub const SEARCH: usize = 10_000;
/// A failure's message, a reason, a progress message.
pub const MESSAGE_BYTES: usize = 8 * 1024;
/// Executions in one bulk submission.
pub const BULK: usize = 1_000;
/// Rows in one page of a listing.
pub const PAGE: usize = 1_000;
/// Bytes of JSON in the rows of a page over HTTP. A page with large rows ends early.
pub const PAGE_BYTES: usize = 1024 * 1024;
/// Lanes that one page of lanes examines, whether it lists them or not.
pub const LANES_EXAMINED: usize = 2 * PAGE;
/// Rows in a page when the request does not say how many.
pub const PAGE_DEFAULT: usize = 50;
/// Executions that one claim may request.
pub const CLAIM: usize = 1_000;
/// Executions that one claim takes from one partition; a worker that wants more claims again. A store that runs one
/// operation at a time is blocked for the duration of a claim.
pub const CLAIM_AT_ONCE: usize = 24;
/// Bytes of payload in the reply to one claim. A claim stops before it exceeds them, but takes at least one execution.
pub const CLAIM_BYTES: usize = 4 * 1024 * 1024;
/// Kinds one claim may name.
pub const CLAIM_KINDS: usize = 256;
/// Lanes one claim may name.
pub const CLAIM_LANES: usize = 64;
/// Default time for which an execution is assigned to a worker instance.
pub const GRANT_TTL_MS: u64 = 30_000;
pub const GRANT_TTL_MIN_MS: u64 = 1_000;
pub const GRANT_TTL_MAX_MS: u64 = 60 * 60 * 1_000;
/// Executions that one call blocks or unblocks. A store that runs one operation at a
/// time is busy for the duration of the call.
pub const BLOCK: usize = 64;
/// Maximum duration of a long poll.
pub const LONG_POLL_MS: u64 = 60_000;

/// Highest concurrency limit of a lane.
pub const CONCURRENCY_MAX: u32 = 1_000_000;
/// Time for which a partition's number of held executions of a limited lane counts as current.
pub const RECOUNT_MS: u64 = 1_000;
/// Partitions whose held executions are counted again when the limit of a lane is reached.
pub const RECOUNT: usize = 16;
/// The longest wait that may weigh as much as one step of priority: a week.
pub const AGEING_MAX_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Number of different priorities in a queue that a claim weighs against age, from the highest. Lower ones are not considered.
pub const AGEING_PRIORITIES: usize = 100;

/// Live executions of one singleton key: the first one, and those queued behind it.
pub const KEY_QUEUE: usize = 256;
/// The longest delay of a debounce key: a day.
pub const DEBOUNCE_MAX_MS: u64 = 24 * 60 * 60 * 1_000;
/// A debounced execution starts at the latest this many times its delay after its first submission.
pub const DEBOUNCE_SPANS: u64 = 10;

/// Budgets of one namespace.
pub const BUDGETS: usize = 256;
/// Dimensions of a budget, and dimensions of the usage of an execution.
pub const BUDGET_DIMENSIONS: usize = 16;
/// Kinds a budget has estimates for.
pub const BUDGET_ESTIMATES: usize = 64;
/// The shortest and the longest interval after which a budget resets: a second and a year.
pub const BUDGET_INTERVAL_MIN_MS: u64 = 1_000;
pub const BUDGET_INTERVAL_MAX_MS: u64 = 366 * 24 * 60 * 60 * 1_000;
/// The largest amount that is counted in a dimension. Every whole number up to it is exact in a double, the number type
/// of Lua and JavaScript.
pub const AMOUNT_MAX: u64 = (1 << 53) - 1;
/// Time for which a usage report is remembered, so that a repeated report is not counted twice.
pub const USAGE_REMEMBERED_MS: u64 = 24 * 60 * 60 * 1_000;
/// Draws on a budget that one report removes once they are older than [`USAGE_REMEMBERED_MS`].
pub const BUDGET_DRAWS_FORGOTTEN: usize = 2;
/// Quota policies of one namespace.
pub const QUOTAS: usize = 256;
/// The highest limit of a quota policy, in a window or for concurrent executions.
pub const QUOTA_LIMIT_MAX: u64 = 1_000_000;
/// The shortest and the longest window of a quota policy: a tenth of a second and 31 days.
pub const QUOTA_WINDOW_MIN_MS: u64 = 100;
pub const QUOTA_WINDOW_MAX_MS: u64 = 31 * 24 * 60 * 60 * 1_000;
/// Time for which a quota policy reserves a slot for a claim that has not led to a lease.
pub const QUOTA_RESERVED_MS: u64 = 10_000;
/// Executions in one request to a quota policy, and rows of one kind that the policy reads under one key.
pub const QUOTA_STEP: usize = 64;
/// Slots of a quota policy that one call releases.
pub const QUOTA_SETTLE: usize = 256;
/// Keys that the description of a quota policy lists.
pub const QUOTA_KEYS_LISTED: usize = 100;
/// Interval at which slots are compared with the leases they belong to.
pub const QUOTA_RECONCILE_MS: u64 = 30_000;

/// Bytes of a schedule's target in its record. The record is written at every tick.
pub const SCHEDULE_BYTES: usize = 256 * 1024;
/// Past ticks that the record of a schedule keeps.
pub const SCHEDULE_TICKS: usize = 10;
/// Future ticks that the description of a schedule lists.
pub const TICKS_LISTED: usize = 5;
/// Missed ticks of a schedule that one turn starts.
pub const TICKS_AT_ONCE: usize = 100;
/// Due schedules of a partition that one turn processes.
pub const SCHEDULES_AT_ONCE: usize = 100;
/// Ticks one backfill may start.
pub const BACKFILL_TICKS: usize = 1_000;
/// The shortest interval of a schedule.
pub const INTERVAL_MIN_MS: u64 = 1_000;
/// The longest random delay of a tick: a day.
pub const JITTER_MAX_MS: u64 = 24 * 60 * 60 * 1_000;
/// Default time after which a late tick no longer starts: a day. An engine that
/// takes over from another one is some seconds late.
pub const CATCH_UP_MS: u64 = 24 * 60 * 60 * 1_000;
pub const CATCH_UP_MIN_MS: u64 = 10_000;
/// Interval at which a queued tick is checked, in case the end that it waits for was not announced.
pub const QUEUED_TICK_CHECK_MS: u64 = 20_000;

/// The highest priority. With a higher one, priority and time would no longer fit in one exact score.
pub const PRIORITY_MAX: u16 = 9_000;

pub const LEASE_TTL_MS: u64 = 30_000;
pub const LEASE_TTL_MIN_MS: u64 = 1_000;
pub const LEASE_TTL_MAX_MS: u64 = 3_600_000;

pub const MAX_RETRIES: u32 = 3;
pub const MAX_RETRIES_MAX: u32 = 1_000_000;
pub const BACKOFF_INITIAL_MS: u64 = 1_000;
pub const BACKOFF_MULTIPLIER: f64 = 2.0;
pub const BACKOFF_MAX_MS: u64 = 60_000;
/// The longest delay of a backoff: a week. Its product with a jitter value is exact in a double.
pub const BACKOFF_CEILING_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
pub const BACKOFF_MULTIPLIER_MAX: f64 = 100.0;
/// Categories a retry policy may name.
pub const RETRYABLE_CATEGORIES: usize = 64;
/// Default number of leases of one execution that may expire before the execution fails.
pub const MAX_RECLAIMS: u32 = 100;
/// Default number of replays of a finished execution.
pub const MAX_REPLAYS: u32 = 10;
/// Default time for which an idempotency key is remembered.
pub const DEDUP_WINDOW_MS: u64 = 24 * 60 * 60 * 1_000;
/// Time for which finished executions are kept when neither they nor their lane set one: a week.
pub const RETENTION_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Records that one step deletes, so that a store that runs one operation at a time is not blocked for long. The
/// records of one execution are deleted together, even if there are more.
pub const FORGET: usize = 250;
/// The latest time at which a timer can be due: the end of the year 9999. Scores stay exact in a double.
pub const TIMESTAMP_MAX_MS: i64 = 253_402_300_799_999;
/// The longest duration in a policy: ten years.
pub const SPAN_MAX_MS: u64 = 10 * 366 * 24 * 60 * 60 * 1_000;

/// Lease events kept per execution.
pub const LEASE_HISTORY: usize = 1_000;
/// Due entries that one pump fires. Other operations can run between two pumps.
pub const PUMP_BATCH: usize = 24;
/// Interval at which each partition is swept when hints can be lost.
pub const SWEEP_MS: u64 = 30_000;

/// Time for which the cancellation of a flow is left to the pump, which begins at once, before another program may take over.
pub const CANCEL_GRACE_MS: u64 = 30_000;

/// Members of one flow.
pub const FLOW_NODES: usize = 10_000;
/// Edges of one flow.
pub const FLOW_EDGES: usize = 50_000;
/// Edges into one member, and edges out of one member.
pub const NODE_EDGES: usize = 10_000;
/// Payloads of all members of a flow together.
pub const FLOW_BYTES: usize = 16 * 1024 * 1024;
/// Members one call may add to a flow.
pub const FLOW_CALL_NODES: usize = 20;
/// Edges one call may add to a flow.
pub const FLOW_CALL_EDGES: usize = 20;
/// Members, and edges, in one part of a submission. A larger submission is staged in several parts: Valkey runs nothing
/// else during a part, and a part of twenty takes close to the five milliseconds that a function may take.
pub const FLOW_PART: usize = 12;
/// Edges and members that one step of a flow may visit. The rest stays pending for further steps. A store that runs one
/// operation at a time is blocked for the duration of a step.
pub const FLOW_STEP: usize = 16;
/// Depth to which one step propagates an end. The rest stays pending.
pub const MAX_CASCADE_DEPTH: usize = 50;
/// Every hop of a step settles an edge or visits a member, so a step cannot go deeper than its number of visits.
const _: () = assert!(FLOW_STEP <= MAX_CASCADE_DEPTH);
/// Edges that are visited before a new edge is refused because a cycle cannot be ruled out.
pub const CYCLE_SEARCH: usize = 1_000;
/// Bytes of upstream results that the claim of a dependent returns. Larger results are read one by one.
pub const INPUT_BYTES: usize = 4 * 1024 * 1024;
/// Events kept of one flow.
pub const FLOW_EVENTS: usize = 100_000;
/// Time for which the parts of a staged submission are kept after the last part arrived.
pub const STAGING_MS: u64 = 60 * 60 * 1_000;
/// Time for which the idempotency key of a change to a flow is remembered.
pub const FLOW_DEDUP_MS: u64 = 24 * 60 * 60 * 1_000;

/// Bytes of one signal.
pub const SIGNAL_BYTES: usize = 256 * 1024;
/// Signals that one execution accepts in its life.
pub const SIGNALS: usize = 10_000;
/// Signals buffered for all pending waitpoints of one execution. A suspension evaluates them all in one step.
pub const BUFFERED_SIGNALS: usize = 500;
/// Time for which the idempotency key of a signal is remembered.
pub const SIGNAL_DEDUP_MS: u64 = 24 * 60 * 60 * 1_000;
/// Waitpoints one suspension may wait on.
pub const WAITPOINTS: usize = 64;
/// Pending waitpoints of one execution.
pub const PENDING_WAITPOINTS: usize = 64;
/// Time after which a pending waitpoint expires if no suspension uses it.
pub const PENDING_WAITPOINT_MS: u64 = 24 * 60 * 60 * 1_000;
/// Time for which the idempotency key of a suspension is remembered: a week.
pub const SUSPEND_DEDUP_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Depth of a condition. A single node has depth 1.
pub const CONDITION_DEPTH: usize = 4;
/// Nodes of one condition.
pub const CONDITION_NODES: usize = 64;
/// Signals that one condition may need, as the sum of its counts.
pub const CONDITION_SIGNALS: usize = 1_000;
/// Bytes of signals that the claim of a resumed execution returns. The rest is read one by one.
pub const RESUME_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of one frame of a stream.
pub const FRAME_BYTES: usize = 64 * 1024;
/// Frames one call may append, and the bytes of all of them together.
pub const APPEND_FRAMES: usize = 1_000;
pub const APPEND_BYTES: usize = 1024 * 1024;
/// The highest frame number that a caller may send. No stream grows that long.
pub const FRAME_NUMBER: u64 = 1 << 40;
/// The highest number of frames that a bounded stream may keep.
pub const STREAM_FRAMES: u64 = 1_000_000;
/// The lowest and the highest number of bytes that a bounded stream may keep. One step trims a sixteenth of them.
pub const STREAM_MIN_BYTES: u64 = 2 * FRAME_BYTES as u64;
pub const STREAM_BYTES: u64 = 16 * 1024 * 1024;
/// Frames kept of a stream of mode `best_effort`.
pub const BEST_EFFORT_FRAMES: u64 = 1_000;
/// Bytes of a stream's summary.
pub const SUMMARY_BYTES: usize = 256 * 1024;
/// Patches kept of a stream of mode `summary`; a reader that is further behind gets the document.
pub const SUMMARY_PATCHES: u64 = 100;
/// Frames that a store reads at once for a page, so that large frames do not fill its memory.
pub const FRAMES_AT_ONCE: usize = 250;
/// Attempts whose output one page may contain.
pub const STREAM_ATTEMPTS: usize = 64;
/// Maximum and default lifetime of a token that reads a stream.
pub const STREAM_TOKEN_MS: u64 = 24 * 60 * 60 * 1_000;
pub const STREAM_TOKEN_DEFAULT_MS: u64 = 60 * 60 * 1_000;

/// Default number of steps and waits that one execution records.
pub const STEPS: u32 = 1_000;
/// Highest number of steps and waits that a policy may allow.
pub const STEPS_MAX: u32 = 10_000;
/// Bytes of a step's result.
pub const STEP_RESULT_BYTES: usize = 256 * 1024;
/// Bytes of recorded steps that a claim returns. The rest is read in pages.
pub const CLAIM_STEP_BYTES: usize = 256 * 1024;
/// Default number of steps in a page.
pub const STEPS_PAGE: usize = 100;
/// Bytes of steps that a fork copies. A store that runs one operation at a time copies them in one step.
pub const FORK_BYTES: usize = 16 * 1024 * 1024;

/// Secrets one partition keeps, the current one and the retired ones.
pub const RING_KIDS: usize = 64;
/// The largest and the smallest number of bytes of one secret. A shorter secret could be guessed from a token.
pub const SECRET_BYTES: usize = 1_024;
pub const SECRET_MIN_BYTES: usize = 16;
/// Default time for which a retired secret still verifies tokens.
pub const SECRET_GRACE_MS: u64 = 24 * 60 * 60 * 1_000;
/// Worker instances of one namespace that are registered at once.
pub const WORKERS: usize = 10_000;
/// Default time for which a worker counts as alive without a heartbeat.
pub const WORKER_TTL_MS: u64 = 30_000;
pub const WORKER_TTL_MIN_MS: u64 = 1_000;
pub const WORKER_TTL_MAX_MS: u64 = 3_600_000;
/// Capabilities of one worker, and the bytes of all of them together.
pub const CAPABILITIES: usize = 256;
pub const CAPABILITY_BYTES: usize = 4 * 1024;
/// Requirements of one execution. Their total size has the same limit as the capabilities of a worker.
pub const REQUIREMENTS: usize = 32;
/// Requirement classes of one lane.
pub const LANE_CLASSES: usize = 256;
/// Keys of one fair lane with a weight of their own, and the largest weight.
pub const LANE_WEIGHTS: usize = 256;
pub const WEIGHT_MAX: u32 = 1_000;
/// Keys without waiting work that one claim examines to forget those whose turn has passed. More than one claim can add.
pub const IDLE_TURNS: usize = 2 * CLAIM_AT_ONCE;

/// Time for which a partition records events after the last read: a day.
pub const FOLLOWED_MS: u64 = 24 * 60 * 60 * 1_000;
/// Interval at which a reader extends the recording of events.
pub const FOLLOWED_STEP_MS: u64 = 60 * 60 * 1_000;
/// Entries a partition's feed keeps.
pub const FEED: usize = 10_000;
