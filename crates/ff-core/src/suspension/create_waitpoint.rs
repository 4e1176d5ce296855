//! Creation of a pending waitpoint: the holder sends out its token before it suspends, and early signals are buffered.

use super::contracts::answers::GrantedWaitpoint;
use super::{PendingWaitpoint, Waitpoint};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::lease::Fence;
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand};
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, WaitpointKey};

impl From<&Waitpoint> for GrantedWaitpoint {
    fn from(waitpoint: &Waitpoint) -> Self {
        Self {
            waitpoint_id: waitpoint.id,
            waitpoint_key: waitpoint.key.clone(),
            waitpoint_token: waitpoint.token.clone(),
        }
    }
}

/// Creates a waitpoint before its suspension, so that the holder can send out the token first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateWaitpointArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    /// A repeated call with the key of a pending waitpoint returns the same waitpoint.
    pub key: WaitpointKey,
    /// Time after which the waitpoint expires if no suspension uses it.
    pub expires_in_ms: u64,
}

impl ExecutionCommand for CreateWaitpointArgs {
    type Reply = GrantedWaitpoint;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        match self.expires_in_ms {
            0 => Err(Refusal::invalid("expires_in_ms", "must be at least 1")),
            sent => check_limit(Code::LimitExceeded, "expires_in_ms", limits::SPAN_MAX_MS, sent),
        }
    }

    /// Creates a waitpoint that is pending until a suspension uses it or it expires. If a pending waitpoint already has
    /// the key, that waitpoint is returned, so that signals buffered meanwhile are not lost.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<GrantedWaitpoint>, Stop> {
        let now = at.now;
        let execution = view.execution(&self.execution_id)?.ok_or(Code::ExecutionNotFound)?;
        execution.held_by(&self.fence, now)?;
        let mut change = execution.without_expired(now);
        let live = &mut change.after.pending_waitpoints;
        if let Some(pending) = live.iter().find(|pending| pending.key == self.key) {
            let waitpoint = view.waitpoint(&execution.id, &pending.id)?.ok_or(Code::WaitpointNotFound)?;
            return Ok(Decision::of(waitpoint.into(), None));
        }
        check_limit(Code::LimitExceeded, "waitpoints", limits::PENDING_WAITPOINTS, live.len() + 1)?;
        let ring = view.ring(execution.id.partition())?.ok_or(Code::HmacSecretNotInitialized)?;
        let (id, expires_at) = (at.nonce.waitpoint(0), now + self.expires_in_ms);
        let token = ring.mint(&execution.id, &id, &self.key)?;
        let waitpoint = Waitpoint {
            expires_at: Some(expires_at),
            ..Waitpoint::fresh(id, execution.id, self.key.clone(), token, now)
        };
        live.push(PendingWaitpoint { id, key: self.key.clone(), expires_at });
        let answer = GrantedWaitpoint::from(&waitpoint);
        change.waitpoints.push(waitpoint);
        Ok(Decision::of(answer, [change]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::fixture::ExecutionFixture;
    use crate::rule::samples::at;
    use crate::token::WaitpointToken;
    use crate::types::WaitpointId;

    #[test]
    fn the_same_key_is_the_same_waitpoint_while_it_pends() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("a");
        let first = fixture.ask(args.clone(), at(1)).unwrap();
        assert_eq!(fixture.ask(args.clone(), at(1_000)), Ok(first.clone()));
        let second = fixture.ask(args, at(1_001)).unwrap();
        assert_ne!(second.waitpoint_id, first.waitpoint_id, "the first one ran out");
        let late = fixture.signal(&first, "go");
        assert_eq!(fixture.refused(late, at(1_002)), Code::PendingWaitpointExpired);
    }

    #[test]
    fn only_the_holder_makes_waitpoints() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("a");
        assert_eq!(fixture.refused(args.clone(), at(30_000)), Code::LeaseExpired);
        fixture.suspend("b", at(1));
        assert_eq!(fixture.refused(args, at(2)), Code::ExecutionNotActive);
    }

    #[test]
    fn waitpoints_are_made_up_to_their_limit() {
        let mut fixture = ExecutionFixture::running(at(0));
        for nth in 0..limits::PENDING_WAITPOINTS {
            let args = fixture.pending(&format!("w{nth}"));
            fixture.ask(args, at(1)).unwrap();
        }
        let one_more = fixture.pending("more");
        let refusal = fixture.ask(one_more, at(1)).unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::LimitExceeded, Some((64, 65))));
    }

    #[test]
    fn the_answer_shows_no_token() {
        let token = WaitpointToken::parse(&format!("k1:{}", "c0".repeat(32))).unwrap();
        let granted = GrantedWaitpoint {
            waitpoint_id: WaitpointId::new(),
            waitpoint_key: WaitpointKey::parse("a").unwrap(),
            waitpoint_token: token,
        };
        assert!(!format!("{granted:?}").contains("c0c0"));
        assert!(serde_json::to_string(&granted).unwrap().contains("c0c0"), "the holder gets it");
    }
}
