//! Calls of the holder of a lease, with numbers for names and values.

use super::{FrameBatch, RecordedStep, SuspensionRequest};
use crate::prelude::*;

/// One call about the leased execution.
#[derive(Clone, Debug, PartialEq)]
pub enum HolderCall {
    Renew { ttl_ms: Option<u64> },
    Progress { percent: Option<u8>, message: Option<usize> },
    Append(FrameBatch),
    RecordStep(RecordedStep),
    Complete { result: Option<usize> },
    Fail { category: u8, permanent: bool },
    Delay { start: Start },
    Suspend(SuspensionRequest),
    CreateWaitpoint { key: u8, ms: u64 },
    WaitForChildren,
}
