//! An invalid request to suspend is refused with the name of its field, and nothing is written.

use crate::prelude::*;
use crate::world::conditions::{all, any, count, key, nested, signal};

pub(crate) async fn a_condition_may_be_four_deep(world: World, held: LeasedExecution) {
    let deep = |times| held.wish_for(nested(times, signal("a")), &["a"]);
    assert_refused!(
        suspend(&world, deep(4)).await,
        "limit_exceeded",
        "condition.members[0].members[0].members[0].members[0]",
        4,
        5
    );
    let [_] = held.wait(deep(3)).await;
}

pub(crate) async fn a_condition_may_have_sixty_four_nodes(world: World, held: LeasedExecution) {
    let wide = |leaves: usize| held.wish_for(any(vec![signal("a"); leaves]), &["a"]);
    assert_refused!(suspend(&world, wide(64)).await, "limit_exceeded", "condition", 64, 65);
    let [_] = held.wait(wide(63)).await;
}

pub(crate) async fn a_condition_may_need_a_thousand_signals(world: World, held: LeasedExecution) {
    let needing = |n| {
        let of = Distinct::Signals;
        held.wish_for(all([count(n, of, &["a"]), count(500, of, &["a"])]), &["a"])
    };
    assert_refused!(suspend(&world, needing(501)).await, "limit_exceeded", "condition", 1_000, 1_001);
    let [_] = held.wait(needing(500)).await;
}

pub(crate) async fn a_count_that_cannot_be_met_is_refused(world: World, held: LeasedExecution) {
    let of = |condition| held.wish_for(condition, &["a", "b"]);
    let too_many = of(count(3, Distinct::Waitpoints, &["a", "b"]));
    assert_refused!(suspend(&world, too_many).await, "invalid_input", "condition.n", 2, 3);
    assert_refused!(
        suspend(&world, of(count(0, Distinct::Signals, &["a", "b"]))).await,
        "invalid_input",
        "condition.n"
    );
    assert_refused!(
        suspend(&world, of(count(1, Distinct::Signals, &[]))).await,
        "invalid_input",
        "condition.waitpoints"
    );
    let inside = any([signal("a"), count(2, Distinct::Waitpoints, &["b"])]);
    assert_refused!(suspend(&world, of(inside)).await, "invalid_input", "condition.members[1].n");
    let [_, _] = held.wait(of(count(2, Distinct::Waitpoints, &["a", "b"]))).await;
}

pub(crate) async fn a_malformed_condition_is_refused_where_it_is_wrong(world: World, held: LeasedExecution) {
    let of = |condition| held.wish_for(condition, &["a"]);
    assert_refused!(suspend(&world, of(all([]))).await, "invalid_input", "condition.members");
    assert_refused!(
        suspend(&world, of(all([signal("a"), any([])]))).await,
        "invalid_input",
        "condition.members[1].members"
    );
    assert_refused!(suspend(&world, of(signal("b"))).await, "invalid_input", "condition.waitpoint");
    let twice = of(count(1, Distinct::Signals, &["a", "a"]));
    assert_refused!(suspend(&world, twice).await, "invalid_input", "condition.waitpoints[1]");
    let unknown = of(count(1, Distinct::Signals, &["a", "b"]));
    assert_refused!(suspend(&world, unknown).await, "invalid_input", "condition.waitpoints[1]");
    for whole in [Condition::OperatorOnly, Condition::TimeoutOnly] {
        let inside = of(any([signal("a"), whole]));
        assert_refused!(suspend(&world, inside).await, "invalid_input", "condition.members[1]");
    }
}

pub(crate) async fn a_suspension_waits_on_one_to_sixty_four_waitpoints(world: World, held: LeasedExecution) {
    let on = |names: &[String]| SuspendArgs {
        waitpoints: names.iter().map(|name| WaitpointBinding::Fresh { key: key(name) }).collect(),
        condition: Condition::OperatorOnly,
        ..held.wish("a")
    };
    let names: Vec<_> = (0..65).map(|nth| format!("w{nth}")).collect();
    assert_refused!(suspend(&world, on(&[])).await, "invalid_input", "waitpoints");
    assert_refused!(suspend(&world, on(&names)).await, "limit_exceeded", "waitpoints", 64, 65);
    let twice = SuspendArgs { condition: signal("a"), ..on(&["a".into(), "a".into()]) };
    assert_refused!(suspend(&world, twice).await, "invalid_input", "waitpoints[1].key");
    let unused = held.wish_for(signal("a"), &["a", "b"]);
    assert_refused!(suspend(&world, unused).await, "invalid_input", "waitpoints[1].key");
    let _: [_; 64] = held.wait(on(&names[..64])).await;
}

pub(crate) async fn a_timeout_lies_ahead_and_not_too_far(world: World, held: LeasedExecution) {
    let after = |timeout| SuspendArgs { timeout: Some(timeout), ..held.wish("a") };
    let now = world.clock.now();
    assert_refused!(suspend(&world, after(Timeout::At(now))).await, "invalid_input", "timeout_at");
    assert_refused!(suspend(&world, after(Timeout::At(now - 1))).await, "invalid_input", "timeout_at");
    assert_refused!(suspend(&world, after(Timeout::After(0))).await, "invalid_input", "timeout_in_ms");
    let too_far = assert_refused!(
        suspend(&world, after(Timeout::After(limits::SPAN_MAX_MS + 1))).await,
        "limit_exceeded",
        "timeout_in_ms"
    );
    assert_eq!(too_far.limit, Some((limits::SPAN_MAX_MS, limits::SPAN_MAX_MS + 1)));
    let end_of_time = TimestampMs(limits::TIMESTAMP_MAX_MS);
    assert_refused!(suspend(&world, after(Timeout::At(end_of_time + 1))).await, "limit_exceeded", "timeout_at");
    let never = held.wish_for(Condition::TimeoutOnly, &["a"]);
    assert_refused!(suspend(&world, never).await, "invalid_input", "timeout_in_ms");
    let [_] = held.wait(after(Timeout::At(end_of_time))).await;
}

pub(crate) async fn a_wish_keeps_to_the_limits_of_its_parts(world: World, held: LeasedExecution) {
    let policy = |resume_delay_ms| ResumePolicy { resume_delay_ms, ..ResumePolicy::default() };
    let wish = SuspendArgs {
        resume_policy: policy(limits::SPAN_MAX_MS),
        continuation: Some("c".repeat(limits::MESSAGE_BYTES)),
        dedup_ttl_ms: limits::SPAN_MAX_MS,
        ..held.wish(&"é".repeat(limits::TEXT_BYTES / 2))
    };
    let over = SuspendArgs { resume_policy: policy(limits::SPAN_MAX_MS + 1), ..wish.clone() };
    assert_refused!(suspend(&world, over).await, "invalid_policy_json", "resume_policy.resume_delay_ms");
    let over = SuspendArgs { continuation: Some("c".repeat(limits::MESSAGE_BYTES + 1)), ..wish.clone() };
    assert_refused!(suspend(&world, over).await, "limit_exceeded", "continuation");
    let over = SuspendArgs { dedup_ttl_ms: limits::SPAN_MAX_MS + 1, ..wish.clone() };
    assert_refused!(suspend(&world, over).await, "limit_exceeded", "dedup_ttl_ms");
    let [waitpoint] = held.wait(wish).await;
    assert_eq!(waitpoint.granted.waitpoint_key.as_str().len(), limits::TEXT_BYTES);
    let before = world.contents().await;
    let resume = ResumeArgs::new(held.id(), OperatorDecision::Resume);
    let over = ResumeArgs { reason: Some("r".repeat(limits::MESSAGE_BYTES + 1)), ..resume.clone() };
    assert_refused!(world.backend.resume(over).await, "limit_exceeded", "reason");
    let over = ResumeArgs { resume_delay_ms: Some(limits::SPAN_MAX_MS + 1), ..resume.clone() };
    assert_refused!(world.backend.resume(over).await, "limit_exceeded", "resume_delay_ms");
    let large = |bytes| ResumeArgs { payload: Some(Payload::bytes(vec![7; bytes])), ..resume.clone() };
    let refusal = assert_refused!(world.backend.resume(large(limits::SIGNAL_BYTES + 1)).await, "payload_too_large");
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("payload"), Some((262_144, 262_145))));
    assert_eq!(world.contents().await, before);
    world.backend.resume(large(limits::SIGNAL_BYTES)).await.unwrap();
}

pub(crate) async fn work_may_have_sixty_four_waitpoints_made_ahead(world: World, held: LeasedExecution) {
    for nth in 0..limits::PENDING_WAITPOINTS {
        held.ahead(&format!("w{nth}")).await;
    }
    let before = world.contents().await;
    let answer = world.backend.create_waitpoint(held.ahead_args("more")).await;
    let refusal = assert_refused!(answer, "limit_exceeded");
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("waitpoints"), Some((64, 65))));
    let close = CloseWaitpointArgs {
        execution_id: held.id(),
        waitpoint_id: held.ahead("w7").await.id(),
        reason: Some("r".repeat(limits::MESSAGE_BYTES + 1)),
    };
    assert_refused!(world.backend.close_waitpoint(close.clone()).await, "limit_exceeded", "reason");
    assert_eq!(world.contents().await, before);
    world.backend.close_waitpoint(CloseWaitpointArgs { reason: Some("unused".into()), ..close }).await.unwrap();
    held.ahead("more").await;
}

pub(crate) async fn a_waitpoint_made_ahead_pends_for_a_while(world: World, held: LeasedExecution) {
    let for_ms = |expires_in_ms| CreateWaitpointArgs { expires_in_ms, ..held.ahead_args("a") };
    let before = world.contents().await;
    assert_refused!(world.backend.create_waitpoint(for_ms(0)).await, "invalid_input", "expires_in_ms");
    let over = for_ms(limits::SPAN_MAX_MS + 1);
    assert_refused!(world.backend.create_waitpoint(over).await, "limit_exceeded", "expires_in_ms");
    assert_eq!(world.contents().await, before);
    world.backend.create_waitpoint(for_ms(1)).await.unwrap();
    world.clock.advance(ms(1)).await;
    world.backend.create_waitpoint(for_ms(limits::SPAN_MAX_MS)).await.unwrap();
}

/// Requests to suspend, and checks that nothing is written.
async fn suspend(world: &World, wish: SuspendArgs) -> Answer<SuspendedExecution> {
    world.writes_nothing(world.suspend(wish)).await
}
