//! A fork is a new execution that begins with steps of another one.

use super::{all, point, record, recorded, words};
use crate::prelude::*;

async fn before(world: &World, id: &ExecutionId, name: &str, key: &str) -> Answer<ForkedExecution> {
    world.backend.fork(ForkArgs { before_step: Some(point(name, key)), ..ForkArgs::new(*id) }).await
}

pub(crate) async fn a_fork_begins_with_the_steps_before_the_chosen_one(world: World, held: LeasedExecution) {
    record(&held, &world, "a b! (c) d e ~e f").await;
    let source = all(&world, &held.id(), 10).await;
    let untouched = world.describe(&held.id()).await;
    let forked = before(&world, &held.id(), "f", "").await.unwrap();
    assert_eq!((forked.steps, forked.duplicate), (3, false));
    assert_eq!(
        recorded(&world, &forked.execution_id).await,
        ["a", "(c)", "d"],
        "what failed or was undone is not copied"
    );
    let claimed = world.worker("fork").claim().await;
    assert_eq!((claimed.id(), &claimed.payload), (forked.execution_id, &held.payload));
    assert_eq!(
        claimed.steps.steps,
        [&source[0], &source[2], &source[3]].map(Clone::clone),
        "with their results and times"
    );
    assert_eq!(claimed.step("g", b"").await.seq, 4);
    claimed.complete(b"other").await.unwrap();
    assert_eq!(all(&world, &held.id(), 10).await, source);
    assert_eq!(world.describe(&held.id()).await, untouched);
}

pub(crate) async fn a_fork_is_like_what_it_came_from(world: World) {
    let policy = Policy { max_replay_count: 3, ..Policy::default() };
    let submission = world.job("resize").lane("mail").namespace("acme").priority(7).tag("team", "blue").policy(policy);
    let id = submission.key("once").submit().await;
    world.clock.advance(ms(5)).await;
    let forked = world.backend.fork(ForkArgs::new(id)).await.unwrap();
    let (source, fork) = (world.describe(&id).await, world.describe(&forked.execution_id).await);
    assert_eq!(forked.execution_id.partition(), id.partition());
    assert_eq!((fork.forked_from, fork.steps, fork.idempotency_key), (Some(id), 0, None));
    assert_eq!((&fork.namespace, &fork.lane_id, &fork.kind), (&source.namespace, &source.lane_id, &source.kind));
    assert_eq!((fork.priority, &fork.tags, &fork.policy), (source.priority, &source.tags, &source.policy));
    assert_eq!((fork.created_at, fork.public_state.as_str()), (world.clock.now(), "waiting"));
    assert_eq!(world.backend.payload(&forked.execution_id).await.unwrap(), world.backend.payload(&id).await.unwrap());
}

pub(crate) async fn whatever_state_it_is_in_an_execution_can_be_forked(world: World) {
    let id = world.job("resize").deadline(ms(60_000)).after(ms(1_000)).submit().await;
    for state in ["delayed", "active", "cancelled"] {
        match state {
            "active" => {
                world.clock.advance(ms(1_000)).await;
                record(&world.worker("holder").claim().await, &world, "a").await;
            }
            "cancelled" => drop(world.cancel(&id).await.unwrap()),
            _ => {}
        }
        assert_eq!(world.state(&id).await.as_str(), state);
        let forked = world.backend.fork(ForkArgs::new(id)).await.unwrap();
        assert_eq!(forked.steps, u32::from(state != "delayed"));
        let fork = world.describe(&forked.execution_id).await;
        assert_eq!((fork.public_state.as_str(), fork.deadline_at), ("waiting", Some(world.clock.now() + 60_000)));
        world.cancel(&forked.execution_id).await.unwrap();
    }
    let unknown = ExecutionId::new(id.partition(), Uuid::now_v7());
    assert_refused!(world.backend.fork(ForkArgs::new(unknown)).await, "execution_not_found");
}

pub(crate) async fn a_fork_sent_again_is_the_same_fork(world: World, held: LeasedExecution) {
    record(&held, &world, "a b").await;
    let args = ForkArgs::new(held.id());
    let first = world.backend.fork(args.clone()).await.unwrap();
    let after = world.contents().await;
    assert_eq!(world.backend.fork(args.clone()).await, Ok(ForkedExecution { duplicate: true, ..first }));
    assert_eq!(world.contents().await, after);
    let other = world.submit("resize", b"dog.png").await;
    for args in
        [ForkArgs { uuid: held.id().uuid(), ..args.clone() }, ForkArgs { uuid: args.uuid, ..ForkArgs::new(other) }]
    {
        if args.execution_id.partition() == held.id().partition() {
            assert_refused!(world.backend.fork(args).await, "idempotency_conflict", "uuid");
        }
    }
    let derived = Uuid::from_u128(0x7000_8000_0000_0000_0001);
    assert_refused!(world.backend.fork(ForkArgs { uuid: derived, ..args }).await, "invalid_input");
}

pub(crate) async fn a_member_of_a_flow_is_forked_outside_it_with_what_it_was_given(world: World) {
    let flow = world.graph("a>b").passing("a", "b", Some(PassMode::Payload)).submit().await;
    flow.start_one().await.complete(b"from a").await.unwrap();
    flow.settle().await;
    let forked = world.backend.fork(ForkArgs::new(flow.member("b"))).await.unwrap();
    let fork = world.describe(&forked.execution_id).await;
    assert_eq!((fork.flow_id, fork.node, fork.public_state.as_str()), (None, None, "waiting"));
    let given = world.backend.payload(&flow.member("b")).await.unwrap();
    assert_eq!(world.backend.payload(&forked.execution_id).await.unwrap(), given);
}

pub(crate) async fn a_step_that_is_not_recorded_is_nothing_to_fork_before(world: World, held: LeasedExecution) {
    record(&held, &world, "a ~b").await;
    let contents = world.contents().await;
    for (name, key) in [("c", ""), ("b", ""), ("a", "1")] {
        assert_refused!(before(&world, &held.id(), name, key).await, "invalid_input", "before_step");
    }
    assert_eq!(world.contents().await, contents);
    assert_eq!(before(&world, &held.id(), "a", "").await.unwrap().steps, 0);
}

pub(crate) async fn a_lane_that_takes_no_work_takes_no_fork(world: World) {
    let id = world.job("resize").lane("mail").submit().await;
    world.lane("mail").drain().await;
    let contents = world.contents().await;
    assert_refused!(world.backend.fork(ForkArgs::new(id)).await, "not_runnable");
    assert_eq!(world.contents().await, contents);
}

pub(crate) async fn a_fork_begins_with_at_most_sixteen_mebibytes(world: World, held: LeasedExecution) {
    let full = limits::FORK_BYTES / limits::STEP_RESULT_BYTES;
    for nth in 0..full {
        // Together with its name, each result is exactly as large as a result may be.
        held.step(&format!("{nth:02}"), &vec![1; limits::STEP_RESULT_BYTES - 2]).await;
    }
    let forked = world.backend.fork(ForkArgs::new(held.id())).await.unwrap();
    assert_eq!(forked.steps as usize, full);
    held.step("x", b"").await;
    let refusal = assert_refused!(world.backend.fork(ForkArgs::new(held.id())).await, "payload_too_large");
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("before_step"), Some((16_777_216, 16_777_217))));
    assert_eq!(before(&world, &held.id(), "x", "").await.unwrap().steps as usize, full);
    assert_eq!(words(&all(&world, &forked.execution_id, 3).await).len(), full);
}
