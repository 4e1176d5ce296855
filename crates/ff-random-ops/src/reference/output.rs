//! Answers in the form of the model.

use crate::prelude::*;

/// The answers to one call: one answer, except for a bulk submission and a rotation.
pub(crate) type Outputs = Vec<Result<Output, Refusal>>;

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// The reply of the rules.
    Reply(Reply),
    /// The claimed executions, with their payloads.
    Claims(Claims),
    Admitted(AdmittedClaims),
    Lane(LaneInfo),
    Workers(Vec<WorkerInstanceId>),
    Events(EventsPage),
}
