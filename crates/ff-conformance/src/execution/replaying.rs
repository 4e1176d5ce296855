//! A finished execution is replayed under its own id.

use crate::prelude::*;

pub(crate) async fn replayed_work_runs_again(world: World) {
    let first = world.held().await;
    first.complete(b"first").await.unwrap();
    world.clock.advance(ms(1_000)).await;
    let replayed = world.replay(&first.id()).await.unwrap();
    assert_eq!((replayed.public_state, replayed.replays), (PublicState::Waiting, 1));
    assert_eq!(world.describe(&first.id()).await.started_at, None, "this run has not started yet");

    let second = world.worker("second").claim().await;
    assert_eq!((second.id(), second.payload.bytes.as_ref()), (first.id(), &b"cat.png"[..]));
    second.complete(b"second").await.unwrap();
    assert_eq!(world.result(&first.id()).await, b"second");
    let read = world.describe(&first.id()).await;
    assert_eq!(read.started_at, Some(world.attempts(&first.id()).await.attempts[1].started_at));
}

pub(crate) async fn a_replay_knows_what_it_follows_and_why(world: World) {
    let first = world.held().await;
    first.complete(b"first").await.unwrap();
    let args = ReplayArgs {
        reason: Some("the cat was upside down".into()),
        requested_by: Some("ops@example.org".into()),
        ..ReplayArgs::new(first.id())
    };
    world.backend.replay(args.clone()).await.unwrap();
    let second = world.worker("second").claim().await;
    let Origin::Replay { of, reason, requested_by } = second.task.attempt.clone() else { panic!("not a replay") };
    assert_eq!((of, reason, requested_by), (Some(AttemptIndex(0)), args.reason, args.requested_by));
    assert_eq!(second.task.attempt_index, AttemptIndex(1), "attempts are numbered on");
    assert!(second.fence().lease_epoch > first.fence().lease_epoch);
    assert!(!second.task.resumed);
    let history = world.attempts(&first.id()).await.attempts;
    assert_eq!(history.iter().map(|attempt| attempt.index.0).collect::<Vec<_>>(), [0, 1]);
}

pub(crate) async fn a_replay_clears_result_failure_and_progress(world: World, held: LeasedExecution) {
    held.progress(Some(90), Some("nearly")).await.unwrap();
    held.complete(b"first").await.unwrap();
    world.replay(&held.id()).await.unwrap();
    assert_refused!(world.backend.result(&held.id()).await, "execution_not_terminal");
    let read = world.describe(&held.id()).await;
    assert_eq!((read.progress, read.finished_at, read.finished_by), (None, None, None));
    assert!(world.contents().await.iter().all(|partition| partition.results.is_empty()));

    let failed = world.worker("unlucky").claim().await;
    failed.fail_with("input", "unreadable", true).await.unwrap();
    world.replay(&held.id()).await.unwrap();
    assert_eq!(world.describe(&held.id()).await.failure, None);
}

pub(crate) async fn a_replay_has_all_its_retries_again(world: World) {
    let id = world.job("resize").retries(1, ms(0)).submit().await;
    for _ in 0..2 {
        for _ in 0..2 {
            world.worker("unlucky").claim().await.fail("network").await.unwrap();
        }
        assert_eq!(world.state(&id).await, PublicState::Failed);
        world.replay(&id).await.unwrap();
        assert_eq!(world.describe(&id).await.retries, 0);
    }
    assert_eq!(world.describe(&id).await.attempts_made, 4);
}

pub(crate) async fn a_replay_has_all_its_expiries_again(world: World) {
    let id = world.job("resize").policy(Policy { max_reclaim_count: 1, ..Policy::default() }).submit().await;
    for _ in 0..2 {
        for _ in 0..2 {
            assert_ne!(world.state(&id).await, PublicState::Failed);
            let silent = world.worker("silent").claim().await;
            world.clock.advance(silent.lease_ttl()).await;
        }
        assert_eq!(world.state(&id).await, PublicState::Failed);
        world.replay(&id).await.unwrap();
        assert_eq!(world.describe(&id).await.reclaims, 0);
    }
}

pub(crate) async fn a_replay_arms_its_deadline_again(world: World) {
    let id = world.job("resize").deadline(ms(5_000)).submit().await;
    world.clock.advance(ms(6_000)).await;
    assert_eq!(world.state(&id).await, PublicState::Expired);
    world.replay(&id).await.unwrap();
    assert_eq!(world.describe(&id).await.deadline_at, Some(world.clock.now() + 5_000));
    world.clock.advance(ms(4_999)).await;
    assert_eq!(world.state(&id).await, PublicState::Waiting);
    world.clock.advance(ms(1)).await;
    assert_eq!(world.state(&id).await, PublicState::Expired);
}

pub(crate) async fn every_end_can_be_replayed(world: World) {
    let completed = world.held().await;
    completed.complete(b"done").await.unwrap();
    let failed = world.held().await;
    failed.fail_with("input", "unreadable", true).await.unwrap();
    let cancelled = world.held().await;
    world.cancel(&cancelled.id()).await.unwrap();
    let expired = world.job("resize").deadline(ms(1_000)).submit().await;
    world.clock.advance(ms(1_000)).await;
    for id in [completed.id(), failed.id(), cancelled.id(), expired] {
        assert_eq!(world.replay(&id).await.unwrap().public_state, PublicState::Waiting);
    }
    assert_eq!(world.worker("worker").claim_up_to(9).await.len(), 4);
}

pub(crate) async fn work_that_never_ran_can_be_replayed(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    world.cancel(&id).await.unwrap();
    world.replay(&id).await.unwrap();
    let held = world.worker("worker").claim().await;
    assert!(matches!(held.task.attempt, Origin::Replay { of: None, .. }));
    assert_eq!(held.task.attempt_index, AttemptIndex(0));
}

pub(crate) async fn replays_have_an_end(world: World) {
    let id = world.job("resize").policy(Policy { max_replay_count: 2, ..Policy::default() }).submit().await;
    for replays in 1..=2 {
        world.cancel(&id).await.unwrap();
        assert_eq!(world.replay(&id).await.unwrap().replays, replays);
    }
    world.cancel(&id).await.unwrap();
    refused_for_good(&world, &id).await;
}

pub(crate) async fn ten_replays_are_the_default(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    for _ in 0..10 {
        world.cancel(&id).await.unwrap();
        world.replay(&id).await.unwrap();
    }
    world.cancel(&id).await.unwrap();
    refused_for_good(&world, &id).await;
}

pub(crate) async fn an_unfinished_execution_cannot_be_replayed(world: World) {
    let running = world.held().await;
    let waiting = world.submit("resize", b"cat.png").await;
    let delayed = world.job("resize").after(ms(1_000)).submit().await;
    let before = world.contents().await;
    for (id, state) in
        [(waiting, PublicState::Waiting), (delayed, PublicState::Delayed), (running.id(), PublicState::Active)]
    {
        assert_refused!(world.replay(&id).await, "execution_not_terminal", state);
    }
    assert_eq!(world.contents().await, before);
}

/// After the replay, a repeated completion still gets the answer of the first run, until another worker claims.
pub(crate) async fn the_holder_of_the_finished_attempt_cannot_change_the_replay(world: World) {
    let first = world.held().await;
    first.complete(b"first").await.unwrap();
    world.replay(&first.id()).await.unwrap();
    world.writes_nothing(first.complete(b"again")).await.unwrap();
    let second = world.worker("second").claim().await;
    assert_refused!(first.complete(b"again").await, "stale_lease");
    second.complete(b"second").await.unwrap();
    assert_eq!(world.result(&first.id()).await, b"second");
}

async fn refused_for_good(world: &World, id: &ExecutionId) {
    assert_refused!(world.writes_nothing(world.replay(id)).await, "max_replays_exhausted");
    assert_eq!(world.state(id).await, PublicState::Cancelled);
}
