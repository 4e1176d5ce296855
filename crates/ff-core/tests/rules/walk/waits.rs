//! What a random walk does about waiting, as lines of a script: suspensions of many shapes, signals with good and bad
//! tokens, decisions and rotations.

use ff_core::contracts::{
    CloseWaitpointArgs, CreateWaitpointArgs, DeliverArgs, GrantedWaitpoint, ResumeArgs, RotatePartitionArgs,
    RotateSecretArgs, SuspendArgs, Timeout, WaitpointBinding, WaitpointRef,
};
use ff_core::lease::Fence;
use ff_core::operation::{Operation, Reply};
use ff_core::payload::Payload;
use ff_core::signal::Source;
use ff_core::suspension::{Condition, Distinct, Handed, OperatorDecision, ResumePolicy, TimeoutBehavior};
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, IdempotencyKey, SignalName, SuspensionId, TimestampMs, WaitpointId, WaitpointKey};
use uuid::Uuid;

use super::script::{By, PARTITION_COUNT};
use super::splitmix::SplitMix;

/// Something about waiting. Waitpoints are named by how long ago their token was handed out.
#[derive(Clone)]
pub(crate) enum Wait {
    Suspend {
        by: By,
        shape: usize,
        pending: bool,
        timeout: Option<Timeout>,
        behavior: TimeoutBehavior,
        key: Option<&'static str>,
        policy: ResumePolicy,
    },
    Create {
        by: By,
        key: &'static str,
        expires_in_ms: u64,
    },
    Close {
        back: usize,
    },
    Deliver {
        back: usize,
        shown: Shown,
        by_key: bool,
        name: &'static str,
        source: &'static str,
        key: Option<&'static str>,
        bytes: usize,
    },
    Resume {
        back: usize,
        named: bool,
        decision: OperatorDecision,
    },
    Rotate {
        kid: &'static str,
        secret: &'static str,
        grace_ms: u64,
        partition: u16,
    },
}

/// What is shown as a token.
#[derive(Clone, Copy)]
pub(crate) enum Shown {
    Genuine,
    Nothing,
    Truncated,
    OfAnother,
}

/// What was handed out so far.
#[derive(Default)]
pub(crate) struct Granted {
    waitpoints: Vec<(ExecutionId, GrantedWaitpoint)>,
    suspensions: Vec<(ExecutionId, SuspensionId)>,
}

impl Granted {
    pub(crate) fn remember(&mut self, operation: &Operation, reply: &Reply) {
        let mut grant = |id: ExecutionId, granted: &GrantedWaitpoint| {
            if !self.waitpoints.iter().any(|(_, known)| known == granted) {
                self.waitpoints.push((id, granted.clone()));
            }
        };
        match (operation, reply) {
            (Operation::Suspend(args), Reply::Suspended(suspended)) => {
                suspended.waitpoints.iter().for_each(|granted| grant(args.execution_id, granted));
                self.suspensions.push((args.execution_id, suspended.suspension_id));
            }
            (Operation::CreateWaitpoint(args), Reply::WaitpointCreated(granted)) => grant(args.execution_id, granted),
            _ => {}
        }
    }

    /// What a line means here and now, for whoever shows a fence.
    pub(crate) fn operation(
        &self,
        wait: &Wait,
        shown: impl Fn(By) -> (ExecutionId, Fence),
        now: TimestampMs,
    ) -> Operation {
        match wait.clone() {
            Wait::Suspend { by, shape, pending, timeout, behavior, key, policy } => {
                let (execution_id, fence) = shown(by);
                let (condition, keys) = shaped(shape);
                let waitpoints = keys.iter().map(|key| self.binding(&execution_id, key, pending)).collect();
                Operation::Suspend(SuspendArgs {
                    waitpoints,
                    condition,
                    timeout: timeout.map(|timeout| from_now(timeout, now)),
                    timeout_behavior: behavior,
                    resume_policy: policy,
                    idempotency_key: key.map(|key| IdempotencyKey::parse(key).expect("a key")),
                    dedup_ttl_ms: 1_500,
                    ..SuspendArgs::new(execution_id, fence, waitpoint_key("a"))
                })
            }
            Wait::Create { by, key, expires_in_ms } => {
                let (execution_id, fence) = shown(by);
                let key = waitpoint_key(key);
                Operation::CreateWaitpoint(CreateWaitpointArgs { execution_id, fence, key, expires_in_ms })
            }
            Wait::Close { back } => {
                let (execution_id, waitpoint_id) = self.nth(back).map_or_else(nowhere, |(id, w)| (*id, w.waitpoint_id));
                Operation::CloseWaitpoint(CloseWaitpointArgs { execution_id, waitpoint_id, reason: None })
            }
            Wait::Deliver { back, shown, by_key, name, source, key, bytes } => {
                Operation::Deliver(self.delivery(back, shown, by_key, name, source, key, bytes))
            }
            Wait::Resume { back, named, decision } => {
                let known = self.suspensions.iter().rev().nth(back % self.suspensions.len().max(1));
                let (id, suspension) = known.copied().unwrap_or((nowhere().0, SuspensionId::from_uuid(Uuid::nil())));
                let suspension_id = named.then_some(suspension);
                Operation::Resume(ResumeArgs { suspension_id, ..ResumeArgs::new(id, decision) })
            }
            Wait::Rotate { kid, secret, grace_ms, partition } => {
                let rotation = RotateSecretArgs::parse(kid, &secret.repeat(16), grace_ms).expect("a rotation");
                Operation::Rotate(RotatePartitionArgs { partition, rotation })
            }
        }
    }

    fn binding(&self, execution: &ExecutionId, key: &str, pending: bool) -> WaitpointBinding {
        let key = waitpoint_key(key);
        let known = self.waitpoints.iter().rev().find(|(id, known)| id == execution && known.waitpoint_key == key);
        match known.filter(|_| pending) {
            Some((_, known)) => WaitpointBinding::Pending { id: known.waitpoint_id, key },
            None => WaitpointBinding::Fresh { key },
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a line of a script, spelled out")]
    fn delivery(
        &self,
        back: usize,
        shown: Shown,
        by_key: bool,
        name: &str,
        source: &str,
        key: Option<&str>,
        bytes: usize,
    ) -> DeliverArgs {
        let other = self.nth(back + 1).map(|(_, granted)| granted.waitpoint_token.expose());
        let (id, to, key_of, token) = match self.nth(back) {
            Some((id, w)) => (*id, w.waitpoint_id, w.waitpoint_key.clone(), w.waitpoint_token.expose()),
            None => (nowhere().0, nowhere().1, waitpoint_key("a"), "k1:00".into()),
        };
        let token = match shown {
            Shown::Genuine => token,
            Shown::Nothing => String::new(),
            Shown::Truncated => token[..token.len() - 1].into(),
            Shown::OfAnother => other.unwrap_or_default(),
        };
        let to = if by_key { WaitpointRef::Key(key_of) } else { WaitpointRef::Id(to) };
        DeliverArgs {
            source: Source::parse("user", Some(source)).expect("a source"),
            payload: (bytes > 0).then(|| Payload::bytes(vec![7; bytes])),
            idempotency_key: key.map(|key| IdempotencyKey::parse(key).expect("a key")),
            dedup_ttl_ms: 2_000,
            ..DeliverArgs::new(id, to, PresentedToken::new(token), SignalName::parse(name).expect("a name"))
        }
    }

    fn nth(&self, back: usize) -> Option<&(ExecutionId, GrantedWaitpoint)> {
        self.waitpoints.iter().rev().nth(back % self.waitpoints.len().max(1))
    }
}

/// A line about waiting.
pub(crate) fn wait(random: &mut SplitMix, by: By) -> Wait {
    match random.below(100) {
        0..24 => Wait::Suspend {
            by,
            shape: random.pick(&[0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]),
            pending: random.chance(70),
            timeout: random.pick(&[
                None,
                Some(Timeout::After(200)),
                Some(Timeout::After(800)),
                Some(Timeout::After(1_000)),
                Some(Timeout::At(TimestampMs(-1))),
                Some(Timeout::At(TimestampMs(500))),
            ]),
            behavior: random.pick(TimeoutBehavior::ALL),
            key: random.pick(&[None, None, Some("one"), Some("two")]),
            policy: ResumePolicy {
                resume_delay_ms: random.pick(&[0, 0, 0, 500]),
                handed: random.pick(&[Handed::Matched, Handed::All]),
            },
        },
        24..38 => Wait::Create {
            by,
            key: random.pick(&["a", "a", "b"]),
            expires_in_ms: random.pick(&[0, 700, 1_000, 5_000, 5_000]),
        },
        38..42 => Wait::Close { back: random.below(4) },
        42..84 => Wait::Deliver {
            back: random.pick(&[0, 0, 0, 0, 1, 1, 2, 3, 5]),
            shown: match random.below(20) {
                0 => Shown::Nothing,
                1 => Shown::Truncated,
                2 | 3 => Shown::OfAnother,
                _ => Shown::Genuine,
            },
            by_key: random.chance(30),
            name: random.pick(&["go", "go", "vote"]),
            source: random.pick(&["ada", "bob"]),
            key: random.pick(&[None, None, Some("first"), Some("second")]),
            bytes: if random.chance(2) { ff_core::limits::SIGNAL_BYTES + 1 } else { random.pick(&[0, 3]) },
        },
        84..96 => Wait::Resume {
            back: random.pick(&[0, 0, 1]),
            named: random.chance(50),
            decision: random.pick(OperatorDecision::ALL),
        },
        _ => Wait::Rotate {
            kid: random.pick(&["k2", "k3", "k4"]),
            secret: random.pick(&["0a", "0a", "0b"]),
            grace_ms: random.pick(&[0, 1_000, 100_000]),
            partition: random.pick(&[0, 1, PARTITION_COUNT]),
        },
    }
}

/// A condition, and the keys of the waitpoints it is over. Shapes 8 and 9 are refused.
fn shaped(shape: usize) -> (Condition, &'static [&'static str]) {
    let signal = |key: &str, name: Option<&str>| Condition::Signal {
        waitpoint: waitpoint_key(key),
        name: name.map(|name| SignalName::parse(name).expect("a name")),
    };
    let count =
        |n, of| Condition::Count { n, of, waitpoints: vec![waitpoint_key("a"), waitpoint_key("b")], name: None };
    let all = |members| Condition::AllOf { members };
    match shape {
        0 => (signal("a", Some("go")), &["a"]),
        1 => (all(vec![signal("a", None), signal("b", Some("go"))]), &["a", "b"]),
        2 => (
            Condition::AnyOf {
                members: vec![all(vec![signal("a", None), signal("b", None)]), count(3, Distinct::Signals)],
            },
            &["a", "b"],
        ),
        3 => (count(2, Distinct::Sources), &["a", "b"]),
        4 => (count(2, Distinct::Waitpoints), &["a", "b"]),
        5 => (all(vec![all(vec![all(vec![signal("a", None)])]), signal("b", None)]), &["a", "b"]),
        6 => (Condition::OperatorOnly, &["a"]),
        7 => (Condition::TimeoutOnly, &["a"]),
        8 => (count(3, Distinct::Waitpoints), &["a", "b"]),
        9 => (all(vec![all(vec![all(vec![all(vec![signal("a", None)])])])]), &["a"]),
        _ => (signal("a", None), &["a"]),
    }
}

/// Moments of a script count from where the walk stands.
fn from_now(timeout: Timeout, now: TimestampMs) -> Timeout {
    match timeout {
        Timeout::At(offset) => Timeout::At(TimestampMs(now.0 + offset.0)),
        after @ Timeout::After(_) => after,
    }
}

fn waitpoint_key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).expect("a key")
}

fn nowhere() -> (ExecutionId, WaitpointId) {
    (ExecutionId::new(0, Uuid::nil()), WaitpointId::from_uuid(Uuid::nil()))
}
