//! The steps of a walk that have to do with waiting.

use ff_core::contracts::{
    CloseWaitpointArgs, CreateWaitpointArgs, DeliverArgs, ResumeArgs, RotatePartitionArgs, RotateSecretArgs,
    SuspendArgs, Timeout, WaitpointBinding, WaitpointRef,
};
use ff_core::lease::Fence;
use ff_core::operation::{Ask, Operation};
use ff_core::payload::Payload;
use ff_core::signal::Source;
use ff_core::suspension::{Condition, Distinct, Handed, OperatorDecision, ResumePolicy, TimeoutBehavior};
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, IdempotencyKey, SignalName, WaitpointKey};

use super::walk::Walk;

const KEYS: &[&str] = &["a", "b", "c"];

impl Walk {
    /// An operation on suspensions, waitpoints, signals or secrets; work to be done as long as there is nothing to wait on.
    pub(super) fn wait(&self) -> Operation {
        let Some((execution_id, fence)) = self.held() else { return self.submission().into_operation() };
        match self.pick(14) {
            0..=3 => self.suspension(execution_id, fence).into_operation(),
            4 | 5 => {
                let expires_in_ms = 1 + self.pick(40_000);
                CreateWaitpointArgs { execution_id, fence, key: self.key(), expires_in_ms }.into_operation()
            }
            6 => self.resumption(execution_id).into_operation(),
            7 => self.rotation().into_operation(),
            8 => match self.one(&self.granted) {
                Some((execution_id, granted)) => {
                    let (execution_id, waitpoint_id) = (*execution_id, granted.waitpoint_id);
                    CloseWaitpointArgs { execution_id, waitpoint_id, reason: None }.into_operation()
                }
                None => self.submission().into_operation(),
            },
            _ => match self.signal() {
                Some(signal) => signal.into_operation(),
                None => self.submission().into_operation(),
            },
        }
    }

    fn suspension(&self, execution_id: ExecutionId, fence: Fence) -> SuspendArgs {
        let mut waitpoints = vec![self.binding(execution_id)];
        let other = self.binding(execution_id);
        if other.key() != waitpoints[0].key() {
            waitpoints.push(other);
        }
        let keys: Vec<_> = waitpoints.iter().map(|binding| binding.key().clone()).collect();
        let one = |(nth, waitpoint): (usize, &WaitpointKey)| Condition::Signal {
            waitpoint: waitpoint.clone(),
            name: (nth == 0 && self.pick(3) == 0).then(|| name("go")),
        };
        let members = || keys.iter().enumerate().map(one).collect();
        let condition = match self.pick(4) {
            0 => Condition::AllOf { members: members() },
            1 => Condition::AnyOf { members: members() },
            2 => Condition::Count { n: 2, of: Distinct::Signals, waitpoints: keys.clone(), name: None },
            _ => Condition::Count { n: 1, of: Distinct::Sources, waitpoints: keys.clone(), name: None },
        };
        let handed = if self.pick(3) == 0 { Handed::All } else { Handed::Matched };
        SuspendArgs {
            condition,
            timeout: (self.pick(2) == 0).then(|| Timeout::After(1 + self.pick(20_000))),
            timeout_behavior: *self.one(TimeoutBehavior::ALL).unwrap(),
            resume_policy: ResumePolicy { resume_delay_ms: self.pick(2) * self.pick(5_000), handed },
            idempotency_key: self.idempotency(),
            dedup_ttl_ms: self.pick(60_000),
            waitpoints,
            ..SuspendArgs::new(execution_id, fence, self.key())
        }
    }

    /// A new waitpoint, or one the execution was given before.
    fn binding(&self, execution_id: ExecutionId) -> WaitpointBinding {
        let own: Vec<_> = self.granted.iter().filter(|(of, _)| *of == execution_id).collect();
        match own.last().filter(|_| self.pick(2) == 0) {
            Some((_, granted)) => {
                WaitpointBinding::Pending { id: granted.waitpoint_id, key: granted.waitpoint_key.clone() }
            }
            None => WaitpointBinding::Fresh { key: self.key() },
        }
    }

    /// A signal to a waitpoint, mostly a recent one, mostly with its own token.
    fn signal(&self) -> Option<DeliverArgs> {
        let recent = self.granted.len().saturating_sub(12);
        let (execution_id, granted) = self.one(&self.granted[recent..])?;
        let token = if self.pick(12) == 0 { &self.one(&self.granted)?.1 } else { granted };
        let waitpoint = match self.pick(3) {
            0 => WaitpointRef::Key(granted.waitpoint_key.clone()),
            _ => WaitpointRef::Id(granted.waitpoint_id),
        };
        let named = name(["go", "no"][usize::from(self.pick(4) == 0)]);
        Some(DeliverArgs {
            source: Source::parse("test", Some(&self.pick(3).to_string())).unwrap(),
            payload: (self.pick(2) == 0).then(|| Payload::json(self.pick(9).to_string())),
            idempotency_key: self.idempotency(),
            dedup_ttl_ms: self.pick(60_000),
            ..DeliverArgs::new(*execution_id, waitpoint, PresentedToken::from(&token.waitpoint_token), named)
        })
    }

    fn resumption(&self, execution_id: ExecutionId) -> ResumeArgs {
        let decision = *self.one(OperatorDecision::ALL).unwrap();
        let payload = (self.pick(2) == 0).then(|| Payload::json("\"why\""));
        ResumeArgs { payload, ..ResumeArgs::new(execution_id, decision) }
    }

    fn rotation(&self) -> RotatePartitionArgs {
        let number = self.pick(4);
        let rotation =
            RotateSecretArgs::parse(&format!("r{number}"), &format!("c0ffee0{number}").repeat(4), self.pick(90_000));
        RotatePartitionArgs { partition: self.partition(), rotation: rotation.unwrap() }
    }

    fn key(&self) -> WaitpointKey {
        WaitpointKey::parse(self.one(KEYS).unwrap()).unwrap()
    }

    pub(super) fn idempotency(&self) -> Option<IdempotencyKey> {
        (self.pick(3) == 0).then(|| IdempotencyKey::parse(&self.pick(3).to_string()).unwrap())
    }
}

fn name(text: &str) -> SignalName {
    SignalName::parse(text).unwrap()
}
