//! Opening a waitpoint: the token is verified before any state is read or revealed.

use crate::engine_error::Code;
use crate::execution::Execution;
use crate::rule::view::{Stop, View};
use crate::suspension::Waitpoint;
use crate::token::PresentedToken;
use crate::types::{ExecutionId, TimestampMs, WaitpointId, WaitpointKey};

/// The address of a signal: a waitpoint by its id or by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitpointRef {
    Id(WaitpointId),
    /// The key by which callers from outside know the waitpoint.
    Key(WaitpointKey),
}

/// Returns the execution and the waitpoint that a token opens.
pub(super) fn open<'v>(
    view: &'v dyn View,
    execution: &ExecutionId,
    waitpoint: &WaitpointRef,
    token: &PresentedToken,
    now: TimestampMs,
) -> Result<(&'v Execution, &'v Waitpoint), Stop> {
    if token.is_missing() {
        return Err(Code::MissingToken.into());
    }
    let execution = view.execution(execution)?.ok_or(Code::InvalidToken)?;
    let id = match waitpoint {
        WaitpointRef::Id(id) => *id,
        WaitpointRef::Key(key) => execution.waitpoint_by_key(key).ok_or(Code::InvalidToken)?,
    };
    let waitpoint = view.waitpoint(&execution.id, &id)?.ok_or(Code::InvalidToken)?;
    waitpoint.verify(view.ring(execution.id.partition())?, token, now)?;
    Ok((execution, waitpoint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::CancelArgs;
    use crate::rule::fixture::{ExecutionFixture, key};
    use crate::rule::samples::at;
    use crate::signal::Effect;
    use crate::signal::contracts::DeliverArgs;
    use crate::suspension::{Condition, Distinct};
    use crate::token::contracts::{RotatePartitionArgs, RotateSecretArgs};

    fn rotation(fixture: &ExecutionFixture, kid: &str, grace_ms: u64) -> RotatePartitionArgs {
        let rotation = RotateSecretArgs::parse(kid, &"5e".repeat(16), grace_ms).unwrap();
        RotatePartitionArgs { partition: fixture.id.partition(), rotation }
    }

    #[test]
    fn the_token_is_judged_before_anything_about_state_is_revealed() {
        let mut fixture = ExecutionFixture::running(at(0));
        let granted = fixture.suspend("a", at(1)).waitpoints.remove(0);
        let forged = PresentedToken::new(format!("k1:{}", "00".repeat(32)));
        let shown = |fixture: &ExecutionFixture, token: &PresentedToken| {
            let known = DeliverArgs { token: token.clone(), ..fixture.signal(&granted, "go") };
            let nowhere = ExecutionId::new(fixture.id.partition(), uuid::Uuid::nil());
            [
                DeliverArgs { execution_id: nowhere, ..known.clone() },
                DeliverArgs { waitpoint: WaitpointRef::Id(WaitpointId::new()), ..known.clone() },
                DeliverArgs { waitpoint: WaitpointRef::Key(key("nowhere")), ..known.clone() },
                known,
            ]
        };
        let states: [fn(&mut ExecutionFixture); 2] = [
            |_| {},
            |fixture| {
                let args = CancelArgs { execution_id: fixture.id, reason: None, requested_by: None };
                fixture.ask(args, at(2)).unwrap();
            },
        ];
        for enter in states {
            enter(&mut fixture);
            for args in shown(&fixture, &forged) {
                assert_eq!(fixture.ask(args, at(3)).unwrap_err(), Code::InvalidToken.refusal());
            }
            for args in shown(&fixture, &PresentedToken::default()) {
                assert_eq!(fixture.ask(args, at(3)).unwrap_err(), Code::MissingToken.refusal());
            }
        }
        let genuine = fixture.signal(&granted, "go");
        assert_eq!(fixture.refused(genuine, at(4)), Code::TargetNotSignalable);
    }

    #[test]
    fn a_token_minted_before_two_rotations_works_within_its_grace_and_not_after() {
        let mut fixture = ExecutionFixture::running(at(0));
        let votes = Condition::Count { n: 9, of: Distinct::Signals, waitpoints: vec![key("a")], name: None };
        let args = fixture.suspension_for(votes, &["a"]);
        let granted = fixture.ask(args, at(1)).unwrap().waitpoints.remove(0);
        fixture.ask(rotation(&fixture, "k2", 1_000), at(10)).unwrap();
        fixture.ask(rotation(&fixture, "k3", 1_000), at(20)).unwrap();
        assert_eq!(fixture.deliver(&granted, "vote", at(1_009)).effect, Effect::Appended);
        let late = fixture.signal(&granted, "vote");
        assert_eq!(fixture.refused(late.clone(), at(1_010)), Code::TokenExpired);
        fixture.ask(rotation(&fixture, "k4", 1_000), at(1_020)).unwrap();
        assert_eq!(fixture.refused(late, at(1_021)), Code::InvalidToken, "its secret was thrown away");
    }

    #[test]
    fn a_waitpoint_is_known_by_its_key_as_well() {
        let mut fixture = ExecutionFixture::running(at(0));
        let args = fixture.pending("early");
        let ahead = fixture.ask(args, at(1)).unwrap();
        let granted = fixture.suspend("a", at(2)).waitpoints.remove(0);
        for (granted, name, effect) in [(&ahead, "early", Effect::Buffered), (&granted, "a", Effect::Satisfied)] {
            let by_key = DeliverArgs { waitpoint: WaitpointRef::Key(key(name)), ..fixture.signal(granted, "go") };
            assert_eq!(fixture.ask(by_key, at(3)).unwrap().effect, effect);
        }
    }

    #[test]
    fn a_token_minted_under_the_current_secret_opens_what_an_older_one_no_longer_does() {
        let mut fixture = ExecutionFixture::running(at(0));
        let granted = fixture.suspend("a", at(1)).waitpoints.remove(0);
        fixture.ask(rotation(&fixture, "k2", 0), at(2)).unwrap();
        let old = fixture.signal(&granted, "go");
        assert_eq!(fixture.refused(old.clone(), at(3)), Code::TokenExpired);
        let minted = fixture.waitpoint(&granted).mint(fixture.model.ring(fixture.id.partition()).unwrap()).unwrap();
        assert_eq!(minted.kid.as_str(), "k2");
        let new = DeliverArgs { token: PresentedToken::from(&minted), ..old };
        assert_eq!(fixture.ask(new, at(4)).unwrap().effect, Effect::Satisfied);
    }
}
