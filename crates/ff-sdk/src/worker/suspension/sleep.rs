//! Waiting for a time span.

use std::time::Duration;

use ff_core::signal::Signal;
use ff_core::suspension::ResumedBy;

use super::plan::Plan;
use super::signal::comment;
use super::{WaitError, suspend_handler};
use crate::Context;

/// Waits for a time span. An operator may end the wait early, or reject it.
pub(in crate::worker) async fn sleep(context: &Context, name: &str, span: Duration) -> Result<(), WaitError> {
    let woken = suspend_handler::wait(context, Plan::timer(name, span)?).await?;
    match woken.signals.last() {
        Some(signal) if woken.by == ResumedBy::Operator && signal.name() == Signal::REJECTED => {
            Err(WaitError::Rejected { by: signal.source().clone(), comment: comment(signal) })
        }
        _ => Ok(()),
    }
}
