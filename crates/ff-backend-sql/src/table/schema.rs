//! The tables. The record is the truth. Every other column of an execution or a flow is derived from it, for indexes and for
//! people; only the result and the last attempt are not.

use super::{Column, Table};

pub use crate::flow::tables::{EDGE, EDGE_GROUP, FLOW, FLOW_EVENT, FLOW_KEY};

/// Every table the executor reads and writes.
pub static TABLES: &[&Table] = &[
    &EXECUTION,
    &READY,
    &LEASE,
    &DUE,
    &SUBMISSION,
    &ATTEMPT,
    &LEASE_EVENT,
    &IDEMPOTENCY,
    &KEY_QUEUE,
    &WAITPOINT,
    &SUSPEND_KEY,
    &USAGE_REPORT,
    &KEY_RING,
    &API_KEY,
    &SIGNAL,
    &SIGNAL_KEY,
    &STREAM,
    &FRAME,
    &STEP,
    &DELIVERY,
    &FLOW,
    &EDGE,
    &EDGE_GROUP,
    &FLOW_EVENT,
    &FLOW_KEY,
    &TAG,
    &LANE,
    &TURN,
    &TURN_QUEUE,
    &QUOTA_SET,
    &QUOTA_ROW,
    &SCHEDULE,
    &WORKER,
    &FEED,
    &EVENT,
];

/// One row per execution. No column that changes from step to step is in an index of this table, so an update stays within its
/// page and leaves the indexes unchanged. The indexes over changing values are the narrow tables below, whose rows are inserted
/// and deleted.
///
/// The uuid comes before the partition in the keys of executions and their side rows. New uuids rise with time, so new rows go to
/// the end of each table and not to one place per partition.
pub static EXECUTION: Table = Table {
    name: "execution",
    key: 2,
    columns: &[
        Column::uuid("uuid"),
        Column::int("partition"),
        Column::text("namespace"),
        Column::text("lane"),
        Column::text("kind"),
        Column::text("state"),
        Column::int("created_at"),
        Column::int("changed_at"),
        Column::int("delayed_until"),
        Column::text("record"),
        Column::uuid("flow_id"),
        Column::int("position"),
        Column::text("result_type").apart(),
        Column::bytes("result").apart(),
        Column::text("last_attempt").apart(),
    ],
};

/// Waiting executions, in the order a claim takes them. The class is empty for executions without requirements. Executions that
/// are blocked because no live worker meets their requirements are also here, under a class that no claim requests. Executions
/// with a key of a fair lane are under their class, a space and the key.
pub static READY: Table = Table {
    name: "ready",
    key: 7,
    columns: &[
        Column::int("partition"),
        Column::text("lane"),
        Column::text("class"),
        Column::text("kind"),
        Column::int("priority"),
        Column::int("created_at"),
        Column::uuid("uuid"),
    ],
};

/// Running executions by their next due time.
pub static LEASE: Table = Table {
    name: "lease",
    key: 5,
    columns: &[
        Column::int("partition"),
        Column::int("due_at"),
        Column::uuid("uuid"),
        Column::text("lane"),
        Column::int("acquired_at"),
    ],
};

/// Executions that are not running, by their next due time.
pub static DUE: Table =
    Table { name: "due", key: 3, columns: &[Column::int("partition"), Column::int("due_at"), Column::uuid("uuid")] };

/// Submissions: the definition and the payload of an execution. Both seldom change, so they are not in the row of the execution,
/// which is written with every step.
pub static SUBMISSION: Table = Table {
    name: "submission",
    key: 2,
    columns: &[
        Column::uuid("uuid"),
        Column::int("partition"),
        Column::text("definition").apart(),
        Column::text("content_type").apart(),
        Column::bytes("bytes").apart(),
    ],
};

/// Ended attempts, except the one an execution finished with. That attempt is in the row of the execution, so most executions
/// have no row here.
pub static ATTEMPT: Table = Table {
    name: "attempt",
    key: 3,
    columns: &[Column::uuid("uuid"), Column::int("partition"), Column::int("idx"), Column::text("record")],
};

/// Leases that expired, were revoked or were given up. An execution has at most one of each epoch.
pub static LEASE_EVENT: Table = Table {
    name: "lease_event",
    key: 3,
    columns: &[Column::uuid("uuid"), Column::int("partition"), Column::int("epoch"), Column::text("record")],
};

/// Idempotency keys of submissions and their executions. The partition follows from the key.
pub static IDEMPOTENCY: Table = Table {
    name: "idempotency",
    key: 3,
    columns: &[
        Column::int("partition"),
        Column::text("namespace"),
        Column::text("key"),
        Column::uuid("uuid"),
        Column::int("until"),
    ],
};

/// The live executions of singleton and debounce keys. The partition follows from the key.
pub static KEY_QUEUE: Table = Table {
    name: "key_queue",
    key: 3,
    columns: &[Column::int("partition"), Column::text("namespace"), Column::text("name"), Column::text("executions")],
};

/// Every waitpoint an execution ever had. The execution determines whether one is open.
pub static WAITPOINT: Table = Table {
    name: "waitpoint",
    key: 3,
    columns: &[Column::uuid("uuid"), Column::int("partition"), Column::uuid("waitpoint_id"), Column::text("record")],
};

/// The first answer to a suspension under an idempotency key.
pub static SUSPEND_KEY: Table = Table {
    name: "suspend_key",
    key: 3,
    columns: &[
        Column::uuid("uuid"),
        Column::int("partition"),
        Column::text("key"),
        Column::int("until"),
        Column::text("answer"),
    ],
};

/// Remembered usage reports.
pub static USAGE_REPORT: Table = Table {
    name: "usage_report",
    key: 3,
    columns: &[Column::uuid("uuid"), Column::int("partition"), Column::text("id"), Column::int("until")],
};

/// The secrets of every partition.
pub static KEY_RING: Table =
    Table { name: "key_ring", key: 1, columns: &[Column::int("partition"), Column::text("record")] };

/// Signals with their payloads, numbered from zero in the order their execution received them.
pub static SIGNAL: Table = Table {
    name: "signal",
    key: 3,
    columns: &[
        Column::uuid("uuid"),
        Column::int("partition"),
        Column::uuid("signal_id"),
        Column::int("nth"),
        Column::text("record"),
        Column::text("content_type"),
        Column::bytes("bytes"),
    ],
};

/// The first signal a waitpoint took under an idempotency key.
pub static SIGNAL_KEY: Table = Table {
    name: "signal_key",
    key: 4,
    columns: &[
        Column::uuid("uuid"),
        Column::int("partition"),
        Column::uuid("waitpoint_id"),
        Column::text("key"),
        Column::uuid("signal_id"),
        Column::int("until"),
    ],
};

/// The streams of attempts that have put out frames.
pub static STREAM: Table = Table {
    name: "stream",
    key: 3,
    columns: &[Column::uuid("uuid"), Column::int("partition"), Column::int("attempt"), Column::text("record")],
};

/// The stored frames of streams, by number.
pub static FRAME: Table = Table {
    name: "frame",
    key: 4,
    columns: &[
        Column::uuid("uuid"),
        Column::int("partition"),
        Column::int("attempt"),
        Column::int("seq"),
        Column::int("appended_at"),
        Column::text("channel"),
        Column::text("frame_type"),
        Column::bytes("bytes"),
    ],
};

/// The recorded steps of executions, by their identity. The record has everything but the bytes of the result; `bytes` is the
/// size of the step in a page.
pub static STEP: Table = Table {
    name: "step",
    key: 5,
    columns: &[
        Column::uuid("uuid"),
        Column::int("partition"),
        Column::text("kind"),
        Column::text("name"),
        Column::text("key"),
        Column::int("seq"),
        Column::int("bytes"),
        Column::text("record"),
        Column::bytes("result"),
    ],
};

/// The newest delivered signals of each partition. Every entry has a number, so the length of a feed is known without counting.
pub static DELIVERY: Table = Table { name: "delivery", key: 3, columns: FEED_COLUMNS };

/// The newest events of each partition.
pub static EVENT: Table = Table { name: "event", key: 3, columns: FEED_COLUMNS };

const FEED_COLUMNS: &[Column] = &[
    Column::int("partition"),
    Column::int("recorded_at"),
    Column::int("nth"),
    Column::int("seq"),
    Column::text("record"),
];

/// The time span in which each partition records events.
pub static FEED: Table =
    Table { name: "feed", key: 1, columns: &[Column::int("partition"), Column::int("since"), Column::int("until")] };

/// The tags of executions, in the order of a search. All states except waiting, active and completed, the blocking reasons of
/// admission, and uncounted usage are also stored here, in rows with an empty key. Their value is the state, the reason or a
/// fixed name.
pub static TAG: Table = Table {
    name: "tag",
    key: 6,
    columns: &[
        Column::text("namespace"),
        Column::text("key"),
        Column::text("value"),
        Column::int("created_at"),
        Column::int("partition"),
        Column::uuid("uuid"),
    ],
};

/// Configured lanes, as each partition knows them.
pub static LANE: Table =
    Table { name: "lane", key: 2, columns: &[Column::text("lane"), Column::int("partition"), Column::text("record")] };

/// The quota policies of namespaces, as each partition knows them.
pub static QUOTA_SET: Table = Table {
    name: "quota_set",
    key: 2,
    columns: &[Column::text("namespace"), Column::int("partition"), Column::text("record")],
};

/// The usage of quota policies. The name of a row says what it counts.
pub static QUOTA_ROW: Table = Table {
    name: "quota_row",
    key: 2,
    columns: &[Column::uuid("policy_id"), Column::text("name"), Column::text("record")],
};

/// Schedules. `look_at` is the next time at which a schedule has to be processed.
pub static SCHEDULE: Table = Table {
    name: "schedule",
    key: 2,
    columns: &[
        Column::text("namespace"),
        Column::text("name"),
        Column::int("partition"),
        Column::int("look_at"),
        Column::text("record"),
    ],
};

/// Registered worker instances.
pub static WORKER: Table = Table {
    name: "worker",
    key: 1,
    columns: &[Column::text("worker_instance_id"), Column::int("partition"), Column::text("record")],
};

/// The turns of keys of fair lanes. The turn of the empty key has the clock of its lane.
pub static TURN: Table = Table {
    name: "turn",
    key: 3,
    columns: &[Column::int("partition"), Column::text("lane"), Column::text("fair_key"), Column::text("record")],
};

/// The keys of fair lanes by their turns: under a class and kind with waiting executions of the key, under the class and an empty
/// kind, or, without waiting executions, under a class that no claim requests.
pub static TURN_QUEUE: Table = Table {
    name: "turn_queue",
    key: 6,
    columns: &[
        Column::int("partition"),
        Column::text("lane"),
        Column::text("class"),
        Column::text("kind"),
        Column::int("turn_at"),
        Column::text("fair_key"),
    ],
};

/// API keys, without their secrets.
pub static API_KEY: Table =
    Table { name: "api_key", key: 1, columns: &[Column::text("key_id"), Column::text("record")] };
