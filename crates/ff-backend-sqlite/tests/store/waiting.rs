//! Waiting, on the model and on the store: equal replies, equal contents, and what only a store has to show.

use ff_core::backend::Perform;
use ff_core::contracts::{
    ClaimArgs, CloseWaitpointArgs, CreateWaitpointArgs, DeliverArgs, Filter, ListArgs, ReceivedSignal, ResumeArgs,
    RotatePartitionArgs, RotateSecretArgs, SignalsArgs, SubmitArgs, SuspendArgs, Task, Timeout, WaitpointBinding,
    WaitpointRef,
};
use ff_core::engine_error::Code;
use ff_core::payload::Payload;
use ff_core::signal::{Effect, Source};
use ff_core::state::PublicState;
use ff_core::suspension::{
    Condition, Distinct, Handed, OperatorDecision, ResumePolicy, TimeoutBehavior, WaitpointState,
};
use ff_core::types::{ContentType, ExecutionId, IdempotencyKey, Namespace, SignalId, WaitpointId};
use ff_engine::Orchestration;
use uuid::Uuid;

use crate::pair::{Pair, both};
use crate::{Place, claim_on, key, signal, suspended, work};

fn remembered(text: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey::parse(text).unwrap())
}

/// A new execution that somebody holds.
async fn held(pair: &mut Pair, n: u128) -> Task {
    both!(pair.submit(SubmitArgs { uuid: Uuid::from_u128(n), ..work() })).unwrap();
    claimed(pair).await
}

async fn claimed(pair: &mut Pair) -> Task {
    let any = ClaimArgs { max: 1, ..claim_on(&ExecutionId::new(0, Uuid::nil())) };
    pair.claim(any).await.remove(0)
}

#[tokio::test]
async fn one_script_of_early_signals_and_approvals_has_one_outcome() {
    let place = Place::new();
    let mut pair = Pair::new(&place);
    let Task { execution_id: id, fence, .. } = held(&mut pair, 1).await;
    let ahead = CreateWaitpointArgs { execution_id: id, fence, key: key("ahead"), expires_in_ms: 60_000 };
    let early = both!(pair.create_waitpoint(ahead.clone())).unwrap();
    assert_eq!(both!(pair.create_waitpoint(ahead.clone())).unwrap(), early);
    let unused = both!(pair.create_waitpoint(CreateWaitpointArgs { key: key("unused"), ..ahead })).unwrap();
    let close = CloseWaitpointArgs { execution_id: id, waitpoint_id: unused.waitpoint_id, reason: None };
    both!(pair.close_waitpoint(close.clone())).unwrap();
    assert!(both!(pair.close_waitpoint(close)).unwrap().already);

    let paid = DeliverArgs { payload: Some(Payload::json("5")), ..signal(&id, &early, "paid") };
    let paid = DeliverArgs { idempotency_key: remembered("payment 7"), ..paid };
    let first = both!(pair.deliver(paid.clone())).unwrap();
    assert_eq!(first.effect, Effect::Buffered);
    assert_eq!(both!(pair.deliver(paid)).unwrap().signal_id, first.signal_id);
    let forged = DeliverArgs { token: signal(&id, &unused, "paid").token, ..signal(&id, &early, "paid") };
    assert_eq!(both!(pair.deliver(forged)).unwrap_err().code(), Code::InvalidToken);

    let both_waitpoints = vec![
        WaitpointBinding::Pending { id: early.waitpoint_id, key: key("ahead") },
        WaitpointBinding::Fresh { key: key("votes") },
    ];
    let votes = Condition::Count { n: 2, of: Distinct::Sources, waitpoints: vec![key("votes")], name: None };
    let paid_and_voted = vec![Condition::Signal { waitpoint: key("ahead"), name: None }, votes];
    let suspension = SuspendArgs {
        waitpoints: both_waitpoints,
        condition: Condition::AllOf { members: paid_and_voted },
        resume_policy: ResumePolicy { resume_delay_ms: 500, handed: Handed::All },
        idempotency_key: remembered("step 3"),
        continuation: Some("step 4".into()),
        ..SuspendArgs::new(id, fence, key("votes"))
    };
    let waits = both!(pair.suspend(suspension.clone())).unwrap();
    assert_eq!(both!(pair.suspend(suspension)).unwrap(), waits);
    assert_eq!(
        pair.store.waitpoints(&id).await.unwrap().iter().map(|open| open.state).collect::<Vec<_>>(),
        [WaitpointState::Active; 2]
    );
    let votes = DeliverArgs { waitpoint: WaitpointRef::Key(key("votes")), ..signal(&id, &waits.waitpoints[1], "yes") };
    assert_eq!(both!(pair.deliver(votes.clone())).unwrap().effect, Effect::Appended);
    assert_eq!(both!(pair.deliver(votes.clone())).unwrap().effect, Effect::Recounted);
    let other = DeliverArgs { source: Source::parse("human", Some("ann")).unwrap(), ..votes };
    assert_eq!(both!(pair.deliver(other.clone())).unwrap().effect, Effect::Satisfied);
    assert_eq!(both!(pair.deliver(other)).unwrap_err().code(), Code::WaitpointClosed);
    pair.clock.advance(500);
    pair.pump().await;
    let resumed = claimed(&mut pair).await;
    assert_eq!(resumed.resumption.unwrap().signals.len(), 4, "handed all: three that counted, one that did not");

    let approval = both!(pair.suspend(SuspendArgs::new(id, resumed.fence, key("approval")))).unwrap();
    let approve = ResumeArgs {
        suspension_id: Some(approval.suspension_id),
        payload: Some(Payload::json("\"go on\"")),
        ..ResumeArgs::new(id, OperatorDecision::Approve)
    };
    both!(pair.resume(approve.clone())).unwrap();
    assert!(both!(pair.resume(approve)).unwrap().already);
    assert_eq!(claimed(&mut pair).await.resumption.unwrap().signals.len(), 1);
}

#[tokio::test]
async fn one_script_of_timeouts_and_rotations_has_one_outcome() {
    let place = Place::new();
    let mut pair = Pair::new(&place);
    for (n, timeout_behavior) in (1..).zip(TimeoutBehavior::ALL) {
        let Task { execution_id: id, fence, .. } = held(&mut pair, n).await;
        let (timeout, timeout_behavior) = (Some(Timeout::After(1_000)), *timeout_behavior);
        let args = SuspendArgs { timeout, timeout_behavior, ..SuspendArgs::new(id, fence, key("a")) };
        both!(pair.suspend(args)).unwrap();
    }
    let Task { execution_id: id, fence, .. } = held(&mut pair, 99).await;
    let ahead = CreateWaitpointArgs { execution_id: id, fence, key: key("ahead"), expires_in_ms: 700 };
    let ahead = both!(pair.create_waitpoint(ahead)).unwrap();
    for (kid, grace_ms) in [("b", 100), ("c", 10_000)] {
        let rotation = RotateSecretArgs::parse(kid, "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", grace_ms).unwrap();
        let rotate = RotatePartitionArgs { partition: 0, rotation: rotation.clone() };
        let report = pair.store.rotate_secret(rotation).await.unwrap();
        assert_eq!(report.rotated, [(0, pair.model(rotate).unwrap())]);
        pair.compare().await;
    }
    for (step, refusal) in [(50, None), (100, Some(Code::TokenExpired)), (550, Some(Code::TokenExpired))] {
        pair.clock.advance(step);
        pair.pump().await;
        let answer = both!(pair.deliver(signal(&id, &ahead, "early")));
        assert_eq!(answer.err().map(|error| error.code()), refusal);
    }
    pair.clock.advance(300);
    pair.pump().await;
    assert!(claimed(&mut pair).await.resumption.is_some(), "one of them goes on by itself");
}

#[tokio::test]
async fn what_waits_is_listed_with_its_reason() {
    let place = Place::new();
    let store = place.open();
    let (id, granted) = suspended(&store).await;
    store.submit(work()).await.unwrap();
    let all = || Filter::everything(Namespace::default_name());
    let filter = || Filter { state: Some(PublicState::Suspended), ..all() };
    let waiting = || ListArgs { filter: filter(), after: None, limit: 10 };
    let listed = store.list(waiting()).await.unwrap().executions;
    assert_eq!(listed.iter().map(|info| info.execution_id).collect::<Vec<_>>(), [id]);
    let suspension = listed[0].suspension.as_ref().unwrap();
    assert_eq!(suspension.waitpoints[0].id, granted.waitpoint_id);
    assert_eq!(store.waitpoint_token(&id, &granted.waitpoint_id).await.unwrap(), granted.waitpoint_token);
    let unknown = store.waitpoint_token(&id, &WaitpointId::new()).await.unwrap_err();
    assert_eq!(unknown.code(), Code::WaitpointNotFound);
    store.deliver(signal(&id, &granted, "go")).await.unwrap();
    assert_eq!(store.list(waiting()).await.unwrap().executions, []);
    assert_eq!(store.waitpoints(&id).await.unwrap(), []);
}

#[tokio::test]
async fn every_byte_of_a_signal_comes_back_as_it_was() {
    let place = Place::new();
    let store = place.open();
    let all: Vec<u8> = (0..=255).collect();
    for bytes in [vec![0], all.clone(), all.repeat(1_024)] {
        let (id, granted) = suspended(&store).await;
        let payload = Some(Payload::new(ContentType::parse("image/x-own").unwrap(), bytes));
        let args = DeliverArgs { payload: payload.clone(), ..signal(&id, &granted, "go") };
        let signal_id = store.deliver(args).await.unwrap().signal_id;
        let read = store.signal(&id, &signal_id).await.unwrap();
        assert_eq!(read.payload, payload);
        assert_eq!(store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).signals, [read]);
    }
}

#[tokio::test]
async fn pages_of_signals_together_are_all_of_them_in_order() {
    let place = Place::new();
    let store = place.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    let fence = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task.fence;
    let ahead = CreateWaitpointArgs { execution_id: id, fence, key: key("ahead"), expires_in_ms: 60_000 };
    let ahead = store.create_waitpoint(ahead).await.unwrap();
    let mut sent = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        sent.push(store.deliver(signal(&id, &ahead, name)).await.unwrap().signal_id);
    }
    let page = async |skip, limit| store.signals(SignalsArgs { execution_id: id, skip, limit }).await.unwrap();
    let mut paged = Vec::new();
    let mut next = Some(0);
    while let Some(skip) = next {
        let page = page(skip, 2).await;
        paged.extend(page.signals.into_iter().map(|signal| signal.id));
        next = page.next;
    }
    assert_eq!(paged, sent);
    assert_eq!(page(0, 5).await.next, None, "a full last page is still the last");
    assert_eq!((page(9, 5).await.signals, page(9, 5).await.next), (vec![], None));
    let unknown = store.signal(&id, &SignalId::new()).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
}

/// A worker is handed every signal, but only the first ones with their bytes when they are too many for one reply.
#[tokio::test]
async fn signals_too_large_to_come_along_come_without_their_bytes() {
    let place = Place::new();
    let store = place.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    let fence = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task.fence;
    let n = 18;
    let condition = Condition::Count { n, of: Distinct::Signals, waitpoints: vec![key("parts")], name: None };
    let args = SuspendArgs { condition, ..SuspendArgs::new(id, fence, key("parts")) };
    let granted = store.suspend(args).await.unwrap().waitpoints.remove(0);
    for _ in 0..n {
        let payload = Some(Payload::bytes(vec![7; 250_000]));
        store.deliver(DeliverArgs { payload, ..signal(&id, &granted, "part") }).await.unwrap();
    }
    let claimed = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0);
    let with_bytes: Vec<_> = claimed.signals.iter().map(|received| received.payload.is_some()).collect();
    let expected: Vec<_> = (0..n).map(|nth| nth < 16).collect();
    assert_eq!(with_bytes, expected);
    let ReceivedSignal { signal, payload } = &claimed.signals[17];
    assert_eq!((signal.payload_bytes, payload), (250_000, &None));
    assert!(store.signal(&id, &signal.id).await.unwrap().payload.is_some(), "it is read by itself");
}
