//! The domain of flows: flows, edges, groups and events as rows, and their queries.

mod outbox;
pub(crate) mod queries;
mod read;
mod row;

pub(crate) use outbox::outbox_changes;
pub use outbox::{OutboxChanges, PendingEnd};
pub(crate) use read::{edges_after, events_from, is_there};
pub(crate) use row::{
    edge_put, flow_event_of, flow_key_of, flow_put, flow_strays, group_put, key_of_edge, key_of_flow, key_of_flow_key,
    read_edge, read_flow_key, read_group, read_optional_group, trim_events,
};
