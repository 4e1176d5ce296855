//! What callers ask of an execution, and what they are told.

mod bulk;
mod filter;
mod holder;
mod listing;
mod operator;
mod reading;
mod submitting;

use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::payload::Payload;

pub use bulk::{BulkAction, BulkArgs, BulkPage, BulkRefusal};
pub use filter::Filter;
pub use holder::{CompleteArgs, Completed, DelayArgs, Delayed, FailArgs, Failed, Noted, ProgressArgs};
pub use listing::{Cursor, ListArgs, Page};
pub use operator::{
    CancelArgs, Cancelled, ChangePriorityArgs, PriorityChanged, ReplayArgs, Replayed, SetTagsArgs, Tagged,
};
pub use reading::{Attempts, Ended, ExecutionInfo, LeaseInfo};
pub use submitting::{Start, SubmitArgs, Submitted};

/// Refuses a payload over its limit.
pub fn check_payload(field: &str, payload: &Payload) -> Result<(), Refusal> {
    if payload.bytes.len() > limits::PAYLOAD_BYTES {
        return Err(Refusal::over_limit(Code::PayloadTooLarge, field, limits::PAYLOAD_BYTES, payload.bytes.len()));
    }
    Ok(())
}

/// Refuses a text over its limit.
pub fn check_message(field: &str, text: Option<&str>) -> Result<(), Refusal> {
    match text {
        Some(text) if text.len() > limits::MESSAGE_BYTES => {
            Err(Refusal::over_limit(Code::LimitExceeded, field, limits::MESSAGE_BYTES, text.len()))
        }
        _ => Ok(()),
    }
}
