//! A holder suspends its execution, for any length of time.

use crate::prelude::*;
use crate::world::conditions::{all, any, key, signal};

pub(crate) async fn suspending_gives_up_the_lease_and_keeps_the_attempt(world: World, held: LeasedExecution) {
    world.clock.advance(ms(400)).await;
    held.wait_on("approval").await;
    let read = world.describe(&held.id()).await;
    assert_eq!((read.public_state, read.lease), (PublicState::Suspended, None));
    let history = world.attempts(&held.id()).await;
    assert_eq!(history.leases.iter().map(|lease| lease.ended).collect::<Vec<_>>(), [LeaseEnding::Suspended]);
    let [attempt] = &history.attempts[..] else { panic!("not one attempt") };
    assert_eq!((attempt.id, attempt.ran_ms, &attempt.end), (held.fence().attempt_id, 400, &None));
}

pub(crate) async fn a_worker_cannot_use_its_lease_after_a_suspend(world: World) {
    let (held, _) = world.suspended().await;
    let before = world.contents().await;
    assert_refused!(held.complete(b"done").await, "execution_not_active", PublicState::Suspended);
    assert_refused!(held.renew().await, "execution_not_active");
    assert_refused!(held.progress(Some(50), None).await, "execution_not_active");
    assert_refused!(held.fail("network").await, "execution_not_active");
    assert_refused!(held.delay(ms(1)).await, "execution_not_active");
    assert_refused!(world.backend.create_waitpoint(held.ahead_args("more")).await, "execution_not_active");
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn only_its_holder_can_suspend_work(world: World, held: LeasedExecution) {
    let unleased = world.submit("shrink", b"dog.png").await;
    let before = world.contents().await;
    let stranger = held.with_fence(|fence| fence.lease_id = LeaseId::new());
    assert_refused!(world.suspend(stranger.wish("approval")).await, "stale_lease");
    let of = |execution_id| SuspendArgs { execution_id, ..held.wish("approval") };
    assert_refused!(world.suspend(of(unleased)).await, "execution_not_active");
    let unknown = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(world.suspend(of(unknown)).await, "execution_not_found");
    assert_eq!(world.contents().await, before);
    world.clock.slip(held.lease_ttl());
    assert_refused!(world.suspend(held.wish("approval")).await, "lease_expired");
    assert_eq!(world.contents().await, before);
}

/// Neither a lease nor an attempt's timeout runs while the execution is suspended.
pub(crate) async fn a_suspension_lasts_as_long_as_it_takes(world: World) {
    world.job("resize").attempt_timeout(ms(5_000)).submit().await;
    let held = world.worker("holder").claim().await;
    world.clock.advance(ms(3_000)).await;
    let waitpoint = held.wait_on("approval").await;
    world.clock.advance(ms(365 * 24 * 3_600_000)).await;
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
    waitpoint.send("approved").await.unwrap();
    let again = world.worker("again").claim().await;
    world.clock.advance(ms(1_999)).await;
    again.renew().await.unwrap();
    world.clock.advance(ms(1)).await;
    assert_refused!(again.renew().await, "lease_expired");
}

pub(crate) async fn suspended_work_is_not_handed_out(world: World) {
    let (held, _) = world.suspended().await;
    assert!(world.worker("eager").claim_up_to(9).await.is_empty());
    assert!(world.worker("eager").next(9, ms(20)).await.is_empty());
    assert_refused!(world.revoke(&held.id()).await, "no_active_lease");
    assert_refused!(world.replay(&held.id()).await, "execution_not_terminal");
}

pub(crate) async fn a_suspension_reads_back_as_requested(world: World, held: LeasedExecution) {
    world.clock.advance(ms(100)).await;
    let wish = SuspendArgs {
        reason: SuspendReason::WaitingForToolResult,
        requested_by: SuspendedBy::Policy,
        timeout: Some(Timeout::After(60_000)),
        timeout_behavior: TimeoutBehavior::Escalate,
        resume_policy: ResumePolicy { resume_delay_ms: 7, signals: SignalSelection::All },
        ..held.wish_for(all([signal("b"), signal("a")]), &["a", "b"])
    };
    let waitpoints: [_; 2] = held.wait(wish.clone()).await;
    let read = world.describe(&held.id()).await.suspension.unwrap();
    assert_eq!(
        (read.suspended_at, read.reason, read.requested_by),
        (world.clock.now(), wish.reason, wish.requested_by)
    );
    assert_eq!((&read.condition, &read.resume_policy), (&wish.condition, &wish.resume_policy));
    assert_eq!(read.timeout_at, Some(world.clock.now() + 60_000));
    assert_eq!((read.timeout_behavior, read.escalated_at), (TimeoutBehavior::Escalate, None));
    let bound = |name, nth: usize| BoundWaitpoint { id: waitpoints[nth].id(), key: key(name) };
    assert_eq!(read.waitpoints, [bound("a", 0), bound("b", 1)]);
    assert_eq!(read.signals_counted, 0);
    waitpoints[1].send("go").await.unwrap();
    assert_eq!(world.describe(&held.id()).await.suspension.unwrap().signals_counted, 1);
}

pub(crate) async fn open_waitpoints_are_listed_without_their_tokens(world: World, held: LeasedExecution) {
    let ahead = held.ahead("early").await;
    ahead.send("note").await.unwrap();
    world.clock.advance(ms(1)).await;
    let [waitpoint] = held.wait(held.wish("approval")).await;
    let open = world.backend.waitpoints(&held.id()).await.unwrap();
    let [first, second] = &open[..] else { panic!("not two waitpoints") };
    assert_eq!((first.waitpoint_id, first.state, first.buffered), (ahead.id(), WaitpointState::Pending, 1));
    assert_eq!(first.expires_at, Some(first.created_at + limits::PENDING_WAITPOINT_MS));
    assert_eq!((second.waitpoint_id, second.state, second.expires_at), (waitpoint.id(), WaitpointState::Active, None));
    let suspension = world.describe(&held.id()).await.suspension.unwrap();
    assert_eq!((first.suspension_id, second.suspension_id), (None, Some(suspension.suspension_id)));
    assert_eq!(second.token_fingerprint, waitpoint.granted.waitpoint_token.fingerprint());
    assert_ne!(first.token_fingerprint, second.token_fingerprint);
    waitpoint.send("approved").await.unwrap();
    assert_eq!(world.backend.waitpoints(&held.id()).await.unwrap(), open[..1]);
    let unknown = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(world.backend.waitpoints(&unknown).await, "execution_not_found");
}

pub(crate) async fn every_reason_has_its_words(world: World) {
    for reason in SuspendReason::ALL {
        let held = world.held().await;
        let [_] = held.wait(SuspendArgs { reason: reason.clone(), ..held.wish("approval") }).await;
        let expected = StateVector {
            lifecycle_phase: LifecyclePhase::Suspended,
            ownership_state: OwnershipState::Unowned,
            eligibility_state: EligibilityState::NotApplicable,
            blocking_reason: BlockingReason::from(reason),
            terminal_outcome: TerminalOutcome::None,
            attempt_state: AttemptState::AttemptInterrupted,
            public_state: PublicState::Suspended,
        };
        assert_eq!(world.describe(&held.id()).await.state, expected, "{reason}");
    }
}

pub(crate) async fn words_of_a_callers_own_are_kept(world: World, held: LeasedExecution) {
    let (reason, requested_by) = ("waits for Zoë".parse().unwrap(), "a robot".parse().unwrap());
    let [_] = held.wait(SuspendArgs { reason, requested_by, ..held.wish("approval") }).await;
    let read = world.describe(&held.id()).await;
    assert_eq!(read.state.blocking_reason, BlockingReason::WaitingForSignal);
    let read = read.suspension.unwrap();
    assert_eq!((read.reason.as_str(), read.requested_by.as_str()), ("waits for Zoë", "a robot"));
}

pub(crate) async fn suspended_executions_are_listed_with_reason_and_age(world: World) {
    let (held, waitpoint) = world.suspended().await;
    world.submit("shrink", b"dog.png").await;
    let suspended_at = world.clock.now();
    world.clock.advance(ms(5_000)).await;
    let args = ListArgs {
        filter: Filter { state: Some(PublicState::Suspended), ..Filter::everything(Namespace::default_name()) },
        after: None,
        limit: 9,
    };
    let [row] = &world.backend.list(args.clone()).await.unwrap().executions[..] else { panic!("not one row") };
    assert_eq!(*row, world.describe(&held.id()).await);
    let suspension = row.suspension.as_ref().unwrap();
    assert_eq!((&suspension.reason, suspension.suspended_at), (&SuspendReason::WaitingForSignal, suspended_at));
    waitpoint.send("approved").await.unwrap();
    assert!(world.backend.list(args).await.unwrap().executions.is_empty());
}

pub(crate) async fn work_may_wait_again_and_again(world: World) {
    let mut held = world.held().await;
    let attempt = held.fence().attempt_id;
    for nth in 0..5 {
        let waitpoint = held.wait_on("approval").await;
        waitpoint.send(&format!("go-{nth}")).await.unwrap();
        held = world.worker("again").claim().await;
        assert_eq!((held.fence().attempt_id, held.signal_names()), (attempt, vec![format!("go-{nth}").as_str()]));
    }
    held.complete(b"done").await.unwrap();
    assert_eq!(world.result(&held.id()).await, b"done");
    assert_eq!(world.describe(&held.id()).await.attempts_made, 1);
}

/// New waitpoints and waitpoints created ahead are granted in the order of the request.
pub(crate) async fn waitpoints_are_granted_in_the_order_of_the_request(world: World) {
    let held = world.held().await;
    let ahead = held.ahead("b").await;
    let condition = any(["a", "b", "c"].map(signal));
    let mut wish = held.wish_for(condition, &["a", "b", "c"]);
    wish.waitpoints[1] = ahead.binding();
    let [a, b, c] = held.wait(wish).await;
    assert_eq!(b.granted, ahead.granted);
    assert_eq!([&a, &c].map(|waitpoint| waitpoint.granted.waitpoint_key.as_str()), ["a", "c"]);
    assert_ne!(a.id(), c.id());
}
