//! Closing a pending waitpoint that will not be used.

use serde::{Deserialize, Serialize};

use super::{Waitpoint, WaitpointClosed, WaitpointState};
use crate::engine_error::{Code, Refusal};
use crate::operation::command::{Conditions, Decision, ExecutionCommand, check_message};
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, WaitpointId};

/// Closes a waitpoint that no suspension has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseWaitpointArgs {
    pub execution_id: ExecutionId,
    pub waitpoint_id: WaitpointId,
    pub reason: Option<String>,
}

/// The waitpoint is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClosedWaitpoint {
    /// True when it already accepted no signals.
    pub already: bool,
}

impl ExecutionCommand for CloseWaitpointArgs {
    type Reply = ClosedWaitpoint;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_message("reason", self.reason.as_deref())
    }

    /// Closes a pending waitpoint. A waitpoint that accepts no more signals stays unchanged. A waitpoint of a current
    /// suspension is refused, because the suspension might then wait forever.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<ClosedWaitpoint>, Stop> {
        let now = at.now;
        let execution = view.execution(&self.execution_id)?.ok_or(Code::ExecutionNotFound)?;
        let waitpoint = view.waitpoint(&self.execution_id, &self.waitpoint_id)?.ok_or(Code::WaitpointNotFound)?;
        match execution.waitpoint_state(waitpoint, now) {
            WaitpointState::Closed | WaitpointState::Expired => {
                Ok(Decision::of(ClosedWaitpoint { already: true }, None))
            }
            WaitpointState::Active => {
                Err(Code::WaitpointNotPending.refusal().because("a suspension waits on it").into())
            }
            WaitpointState::Pending => {
                let mut change = execution.unchanged();
                change.after.pending_waitpoints.retain(|pending| pending.id != waitpoint.id);
                let closed = Some(WaitpointClosed { at: now, reason: self.reason.clone() });
                change.waitpoints.push(Waitpoint { closed, buffered: vec![], ..waitpoint.clone() });
                Ok(Decision::of(ClosedWaitpoint { already: false }, [change]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::at;

    #[test]
    fn a_closed_waitpoint_accepts_nothing_and_is_closed_once() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("a");
        let ahead = fixture.ask(args, at(1)).unwrap();
        let close = CloseWaitpointArgs { execution_id: fixture.id, waitpoint_id: ahead.waitpoint_id, reason: None };
        assert!(!fixture.ask(close.clone(), at(2)).unwrap().already);
        assert!(fixture.ask(close, at(3)).unwrap().already);
        let signal = fixture.signal(&ahead, "go");
        assert_eq!(fixture.refused(signal, at(4)), Code::WaitpointClosed);
    }

    #[test]
    fn a_waitpoint_of_a_suspension_cannot_be_closed() {
        let mut fixture = ExecutionFixture::running(at(0));
        let waitpoint_id = fixture.suspend("a", at(1)).waitpoints[0].waitpoint_id;
        let close = CloseWaitpointArgs { execution_id: fixture.id, waitpoint_id, reason: None };
        assert_eq!(fixture.refused(close.clone(), at(2)), Code::WaitpointNotPending);
        let unknown = CloseWaitpointArgs { waitpoint_id: WaitpointId::new(), ..close };
        assert_eq!(fixture.refused(unknown, at(2)), Code::WaitpointNotFound);
    }
}
