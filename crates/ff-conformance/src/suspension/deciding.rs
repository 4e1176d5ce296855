//! An operator may end a suspension without a token. The worker gets the decision.

use futures_util::future::join;

use crate::prelude::*;
use crate::world::conditions::count;

pub(crate) async fn the_worker_hears_what_was_decided(world: World) {
    for (decision, name) in [
        (OperatorDecision::Resume, Signal::RESUMED),
        (OperatorDecision::Approve, Signal::APPROVED),
        (OperatorDecision::Reject, Signal::REJECTED),
    ] {
        let (held, waitpoint) = world.suspended().await;
        let suspension = world.describe(&held.id()).await.suspension.unwrap();
        let args = ResumeArgs {
            payload: Some(Payload::json("\"fine by me\"")),
            reason: Some("seen it".into()),
            requested_by: SourceIdentity::parse("ada@example.org").ok(),
            ..ResumeArgs::new(held.id(), decision)
        };
        let resumed = world.backend.resume(args.clone()).await.unwrap();
        assert_eq!((resumed.suspension_id, resumed.already), (suspension.suspension_id, false));
        assert_eq!(resumed.public_state, PublicState::Waiting);
        let next = world.worker("next").claim().await;
        assert_eq!(next.task.resumption.as_ref().unwrap().by, ResumedBy::Operator);
        let [received] = &next.signals[..] else { panic!("not one signal") };
        assert_eq!((received.signal.name.as_str(), &received.payload), (name, &args.payload));
        assert_eq!(
            (received.signal.source.to_string().as_str(), received.signal.effect),
            ("operator:ada@example.org", Effect::Satisfied)
        );
        assert_eq!(received.signal.waitpoint_id, Some(waitpoint.id()));
        next.complete(b"done").await.unwrap();
    }
}

pub(crate) async fn a_decision_comes_after_what_had_counted(world: World, held: LeasedExecution) {
    let [votes] = held.wait_for(count(3, Distinct::Signals, &["votes"]), ["votes"]).await;
    votes.send("first").await.unwrap();
    votes.send("second").await.unwrap();
    world.decide(&held.id(), OperatorDecision::Approve).await.unwrap();
    let next = world.worker("next").claim().await;
    assert_eq!(next.signal_names(), ["first", "second", "approved"]);
    assert_eq!(next.signals[2].payload, None);
}

pub(crate) async fn an_operator_ends_what_only_an_operator_can(world: World, held: LeasedExecution) {
    let [waitpoint] = held.wait_for(Condition::OperatorOnly, ["review"]).await;
    assert_eq!(waitpoint.effect("go").await, Effect::NotInCondition);
    world.decide(&held.id(), OperatorDecision::Reject).await.unwrap();
    assert_eq!(world.worker("next").claim().await.signal_names(), ["rejected"]);
}

pub(crate) async fn deciding_twice_is_one_decision(world: World) {
    let (held, _) = world.suspended().await;
    let first = world.decide(&held.id(), OperatorDecision::Approve).await.unwrap();
    let before = world.contents().await;
    world.clock.advance(ms(100)).await;
    let again = world.decide(&held.id(), OperatorDecision::Approve).await.unwrap();
    assert_eq!((again.suspension_id, again.already), (first.suspension_id, true));
    let refusal = assert_refused!(world.decide(&held.id(), OperatorDecision::Reject).await, "execution_not_suspended");
    assert_eq!(refusal.state, Some(PublicState::Waiting));
    assert_eq!(world.contents().await, before);
    assert_eq!(world.worker("next").claim().await.signal_names(), ["approved"]);
}

pub(crate) async fn a_decision_is_about_the_suspension_it_names(world: World) {
    let (held, _) = world.suspended().await;
    let first = world.describe(&held.id()).await.suspension.unwrap().suspension_id;
    let about = |suspension_id| ResumeArgs {
        suspension_id: Some(suspension_id),
        ..ResumeArgs::new(held.id(), OperatorDecision::Approve)
    };
    assert_refused!(world.backend.resume(about(SuspensionId::new())).await, "execution_not_suspended");
    world.backend.resume(about(first)).await.unwrap();
    world.worker("next").claim().await.wait_on("approval").await;
    let before = world.contents().await;
    assert!(world.backend.resume(about(first)).await.unwrap().already, "and not about the next one");
    let reject = ResumeArgs { decision: OperatorDecision::Reject, ..about(first) };
    assert_refused!(world.backend.resume(reject).await, "execution_not_suspended");
    assert_eq!(world.contents().await, before);
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
}

pub(crate) async fn an_execution_that_is_not_suspended_cannot_be_resumed(world: World) {
    let waiting = world.submit("resize", b"cat.png").await;
    let running = world.worker("holder").claim().await;
    assert_eq!(running.id(), waiting);
    let delayed = world.job("resize").after(ms(1_000)).submit().await;
    let finished = world.held().await;
    finished.complete(b"done").await.unwrap();
    let before = world.contents().await;
    for (id, state) in
        [(running.id(), PublicState::Active), (delayed, PublicState::Delayed), (finished.id(), PublicState::Completed)]
    {
        assert_refused!(world.decide(&id, OperatorDecision::Resume).await, "execution_not_suspended", state);
    }
    let unknown = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(world.decide(&unknown, OperatorDecision::Resume).await, "execution_not_found");
    assert_eq!(world.contents().await, before);
}

/// The signal has already ended the suspension.
pub(crate) async fn a_decision_after_the_signal_comes_too_late(world: World) {
    let (held, waitpoint) = world.suspended().await;
    waitpoint.send("approved").await.unwrap();
    assert_refused!(world.decide(&held.id(), OperatorDecision::Reject).await, "execution_not_suspended");
    assert_eq!(world.worker("next").claim().await.signal_names(), ["approved"]);
}

/// The second caller is refused, and the worker gets the first decision.
pub(crate) async fn of_a_decision_and_a_signal_at_once_one_ends_the_suspension(world: World) {
    for _ in 0..10 {
        let (held, waitpoint) = world.suspended().await;
        let (decided, sent) =
            join(world.decide(&held.id(), OperatorDecision::Reject), waitpoint.send("approved")).await;
        let answer = match (decided, sent) {
            (Ok(_), late) => {
                assert_refused!(late, "waitpoint_closed");
                "rejected"
            }
            (late, Ok(_)) => {
                assert_refused!(late, "execution_not_suspended");
                "approved"
            }
            neither => panic!("neither ended it: {neither:?}"),
        };
        assert_eq!(world.worker("next").claim().await.signal_names(), [answer]);
    }
}

pub(crate) async fn an_operator_can_set_the_resume_delay(world: World) {
    let policy = ResumePolicy { resume_delay_ms: 1_000, ..ResumePolicy::default() };
    for (given, waits) in [(None, 1_000), (Some(0), 0), (Some(3_000), 3_000)] {
        let held = world.held().await;
        let [_] = held.wait(SuspendArgs { resume_policy: policy.clone(), ..held.wish("approval") }).await;
        let args = ResumeArgs { resume_delay_ms: given, ..ResumeArgs::new(held.id(), OperatorDecision::Resume) };
        let state = if waits == 0 { PublicState::Waiting } else { PublicState::Delayed };
        assert_eq!(world.backend.resume(args).await.unwrap().public_state, state);
        let until = world.describe(&held.id()).await.delayed_until;
        assert_eq!(until, (waits > 0).then(|| world.clock.now() + waits));
        world.clock.advance(ms(waits)).await;
        assert_eq!(world.worker("next").claim().await.signal_names(), ["resumed"]);
    }
}

pub(crate) async fn a_decision_closes_every_waitpoint(world: World, held: LeasedExecution) {
    let waitpoints = held.wait_for(count(2, Distinct::Waitpoints, &["a", "b"]), ["a", "b"]).await;
    world.decide(&held.id(), OperatorDecision::Resume).await.unwrap();
    let before = world.contents().await;
    for waitpoint in &waitpoints {
        assert_refused!(waitpoint.send("late").await, "waitpoint_closed");
    }
    assert_eq!(world.contents().await, before);
}
