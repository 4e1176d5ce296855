//! The queries that do more than load rows by key. Each reads one index, in the order of that index, and joins rows by key. Only
//! the doctor's queries read all keys.
//!
//! Other tables are joined to a limited inner query. For a join to the table itself, Postgres may look up rows by the partition
//! alone and read everything ever submitted to the partition, as long as it estimates the tables to be small.

/// Selects waiting executions of one class and kind, each with its record, its flow's record and its payload. Large payloads are
/// left out, because not all of the executions are handed out.
macro_rules! waiting {
    ($which:literal, $order:literal, $most:literal) => {
        concat!(
            "SELECT ready.uuid, ready.priority, ready.created_at, execution.record, submission.definition, flow.record, \
             submission.content_type, CASE WHEN length(submission.bytes) <= 4096 THEN submission.bytes END FROM (\
             SELECT uuid, partition, priority, created_at FROM ready \
             WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 ",
            $which,
            $order,
            $most,
            ") AS ready \
             JOIN execution ON execution.uuid = ready.uuid AND execution.partition = ready.partition \
             LEFT JOIN flow ON flow.flow_id = execution.flow_id AND flow.partition = execution.partition \
             LEFT JOIN submission ON submission.uuid = ready.uuid AND submission.partition = ready.partition ",
            $order
        )
    };
}

/// Selects an execution by its key.
pub(crate) const EXECUTION_OF: &str = "\
    SELECT execution.record, submission.definition FROM execution \
    LEFT JOIN submission ON submission.uuid = $1 AND submission.partition = $2 \
    WHERE execution.uuid = $1 AND execution.partition = $2";

/// Selects the executions of a table with the earliest due times, and the records of those that are due now.
macro_rules! due_in {
    ($table:literal) => {
        concat!(
            "SELECT 0, t.uuid, t.due_at, execution.record, submission.definition FROM (\
             SELECT uuid, partition, due_at, CASE WHEN due_at <= $1 THEN uuid END AS due_uuid FROM ",
            $table,
            " WHERE partition = $2 ORDER BY due_at, uuid LIMIT $3) AS t LEFT JOIN execution \
             ON execution.uuid = t.due_uuid AND execution.partition = t.partition \
             LEFT JOIN submission ON submission.uuid = t.due_uuid AND submission.partition = t.partition",
            " UNION ALL "
        )
    };
}

/// Selects the earliest due time of a table.
macro_rules! next_due_in {
    ($table:literal, $which:literal) => {
        concat!(
            "SELECT due_at FROM (SELECT due_at FROM ",
            $table,
            " WHERE ",
            $which,
            "partition = $1 ORDER BY due_at LIMIT 1) AS of_",
            $table
        )
    };
}

/// Selects the first waiting executions of one class and kind of a lane on a partition.
pub(crate) const WAITING: &str =
    waiting!("", "ORDER BY ready.priority DESC, ready.created_at, ready.uuid", " LIMIT $5");

/// Selects the kinds with waiting executions of a class in a lane on a partition. Goes from each kind to the next and skips its other rows.
pub(crate) const WAITING_KINDS: &str = "\
    WITH RECURSIVE step (kind) AS (\
        SELECT (SELECT kind FROM ready WHERE partition = $1 AND lane = $2 AND class = $3 ORDER BY kind LIMIT 1) \
        UNION ALL \
        SELECT (SELECT kind FROM ready \
                WHERE partition = $1 AND lane = $2 AND class = $3 AND kind > step.kind ORDER BY kind LIMIT 1) \
        FROM step WHERE step.kind IS NOT NULL) \
    SELECT kind FROM step WHERE kind IS NOT NULL";

/// Selects the highest priorities with waiting executions of a class and kind, highest first. Goes from each priority to the next
/// and skips its other rows.
pub(crate) const WAITING_PRIORITIES: &str = "\
    WITH RECURSIVE step (priority, nth) AS (\
        SELECT (SELECT priority FROM ready \
                WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 \
                ORDER BY priority DESC LIMIT 1), 1 \
        UNION ALL \
        SELECT (SELECT priority FROM ready \
                WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 AND priority < step.priority \
                ORDER BY priority DESC LIMIT 1), nth + 1 \
        FROM step WHERE step.priority IS NOT NULL AND nth < $5) \
    SELECT priority FROM step WHERE priority IS NOT NULL";

/// Selects the oldest waiting executions of one class, kind and priority.
pub(crate) const WAITING_AT: &str =
    waiting!("AND priority = $5 ", "ORDER BY ready.created_at, ready.uuid", " LIMIT $6");

/// Counts the leases of a lane on a partition.
pub(crate) const HELD_ON: &str = "SELECT count(*) FROM lease WHERE partition = $1 AND lane = $2";

/// Selects the executions and the flows of a partition with the earliest due times, distinguished by the first column, and the
/// records of those that are due now. One query, because the pump needs both.
pub(crate) const DUE: &str = concat!(
    due_in!("lease"),
    due_in!("due"),
    "SELECT 1, flow_id, due_at, record, NULL FROM (\
        SELECT flow_id, due_at, CASE WHEN due_at <= $1 THEN record END AS record FROM flow \
        WHERE due_at IS NOT NULL AND partition = $2 ORDER BY due_at, flow_id LIMIT $3) AS flows"
);

/// Selects the earliest due times on a partition: of running executions, of other executions and of flows.
pub(crate) const NEXT_DUE: &str = concat!(
    next_due_in!("lease", ""),
    " UNION ALL ",
    next_due_in!("due", ""),
    " UNION ALL ",
    next_due_in!("flow", "due_at IS NOT NULL AND ")
);

/// Selects the newest executions of a namespace, before a place in the list and not before a time, with the columns that a
/// search compares.
pub(crate) const WALK_NAMESPACE: &str = "\
    SELECT created_at, partition, uuid, lane, state, kind FROM execution \
    WHERE namespace = $1 AND (created_at, partition, uuid) < ($2, $3, $4) AND created_at >= $5 \
    ORDER BY created_at DESC, partition DESC, uuid DESC LIMIT $6";

/// Selects the same for a lane.
pub(crate) const WALK_LANE: &str = "\
    SELECT created_at, partition, uuid, lane, state, kind FROM execution \
    WHERE lane = $1 AND (created_at, partition, uuid) < ($2, $3, $4) AND created_at >= $5 \
    ORDER BY created_at DESC, partition DESC, uuid DESC LIMIT $6";

/// Selects the same for executions with a tag. States and blocking reasons are stored as tags too.
pub(crate) const WALK_TAG: &str = "\
    SELECT tag.created_at, tag.partition, tag.uuid, execution.lane, execution.state, execution.kind FROM tag \
    LEFT JOIN execution ON execution.uuid = tag.uuid AND execution.partition = tag.partition \
    WHERE tag.namespace = $1 AND tag.key = $2 AND tag.value = $3 \
        AND (tag.created_at, tag.partition, tag.uuid) < ($4, $5, $6) AND tag.created_at >= $7 \
    ORDER BY tag.created_at DESC, tag.partition DESC, tag.uuid DESC LIMIT $8";

/// Selects the next lane with executions, in the order of keys.
pub(crate) const NEXT_LANE: &str = "SELECT lane FROM execution WHERE lane > $1 ORDER BY lane LIMIT 1";

/// Selects the next configured lane, in the order of keys.
pub(crate) const NEXT_CONFIGURED_LANE: &str = "SELECT lane FROM lane WHERE lane > $1 ORDER BY lane LIMIT 1";

/// Counts the waiting executions of a lane on a partition, and selects when the oldest was created. The classes of blocked
/// executions lie between the two ranges of classes. Each range is counted up to a limit.
pub(crate) const DEPTH_READY: &str = "\
    SELECT count(created_at), min(created_at) FROM (\
        SELECT created_at FROM (\
            SELECT created_at FROM ready WHERE partition = $1 AND lane = $2 AND class < ',' LIMIT $3) AS plain \
        UNION ALL \
        SELECT created_at FROM (\
            SELECT created_at FROM ready WHERE partition = $1 AND lane = $2 AND class >= '-' LIMIT $3) AS classed) AS waiting";

/// Counts the running executions of a lane on a partition, and selects when the first of them was claimed.
pub(crate) const DEPTH_ACTIVE: &str = "SELECT count(*), min(acquired_at) FROM lease WHERE partition = $1 AND lane = $2";

/// Counts the executions of a lane in a state that is stored as a tag, and selects the earliest of their times. Or counts those
/// that admission blocks for a reason, without suspended ones, which may have the same reason. The lane is compared last,
/// because the rows are found by tag. Reads rows of the namespace up to a limit.
pub(crate) const DEPTH_IN_STATE: &str = "\
    SELECT count(since), min(since) FROM (\
        SELECT CASE WHEN execution.lane <> $1 OR execution.state = $2 THEN NULL WHEN tag.value = 'delayed' THEN execution.delayed_until \
            WHEN tag.value = 'suspended' OR $2 = 'suspended' THEN execution.changed_at ELSE execution.created_at END AS since \
        FROM (SELECT partition, uuid, value FROM tag WHERE namespace = $3 AND key = '' AND value = $4 LIMIT $5) AS tag \
        LEFT JOIN execution ON execution.uuid = tag.uuid AND execution.partition = tag.partition) AS of_lane";

/// Counts the completed executions of a lane. Reads its other executions too.
pub(crate) const DEPTH_COMPLETED: &str = "\
    SELECT count(*), min(created_at) FROM execution WHERE lane = $1 AND state = 'completed'";

/// Select the rows of a narrow table on a partition. Used only by the doctor.
pub(crate) const READY_ON: &str =
    "SELECT uuid, lane, class, kind, priority, created_at FROM ready WHERE partition = $1";
pub(crate) const LEASES_ON: &str = "SELECT uuid, due_at, lane, acquired_at FROM lease WHERE partition = $1";
pub(crate) const DUE_ON: &str = "SELECT uuid, due_at FROM due WHERE partition = $1";

/// Selects every lane of a partition. Used only by the doctor.
pub(crate) const LANES_ON: &str = "SELECT lane, record FROM lane WHERE partition = $1";

/// Selects the next worker instances, ordered by name.
pub(crate) const WORKERS_AFTER: &str = "\
    SELECT record FROM worker WHERE worker_instance_id > $1 ORDER BY worker_instance_id LIMIT $2";

/// Selects a worker instance after a name, beyond a given number of others.
pub(crate) const WORKERS_BEYOND: &str = "\
    SELECT worker_instance_id FROM worker WHERE worker_instance_id > $1 ORDER BY worker_instance_id LIMIT 1 OFFSET $2";

/// Selects every worker instance whose home is a partition. Used only by the doctor.
pub(crate) const WORKERS_ON: &str = "SELECT record FROM worker WHERE partition = $1";

/// Selects the next API keys, ordered by id.
pub(crate) const API_KEYS_AFTER: &str = "\
    SELECT record FROM api_key WHERE key_id > $1 ORDER BY key_id LIMIT $2";

/// Selects the event feeds of the partitions below a number, ordered by partition.
pub(crate) const FEEDS: &str = "SELECT partition, since, until FROM feed WHERE partition < $1 ORDER BY partition";

/// Selects every tag row of the executions of a partition. Used only by the doctor.
pub(crate) const TAGS_ON: &str = "SELECT namespace, key, value, created_at, uuid FROM tag WHERE partition = $1";

/// Selects the archived attempts of an execution, oldest first.
pub(crate) const ATTEMPTS_OF: &str = "\
    SELECT record FROM attempt WHERE uuid = $1 AND partition = $2 ORDER BY idx";

/// Selects the lease history of an execution, oldest first.
pub(crate) const LEASES_OF: &str = "\
    SELECT record FROM lease_event WHERE uuid = $1 AND partition = $2 ORDER BY epoch";

/// Selects the lease history of an execution without its newest entries, up to a number.
pub(crate) const SURPLUS_LEASES: &str = "\
    SELECT epoch FROM lease_event WHERE uuid = $1 AND partition = $2 \
    ORDER BY epoch DESC LIMIT 1000000 OFFSET $3";

/// Selects every execution of a partition. Used only by the doctor, so it has no index, which every write would pay for.
pub(crate) const EXECUTIONS_ON: &str = "SELECT uuid FROM execution WHERE partition = $1";

/// Selects every idempotency key of a partition.
pub(crate) const KEYS_ON: &str = "SELECT namespace, key, uuid, until FROM idempotency WHERE partition = $1";

/// Selects every waitpoint of an execution.
pub(crate) const WAITPOINTS_OF: &str = "\
    SELECT waitpoint_id, record FROM waitpoint WHERE uuid = $1 AND partition = $2";

/// Selects every idempotency key under which an execution was suspended.
pub(crate) const SUSPEND_KEYS_OF: &str = "\
    SELECT key, until, answer FROM suspend_key WHERE uuid = $1 AND partition = $2";

/// Selects the secrets of the partitions below a number, ordered by partition.
pub const RINGS: &str = "SELECT partition, record FROM key_ring WHERE partition < $1 ORDER BY partition";

/// Selects the signals of an execution with their payloads, in the order they were received.
pub(crate) const SIGNALS_OF: &str = "\
    SELECT record, content_type, bytes, nth FROM signal WHERE uuid = $1 AND partition = $2 ORDER BY nth";

/// Selects signals of an execution from a number on.
pub(crate) const SIGNALS_PAGE: &str = "\
    SELECT record FROM signal WHERE uuid = $1 AND partition = $2 AND nth >= $3 ORDER BY nth LIMIT $4";

/// Selects every idempotency key of the signals to an execution.
pub(crate) const SIGNAL_KEYS_OF: &str = "\
    SELECT waitpoint_id, key, signal_id, until FROM signal_key WHERE uuid = $1 AND partition = $2";

/// Selects the last position of a feed of deliveries.
pub(crate) const DELIVERIES_LAST: &str = "\
    SELECT recorded_at, nth, seq FROM delivery WHERE partition = $1 ORDER BY recorded_at DESC, nth DESC LIMIT 1";

/// Selects the first positions of a feed of deliveries.
pub(crate) const DELIVERIES_FIRST: &str = "\
    SELECT recorded_at, nth, seq FROM delivery WHERE partition = $1 ORDER BY recorded_at, nth LIMIT $2";

/// Selects the deliveries of a feed from a position on.
pub(crate) const DELIVERIES_FROM: &str = "\
    SELECT recorded_at, nth, record FROM delivery WHERE partition = $1 AND (recorded_at, nth) >= ($2, $3) \
    ORDER BY recorded_at, nth LIMIT $4";

/// Selects the last position of a feed of events.
pub(crate) const EVENTS_LAST: &str = "\
    SELECT recorded_at, nth, seq FROM event WHERE partition = $1 ORDER BY recorded_at DESC, nth DESC LIMIT 1";

/// Selects the first positions of a feed of events.
pub(crate) const EVENTS_FIRST: &str = "\
    SELECT recorded_at, nth, seq FROM event WHERE partition = $1 ORDER BY recorded_at, nth LIMIT $2";

/// Selects the events of a feed from a position on.
pub(crate) const EVENTS_FROM: &str = "\
    SELECT recorded_at, nth, record FROM event WHERE partition = $1 AND (recorded_at, nth) >= ($2, $3) \
    ORDER BY recorded_at, nth LIMIT $4";
