//! The queries about flows, their members and edges.

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

/// The next edges at one end of which is a member of a flow, with the partition that all of the flow is on.
macro_rules! next_edges {
    ($end:literal) => {
        concat!(
            " FROM (SELECT edge.*, CAST($1 AS integer) AS partition FROM edge WHERE ",
            $end,
            " = $2 AND edge_id > $3 ORDER BY edge_id LIMIT $4) AS edge "
        )
    };
}

/// The next edges out of a member of a flow, each with the execution and the group at its other end. An id names one
/// member of one flow, so nothing else is asked for: a store must not think of going through all edges of the flow.
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

/// The next edges into a member of a flow, each with the execution at its other end.
pub(crate) const EDGES_IN: &str = concat!(
    "SELECT ",
    edge!(),
    ", execution.record, submission.definition",
    next_edges!("downstream"),
    "LEFT JOIN execution ON execution.uuid = edge.upstream AND execution.partition = edge.partition \
    LEFT JOIN submission ON submission.uuid = edge.upstream AND submission.partition = edge.partition \
    ORDER BY edge.edge_id"
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
    "SELECT execution.uuid, execution.record, submission.definition, ",
    group!(),
    " FROM execution \
    LEFT JOIN submission ON submission.uuid = execution.uuid AND submission.partition = execution.partition \
    LEFT JOIN edge_group ON edge_group.uuid = execution.uuid AND edge_group.partition = execution.partition \
    WHERE execution.flow_id = $1 AND execution.uuid > $2 ORDER BY execution.uuid LIMIT $3"
);

/// The members of a flow from a position on, each with its group.
pub(crate) const MEMBERS_FROM: &str = concat!(
    "SELECT execution.position, execution.record, submission.definition, ",
    group!(),
    " FROM execution \
    LEFT JOIN submission ON submission.uuid = execution.uuid AND submission.partition = execution.partition \
    LEFT JOIN edge_group ON edge_group.uuid = execution.uuid AND edge_group.partition = execution.partition \
    WHERE execution.flow_id = $1 AND execution.position >= $2 ORDER BY execution.position LIMIT $3"
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
