//! Every limit, named once. Each is refused one past it, with the field, the limit and the value that was sent.

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
/// The `tracestate` beside a trace: notes of tracing systems.
pub const TRACESTATE_BYTES: usize = 512;
/// Labels of one execution.
pub const TAGS: usize = 32;
/// Labels one search may ask for.
pub const FILTER_TAGS: usize = 8;
/// Executions one page of a search looks at. Matches may be rare; a page that looked at so many ends there.
pub const SEARCH: usize = 10_000;
/// A failure's message, a reason, a progress message.
pub const MESSAGE_BYTES: usize = 8 * 1024;
/// Executions in one bulk submission.
pub const BULK: usize = 1_000;
/// Rows in one page of a listing.
pub const PAGE: usize = 1_000;
/// Bytes of JSON in the rows of a page over HTTP: it ends early where they are large.
pub const PAGE_BYTES: usize = 1024 * 1024;
/// Lanes one page of lanes looks at, whether it lists them or not.
pub const LANES_LOOKED: usize = 2 * PAGE;
/// Rows in a page when the request does not say how many.
pub const PAGE_DEFAULT: usize = 50;
/// Executions a claim may ask for.
pub const CLAIM: usize = 1_000;
/// Executions of one partition that one claim takes; a worker that wants more claims again. A store that runs one
/// operation at a time is blocked for that long.
pub const CLAIM_AT_ONCE: usize = 24;
/// Bytes of payload one claim's reply may carry; a claim stops before it passes them, but always takes one.
pub const CLAIM_BYTES: usize = 4 * 1024 * 1024;
/// Kinds one claim may name.
pub const CLAIM_KINDS: usize = 256;
/// Lanes one claim may name.
pub const CLAIM_LANES: usize = 64;
/// How long an execution is assigned to a worker instance when nothing is said.
pub const GRANT_TTL_MS: u64 = 30_000;
pub const GRANT_TTL_MIN_MS: u64 = 1_000;
pub const GRANT_TTL_MAX_MS: u64 = 60 * 60 * 1_000;
/// Executions one call blocks or unblocks. A store that runs one operation at a time is busy for that long.
pub const BLOCK: usize = 64;
/// How long a request may wait for something to happen.
pub const LONG_POLL_MS: u64 = 60_000;

/// Executions of one lane that a limit may let be held at once.
pub const CONCURRENCY_MAX: u32 = 1_000_000;
/// How long a partition's held count of a lane with a limit counts as known.
pub const RECOUNT_MS: u64 = 1_000;
/// Partitions counted again before a lane with a limit hands out nothing.
pub const RECOUNT: usize = 16;
/// The longest wait that may weigh as much as one step of priority: a week.
pub const AGEING_MAX_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Different priorities within a queue that a claim weighs against age; those below the highest so many wait.
pub const AGEING_PRIORITIES: usize = 100;

/// Executions of one singleton key that live at once: one, and those behind it.
pub const KEY_QUEUE: usize = 256;
/// The longest delay of a debounce key: a day.
pub const DEBOUNCE_MAX_MS: u64 = 24 * 60 * 60 * 1_000;
/// How many times its delay after its first submission a debounced execution starts at the latest.
pub const DEBOUNCE_SPANS: u64 = 10;

/// Budgets of one namespace.
pub const BUDGETS: usize = 256;
/// Dimensions of a budget, and dimensions an execution spends.
pub const BUDGET_DIMENSIONS: usize = 16;
/// Kinds a budget has estimates for.
pub const BUDGET_ESTIMATES: usize = 64;
/// The shortest and the longest interval after which a budget begins anew: a second and a year.
pub const BUDGET_INTERVAL_MIN_MS: u64 = 1_000;
pub const BUDGET_INTERVAL_MAX_MS: u64 = 366 * 24 * 60 * 60 * 1_000;
/// The most that is counted of a dimension. Every whole number up to here is exact in a double, which Lua and JavaScript count with.
pub const AMOUNT_MAX: u64 = (1 << 53) - 1;
/// How long a report of usage is remembered, so that the same one is not counted twice.
pub const USAGE_REMEMBERED_MS: u64 = 24 * 60 * 60 * 1_000;
/// Draws on a budget that one report lets go, when they are as old as that.
pub const BUDGET_DRAWS_FORGOTTEN: usize = 2;
/// Quota policies of one namespace.
pub const QUOTAS: usize = 256;
/// The most a quota policy may allow, in a window or at once.
pub const QUOTA_LIMIT_MAX: u64 = 1_000_000;
/// The shortest and the longest window of a quota policy: a tenth of a second and 31 days.
pub const QUOTA_WINDOW_MIN_MS: u64 = 100;
pub const QUOTA_WINDOW_MAX_MS: u64 = 31 * 24 * 60 * 60 * 1_000;
/// How long a quota policy's reservation for a claim lasts while no lease comes of it.
pub const QUOTA_RESERVED_MS: u64 = 10_000;
/// Executions one call asks a quota policy about, and rows of one kind it looks at under one key.
pub const QUOTA_STEP: usize = 64;
/// Slots of a quota policy that one call gives back.
pub const QUOTA_SETTLE: usize = 256;
/// Keys of a quota policy that are listed.
pub const QUOTA_KEYS_TOLD: usize = 100;
/// How often slots are held against the leases they are for.
pub const QUOTA_RECONCILE_MS: u64 = 30_000;

/// Bytes of a schedule's target, as its record has it. The record is written with every tick.
pub const SCHEDULE_BYTES: usize = 256 * 1024;
/// Ticks of a schedule that are kept, of those that came.
pub const SCHEDULE_TICKS: usize = 10;
/// Ticks of a schedule that are listed, of those to come.
pub const TICKS_TOLD: usize = 5;
/// Missed ticks of a schedule that are started in one turn.
pub const TICKS_AT_ONCE: usize = 100;
/// Schedules of a partition that are looked at together.
pub const SCHEDULES_AT_ONCE: usize = 100;
/// Ticks one backfill may start.
pub const BACKFILL_TICKS: usize = 1_000;
/// The shortest interval of a schedule.
pub const INTERVAL_MIN_MS: u64 = 1_000;
/// The longest a tick may be put off at random: a day.
pub const JITTER_MAX_MS: u64 = 24 * 60 * 60 * 1_000;
/// How long after its time a tick still starts unless the schedule says otherwise: a day. An engine that takes over from
/// another is late by some seconds.
pub const CATCH_UP_MS: u64 = 24 * 60 * 60 * 1_000;
pub const CATCH_UP_MIN_MS: u64 = 10_000;
/// How often it is looked whether a tick that waits may start, in case the end it waits for was not announced.
pub const QUEUED_TICK_LOOK_MS: u64 = 20_000;

/// The highest priority. Beyond it a priority and a time no longer fit one exact score.
pub const PRIORITY_MAX: u16 = 9_000;

pub const LEASE_TTL_MS: u64 = 30_000;
pub const LEASE_TTL_MIN_MS: u64 = 1_000;
pub const LEASE_TTL_MAX_MS: u64 = 3_600_000;

pub const MAX_RETRIES: u32 = 3;
pub const MAX_RETRIES_MAX: u32 = 1_000_000;
pub const BACKOFF_INITIAL_MS: u64 = 1_000;
pub const BACKOFF_MULTIPLIER: f64 = 2.0;
pub const BACKOFF_MAX_MS: u64 = 60_000;
/// The longest wait a backoff may name: a week. A product with a roll stays exact in a double.
pub const BACKOFF_CEILING_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
pub const BACKOFF_MULTIPLIER_MAX: f64 = 100.0;
/// Categories a retry policy may name.
pub const RETRYABLE_CATEGORIES: usize = 64;
/// Leases of one execution that may expire before it is given up.
pub const MAX_RECLAIMS: u32 = 100;
/// Times a finished execution may be run again.
pub const MAX_REPLAYS: u32 = 10;
/// How long an idempotency key is remembered.
pub const DEDUP_WINDOW_MS: u64 = 24 * 60 * 60 * 1_000;
/// How long finished executions are kept when neither they nor their lane say otherwise: a week.
pub const RETENTION_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Records one step may forget, so that a store that does one thing at a time is not kept from others. The records of
/// one execution are forgotten together, however many they are.
pub const FORGET: usize = 250;
/// The last moment anything may wait for: the end of the year 9999. Scores stay exact in a double.
pub const MOMENT_MAX_MS: i64 = 253_402_300_799_999;
/// The longest span a policy may name: ten years.
pub const SPAN_MAX_MS: u64 = 10 * 366 * 24 * 60 * 60 * 1_000;

/// Lease events kept per execution.
pub const LEASE_HISTORY: usize = 1_000;
/// Due things one pump fires before it lets others in.
pub const PUMP_BATCH: usize = 24;
/// How often each partition is looked at when hints can be lost.
pub const SWEEP_MS: u64 = 30_000;

/// How long the cancellation of a flow is left to the pump, which does not wait, before another program may take it over.
pub const CANCEL_GRACE_MS: u64 = 30_000;

/// Members of one flow.
pub const FLOW_NODES: usize = 10_000;
/// Edges of one flow.
pub const FLOW_EDGES: usize = 50_000;
/// Edges that enter one member, and edges that leave it.
pub const NODE_EDGES: usize = 10_000;
/// Payloads of all members of a flow together.
pub const FLOW_BYTES: usize = 16 * 1024 * 1024;
/// Members one call may add to a flow.
pub const FLOW_CALL_NODES: usize = 20;
/// Edges one call may add to a flow.
pub const FLOW_CALL_EDGES: usize = 20;
/// Members, and edges, of one part of a submission. A larger one is staged in several parts: Valkey does nothing else during
/// a part, and a part of twenty comes near the five milliseconds that a function may take.
pub const FLOW_PART: usize = 12;
/// Edges and members one step of a flow may look at; the rest is pending, and done in further steps. A store that does
/// one thing at a time is kept from others for as long as a step takes.
pub const FLOW_STEP: usize = 16;
/// How deep one step propagates an end; the rest is left pending.
pub const MAX_CASCADE_DEPTH: usize = 50;
/// Every hop of a step settles an edge or looks at a member, so a step cannot go deeper than it may look.
const _: () = assert!(FLOW_STEP <= MAX_CASCADE_DEPTH);
/// Edges looked at before a new edge is refused because a cycle cannot be ruled out.
pub const CYCLE_SEARCH: usize = 1_000;
/// Results of upstreams that come with the claim of a dependent; the rest is read one by one.
pub const INPUT_BYTES: usize = 4 * 1024 * 1024;
/// Events kept of one flow.
pub const FLOW_EVENTS: usize = 100_000;
/// How long the parts of a staged submission are kept after the last of them came.
pub const STAGING_MS: u64 = 60 * 60 * 1_000;
/// How long the key of a change to a flow is remembered.
pub const FLOW_DEDUP_MS: u64 = 24 * 60 * 60 * 1_000;

/// The bytes of one signal.
pub const SIGNAL_BYTES: usize = 256 * 1024;
/// Signals one execution takes in its life.
pub const SIGNALS: usize = 10_000;
/// Signals buffered for the pending waitpoints of one execution, together. A suspension evaluates them all in one step.
pub const BUFFERED_SIGNALS: usize = 500;
/// How long the idempotency key of a signal is remembered.
pub const SIGNAL_DEDUP_MS: u64 = 24 * 60 * 60 * 1_000;
/// Waitpoints one suspension may wait on.
pub const WAITPOINTS: usize = 64;
/// Waitpoints one execution may have made ahead.
pub const PENDING_WAITPOINTS: usize = 64;
/// How long a waitpoint made ahead waits for its suspension.
pub const PENDING_WAITPOINT_MS: u64 = 24 * 60 * 60 * 1_000;
/// How long the idempotency key of a suspension is remembered: a week.
pub const SUSPEND_DEDUP_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// How deep a condition may be nested; one that is a single node has depth 1.
pub const CONDITION_DEPTH: usize = 4;
/// Nodes of one condition.
pub const CONDITION_NODES: usize = 64;
/// Signals one condition may need in all, its counts together.
pub const CONDITION_SIGNALS: usize = 1_000;
/// Bytes of signals that come with the claim of the execution they resumed; the rest is read one by one.
pub const RESUME_BYTES: usize = 4 * 1024 * 1024;

/// The bytes of one frame of a stream.
pub const FRAME_BYTES: usize = 64 * 1024;
/// Frames one call may append, and the bytes of all of them together.
pub const APPEND_FRAMES: usize = 1_000;
pub const APPEND_BYTES: usize = 1024 * 1024;
/// The highest number a frame may be said to get. No stream comes that far.
pub const FRAME_NUMBER: u64 = 1 << 40;
/// Frames a stream may be asked to keep at most, when it is not to keep all of them.
pub const STREAM_FRAMES: u64 = 1_000_000;
/// Bytes of frames a stream may be asked to keep, at least and at most. A sixteenth of them goes at a time, in one step.
pub const STREAM_MIN_BYTES: u64 = 2 * FRAME_BYTES as u64;
pub const STREAM_BYTES: u64 = 16 * 1024 * 1024;
/// Frames kept of a stream of mode `best_effort`.
pub const BEST_EFFORT_FRAMES: u64 = 1_000;
/// The bytes of a stream's summary.
pub const SUMMARY_BYTES: usize = 256 * 1024;
/// Patches kept of a stream of mode `summary`; a reader that is further behind gets the document.
pub const SUMMARY_PATCHES: u64 = 100;
/// Frames a store reads at once for a page, so that large ones do not fill its memory.
pub const FRAMES_AT_ONCE: usize = 250;
/// Attempts whose output one page may have.
pub const STREAM_ATTEMPTS: usize = 64;
/// How long a token that reads a stream may be valid, and how long it is unless said.
pub const STREAM_TOKEN_MS: u64 = 24 * 60 * 60 * 1_000;
pub const STREAM_TOKEN_DEFAULT_MS: u64 = 60 * 60 * 1_000;

/// Steps and waits one execution records, unless its policy says otherwise.
pub const STEPS: u32 = 1_000;
/// The most a policy may let one execution record.
pub const STEPS_MAX: u32 = 10_000;
/// The bytes of a step's result.
pub const STEP_RESULT_BYTES: usize = 256 * 1024;
/// Bytes of recorded steps that come with a claim; the rest is read page by page.
pub const CLAIM_STEP_BYTES: usize = 256 * 1024;
/// Steps in a page when nothing else is asked for.
pub const STEPS_PAGE: usize = 100;
/// Bytes of steps a fork begins with: a store that does one thing at a time copies them in one step.
pub const FORK_BYTES: usize = 16 * 1024 * 1024;

/// Secrets one partition keeps, the current one and the retired ones.
pub const RING_KIDS: usize = 64;
/// The bytes of one secret, at most and at least: fewer could be guessed from a token.
pub const SECRET_BYTES: usize = 1_024;
pub const SECRET_MIN_BYTES: usize = 16;
/// How long a retired secret goes on verifying.
pub const SECRET_GRACE_MS: u64 = 24 * 60 * 60 * 1_000;
/// Worker instances of one namespace that are registered at once.
pub const WORKERS: usize = 10_000;
/// How long a worker counts as there without a report.
pub const WORKER_TTL_MS: u64 = 30_000;
pub const WORKER_TTL_MIN_MS: u64 = 1_000;
pub const WORKER_TTL_MAX_MS: u64 = 3_600_000;
/// Capabilities of one worker, and the bytes of all of them together.
pub const CAPABILITIES: usize = 256;
pub const CAPABILITY_BYTES: usize = 4 * 1024;
/// Requirements of one execution; together they may have as many bytes as the capabilities of a worker.
pub const REQUIREMENTS: usize = 32;
/// Requirement classes of one lane.
pub const LANE_CLASSES: usize = 256;
/// Keys of one fair lane that have a weight of their own, and the largest weight.
pub const LANE_WEIGHTS: usize = 256;
pub const WEIGHT_MAX: u32 = 1_000;
/// Keys without waiting work that one claim looks at, to forget those whose turn has passed. More than it can add.
pub const IDLE_TURNS: usize = 2 * CLAIM_AT_ONCE;

/// How long a partition goes on recording events after the last read: a day.
pub const FOLLOWED_MS: u64 = 24 * 60 * 60 * 1_000;
/// How often reading extends the feed.
pub const FOLLOWED_STEP_MS: u64 = 60 * 60 * 1_000;
/// Entries a partition's feed keeps.
pub const FEED: usize = 10_000;
