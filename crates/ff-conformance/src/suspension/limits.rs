//! An invalid request to suspend is refused with the name of its field, and nothing is written.

use crate::prelude::*;
use crate::world::conditions::{all, any, count, key, nested, signal};

pub(crate) async fn a_condition_may_be_four_deep(world: World) {
    let (held, refused) = (world.held().await, RefusalCheck(&world));
    let deep = |times| held.wish_for(nested(times, signal("a")), &["a"]);
    let refusal =
        refused.wish(deep(4), "limit_exceeded", "condition.members[0].members[0].members[0].members[0]").await;
    assert_eq!(refusal.limit, Some((4, 5)));
    let [_] = held.wait(deep(3)).await;
}

pub(crate) async fn a_condition_may_have_sixty_four_nodes(world: World) {
    let (held, refused) = (world.held().await, RefusalCheck(&world));
    let wide = |leaves: usize| held.wish_for(any(vec![signal("a"); leaves]), &["a"]);
    let refusal = refused.wish(wide(64), "limit_exceeded", "condition").await;
    assert_eq!(refusal.limit, Some((64, 65)));
    let [_] = held.wait(wide(63)).await;
}

pub(crate) async fn a_condition_may_need_a_thousand_signals(world: World) {
    let (held, refused) = (world.held().await, RefusalCheck(&world));
    let needing = |n| {
        let of = Distinct::Signals;
        held.wish_for(all([count(n, of, &["a"]), count(500, of, &["a"])]), &["a"])
    };
    let refusal = refused.wish(needing(501), "limit_exceeded", "condition").await;
    assert_eq!(refusal.limit, Some((1_000, 1_001)));
    let [_] = held.wait(needing(500)).await;
}

pub(crate) async fn a_count_that_cannot_be_met_is_refused(world: World) {
    let (held, refused) = (world.held().await, RefusalCheck(&world));
    let of = |condition| held.wish_for(condition, &["a", "b"]);
    let too_many = of(count(3, Distinct::Waitpoints, &["a", "b"]));
    let refusal = refused.wish(too_many, "invalid_input", "condition.n").await;
    assert_eq!(refusal.limit, Some((2, 3)));
    refused.wish(of(count(0, Distinct::Signals, &["a", "b"])), "invalid_input", "condition.n").await;
    refused.wish(of(count(1, Distinct::Signals, &[])), "invalid_input", "condition.waitpoints").await;
    let inside = any([signal("a"), count(2, Distinct::Waitpoints, &["b"])]);
    refused.wish(of(inside), "invalid_input", "condition.members[1].n").await;
    let [_, _] = held.wait(of(count(2, Distinct::Waitpoints, &["a", "b"]))).await;
}

pub(crate) async fn a_malformed_condition_is_refused_where_it_is_wrong(world: World) {
    let (held, refused) = (world.held().await, RefusalCheck(&world));
    let of = |condition| held.wish_for(condition, &["a"]);
    refused.wish(of(all([])), "invalid_input", "condition.members").await;
    refused.wish(of(all([signal("a"), any([])])), "invalid_input", "condition.members[1].members").await;
    refused.wish(of(signal("b")), "invalid_input", "condition.waitpoint").await;
    let twice = of(count(1, Distinct::Signals, &["a", "a"]));
    refused.wish(twice, "invalid_input", "condition.waitpoints[1]").await;
    let unknown = of(count(1, Distinct::Signals, &["a", "b"]));
    refused.wish(unknown, "invalid_input", "condition.waitpoints[1]").await;
    for whole in [Condition::OperatorOnly, Condition::TimeoutOnly] {
        let inside = of(any([signal("a"), whole]));
        refused.wish(inside, "invalid_input", "condition.members[1]").await;
    }
}

pub(crate) async fn a_suspension_waits_on_one_to_sixty_four_waitpoints(world: World) {
    let (held, refused) = (world.held().await, RefusalCheck(&world));
    let on = |names: &[String]| SuspendArgs {
        waitpoints: names.iter().map(|name| WaitpointBinding::Fresh { key: key(name) }).collect(),
        condition: Condition::OperatorOnly,
        ..held.wish("a")
    };
    let names: Vec<_> = (0..65).map(|nth| format!("w{nth}")).collect();
    refused.wish(on(&[]), "invalid_input", "waitpoints").await;
    let refusal = refused.wish(on(&names), "limit_exceeded", "waitpoints").await;
    assert_eq!(refusal.limit, Some((64, 65)));
    let twice = SuspendArgs { condition: signal("a"), ..on(&["a".into(), "a".into()]) };
    refused.wish(twice, "invalid_input", "waitpoints[1].key").await;
    let unused = held.wish_for(signal("a"), &["a", "b"]);
    refused.wish(unused, "invalid_input", "waitpoints[1].key").await;
    let _: [_; 64] = held.wait(on(&names[..64])).await;
}

pub(crate) async fn a_timeout_lies_ahead_and_not_too_far(world: World) {
    let (held, refused) = (world.held().await, RefusalCheck(&world));
    let after = |timeout| SuspendArgs { timeout: Some(timeout), ..held.wish("a") };
    let now = world.clock.now();
    refused.wish(after(Timeout::At(now)), "invalid_input", "timeout_at").await;
    refused.wish(after(Timeout::At(now - 1)), "invalid_input", "timeout_at").await;
    refused.wish(after(Timeout::After(0)), "invalid_input", "timeout_in_ms").await;
    let too_far = refused.wish(after(Timeout::After(limits::SPAN_MAX_MS + 1)), "limit_exceeded", "timeout_in_ms").await;
    assert_eq!(too_far.limit, Some((limits::SPAN_MAX_MS, limits::SPAN_MAX_MS + 1)));
    let end_of_time = TimestampMs(limits::TIMESTAMP_MAX_MS);
    refused.wish(after(Timeout::At(end_of_time + 1)), "limit_exceeded", "timeout_at").await;
    let never = held.wish_for(Condition::TimeoutOnly, &["a"]);
    refused.wish(never, "invalid_input", "timeout_in_ms").await;
    let [_] = held.wait(after(Timeout::At(end_of_time))).await;
}

pub(crate) async fn a_wish_keeps_to_the_limits_of_its_parts(world: World) {
    let (held, refused) = (world.held().await, RefusalCheck(&world));
    let policy = |resume_delay_ms| ResumePolicy { resume_delay_ms, ..ResumePolicy::default() };
    let wish = SuspendArgs {
        resume_policy: policy(limits::SPAN_MAX_MS),
        continuation: Some("c".repeat(limits::MESSAGE_BYTES)),
        dedup_ttl_ms: limits::SPAN_MAX_MS,
        ..held.wish(&"é".repeat(limits::TEXT_BYTES / 2))
    };
    let over = SuspendArgs { resume_policy: policy(limits::SPAN_MAX_MS + 1), ..wish.clone() };
    refused.wish(over, "invalid_policy_json", "resume_policy.resume_delay_ms").await;
    let over = SuspendArgs { continuation: Some("c".repeat(limits::MESSAGE_BYTES + 1)), ..wish.clone() };
    refused.wish(over, "limit_exceeded", "continuation").await;
    let over = SuspendArgs { dedup_ttl_ms: limits::SPAN_MAX_MS + 1, ..wish.clone() };
    refused.wish(over, "limit_exceeded", "dedup_ttl_ms").await;
    let [waitpoint] = held.wait(wish).await;
    assert_eq!(waitpoint.granted.waitpoint_key.as_str().len(), limits::TEXT_BYTES);
    let before = world.contents().await;
    let resume = ResumeArgs::new(held.id(), OperatorDecision::Resume);
    let over = ResumeArgs { reason: Some("r".repeat(limits::MESSAGE_BYTES + 1)), ..resume.clone() };
    let refusal = assert_refused!(world.backend.resume(over).await, "limit_exceeded");
    assert_eq!(refusal.field.as_deref(), Some("reason"));
    let over = ResumeArgs { resume_delay_ms: Some(limits::SPAN_MAX_MS + 1), ..resume.clone() };
    let refusal = assert_refused!(world.backend.resume(over).await, "limit_exceeded");
    assert_eq!(refusal.field.as_deref(), Some("resume_delay_ms"));
    let large = |bytes| ResumeArgs { payload: Some(Payload::bytes(vec![7; bytes])), ..resume.clone() };
    let refusal = assert_refused!(world.backend.resume(large(limits::SIGNAL_BYTES + 1)).await, "payload_too_large");
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("payload"), Some((262_144, 262_145))));
    assert_eq!(world.contents().await, before);
    world.backend.resume(large(limits::SIGNAL_BYTES)).await.unwrap();
}

pub(crate) async fn work_may_have_sixty_four_waitpoints_made_ahead(world: World) {
    let held = world.held().await;
    for nth in 0..limits::PENDING_WAITPOINTS {
        held.ahead(&format!("w{nth}")).await;
    }
    let before = world.contents().await;
    let refusal = assert_refused!(world.backend.create_waitpoint(held.ahead_args("more")).await, "limit_exceeded");
    assert_eq!((refusal.field.as_deref(), refusal.limit), (Some("waitpoints"), Some((64, 65))));
    assert_eq!(world.contents().await, before);
    let close = CloseWaitpointArgs {
        execution_id: held.id(),
        waitpoint_id: held.ahead("w7").await.id(),
        reason: Some("r".repeat(limits::MESSAGE_BYTES + 1)),
    };
    let refusal = assert_refused!(world.backend.close_waitpoint(close.clone()).await, "limit_exceeded");
    assert_eq!(refusal.field.as_deref(), Some("reason"));
    assert_eq!(world.contents().await, before);
    world.backend.close_waitpoint(CloseWaitpointArgs { reason: Some("unused".into()), ..close }).await.unwrap();
    held.ahead("more").await;
}

pub(crate) async fn a_waitpoint_made_ahead_pends_for_a_while(world: World) {
    let held = world.held().await;
    let for_ms = |expires_in_ms| CreateWaitpointArgs { expires_in_ms, ..held.ahead_args("a") };
    let before = world.contents().await;
    let refusal = assert_refused!(world.backend.create_waitpoint(for_ms(0)).await, "invalid_input");
    assert_eq!(refusal.field.as_deref(), Some("expires_in_ms"));
    let over = for_ms(limits::SPAN_MAX_MS + 1);
    let refusal = assert_refused!(world.backend.create_waitpoint(over).await, "limit_exceeded");
    assert_eq!(refusal.field.as_deref(), Some("expires_in_ms"));
    assert_eq!(world.contents().await, before);
    world.backend.create_waitpoint(for_ms(1)).await.unwrap();
    world.clock.advance(ms(1)).await;
    world.backend.create_waitpoint(for_ms(limits::SPAN_MAX_MS)).await.unwrap();
}

/// An assertion that requests to suspend are refused and change nothing.
struct RefusalCheck<'w>(&'w World);

impl RefusalCheck<'_> {
    async fn wish(&self, wish: SuspendArgs, code: &str, field: &str) -> Refusal {
        let before = self.0.contents().await;
        let refusal = refused_as(self.0.suspend(wish).await, code);
        assert_eq!(refusal.field.as_deref(), Some(field), "{refusal}");
        assert_eq!(self.0.contents().await, before);
        refusal
    }
}
