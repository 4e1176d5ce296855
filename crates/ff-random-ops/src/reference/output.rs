//! Answers in the form the model gives them.

use ff_core::contracts::{AdmittedClaims, Claims, EventsPage, LaneInfo};
use ff_core::engine_error::Refusal;
use ff_core::operation::Reply;
use ff_core::types::WorkerInstanceId;

/// The answers to one call: one, except for a bulk and a rotation.
pub(crate) type Outputs = Vec<Result<Output, Refusal>>;

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// As the rules give it.
    Reply(Reply),
    /// The claimed executions, with their payloads.
    Claims(Claims),
    Admitted(AdmittedClaims),
    Lane(LaneInfo),
    Workers(Vec<WorkerInstanceId>),
    Events(EventsPage),
}
