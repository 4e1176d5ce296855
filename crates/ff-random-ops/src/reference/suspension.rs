//! The waitpoints and suspensions that a run remembers, and the operations of transitions about suspensions.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{Reference, vocabulary};
use crate::prelude::*;
use crate::transition::{
    OutgoingSignal, ShownToken, SuspensionRequest, Transition, Tree, WaitpointChoice, WaitpointSelector,
};

/// How long the keys of suspensions and signals are remembered. The time is short, so that keys are forgotten during
/// runs.
const DEDUP_MS: u64 = 20_000;

/// The waitpoints and suspensions granted in a run, oldest first.
#[derive(Default)]
pub(crate) struct GrantedWaitpoints {
    waitpoints: Vec<(ExecutionId, GrantedWaitpoint)>,
    suspensions: BTreeMap<ExecutionId, Vec<SuspensionId>>,
}

impl GrantedWaitpoints {
    /// Records the waitpoints and suspensions of a reply.
    pub(crate) fn note(&mut self, operation: &Operation, reply: &Reply) {
        let (id, granted) = match (operation, reply) {
            (Operation::Suspend(args), Reply::Suspended(suspended)) => {
                let known = self.suspensions.entry(args.execution_id).or_default();
                if !known.contains(&suspended.suspension_id) {
                    known.push(suspended.suspension_id);
                }
                (args.execution_id, suspended.waitpoints.clone())
            }
            (Operation::CreateWaitpoint(args), Reply::WaitpointCreated(granted)) => {
                (args.execution_id, vec![granted.clone()])
            }
            _ => return,
        };
        for granted in granted {
            let one = (id, granted);
            if !self.waitpoints.contains(&one) {
                self.waitpoints.push(one);
            }
        }
    }

    /// Returns the waitpoints of an execution, newest first.
    pub(crate) fn of(&self, id: &ExecutionId) -> impl Iterator<Item = &GrantedWaitpoint> {
        self.waitpoints.iter().rev().filter(move |(of, _)| of == id).map(|(_, granted)| granted)
    }

    fn find(&self, id: &ExecutionId, which: WaitpointSelector) -> Option<&GrantedWaitpoint> {
        let (number, back) = match which {
            WaitpointSelector::Last(number) => (number, 0),
            WaitpointSelector::Before(number) => (number, 1),
            WaitpointSelector::Unknown => return None,
        };
        let name = key(number);
        self.of(id).filter(|granted| granted.waitpoint_key == name).nth(back)
    }
}

impl Reference {
    /// Returns the operation of a transition about a suspension.
    pub(super) fn suspension_operation(&self, transition: &Transition) -> Operation {
        match transition {
            Transition::CloseWaitpoint { job, waitpoint } => {
                let execution_id = self.id(*job);
                let waitpoint_id = self.waitpoint_id(&execution_id, *waitpoint);
                Operation::CloseWaitpoint(CloseWaitpointArgs { execution_id, waitpoint_id, reason: None })
            }
            Transition::Deliver(sending) => Operation::Deliver(self.delivery(sending)),
            Transition::Resume { job, decision, named, payload, delay_ms } => {
                let execution_id = self.id(*job);
                let suspensions = self.granted.suspensions.get(&execution_id);
                let back = |back: u8| suspensions.and_then(|known| known.iter().rev().nth(usize::from(back)));
                let unknown = SuspensionId::from_uuid(Uuid::from_u128(9));
                Operation::Resume(ResumeArgs {
                    suspension_id: named.map(|nth| back(nth).copied().unwrap_or(unknown)),
                    payload: payload.map(vocabulary::bytes),
                    resume_delay_ms: *delay_ms,
                    ..ResumeArgs::new(execution_id, *decision)
                })
            }
            other => unreachable!("{other:?} is not about a suspension"),
        }
    }

    pub(super) fn suspension(&self, execution_id: ExecutionId, fence: Fence, wish: &SuspensionRequest) -> SuspendArgs {
        let last = |number| self.waitpoint_id(&execution_id, WaitpointSelector::Last(number));
        let binding = |on: &WaitpointChoice| match *on {
            WaitpointChoice::New(number) => WaitpointBinding::Fresh { key: key(number) },
            WaitpointChoice::Ahead(number) => WaitpointBinding::Pending { id: last(number), key: key(number) },
            WaitpointChoice::Misnamed(number) => WaitpointBinding::Pending { id: last(number), key: key(number + 100) },
            WaitpointChoice::Unknown(number) => WaitpointBinding::Pending { id: unknown(), key: key(number) },
        };
        let waitpoints: Vec<_> = wish.on.iter().map(binding).collect();
        let keys = waitpoints.iter().map(|binding| binding.key().clone()).collect();
        SuspendArgs {
            execution_id,
            fence,
            condition: condition(wish.tree, keys),
            waitpoints,
            reason: SuspendReason::WaitingForCallback,
            requested_by: SuspendedBy::Worker,
            timeout: wish.timeout,
            timeout_behavior: wish.behavior,
            resume_policy: ResumePolicy { resume_delay_ms: wish.delay_ms, signals: wish.selection },
            continuation: (wish.delay_ms > 0).then(|| "where it was".into()),
            idempotency_key: wish.key.map(remembered),
            dedup_ttl_ms: DEDUP_MS,
        }
    }

    fn delivery(&self, sending: &OutgoingSignal) -> DeliverArgs {
        let execution_id = self.id(sending.job);
        let granted = self.granted.find(&execution_id, sending.to);
        let waitpoint = match granted {
            Some(granted) if sending.by_key => WaitpointRef::Key(granted.waitpoint_key.clone()),
            Some(granted) => WaitpointRef::Id(granted.waitpoint_id),
            None if sending.by_key => WaitpointRef::Key(key(99)),
            None => WaitpointRef::Id(unknown()),
        };
        let source = match sending.user {
            None => Source::external(),
            Some(nth) => Source::parse("user", Some(&format!("user-{nth}"))).unwrap(),
        };
        DeliverArgs {
            execution_id,
            waitpoint,
            token: self.token(&execution_id, granted, sending.token),
            name: name(sending.name),
            source,
            payload: sending.payload.map(vocabulary::bytes),
            idempotency_key: sending.key.map(remembered),
            dedup_ttl_ms: DEDUP_MS,
        }
    }

    fn token(&self, id: &ExecutionId, granted: Option<&GrantedWaitpoint>, which: ShownToken) -> PresentedToken {
        let Some(granted) = granted else { return PresentedToken::new(format!("k1:{}", "00".repeat(32))) };
        let own = granted.waitpoint_token.expose();
        PresentedToken::new(match which {
            ShownToken::Own => own,
            ShownToken::Newest => {
                self.granted.waitpoints.last().map_or(own, |(_, newest)| newest.waitpoint_token.expose())
            }
            ShownToken::Flipped => {
                let last = u32::from_str_radix(&own[own.len() - 1..], 16).unwrap();
                format!("{}{:x}", &own[..own.len() - 1], last ^ 1)
            }
            ShownToken::Signed => {
                let ring = self.model.ring(id.partition()).ok().flatten().unwrap();
                let kid = ring.current.clone().unwrap();
                let secret = &ring.keys[&kid].secret;
                let mac = Mac::of(secret, id, &granted.waitpoint_id, &granted.waitpoint_key);
                WaitpointToken { kid, mac }.expose()
            }
            ShownToken::UnknownKid => format!("x{own}"),
            ShownToken::Half => own[..own.len() / 2].into(),
            ShownToken::Missing => String::new(),
        })
    }

    fn waitpoint_id(&self, id: &ExecutionId, which: WaitpointSelector) -> WaitpointId {
        self.granted.find(id, which).map_or_else(unknown, |granted| granted.waitpoint_id)
    }
}

/// Returns the signals that are handed out with a claim.
pub(crate) fn resumption_signals(model: &Model, id: &ExecutionId, resumption: &Resumption) -> Vec<ReceivedSignal> {
    let known = |id_of: &_| model.signals(id).iter().find(|signal| signal.id == *id_of).cloned().unwrap();
    let hand = |(nth, signal): (usize, _)| {
        let payload = model.signal_payload(id, signal).cloned().filter(|_| nth < resumption.with_payload);
        ReceivedSignal { signal: known(signal), payload }
    };
    resumption.signals.iter().enumerate().map(hand).collect()
}

fn condition(tree: Tree, keys: Vec<WaitpointKey>) -> Condition {
    let signals = |named: Option<u8>| -> Vec<_> {
        let one = |key: &WaitpointKey| Condition::Signal { waitpoint: key.clone(), name: named.map(name) };
        keys.iter().map(one).collect()
    };
    let any_of = || Condition::AnyOf { members: signals(None) };
    let count = |n, of| Condition::Count { n, of, waitpoints: keys.clone(), name: None };
    match tree {
        Tree::AnyOf => any_of(),
        Tree::AllOf => Condition::AllOf { members: signals(None) },
        Tree::Sample => Condition::AllOf { members: signals(Some(0)) },
        Tree::Waitpoints(n) => count(n, Distinct::Waitpoints),
        Tree::Signals(n) => count(n, Distinct::Signals),
        Tree::Sources(n) => count(n, Distinct::Sources),
        Tree::Deep => Condition::AllOf {
            members: vec![
                Condition::AnyOf {
                    members: vec![Condition::AllOf { members: signals(Some(1)) }, count(2, Distinct::Sources)],
                },
                any_of(),
            ],
        },
        Tree::Operator => Condition::OperatorOnly,
        Tree::Timeout => Condition::TimeoutOnly,
        Tree::TooDeep => (0..3).fold(any_of(), |inner, _| Condition::AllOf { members: vec![inner] }),
    }
}

pub(super) fn key(number: u8) -> WaitpointKey {
    WaitpointKey::parse(&format!("{KEY}{number}")).unwrap()
}

/// Returns the number of a waitpoint key.
pub(crate) fn number_of(key: &WaitpointKey) -> Option<u8> {
    key.as_str().strip_prefix(KEY)?.parse().ok()
}

/// Prefix of waitpoint keys. It is not ASCII, because keys are bytes to every store.
const KEY: &str = "Tür ";

fn name(number: u8) -> SignalName {
    SignalName::parse(&format!("signal-{number}")).unwrap()
}

fn remembered(number: u8) -> IdempotencyKey {
    IdempotencyKey::parse(&format!("once {number}")).unwrap()
}

fn unknown() -> WaitpointId {
    WaitpointId::from_uuid(Uuid::from_u128(9))
}
