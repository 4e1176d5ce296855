//! The room of flows: flows, edges, groups and events as rows, and what is read of them.

mod debt;
mod edge;
mod event;
mod group;
mod list;
mod read;
mod row;

pub(crate) use debt::debts;
pub use debt::{Debt, Debts};
pub(crate) use edge::{edge_put, key_of_edge, read_edge};
pub(crate) use event::{flow_event_of, trim_events};
pub(crate) use group::{group_beside, group_put, read_group};

pub(crate) use read::{edges_after, events_from, is_there};
pub(crate) use row::{flow_key_of, flow_put, flow_strays, key_of_flow, key_of_flow_key, read_flow_key};
