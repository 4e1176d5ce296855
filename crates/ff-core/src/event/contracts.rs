//! Reading what happens.

use serde::{Deserialize, Serialize};

use super::{EventCursor, Told};
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::types::Namespace;

/// A partition is to tell what happens on it for a while, since somebody reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowArgs {
    pub partition: u16,
}

/// What happened on any partition since a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsArgs {
    /// Where the last answer ended; from now on when absent.
    pub after: Option<EventCursor>,
    /// One tenant's; everybody's when not said.
    pub namespace: Option<Namespace>,
    pub limit: usize,
}

impl EventsArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        match self.limit {
            0 => Err(Refusal::invalid("limit", "must be at least 1")),
            1..=limits::PAGE => Ok(()),
            sent => Err(Refusal::over_limit(Code::LimitExceeded, "limit", limits::PAGE, sent)),
        }
    }
}

/// Some of what happened, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsPage {
    pub events: Vec<Told>,
    /// Where to go on.
    pub next: EventCursor,
    /// True when something may be missing before these: it was kept no longer, or nobody followed.
    pub missed: bool,
}
