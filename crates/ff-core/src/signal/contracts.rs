//! Arguments and replies about signals.

use serde::{Deserialize, Serialize};

use super::{Delivery, FeedCursor, Signal};
use crate::engine_error::{Refusal, check_page};
use crate::limits;
use crate::payload::Payload;
use crate::types::ExecutionId;

pub use super::deliver::{DeliverArgs, DeliveredSignal, check_signal_payload};
pub use super::open::WaitpointRef;

/// A signal with its payload.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedSignal {
    pub signal: Signal,
    /// Absent when the signal has no payload, or when it was read without its payload.
    pub payload: Option<Payload>,
}

/// A request for the signals of an execution, oldest first, one page at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalsArgs {
    pub execution_id: ExecutionId,
    /// Number of signals to skip.
    pub skip: usize,
    pub limit: usize,
}

impl SignalsArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }
}

/// One page of an execution's signals, without their bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SignalsPage {
    pub signals: Vec<Signal>,
    /// The `skip` of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

/// A request for the deliveries of all partitions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeliveriesArgs {
    /// Cursor of the last page; absent for deliveries from now on.
    pub after: Option<FeedCursor>,
    pub limit: usize,
}

impl DeliveriesArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        check_page(self.limit, limits::PAGE)
    }
}

/// One page of delivered signals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeliveriesPage {
    pub deliveries: Vec<Delivery>,
    /// Cursor of the next request.
    pub next: FeedCursor,
    /// True when unread signals may have been trimmed: feeds are bounded.
    pub missed: bool,
}
