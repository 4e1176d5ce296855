//! Every query beyond loading rows by their keys. Each is answered from one index, in that index's order, with what it
//! brings along found by key; only what the doctor asks goes through all keys.

/// An edge as rows bring it.
macro_rules! edge {
    () => {
        "edge.edge_id, edge.upstream, edge.downstream, edge.passes, edge.round, edge.state, edge.passed_bytes"
    };
}

/// A group as rows bring it, with its flow.
macro_rules! group {
    () => {
        "edge_group.flow_id, joined_by, n, succeeded, failed, skipped, edge_group.state, fired_at, edge_group.round"
    };
}

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
    ("edges_out", EDGES_OUT),
    ("edges_in", EDGES_IN),
    ("edges_into", EDGES_INTO),
    ("edges_after", EDGES_AFTER),
    ("members_after", MEMBERS_AFTER),
    ("members_from", MEMBERS_FROM),
    ("list_flows", LIST_FLOWS),
    ("flow_events_from", FLOW_EVENTS_FROM),
    ("flow_keys_of", FLOW_KEYS_OF),
    ("flows_on", FLOWS_ON),
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

/// The executions of a partition whose moment comes first, and its flows whose moment does, told apart by the first
/// column; with the records of those whose moment has come. One query, because whoever pumps asks for both.
pub(crate) const DUE: &str = "\
    SELECT 0, uuid, due_at, record FROM (\
        SELECT uuid, due_at, CASE WHEN due_at <= $1 THEN record END AS record FROM execution \
        WHERE due_at IS NOT NULL AND partition = $2 ORDER BY due_at, uuid LIMIT $3) AS executions \
    UNION ALL \
    SELECT 1, flow_id, due_at, record FROM (\
        SELECT flow_id, due_at, CASE WHEN due_at <= $1 THEN record END AS record FROM flow \
        WHERE due_at IS NOT NULL AND partition = $2 ORDER BY due_at, flow_id LIMIT $3) AS flows";

/// When the next execution on a partition is due, and when the next flow.
pub(crate) const NEXT_DUE: &str = "\
    SELECT due_at FROM (\
        SELECT due_at FROM execution WHERE due_at IS NOT NULL AND partition = $1 ORDER BY due_at LIMIT 1) AS executions \
    UNION ALL \
    SELECT due_at FROM (\
        SELECT due_at FROM flow WHERE due_at IS NOT NULL AND partition = $1 ORDER BY due_at LIMIT 1) AS flows";

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

/// The next edges out of a member of a flow, each with the execution and the group at its other end. An id names one
/// member of one flow, so nothing else is asked for: a store must not think of going through all edges of the flow.
pub(crate) const EDGES_OUT: &str = concat!(
    "SELECT ",
    edge!(),
    ", execution.record, ",
    group!(),
    " FROM edge \
    LEFT JOIN execution ON execution.uuid = edge.downstream AND execution.partition = $1 \
    LEFT JOIN edge_group ON edge_group.uuid = edge.downstream AND edge_group.partition = $1 \
    WHERE edge.upstream = $2 AND edge.edge_id > $3 ORDER BY edge.edge_id LIMIT $4"
);

/// The next edges into a member of a flow, each with the execution at its other end.
pub(crate) const EDGES_IN: &str = concat!(
    "SELECT ",
    edge!(),
    ", execution.record FROM edge \
    LEFT JOIN execution ON execution.uuid = edge.upstream AND execution.partition = $1 \
    WHERE edge.downstream = $2 AND edge.edge_id > $3 ORDER BY edge.edge_id LIMIT $4"
);

/// The edges into a member of a flow, and nothing else.
pub(crate) const EDGES_INTO: &str =
    concat!("SELECT ", edge!(), " FROM edge WHERE edge.downstream = $1 ORDER BY edge.edge_id LIMIT $2");

/// The next edges of a flow.
pub(crate) const EDGES_AFTER: &str = concat!(
    "SELECT ",
    edge!(),
    " FROM edge WHERE edge.flow_id = $1 AND edge.edge_id > $2 ORDER BY edge.edge_id LIMIT $3"
);

/// The next members of a flow in the order of their ids, each with its group.
pub(crate) const MEMBERS_AFTER: &str = concat!(
    "SELECT execution.uuid, record, ",
    group!(),
    " FROM execution \
    LEFT JOIN edge_group ON edge_group.uuid = execution.uuid AND edge_group.partition = execution.partition \
    WHERE execution.flow_id = $1 AND execution.uuid > $2 ORDER BY execution.uuid LIMIT $3"
);

/// The members of a flow from a position on, each with its group.
pub(crate) const MEMBERS_FROM: &str = concat!(
    "SELECT position, record, ",
    group!(),
    " FROM execution \
    LEFT JOIN edge_group ON edge_group.uuid = execution.uuid AND edge_group.partition = execution.partition \
    WHERE execution.flow_id = $1 AND position >= $2 ORDER BY position LIMIT $3"
);

/// The newest flows of a namespace in one state, before a place in the list.
pub(crate) const LIST_FLOWS: &str = "\
    SELECT created_at, flow_id, record FROM flow \
    WHERE namespace = $1 AND state = $2 AND (created_at, flow_id) < ($3, $4) \
    ORDER BY created_at DESC, flow_id DESC LIMIT $5";

/// Some events of a flow, from one of them on.
pub(crate) const FLOW_EVENTS_FROM: &str = "\
    SELECT record FROM flow_event WHERE flow_id = $1 AND seq >= $2 ORDER BY seq LIMIT $3";

/// Every idempotency key under which a flow was changed.
pub(crate) const FLOW_KEYS_OF: &str = "SELECT key, until, answer FROM flow_key WHERE flow_id = $1";

/// Every flow of a partition. Only the doctor asks.
pub(crate) const FLOWS_ON: &str = "SELECT flow_id FROM flow WHERE partition = $1";
