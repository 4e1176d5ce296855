//! The history of an execution has every attempt, and the leases that were revoked or given up.

use crate::prelude::*;

pub(crate) async fn an_execution_without_attempts_has_no_history(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    let history = world.attempts(&id).await;
    assert!(history.attempts.is_empty() && history.leases.is_empty());
}

pub(crate) async fn the_attempt_under_way_is_part_of_the_history(world: World) {
    let held = world.held().await;
    let history = world.attempts(&held.id()).await;
    assert_eq!(history.attempts.len(), 1);
    let attempt = &history.attempts[0];
    assert_eq!((attempt.index, attempt.id), (AttemptIndex(0), held.fence().attempt_id));
    assert_eq!((&attempt.origin, attempt.started_at), (&Origin::Initial, world.clock.now()));
    assert_eq!((attempt.holder.worker_id.as_str(), &attempt.end), ("holder", &None));
}

/// Runs one execution through lease expiry, delay, failure, revocation, cancellation, replay and completion.
pub(crate) async fn a_history_has_every_attempt_in_order(world: World) {
    let id = world.job("resize").retries(3, ms(500)).submit().await;
    let began = world.clock.now();

    let silent = world.worker("silent").claim().await;
    world.clock.advance(silent.lease_ttl()).await;
    world.worker("patient").claim().await.delay(ms(1_000)).await.unwrap();
    world.clock.advance(ms(1_000)).await;
    world.worker("unlucky").claim().await.fail("network").await.unwrap();
    world.clock.advance(ms(500)).await;
    world.worker("removed").claim().await;
    world.revoke(&id).await.unwrap();
    world.worker("stopped").claim().await;
    world.cancel(&id).await.unwrap();
    world.replay(&id).await.unwrap();
    world.worker("lucky").claim().await.complete(b"done").await.unwrap();

    let history = world.attempts(&id).await;
    let attempts: Vec<_> = history
        .attempts
        .iter()
        .map(|attempt| {
            let end = attempt.end.as_ref().unwrap();
            (attempt.index.0, attempt.origin.clone(), attempt.holder.worker_id.as_str(), end.outcome)
        })
        .collect();
    let replay = Origin::Replay { of: Some(AttemptIndex(3)), reason: None, requested_by: None };
    let expected = [
        (0, Origin::Initial, "silent", AttemptOutcome::LeaseExpired),
        (1, Origin::Reclaim { of: AttemptIndex(0) }, "unlucky", AttemptOutcome::Failure),
        (2, Origin::Retry { of: AttemptIndex(1) }, "removed", AttemptOutcome::LeaseRevoked),
        (3, Origin::Reclaim { of: AttemptIndex(2) }, "stopped", AttemptOutcome::Cancelled),
        (4, replay, "lucky", AttemptOutcome::Success),
    ];
    assert_eq!(attempts, expected);
    assert_eq!(history.attempts[0].started_at, began);
    assert_eq!(history.attempts[0].end.as_ref().unwrap().at, began + 30_000);
    assert_eq!(history.attempts[1].started_at, began + 30_000);
    assert_eq!(history.attempts[1].end.as_ref().unwrap().failure.as_ref().unwrap().category.as_str(), "network");

    let leases: Vec<_> = history.leases.iter().map(|lease| (lease.fence.lease_epoch, lease.ended)).collect();
    let expected = [
        (LeaseEpoch(1), LeaseEnding::Expired),
        (LeaseEpoch(2), LeaseEnding::Delayed { until: began + 31_000 }),
        (LeaseEpoch(4), LeaseEnding::Revoked),
        (LeaseEpoch(5), LeaseEnding::Cancelled),
    ];
    assert_eq!(leases, expected);
}
