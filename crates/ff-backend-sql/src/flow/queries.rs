//! The queries of flows, their members and their edges.

/// The columns of an edge.
macro_rules! edge {
    () => {
        "edge.edge_id, edge.upstream, edge.downstream, edge.passes, edge.round, edge.state, edge.passed_bytes"
    };
}

/// The columns of a group, its flow first.
macro_rules! group {
    () => {
        "edge_group.flow_id, joined_by, n, succeeded, failed, skipped, edge_group.state, fired_at, edge_group.round"
    };
}

/// Selects the next edges with a member of a flow at one end, with the partition of the flow.
macro_rules! next_edges {
    ($end:literal) => {
        concat!(
            " FROM (SELECT edge.*, CAST($1 AS integer) AS partition FROM edge WHERE ",
            $end,
            " = $2 AND edge_id > $3 ORDER BY edge_id LIMIT $4) AS edge "
        )
    };
}

/// Selects the next edges out of a member of a flow, each with the execution and the group at its other end. An id belongs to one
/// member of one flow. The query names nothing else, so that a store does not choose to read all edges of the flow.
pub(crate) const EDGES_OUT: &str = concat!(
    "SELECT ",
    edge!(),
    ", execution.record, submission.definition, ",
    group!(),
    next_edges!("upstream"),
    "LEFT JOIN execution ON execution.uuid = edge.downstream AND execution.partition = edge.partition \
    LEFT JOIN submission ON submission.uuid = edge.downstream AND submission.partition = edge.partition \
    LEFT JOIN edge_group ON edge_group.uuid = edge.downstream AND edge_group.partition = edge.partition \
    ORDER BY edge.edge_id"
);

/// Selects the next edges into a member of a flow, each with the execution at its other end.
pub(crate) const EDGES_IN: &str = concat!(
    "SELECT ",
    edge!(),
    ", execution.record, submission.definition",
    next_edges!("downstream"),
    "LEFT JOIN execution ON execution.uuid = edge.upstream AND execution.partition = edge.partition \
    LEFT JOIN submission ON submission.uuid = edge.upstream AND submission.partition = edge.partition \
    ORDER BY edge.edge_id"
);

/// Selects the edges into a member of a flow, without other records.
pub(crate) const EDGES_INTO: &str =
    concat!("SELECT ", edge!(), " FROM edge WHERE edge.downstream = $1 ORDER BY edge.edge_id LIMIT $2");

/// Selects the next edges of a flow.
pub(crate) const EDGES_AFTER: &str = concat!(
    "SELECT ",
    edge!(),
    " FROM edge WHERE edge.flow_id = $1 AND edge.edge_id > $2 ORDER BY edge.edge_id LIMIT $3"
);

/// Selects the next members of a flow, ordered by id, each with its group.
pub(crate) const MEMBERS_AFTER: &str = concat!(
    "SELECT execution.uuid, execution.record, submission.definition, ",
    group!(),
    " FROM execution \
    LEFT JOIN submission ON submission.uuid = execution.uuid AND submission.partition = execution.partition \
    LEFT JOIN edge_group ON edge_group.uuid = execution.uuid AND edge_group.partition = execution.partition \
    WHERE execution.flow_id = $1 AND execution.uuid > $2 ORDER BY execution.uuid LIMIT $3"
);

/// Selects the members of a flow from a position on, each with its group.
pub(crate) const MEMBERS_FROM: &str = concat!(
    "SELECT execution.position, execution.record, submission.definition, ",
    group!(),
    " FROM execution \
    LEFT JOIN submission ON submission.uuid = execution.uuid AND submission.partition = execution.partition \
    LEFT JOIN edge_group ON edge_group.uuid = execution.uuid AND edge_group.partition = execution.partition \
    WHERE execution.flow_id = $1 AND execution.position >= $2 ORDER BY execution.position LIMIT $3"
);

/// Selects the newest flows of a namespace in one state, before a place in the list.
pub(crate) const LIST_FLOWS: &str = "\
    SELECT created_at, flow_id, record FROM flow \
    WHERE namespace = $1 AND state = $2 AND (created_at, flow_id) < ($3, $4) \
    ORDER BY created_at DESC, flow_id DESC LIMIT $5";

/// Selects the events of a flow from a number on.
pub(crate) const FLOW_EVENTS_FROM: &str = "\
    SELECT record FROM flow_event WHERE flow_id = $1 AND seq >= $2 ORDER BY seq LIMIT $3";

/// Selects every idempotency key under which a flow was changed.
pub(crate) const FLOW_KEYS_OF: &str = "SELECT key, until, answer FROM flow_key WHERE flow_id = $1";

/// Selects every flow of a partition. Used only by the doctor.
pub(crate) const FLOWS_ON: &str = "SELECT flow_id FROM flow WHERE partition = $1";
