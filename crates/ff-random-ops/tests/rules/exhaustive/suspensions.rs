//! The moves of a small world with waiting: two waitpoints, a signal that counts and one that does not, every timeout,
//! an operator, and old tokens.

use ff_core::contracts::{
    CloseWaitpointArgs, CreateWaitpointArgs, DeliverArgs, GrantedWaitpoint, ResumeArgs, SuspendArgs, Timeout,
    WaitpointBinding, WaitpointRef,
};
use ff_core::lease::Fence;
use ff_core::operation::{Operation, Reply};
use ff_core::suspension::{Condition, OperatorDecision, ResumePolicy, TimeoutBehavior};
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, SignalName, WaitpointKey};

const TIMEOUT_MS: u64 = 1_000;
const PENDING_MS: u64 = 1_500;

/// Returns the requests of a holder: a suspension on a new waitpoint with each timeout behaviour, a suspension on a
/// pending and a new waitpoint together, and the creation of a waitpoint.
pub(crate) fn wishes_to_wait(execution_id: ExecutionId, fence: Fence, granted: &[GrantedWaitpoint]) -> Vec<Operation> {
    let plain = SuspendArgs {
        condition: Condition::Signal { waitpoint: key("a"), name: SignalName::parse("go").ok() },
        ..SuspendArgs::new(execution_id, fence, key("a"))
    };
    let mut wishes: Vec<_> = TimeoutBehavior::ALL
        .iter()
        .map(|behavior| SuspendArgs {
            timeout: Some(Timeout::After(TIMEOUT_MS)),
            timeout_behavior: *behavior,
            ..plain.clone()
        })
        .collect();
    let ahead = granted.iter().rev().find(|granted| granted.waitpoint_key == key("p"));
    wishes.extend(ahead.map(|ahead| SuspendArgs {
        waitpoints: vec![
            WaitpointBinding::Pending { id: ahead.waitpoint_id, key: key("p") },
            WaitpointBinding::Fresh { key: key("a") },
        ],
        condition: Condition::AnyOf {
            members: ["p", "a"].map(|name| Condition::Signal { waitpoint: key(name), name: None }).into(),
        },
        resume_policy: ResumePolicy { resume_delay_ms: 500, ..ResumePolicy::default() },
        ..plain
    }));
    let create = CreateWaitpointArgs { execution_id, fence, key: key("p"), expires_in_ms: PENDING_MS };
    wishes.into_iter().map(Operation::Suspend).chain([Operation::CreateWaitpoint(create)]).collect()
}

/// Returns the requests of other callers: a counted and an ignored signal to every known waitpoint, its closing, and a
/// decision.
pub(crate) fn about_waiting(execution_id: ExecutionId, granted: &[GrantedWaitpoint]) -> Vec<Operation> {
    let signal = |granted: &GrantedWaitpoint, name: &str| {
        let token = PresentedToken::from(&granted.waitpoint_token);
        let to = WaitpointRef::Id(granted.waitpoint_id);
        Operation::Deliver(DeliverArgs::new(execution_id, to, token, SignalName::parse(name).expect("a name")))
    };
    let close = |granted: &GrantedWaitpoint| {
        let waitpoint_id = granted.waitpoint_id;
        Operation::CloseWaitpoint(CloseWaitpointArgs { execution_id, waitpoint_id, reason: None })
    };
    let decide = Operation::Resume(ResumeArgs::new(execution_id, OperatorDecision::Approve));
    let about = granted.iter().flat_map(|granted| [signal(granted, "go"), signal(granted, "other"), close(granted)]);
    about.chain([decide]).collect()
}

/// Remembers the last two waitpoints of each key.
pub(crate) fn remember_granted(known: &mut Vec<GrantedWaitpoint>, reply: &Reply) {
    let waitpoints: Vec<_> = match reply {
        Reply::Suspended(suspended) => suspended.waitpoints.clone(),
        Reply::WaitpointCreated(granted) => vec![granted.clone()],
        _ => return,
    };
    for granted in waitpoints {
        if known.contains(&granted) {
            continue;
        }
        let same = |other: &GrantedWaitpoint| other.waitpoint_key == granted.waitpoint_key;
        if known.iter().filter(|other| same(other)).count() == 2 {
            let oldest = known.iter().position(same);
            oldest.map(|oldest| known.remove(oldest));
        }
        known.push(granted);
    }
}

fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).expect("a key")
}
