//! The tables. The record is the truth. Every other column of an execution or a flow is derived from it, for indexes and for
//! people; only the result and the last attempt are not.

use super::{Column, Table};

/// A row is a table: its name in the code and in the store, its key columns in brackets, and its other columns. A column
/// that does not follow from the record of its row is `apart`.
macro_rules! tables {
    ($(
        $(#[$doc:meta])*
        $table:ident $name:ident [$($key_type:ident $key:ident),*]
        $($type:ident $column:ident $($apart:ident)?),*;
    )*) => {
        /// Every table the executor reads and writes.
        pub static TABLES: &[&Table] = &[$(&$table),*];
        $(
            $(#[$doc])*
            pub static $table: Table = Table {
                name: stringify!($name),
                columns: &[
                    $(Column::$key_type(stringify!($key)),)*
                    $(Column::$type(stringify!($column))$(.$apart())?,)*
                ],
                key: [$(stringify!($key)),*].len(),
            };
        )*
    };
}

tables! {
    /// One row per execution. No column that changes from step to step is in an index of this table, so an update stays
    /// within its page and leaves the indexes unchanged. The indexes over changing values are the narrow tables below,
    /// whose rows are inserted and deleted.
    ///
    /// The uuid comes before the partition in the keys of executions and their side rows. New uuids rise with time, so
    /// new rows go to the end of each table and not to one place per partition.
    EXECUTION execution [uuid uuid, int partition]
        text namespace, text lane, text kind, text state, int created_at, int changed_at, int delayed_until,
        text record, uuid flow_id, int position, text result_type apart, bytes result apart, text last_attempt apart;

    /// Waiting executions, in the order a claim takes them. The class is empty for executions without requirements.
    /// Executions that are blocked because no live worker meets their requirements are also here, under a class that no
    /// claim requests. Executions with a key of a fair lane are under their class, a space and the key.
    READY ready [int partition, text lane, text class, text kind, int priority, int created_at, uuid uuid];

    /// Running executions by their next due time.
    LEASE lease [int partition, int due_at, uuid uuid, text lane, int acquired_at];

    /// Executions that are not running, by their next due time.
    DUE due [int partition, int due_at, uuid uuid];

    /// Submissions: the definition and the payload of an execution. Both seldom change, so they are not in the row of
    /// the execution, which is written with every step.
    SUBMISSION submission [uuid uuid, int partition] text definition apart, text content_type apart, bytes bytes apart;

    /// Ended attempts, except the one an execution finished with. That attempt is in the row of the execution, so most
    /// executions have no row here.
    ATTEMPT attempt [uuid uuid, int partition, int idx] text record;

    /// Leases that expired, were revoked or were given up. An execution has at most one of each epoch.
    LEASE_EVENT lease_event [uuid uuid, int partition, int epoch] text record;

    /// Idempotency keys of submissions and their executions. The partition follows from the key.
    IDEMPOTENCY idempotency [int partition, text namespace, text key] uuid uuid, int until;

    /// The live executions of singleton and debounce keys. The partition follows from the key.
    KEY_QUEUE key_queue [int partition, text namespace, text name] text executions;

    /// Every waitpoint an execution ever had. The execution determines whether one is open.
    WAITPOINT waitpoint [uuid uuid, int partition, uuid waitpoint_id] text record;

    /// The first answer to a suspension under an idempotency key.
    SUSPEND_KEY suspend_key [uuid uuid, int partition, text key] int until, text answer;

    /// Remembered usage reports.
    USAGE_REPORT usage_report [uuid uuid, int partition, text id] int until;

    /// The secrets of every partition.
    KEY_RING key_ring [int partition] text record;

    /// API keys, without their secrets.
    API_KEY api_key [text key_id] text record;

    /// Signals with their payloads, numbered from zero in the order their execution received them.
    SIGNAL signal [uuid uuid, int partition, uuid signal_id] int nth, text record, text content_type, bytes bytes;

    /// The first signal a waitpoint took under an idempotency key.
    SIGNAL_KEY signal_key [uuid uuid, int partition, uuid waitpoint_id, text key] uuid signal_id, int until;

    /// The streams of attempts that have put out frames.
    STREAM stream [uuid uuid, int partition, int attempt] text record;

    /// The stored frames of streams, by number.
    FRAME frame [uuid uuid, int partition, int attempt, int seq]
        int appended_at, text channel, text frame_type, bytes bytes;

    /// The recorded steps of executions, by their identity. The record has everything but the bytes of the result;
    /// `bytes` is the size of the step in a page.
    STEP step [uuid uuid, int partition, text kind, text name, text key] int seq, int bytes, text record, bytes result;

    /// The newest delivered signals of each partition. Every entry has a number, so the length of a feed is known
    /// without counting.
    DELIVERY delivery [int partition, int recorded_at, int nth] int seq, text record;

    /// One row per flow, including staged flows.
    FLOW flow [uuid flow_id, int partition]
        text namespace, text kind, text state, int nodes, int edges, int graph_revision, int created_at,
        int started_at, int ended_at, int staged_until, text sweep_action, int due_at, text record;

    /// Edges. They are many, so they have only columns and no record. Both ends are on the partition of the flow.
    EDGE edge [uuid flow_id, uuid edge_id]
        uuid upstream, uuid downstream, text passes, int round, text state, int passed_bytes;

    /// The edges into one execution, as a group.
    EDGE_GROUP edge_group [uuid uuid, int partition]
        uuid flow_id, text joined_by, int n, int succeeded, int failed, int skipped, text state, int fired_at,
        int round;

    /// The newest events of each flow.
    FLOW_EVENT flow_event [uuid flow_id, int seq] text record;

    /// The first answer to a change of a flow's graph under an idempotency key.
    FLOW_KEY flow_key [uuid flow_id, text key] int until, text answer;

    /// The tags of executions, in the order of a search. All states except waiting, active and completed, the blocking
    /// reasons of admission, and uncounted usage are also stored here, in rows with an empty key. Their value is the
    /// state, the reason or a fixed name.
    TAG tag [text namespace, text key, text value, int created_at, int partition, uuid uuid];

    /// Configured lanes, as each partition knows them.
    LANE lane [text lane, int partition] text record;

    /// The turns of keys of fair lanes. The turn of the empty key has the clock of its lane.
    TURN turn [int partition, text lane, text fair_key] text record;

    /// The keys of fair lanes by their turns: under a class and kind with waiting executions of the key, under the
    /// class and an empty kind, or, without waiting executions, under a class that no claim requests.
    TURN_QUEUE turn_queue [int partition, text lane, text class, text kind, int turn_at, text fair_key];

    /// The quota policies of namespaces, as each partition knows them.
    QUOTA_SET quota_set [text namespace, int partition] text record;

    /// The usage of quota policies. The name of a row says what it counts.
    QUOTA_ROW quota_row [uuid policy_id, text name] text record;

    /// Schedules. `look_at` is the next time at which a schedule has to be processed.
    SCHEDULE schedule [text namespace, text name] int partition, int look_at, text record;

    /// Registered worker instances.
    WORKER worker [text worker_instance_id] int partition, text record;

    /// The time span in which each partition records events.
    FEED feed [int partition] int since, int until;

    /// The newest events of each partition.
    EVENT event [int partition, int recorded_at, int nth] int seq, text record;
}
