//! A tick starts a flow, or an execution with every option of a submission.

use ff_core::schedule::SkipReason;

use super::{MINUTE, Overlap, Plan, ScheduleTarget, TickOutcome, everything, outcomes, ticks};
use crate::prelude::*;

pub(crate) async fn a_tick_starts_what_was_written_down(world: World) {
    let mut target = world.job("report").payload(Payload::json(r#"{"for":"{{tick}}","by":"{{schedule}}"}"#)).args();
    target.lane = LaneId::parse("slow").unwrap();
    target.priority = Priority::new(7).unwrap();
    target.tags = labels(&[("schedule", "{{schedule}}"), ("at", "{{tick}}")]);
    target.policy.max_reclaim_count = 3;
    let put = Plan::new(&world, "nightly").starts(target).put().await;
    world.clock.advance(ms(MINUTE)).await;
    let started = everything(&world).await.remove(0);
    let moment = put.schedule.tick(put.next_ticks[0]).moment();
    assert_eq!((started.lane_id.as_str(), started.priority), ("slow", Priority::new(7).unwrap()));
    assert_eq!(started.tags, labels(&[("schedule", "nightly"), ("at", &moment)]));
    let payload = world.backend.payload(&started.execution_id).await.unwrap();
    assert_eq!(payload.bytes, format!(r#"{{"for":"{moment}","by":"nightly"}}"#));
    let key = format!("schedule/{}/{moment}", put.schedule.id);
    let mut again = world.job("report").payload(payload).args();
    again.idempotency_key = Some(IdempotencyKey::parse(&key).unwrap());
    let found = world.backend.submit(again).await.unwrap();
    assert_eq!((found.execution_id, found.duplicate), (started.execution_id, true), "its key names the tick");
}

pub(crate) async fn a_tick_starts_a_flow(world: World) {
    let kind = |text: &str| Kind::parse(text).unwrap();
    let node = |name: &str| NodeSpec::new(NodeName::parse(name).unwrap(), kind("step"), Payload::json("\"{{tick}}\""));
    let edge =
        EdgeSpec { upstream: NodeName::parse("a").unwrap(), downstream: NodeName::parse("b").unwrap(), passes: None };
    let args =
        SubmitFlowArgs { header: FlowHeader::new(kind("etl")), nodes: vec![node("a"), node("b")], edges: vec![edge] };
    let target = ScheduleTarget::Flow(Box::new(args));
    let plan = || Plan::new(&world, "etl").with(|it| it.target = target.clone());
    let put = plan().put().await;
    world.clock.advance(ms(MINUTE)).await;
    let first = ticks(&world, "etl").await[0].flow_id.unwrap();
    assert_eq!(world.backend.describe_flow(&first).await.unwrap().nodes, 2);
    let member = everything(&world).await.pop().unwrap().execution_id;
    let moment = put.schedule.tick(put.next_ticks[0]).moment();
    assert_eq!(world.backend.payload(&member).await.unwrap().bytes, format!("\"{moment}\""));
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(ticks(&world, "etl").await[1].reason, Some(SkipReason::PreviousLives));
    plan().overlap(Overlap::CancelPrevious).put().await;
    world.clock.advance(ms(MINUTE)).await;
    world.clock.fire_due().await;
    assert_eq!(world.backend.describe_flow(&first).await.unwrap().state, FlowState::Cancelled);
    let third = ticks(&world, "etl").await[2].flow_id.unwrap();
    assert_eq!(world.backend.describe_flow(&third).await.unwrap().state, FlowState::Open);
}

pub(crate) async fn a_singleton_holds_for_ticks_as_well(world: World) {
    let target = world.job("report").singleton("one", OnConflict::Skip).args();
    Plan::new(&world, "single").overlap(Overlap::Allow).starts(target).put().await;
    world.clock.advance(ms(MINUTE)).await;
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(everything(&world).await.len(), 1);
    let seen = ticks(&world, "single").await;
    assert_eq!((seen[1].outcome, seen[1].reason), (TickOutcome::Skipped, Some(SkipReason::Singleton)));
}

pub(crate) async fn a_tick_whose_work_is_refused_says_why(world: World) {
    let lane = LaneId::parse("closing").unwrap();
    let mut drain = ConfigureLaneArgs::new(Namespace::default_name(), lane.clone());
    drain.state = Some(LaneState::Draining);
    world.backend.configure_lane(drain).await.unwrap();
    let mut target = world.job("report").args();
    target.lane = lane;
    Plan::new(&world, "refused").starts(target).put().await;
    world.clock.advance(ms(MINUTE)).await;
    let tick = ticks(&world, "refused").await.remove(0);
    assert_eq!(tick.outcome, TickOutcome::Refused);
    assert!(tick.detail.unwrap().contains("not_runnable"));
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(outcomes(&world, "refused").await.len(), 2, "the next one is tried all the same");
}
