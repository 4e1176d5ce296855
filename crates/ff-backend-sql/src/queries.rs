//! Every query beyond loading rows by their keys. Each is answered from one index, in that index's order; only what the
//! doctor asks goes through all keys.

/// Every query by its name, for stores to explain.
pub const QUERIES: &[(&str, &str)] = &[
    ("waiting", WAITING),
    ("waiting_of_kind", WAITING_OF_KIND),
    ("due", DUE),
    ("next_due", NEXT_DUE),
    ("next_ready", NEXT_READY),
    ("list_by_namespace", LIST_BY_NAMESPACE),
    ("list_by_lane", LIST_BY_LANE),
    ("attempts_of", ATTEMPTS_OF),
    ("leases_of", LEASES_OF),
    ("surplus_leases", SURPLUS_LEASES),
    ("executions_on", EXECUTIONS_ON),
    ("keys_on", KEYS_ON),
    ("waitpoints_of", WAITPOINTS_OF),
    ("suspend_keys_of", SUSPEND_KEYS_OF),
    ("rings", RINGS),
    ("signals_of", SIGNALS_OF),
    ("signals_page", SIGNALS_PAGE),
    ("signal_keys_of", SIGNAL_KEYS_OF),
    ("feed_last", FEED_LAST),
    ("feed_first", FEED_FIRST),
    ("feed_after", FEED_AFTER),
];

/// The first waiting executions of a lane on a partition, of any kind.
pub(crate) const WAITING: &str = "\
    SELECT uuid, priority, created_at, record FROM execution \
    WHERE eligible = 1 AND partition = $1 AND lane = $2 \
    ORDER BY priority DESC, created_at, uuid LIMIT $3";

/// The first waiting executions of one kind.
pub(crate) const WAITING_OF_KIND: &str = "\
    SELECT uuid, priority, created_at, record FROM execution \
    WHERE eligible = 1 AND partition = $1 AND lane = $2 AND kind = $3 \
    ORDER BY priority DESC, created_at, uuid LIMIT $4";

/// The executions of a partition whose moment comes first, with the records of those whose moment has come.
pub(crate) const DUE: &str = "\
    SELECT uuid, due_at, CASE WHEN due_at <= $1 THEN record END FROM execution \
    WHERE due_at IS NOT NULL AND partition = $2 \
    ORDER BY due_at, uuid LIMIT $3";

/// When the next thing on a partition is due.
pub(crate) const NEXT_DUE: &str = "\
    SELECT due_at FROM execution \
    WHERE due_at IS NOT NULL AND partition = $1 \
    ORDER BY due_at LIMIT 1";

/// The best waiting execution of the next kind, in the order of lanes and kinds.
pub(crate) const NEXT_READY: &str = "\
    SELECT lane, kind, priority, created_at FROM execution \
    WHERE eligible = 1 AND partition = $1 AND (lane, kind) > ($2, $3) \
    ORDER BY lane, kind, priority DESC, created_at LIMIT 1";

/// The newest executions of a namespace in one state, before a place in the list.
pub(crate) const LIST_BY_NAMESPACE: &str = "\
    SELECT created_at, partition, uuid, record FROM execution \
    WHERE namespace = $1 AND state = $2 AND (created_at, partition, uuid) < ($3, $4, $5) \
    ORDER BY created_at DESC, partition DESC, uuid DESC LIMIT $6";

/// The newest executions of a lane in one state, before a place in the list.
pub(crate) const LIST_BY_LANE: &str = "\
    SELECT created_at, partition, uuid, record FROM execution \
    WHERE lane = $1 AND state = $2 AND (created_at, partition, uuid) < ($3, $4, $5) \
    ORDER BY created_at DESC, partition DESC, uuid DESC LIMIT $6";

/// The archived attempts of an execution, oldest first.
pub(crate) const ATTEMPTS_OF: &str = "\
    SELECT record FROM attempt WHERE uuid = $1 AND partition = $2 ORDER BY idx";

/// The lease history of an execution, oldest first.
pub(crate) const LEASES_OF: &str = "\
    SELECT record FROM lease_event WHERE uuid = $1 AND partition = $2 ORDER BY epoch";

/// The lease history beyond the newest so many.
pub(crate) const SURPLUS_LEASES: &str = "\
    SELECT epoch FROM lease_event WHERE uuid = $1 AND partition = $2 \
    ORDER BY epoch DESC LIMIT 1000000 OFFSET $3";

/// Every execution of a partition. Only the doctor asks, so there is no index for it that every write would pay for.
pub(crate) const EXECUTIONS_ON: &str = "SELECT uuid FROM execution WHERE partition = $1";

/// Every idempotency key of a partition.
pub(crate) const KEYS_ON: &str = "SELECT namespace, key, uuid, until FROM idempotency WHERE partition = $1";

/// Every waitpoint of an execution.
pub(crate) const WAITPOINTS_OF: &str = "\
    SELECT waitpoint_id, record FROM waitpoint WHERE uuid = $1 AND partition = $2";

/// Every idempotency key under which an execution was suspended.
pub(crate) const SUSPEND_KEYS_OF: &str = "\
    SELECT key, until, answer FROM suspend_key WHERE uuid = $1 AND partition = $2";

/// The secrets of the partitions below a number, in their order.
pub const RINGS: &str = "SELECT partition, record FROM key_ring WHERE partition < $1 ORDER BY partition";

/// The signals of an execution with what they carried, in the order they were received.
pub(crate) const SIGNALS_OF: &str = "\
    SELECT record, content_type, bytes, nth FROM signal WHERE uuid = $1 AND partition = $2 ORDER BY nth";

/// Some signals of an execution, from one of them on.
pub(crate) const SIGNALS_PAGE: &str = "\
    SELECT record FROM signal WHERE uuid = $1 AND partition = $2 AND nth >= $3 ORDER BY nth LIMIT $4";

/// Every idempotency key of the signals to an execution.
pub(crate) const SIGNAL_KEYS_OF: &str = "\
    SELECT waitpoint_id, key, signal_id, until FROM signal_key WHERE uuid = $1 AND partition = $2";

/// Where a feed ends.
pub(crate) const FEED_LAST: &str = "\
    SELECT told_at, nth, seq FROM delivery WHERE partition = $1 ORDER BY told_at DESC, nth DESC LIMIT 1";

/// The beginning of a feed.
pub(crate) const FEED_FIRST: &str = "\
    SELECT told_at, nth, seq FROM delivery WHERE partition = $1 ORDER BY told_at, nth LIMIT $2";

/// What a feed has after a place in it.
pub(crate) const FEED_AFTER: &str = "\
    SELECT told_at, nth, record FROM delivery WHERE partition = $1 AND (told_at, nth) > ($2, $3) \
    ORDER BY told_at, nth LIMIT $4";
