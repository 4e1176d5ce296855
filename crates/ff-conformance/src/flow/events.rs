//! A reader of a flow's events gets each once, in order and without gaps.

use std::pin::pin;

use futures_util::future::{Either, select};

use crate::lease::long_poll::{in_time, round_trips, woken_by};
use crate::prelude::*;

pub(crate) async fn a_flow_has_one_event_per_change_in_order(world: World) {
    let flow = world.graph("a>b").submit().await;
    let start = world.clock.now();
    world.clock.advance(ms(1)).await;
    let held = flow.start_one().await;
    world.clock.advance(ms(1)).await;
    held.complete(b"done").await.unwrap();
    world.clock.advance(ms(1)).await;
    flow.start_one().await.fail_for_good().await;
    let lines: Vec<_> =
        flow.events_by(1_000).await.into_iter().map(|event| (event.at.0 - start.0, text(&event))).collect();
    let expected = [
        (0, "opened"),
        (1, "a: waiting to active"),
        (2, "a: active to completed"),
        (2, "b: waiting_children to waiting"),
        (3, "b: waiting to active"),
        (3, "b: active to failed"),
        (3, "ended failed"),
    ];
    assert_eq!(lines, expected.map(|(at, text)| (at, text.to_owned())));
}

pub(crate) async fn events_are_read_in_pages_of_any_size(world: World) {
    let flow = world.graph("a>b>c a>d x").submit().await;
    flow.run().await;
    let whole = flow.events_by(1_000).await;
    assert!(whole.iter().zip(0..).all(|(event, seq)| event.seq == seq), "numbered without gaps");
    for limit in [1, 2, 5, whole.len()] {
        assert_eq!(flow.events_by(limit).await, whole);
    }
    let page = page(&world, &flow, 3, 2).await;
    assert_eq!((page.events.as_slice(), page.next, page.ended), (&whole[3..5], 5, false));
    let past = whole.len() as u64;
    let last = self::page(&world, &flow, past - 1, 5).await;
    assert_eq!((last.next, last.ended, last.missed), (past, true, false));
    for from in [past + 1, u64::from(u32::MAX), u64::MAX] {
        let beyond = self::page(&world, &flow, from, 5).await;
        assert_eq!((beyond.events, beyond.missed), (vec![], false), "from {from} on");
    }
}

pub(crate) async fn a_skip_cascade_has_one_event_per_member(world: World) {
    let flow = world.graph("a>b>c a>d").submit().await;
    flow.start_one().await.fail_for_good().await;
    let lines: Vec<_> = flow.events_by(1_000).await.iter().map(text).collect();
    for name in ["b", "c", "d"] {
        let skipped = format!("{name}: waiting_children to skipped");
        assert_eq!(lines.iter().filter(|line| **line == skipped).count(), 1, "{lines:?}");
    }
    assert_eq!(lines.last().map(String::as_str), Some("ended failed"));
    assert_eq!(lines.len(), 7);
}

pub(crate) async fn a_long_poll_on_a_flow_returns_its_end(world: World) {
    let flow = world.graph("a>b").submit().await;
    assert_eq!(world.long_poll.flow_ended(&flow.id, 0).await.unwrap(), None);
    let held = flow.start_one().await;
    held.complete(b"done").await.unwrap();
    let last = flow.start_one().await;
    let end = ended_by(&world, &flow, async || last.complete(b"done").await.unwrap()).await;
    assert_eq!((end.flow_id, end.state, end.at), (flow.id, FlowState::Completed, world.clock.now()));
    assert_eq!(end.counts, flow.info().await.counts);
    assert_eq!(world.long_poll.flow_ended(&flow.id, 0).await.unwrap(), Some(end), "and a later caller");
}

pub(crate) async fn every_end_of_a_flow_is_heard(world: World) {
    let flow = world.graph("a>b").submit().await;
    let held = flow.start_one().await;
    let end = ended_by(&world, &flow, async || held.fail_for_good().await).await;
    assert_eq!(end.state, FlowState::Failed);
    let flow = world.graph("a>b").submit().await;
    let end = ended_by(&world, &flow, async || flow.cancel(CancelPolicy::CancelAll).await.unwrap()).await;
    assert_eq!(end.state, FlowState::Cancelled);
    let flow = world.held_open().await;
    let end = ended_by(&world, &flow, async || flow.close().await).await;
    assert_eq!(end.state, FlowState::Completed);
    let deadline = |node: &mut NodeSpec| {
        node.policy.timeout_policy.execution_deadline_ms = Some(1_000);
    };
    let flow = world.graph("a").with("a", deadline).submit().await;
    let end = ended_by(&world, &flow, async || world.clock.advance(ms(1_000)).await).await;
    assert_eq!(end.state, FlowState::Failed);
}

pub(crate) async fn a_wait_for_the_end_of_a_flow_runs_out(world: World) {
    let flow = world.graph("a").submit().await;
    assert_eq!(world.long_poll.flow_ended(&flow.id, 20).await.unwrap(), None);
    assert_refused!(world.long_poll.flow_ended(&flow.id, 60_001).await, "limit_exceeded", "wait_ms", 60_000, 60_001);
}

pub(crate) async fn a_flow_follower_receives_events_as_they_happen(world: World) {
    let flow = world.graph("a>b").submit().await;
    let next = page(&world, &flow, 0, 10).await.next;
    let args = FlowEventsArgs { flow_id: flow.id, from: next, limit: 10 };
    assert_eq!(world.long_poll.next_flow_events(args, 20).await.unwrap().events, [], "nothing happens by itself");
    let long_poll = world.long_poll.clone();
    let waiting = tokio::spawn(async move { long_poll.next_flow_events(args, 60_000).await });
    round_trips(&world).await;
    flow.start_one().await;
    let page = in_time(waiting).await.unwrap().unwrap();
    assert_eq!(page.events.iter().map(text).collect::<Vec<_>>(), ["a: waiting to active"]);
    assert_eq!((page.next, page.ended), (next + 1, false));
}

pub(crate) async fn a_flow_follower_receives_every_event_until_the_end(world: World) {
    let flow = world.graph("a>b>d a>c>d c>e").submit().await;
    let (long_poll, flow_id) = (world.long_poll.clone(), flow.id);
    let following = tokio::spawn(async move {
        let (mut events, mut from) = (Vec::new(), 0);
        loop {
            let page = long_poll.next_flow_events(FlowEventsArgs { flow_id, from, limit: 3 }, 60_000).await.unwrap();
            events.extend(page.events);
            from = page.next;
            if page.ended {
                return events;
            }
        }
    });
    flow.run().await;
    let followed: Vec<FlowEvent> = in_time(following).await.unwrap();
    assert_eq!(followed, flow.events_by(limits::PAGE).await);
    let args = FlowEventsArgs { flow_id: flow.id, from: followed.len() as u64, limit: 3 };
    let after = in_time(world.long_poll.next_flow_events(args, 60_000)).await.unwrap();
    assert_eq!((after.events, after.ended), (vec![], true), "a flow that has ended is not waited for");
}

pub(crate) async fn a_waiting_worker_gets_what_a_completion_releases(world: World) {
    let flow = world.graph("a>b").submit().await;
    let held = flow.start_one().await;
    let (released, _) = woken_by(&world, async || held.complete(b"done").await.unwrap()).await;
    assert_eq!(released.node(), "b");
}

pub(crate) async fn a_waiting_worker_gets_what_is_submitted_in_a_flow_and_added_to_it(world: World) {
    let (held, flow) = woken_by(&world, async || world.graph("a").submit().await).await;
    assert_eq!(held.node(), "a");
    let (held, _) = woken_by(&world, async || flow.grow(&["b"], &[]).await).await;
    assert_eq!(held.node(), "b");
}

/// Returns the end of a flow as reported by a long poll that is open before `event` happens.
async fn ended_by<T>(world: &World, flow: &Flow, event: impl AsyncFnOnce() -> T) -> FlowEnd {
    let waiting = pin!(world.long_poll.flow_ended(&flow.id, 60_000));
    let settled = pin!(round_trips(world));
    let Either::Right(((), waiting)) = select(waiting, settled).await else { panic!("there was nothing to wait for") };
    event().await;
    in_time(waiting).await.unwrap().expect("the wait ran out")
}

async fn page(world: &World, flow: &Flow, from: u64, limit: usize) -> FlowEventsPage {
    world.backend.flow_events(FlowEventsArgs { flow_id: flow.id, from, limit }).await.unwrap()
}

fn text(event: &FlowEvent) -> String {
    match &event.what {
        FlowEventKind::Opened { .. } => "opened".into(),
        FlowEventKind::Moved { node, from, to, .. } => format!("{node}: {from} to {to}"),
        FlowEventKind::Ended { state } => format!("ended {state}"),
        other => format!("{other:?}"),
    }
}
