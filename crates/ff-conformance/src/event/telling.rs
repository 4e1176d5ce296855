//! Everything that happens to an execution is recorded.

use super::{follow, read};
use crate::prelude::*;

pub(crate) async fn events_record_the_life_of_an_execution_in_order(world: World) {
    let start = follow(&world).await;
    let id = world.job("resize").lane("mail").retries(1, ms(0)).submit().await;
    let worker = world.worker("holder").lanes(&["mail"]);
    worker.claim().await.fail("network").await.unwrap();
    worker.claim().await.complete(b"done").await.unwrap();
    world.replay(&id).await.unwrap();
    let page = read(&world, &start).await;
    assert!(page.events.iter().all(|event| event.execution_id == id && event.lane_id.as_str() == "mail"));
    assert!(page.events.iter().all(|event| event.kind.as_str() == "resize" && event.flow_id.is_none()));
    let what: Vec<_> = page.events.iter().map(|event| event.what).collect();
    assert_eq!(
        [&what[..2], &what[what.len() - 3..]].concat(),
        [
            EventKind::Submitted,
            EventKind::Started { attempt: AttemptIndex(0) },
            EventKind::Started { attempt: AttemptIndex(1) },
            EventKind::Finished { outcome: Outcome::Success },
            EventKind::Replayed,
        ]
    );
}

pub(crate) async fn promotions_and_lease_expiries_have_events(world: World) {
    let start = follow(&world).await;
    world.job("resize").after(ms(1_000)).submit().await;
    world.clock.advance(ms(1_000)).await;
    let held = world.worker("holder").claim().await;
    world.clock.advance(held.lease_ttl()).await;
    let what = events_of(&world, &start, &held.id()).await;
    assert!(what.contains(&EventKind::Promoted) && what.ends_with(&[EventKind::LeaseExpired]), "{what:?}");
}

pub(crate) async fn operator_actions_have_events(world: World) {
    let id = world.job("resize").priority(3).submit().await;
    world.clock.advance(ms(1)).await;
    let start = follow(&world).await;
    let priority = Priority::new(5).unwrap();
    world.backend.change_priority(ChangePriorityArgs { execution_id: id, priority }).await.unwrap();
    let set = labels(&[("team", "blue")]);
    world.backend.set_tags(SetTagsArgs { execution_id: id, set, remove: [].into() }).await.unwrap();
    world.cancel(&id).await.unwrap();
    let from = Priority::new(3).unwrap();
    let ended = EventKind::Finished { outcome: Outcome::Cancelled };
    assert_eq!(
        events_of(&world, &start, &id).await,
        [EventKind::Prioritised { from, to: priority }, EventKind::Tagged, ended]
    );
}

pub(crate) async fn the_end_of_a_member_names_its_flow(world: World) {
    let start = follow(&world).await;
    let flow = world.graph("a>b").submit().await;
    flow.run().await;
    let page = read(&world, &start).await;
    let ended = EventKind::Finished { outcome: Outcome::Success };
    let ends: Vec<_> = page.events.iter().filter(|event| event.what == ended).collect();
    assert_eq!(ends.iter().map(|event| event.execution_id).collect::<Vec<_>>(), [flow.member("a"), flow.member("b")]);
    assert!(ends.iter().all(|event| event.flow_id == Some(flow.id)));
}

/// Submits executions of different shapes in one call, with new labels and labels seen before.
pub(crate) async fn a_bulk_submission_has_its_events_in_order(world: World) {
    let start = follow(&world).await;
    let job = || world.job("resize").on_partition(1);
    let jobs: Vec<_> = (0..60)
        .map(|nth| match nth % 4 {
            0 => job().args(),
            1 => job().tag("nth", &nth.to_string()).args(),
            2 => job().priority(3).args(),
            _ => job().retries(2, ms(5)).args(),
        })
        .collect();
    let sent: Vec<_> = jobs.iter().map(|job| job.execution_id(&world.backend.partitions())).collect();
    world.backend.submit_many(jobs).await.unwrap();
    let page = read(&world, &start).await;
    assert_eq!(page.events.iter().map(|event| event.execution_id).collect::<Vec<_>>(), sent);
}

/// Returns the events of an execution, in order.
async fn events_of(world: &World, start: &EventCursor, id: &ExecutionId) -> Vec<EventKind> {
    let page = read(world, start).await;
    page.events.iter().filter(|event| event.execution_id == *id).map(|event| event.what).collect()
}
