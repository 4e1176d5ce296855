//! Reading events.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{EventCursor, EventRecord};
use crate::engine_error::{Code, Refusal, check_page};
use crate::limits;
use crate::partition::{PartitionConfig, check_id};
use crate::types::{ExecutionId, Namespace};

pub use super::follow::FollowArgs;

/// Request for the events on any partition since a cursor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventsArgs {
    /// Cursor of the previous answer; only new events when absent.
    pub after: Option<EventCursor>,
    /// Only events of this namespace; of all namespaces when absent.
    pub namespace: Option<Namespace>,
    /// Only events of this execution; of all executions when absent. Only its partition is read and must record events.
    pub execution: Option<ExecutionId>,
    pub limit: usize,
}

impl EventsArgs {
    /// Returns the partitions to read.
    pub fn partitions(&self, all: &PartitionConfig) -> Result<Range<u16>, Refusal> {
        let Some(id) = &self.execution else { return Ok(0..all.num_flow_partitions) };
        check_id(id, all)?;
        Ok(id.partition()..id.partition() + 1)
    }

    /// Returns whether an event matches the request.
    pub fn wants(&self, event: &EventRecord) -> bool {
        self.namespace.as_ref().is_none_or(|namespace| event.namespace == *namespace)
            && self.execution.is_none_or(|id| event.execution_id == id)
    }

    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }

    /// Checks the arguments for a store, which has no key to decrypt an encrypted cursor.
    pub fn check_for_store(&self) -> Result<(), Refusal> {
        if self.after.as_ref().is_some_and(|after| after.sealed.is_some()) {
            let why = "is encrypted by a server; only a server of the same store can go on from it";
            return Err(Refusal::new(Code::InvalidCursor).at("after").because(why));
        }
        self.check()
    }
}

/// One page of events, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EventsPage {
    pub events: Vec<EventRecord>,
    /// Cursor of the next request.
    pub next: EventCursor,
    /// True when earlier events may be missing: they were trimmed, or not recorded because the feed had no reader.
    pub missed: bool,
}
