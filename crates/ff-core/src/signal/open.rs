//! Opening a waitpoint: the token is judged before anything about state is looked at, let alone told.

use crate::engine_error::Code;
use crate::execution::Execution;
use crate::suspension::Waitpoint;
use crate::token::PresentedToken;
use crate::types::{ExecutionId, TimestampMs, WaitpointId, WaitpointKey};
use crate::view::{Stop, View};

/// How a signal says where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitpointRef {
    Id(WaitpointId),
    /// By the name outsiders know it by.
    Key(WaitpointKey),
}

/// The execution and the waitpoint, for whoever shows the token that opens it.
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
    use crate::samples::at;
    use crate::signal::Effect;
    use crate::signal::contracts::DeliverArgs;
    use crate::stage::{Stage, key};
    use crate::suspension::{Condition, Distinct};
    use crate::token::contracts::{RotatePartitionArgs, RotateSecretArgs};

    fn rotation(stage: &Stage, kid: &str, grace_ms: u64) -> RotatePartitionArgs {
        let rotation = RotateSecretArgs::parse(kid, &"5e".repeat(16), grace_ms).unwrap();
        RotatePartitionArgs { partition: stage.id.partition(), rotation }
    }

    #[test]
    fn the_token_is_judged_before_anything_about_state_is_revealed() {
        let mut stage = Stage::running(at(0));
        let granted = stage.suspend("a", at(1)).waitpoints.remove(0);
        let forged = PresentedToken::new(format!("k1:{}", "00".repeat(32)));
        let shown = |stage: &Stage, token: &PresentedToken| {
            let known = DeliverArgs { token: token.clone(), ..stage.signal(&granted, "go") };
            let nowhere = ExecutionId::new(stage.id.partition(), uuid::Uuid::nil());
            [
                DeliverArgs { execution_id: nowhere, ..known.clone() },
                DeliverArgs { waitpoint: WaitpointRef::Id(WaitpointId::new()), ..known.clone() },
                DeliverArgs { waitpoint: WaitpointRef::Key(key("nowhere")), ..known.clone() },
                known,
            ]
        };
        let states: [fn(&mut Stage); 2] = [
            |_| {},
            |stage| {
                let args = CancelArgs { execution_id: stage.id, reason: None, requested_by: None };
                stage.ask(args, at(2)).unwrap();
            },
        ];
        for enter in states {
            enter(&mut stage);
            for args in shown(&stage, &forged) {
                assert_eq!(stage.ask(args, at(3)).unwrap_err(), Code::InvalidToken.refusal());
            }
            for args in shown(&stage, &PresentedToken::default()) {
                assert_eq!(stage.ask(args, at(3)).unwrap_err(), Code::MissingToken.refusal());
            }
        }
        let genuine = stage.signal(&granted, "go");
        assert_eq!(stage.refused(genuine, at(4)), Code::TargetNotSignalable);
    }

    #[test]
    fn a_token_minted_before_two_rotations_works_within_its_grace_and_not_after() {
        let mut stage = Stage::running(at(0));
        let votes = Condition::Count { n: 9, of: Distinct::Signals, waitpoints: vec![key("a")], name: None };
        let args = stage.suspension_for(votes, &["a"]);
        let granted = stage.ask(args, at(1)).unwrap().waitpoints.remove(0);
        stage.ask(rotation(&stage, "k2", 1_000), at(10)).unwrap();
        stage.ask(rotation(&stage, "k3", 1_000), at(20)).unwrap();
        assert_eq!(stage.deliver(&granted, "vote", at(1_009)).effect, Effect::Appended);
        let late = stage.signal(&granted, "vote");
        assert_eq!(stage.refused(late.clone(), at(1_010)), Code::TokenExpired);
        stage.ask(rotation(&stage, "k4", 1_000), at(1_020)).unwrap();
        assert_eq!(stage.refused(late, at(1_021)), Code::InvalidToken, "its secret was thrown away");
    }

    #[test]
    fn a_waitpoint_is_known_by_its_key_as_well() {
        let mut stage = Stage::running(at(0));
        let args = stage.pending("early");
        let ahead = stage.ask(args, at(1)).unwrap();
        let granted = stage.suspend("a", at(2)).waitpoints.remove(0);
        for (granted, name, effect) in [(&ahead, "early", Effect::Buffered), (&granted, "a", Effect::Satisfied)] {
            let by_key = DeliverArgs { waitpoint: WaitpointRef::Key(key(name)), ..stage.signal(granted, "go") };
            assert_eq!(stage.ask(by_key, at(3)).unwrap().effect, effect);
        }
    }

    #[test]
    fn a_token_minted_under_the_current_secret_opens_what_an_older_one_no_longer_does() {
        let mut stage = Stage::running(at(0));
        let granted = stage.suspend("a", at(1)).waitpoints.remove(0);
        stage.ask(rotation(&stage, "k2", 0), at(2)).unwrap();
        let old = stage.signal(&granted, "go");
        assert_eq!(stage.refused(old.clone(), at(3)), Code::TokenExpired);
        let minted = stage.waitpoint(&granted).mint(stage.model.ring(stage.id.partition()).unwrap()).unwrap();
        assert_eq!(minted.kid.as_str(), "k2");
        let new = DeliverArgs { token: PresentedToken::from(&minted), ..old };
        assert_eq!(stage.ask(new, at(4)).unwrap().effect, Effect::Satisfied);
    }
}
