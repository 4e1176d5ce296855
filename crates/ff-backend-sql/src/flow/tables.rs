//! The tables of flows and their graphs.

use crate::table::{Column, Table};

/// One row per flow, including staged flows.
pub static FLOW: Table = Table {
    name: "flow",
    key: 2,
    columns: &[
        Column::uuid("flow_id"),
        Column::int("partition"),
        Column::text("namespace"),
        Column::text("kind"),
        Column::text("state"),
        Column::int("nodes"),
        Column::int("edges"),
        Column::int("graph_revision"),
        Column::int("created_at"),
        Column::int("started_at"),
        Column::int("ended_at"),
        Column::int("staged_until"),
        Column::text("sweep_action"),
        Column::int("due_at"),
        Column::text("record"),
    ],
};

/// Edges. They are many, so they have only columns and no record. Both ends are on the partition of the flow.
pub static EDGE: Table = Table {
    name: "edge",
    key: 2,
    columns: &[
        Column::uuid("flow_id"),
        Column::uuid("edge_id"),
        Column::uuid("upstream"),
        Column::uuid("downstream"),
        Column::text("passes"),
        Column::int("round"),
        Column::text("state"),
        Column::int("passed_bytes"),
    ],
};

/// The edges into one execution, as a group.
pub static EDGE_GROUP: Table = Table {
    name: "edge_group",
    key: 2,
    columns: &[
        Column::uuid("uuid"),
        Column::int("partition"),
        Column::uuid("flow_id"),
        Column::text("joined_by"),
        Column::int("n"),
        Column::int("succeeded"),
        Column::int("failed"),
        Column::int("skipped"),
        Column::text("state"),
        Column::int("fired_at"),
        Column::int("round"),
    ],
};

/// The newest events of each flow.
pub static FLOW_EVENT: Table = Table {
    name: "flow_event",
    key: 2,
    columns: &[Column::uuid("flow_id"), Column::int("seq"), Column::text("record")],
};

/// The first answer to a change of a flow's graph under an idempotency key.
pub static FLOW_KEY: Table = Table {
    name: "flow_key",
    key: 2,
    columns: &[Column::uuid("flow_id"), Column::text("key"), Column::int("until"), Column::text("answer")],
};
