//! The waitpoints of a new suspension: new ones, and pending ones with their early signals.

use super::{PendingWaitpoint, SignalMatch, Suspension, Waitpoint, WaitpointState};
use crate::backend::entropy::Nonce;
use crate::engine_error::{Code, Refusal};
use crate::execution::Execution;
use crate::rule::view::{Stop, View};
use crate::types::{SuspensionId, TimestampMs, WaitpointId, WaitpointKey};

/// A waitpoint on which a suspension will wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitpointBinding {
    /// A new waitpoint.
    Fresh { key: WaitpointKey },
    /// A pending waitpoint.
    Pending { id: WaitpointId, key: WaitpointKey },
}

impl WaitpointBinding {
    pub fn key(&self) -> &WaitpointKey {
        match self {
            Self::Fresh { key } | Self::Pending { key, .. } => key,
        }
    }
}

/// Returns the waitpoints of a suspension: new ones with their tokens, and pending ones with their early signals.
pub(super) fn bind(
    view: &dyn View,
    execution: &Execution,
    bindings: &[WaitpointBinding],
    suspension_id: SuspensionId,
    nonce: &Nonce,
    now: TimestampMs,
) -> Result<Vec<Waitpoint>, Stop> {
    let mut waitpoints = Vec::with_capacity(bindings.len());
    for (nth, binding) in bindings.iter().enumerate() {
        let waitpoint = match binding {
            WaitpointBinding::Pending { id, key } => {
                let pending = view
                    .waitpoint(&execution.id, id)?
                    .ok_or_else(|| Code::WaitpointNotFound.refusal().at(format!("waitpoints[{nth}].id")))?;
                usable(execution, pending, now).map_err(|refusal| refusal.at(format!("waitpoints[{nth}].id")))?;
                if pending.key != *key {
                    let refusal = Code::InvalidWaitpointKey.refusal().at(format!("waitpoints[{nth}].key"));
                    return Err(refusal.because("is not the key this waitpoint was made with").into());
                }
                pending.clone()
            }
            WaitpointBinding::Fresh { key } => {
                let taken = |pending: &PendingWaitpoint| pending.key == *key && now < pending.expires_at;
                if execution.pending_waitpoints.iter().any(taken) {
                    let refusal = Code::WaitpointAlreadyExists.refusal().at(format!("waitpoints[{nth}].key"));
                    return Err(refusal
                        .because("is the key of a waitpoint made ahead; name that one by its id")
                        .into());
                }
                let (ring, id) = (view.ring(execution.id.partition())?, nonce.waitpoint(nth));
                let token = ring.ok_or(Code::HmacSecretNotInitialized)?.mint(&execution.id, &id, key)?;
                Waitpoint::fresh(id, execution.id, key.clone(), token, now)
            }
        };
        waitpoints.push(Waitpoint { suspension_id: Some(suspension_id), ..waitpoint });
    }
    Ok(waitpoints)
}

/// Refuses a waitpoint that is not pending.
fn usable(execution: &Execution, waitpoint: &Waitpoint, now: TimestampMs) -> Result<(), Refusal> {
    match execution.waitpoint_state(waitpoint, now) {
        WaitpointState::Pending => Ok(()),
        WaitpointState::Expired => Err(Code::PendingWaitpointExpired.refusal()),
        WaitpointState::Active | WaitpointState::Closed => Err(Code::WaitpointNotPending.refusal()),
    }
}

/// Weighs early signals, waitpoint by waitpoint, in the order of arrival at each.
pub(super) fn weigh_early(suspension: &mut Suspension, waitpoints: &[Waitpoint]) {
    for waitpoint in waitpoints {
        for early in &waitpoint.buffered {
            suspension.weigh(&SignalMatch {
                signal_id: early.signal_id,
                waitpoint: &waitpoint.key,
                name: &early.name,
                source: &early.source,
                payload_bytes: early.payload_bytes,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::fixture::{ExecutionFixture, key};
    use crate::rule::samples::at;
    use crate::suspension::contracts::{GrantedWaitpoint, SuspendArgs, SuspendOutcome};
    use crate::suspension::{Condition, Distinct};

    fn pending(granted: &GrantedWaitpoint) -> WaitpointBinding {
        WaitpointBinding::Pending { id: granted.waitpoint_id, key: granted.waitpoint_key.clone() }
    }

    #[test]
    fn an_early_signal_is_kept_and_satisfies() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("a");
        let ahead = fixture.ask(args, at(1)).unwrap();
        assert_eq!(fixture.deliver(&ahead, "go", at(2)).effect.as_str(), "buffered_for_pending_waitpoint");
        let args = SuspendArgs { waitpoints: vec![pending(&ahead)], ..fixture.suspension("a") };
        let satisfied = fixture.ask(args.clone(), at(3)).unwrap();
        let SuspendOutcome::AlreadySatisfied { signals } = &satisfied.outcome else { panic!("it waits") };
        assert_eq!(signals.len(), 1);
        assert_eq!(satisfied.waitpoints[0], ahead, "the token is the one that was handed out");
        assert_eq!(fixture.state(), "active", "the lease is kept");
        assert_eq!(fixture.ask(args, at(4)), Ok(satisfied), "and the answer is given again");
        let late = fixture.signal(&ahead, "go");
        assert_eq!(fixture.refused(late, at(5)), Code::WaitpointClosed);
    }

    #[test]
    fn early_signals_count_towards_a_tree_as_well() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("a");
        let ahead = fixture.ask(args, at(1)).unwrap();
        fixture.deliver(&ahead, "vote", at(2));
        let condition = Condition::AllOf {
            members: vec![
                Condition::Count { n: 2, of: Distinct::Signals, waitpoints: vec![key("a")], name: None },
                Condition::Signal { waitpoint: key("b"), name: None },
            ],
        };
        let waitpoints = vec![pending(&ahead), WaitpointBinding::Fresh { key: key("b") }];
        let args = SuspendArgs { waitpoints, condition, ..fixture.suspension("a") };
        let suspended = fixture.ask(args, at(3)).unwrap();
        assert_eq!(fixture.state(), "suspended");
        assert_eq!(fixture.deliver(&suspended.waitpoints[1], "go", at(4)).effect.as_str(), "appended_to_waitpoint");
        assert_eq!(fixture.deliver(&ahead, "vote", at(5)).effect.as_str(), "resume_condition_satisfied");
        let task = fixture.claim(at(6));
        assert_eq!(fixture.signal_names(&task), ["vote", "vote", "go"]);
        assert!(fixture.waitpoint(&ahead).buffered.is_empty());
    }

    #[test]
    fn a_waitpoint_that_does_not_pend_cannot_be_used() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("a");
        let ahead = fixture.ask(args, at(1)).unwrap();
        let on =
            |fixture: &ExecutionFixture, binding| SuspendArgs { waitpoints: vec![binding], ..fixture.suspension("a") };
        let unknown = on(&fixture, WaitpointBinding::Pending { id: WaitpointId::new(), key: key("a") });
        assert_eq!(fixture.refused(unknown, at(2)), Code::WaitpointNotFound);
        let taken = on(&fixture, WaitpointBinding::Fresh { key: key("a") });
        assert_eq!(fixture.refused(taken, at(2)), Code::WaitpointAlreadyExists);
        let other = WaitpointBinding::Pending { id: ahead.waitpoint_id, key: key("b") };
        let misnamed = SuspendArgs { waitpoints: vec![other], ..fixture.suspension("b") };
        assert_eq!(fixture.refused(misnamed, at(2)), Code::InvalidWaitpointKey);
        let late = on(&fixture, pending(&ahead));
        assert_eq!(fixture.refused(late, at(1_001)), Code::PendingWaitpointExpired);
        let used = on(&fixture, pending(&ahead));
        fixture.ask(used, at(3)).unwrap();
        fixture.deliver(&ahead, "go", at(4));
        fixture.claim(at(5));
        let again = on(&fixture, pending(&ahead));
        assert_eq!(fixture.refused(again, at(6)), Code::WaitpointNotPending);
    }
}
