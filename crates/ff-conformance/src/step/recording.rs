//! A step is recorded once, by the holder.

use super::{all, failed, named, record, recorded, room_for};
use crate::prelude::*;

pub(crate) async fn a_recorded_step_is_not_recorded_again(world: World, held: LeasedExecution) {
    let first = held.step("charge", b"one").await;
    assert_eq!((first.seq, first.duplicate, &first.step), (0, false, &None));
    let before = world.contents().await;
    world.clock.advance(ms(5)).await;
    let again = held.step("charge", b"two").await;
    assert_eq!((again.seq, again.duplicate), (0, true));
    let StepOutcome::Succeeded { result } = again.step.unwrap().outcome else { panic!("it succeeded") };
    assert_eq!(&result.bytes[..], b"one", "the outcome that was recorded is the one that counts");
    let failed = RecordStepArgs { outcome: failed("late"), ..held.record(named(StepKind::Step, "charge", ""), b"") };
    assert!(world.backend.record_step(failed).await.unwrap().duplicate);
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn kind_name_and_key_tell_steps_apart(world: World, held: LeasedExecution) {
    record(&held, &world, "a a#1 a#2 (a) ~a b#1 ab").await;
    let steps = all(&world, &held.id(), 3).await;
    assert_eq!(steps.iter().map(|step| step.seq).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(recorded(&world, &held.id()).await, ["a", "a#1", "a#2", "(a)", "~a", "b#1", "ab"]);
    assert_eq!(world.describe(&held.id()).await.steps, 6, "a compensation is no step of its own");
}

pub(crate) async fn a_step_comes_back_as_it_was_recorded(world: World) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let outcomes = [
        StepOutcome::Succeeded { result: Payload::bytes(every_byte) },
        StepOutcome::Succeeded { result: Payload::json(r#"{"a": 1.10, "b": 9007199254740993}"#) },
        StepOutcome::Succeeded { result: Payload::json(" [1,\n2] ") },
        StepOutcome::Succeeded { result: Payload::new("text/plain".parse().unwrap(), "ä\u{0}") },
        StepOutcome::Succeeded { result: Payload::default() },
        failed("it \"broke\" \\ für Zoë"),
        failed(""),
    ];
    let held = world.held().await;
    for (nth, outcome) in outcomes.iter().enumerate() {
        let step = named(StepKind::Step, "Schritt \"eins\" / für Zoë", &format!("{nth} {{x}}:y"));
        let args = RecordStepArgs { outcome: outcome.clone(), ..held.record(step, b"") };
        world.backend.record_step(args.clone()).await.unwrap();
        let again = world.backend.record_step(args).await.unwrap();
        assert_eq!(&again.step.unwrap().outcome, outcome);
    }
    let steps = all(&world, &held.id(), 2).await;
    assert_eq!(steps.iter().map(|step| &step.outcome).collect::<Vec<_>>(), outcomes.iter().collect::<Vec<_>>());
    assert!(steps.iter().all(|step| step.step.name.as_str() == "Schritt \"eins\" / für Zoë"));
}

pub(crate) async fn it_says_which_attempt_recorded_it_and_when(world: World) {
    world.job("resize").retries(1, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    let began = world.clock.now();
    world.clock.advance(ms(7)).await;
    let timed = |started_at| RecordStepArgs { started_at, ..first.record(named(StepKind::Step, "a", ""), b"") };
    world.backend.record_step(timed(Some(began))).await.unwrap();
    first.fail("network").await.unwrap();
    let second = world.worker("second").claim().await;
    second.step("b", b"").await;
    let late = RecordStepArgs {
        started_at: Some(world.clock.now() + 50),
        ..second.record(named(StepKind::Step, "c", ""), b"")
    };
    world.backend.record_step(late).await.unwrap();
    let now = world.clock.now();
    let steps: Vec<_> = all(&world, &first.id(), 9).await;
    let times: Vec<_> = steps.iter().map(|step| (step.attempt, step.started_at, step.recorded_at)).collect();
    assert_eq!(times, [(AttemptIndex(0), began, now), (AttemptIndex(1), now, now), (AttemptIndex(1), now, now)]);
}

pub(crate) async fn only_the_holder_records(world: World) {
    let id = world.job("resize").retries(1, ms(0)).submit().await;
    let held = world.worker("first").claim().await;
    held.step("a", b"").await;
    let before = world.contents().await;
    let step = || named(StepKind::Step, "x", "");
    let try_as = |held: &LeasedExecution| world.backend.record_step(held.record(step(), b""));
    assert_refused!(try_as(&held.with_fence(|fence| fence.lease_id = LeaseId::new())).await, "stale_lease");
    assert_refused!(try_as(&held.with_fence(|fence| fence.attempt_id = AttemptId::new())).await, "stale_lease");
    assert_eq!(world.contents().await, before);
    world.clock.advance(held.lease_ttl()).await;
    assert_refused!(try_as(&held).await, "lease_expired");
    let next = world.worker("second").claim().await;
    assert_refused!(try_as(&held).await, "stale_lease");
    // A recorded step is shown to the holder of the lease only.
    let known = held.record(named(StepKind::Step, "a", ""), b"");
    assert_refused!(world.backend.record_step(known).await, "stale_lease");
    next.step("b", b"").await;
    next.complete(b"done").await.unwrap();
    assert_refused!(try_as(&next).await, "execution_not_active");
    let never = world.submit("resize", b"cat.png").await;
    let stranger = RecordStepArgs { execution_id: never, ..next.record(step(), b"") };
    assert_refused!(world.backend.record_step(stranger).await, "execution_not_active");
    assert_eq!(recorded(&world, &id).await, ["a", "b"]);
}

pub(crate) async fn a_result_may_have_a_quarter_of_a_mebibyte(world: World, held: LeasedExecution) {
    let fits = vec![7; limits::STEP_RESULT_BYTES];
    held.step("large", &fits).await;
    let too_large = held.record(named(StepKind::Step, "larger", ""), &[&fits[..], b"x"].concat());
    let answer = world.writes_nothing(world.backend.record_step(too_large)).await;
    assert_refused!(answer, "payload_too_large", "result", 262_144, 262_145);
    let again = held.step("large", b"").await;
    let StepOutcome::Succeeded { result } = again.step.unwrap().outcome else { panic!("it succeeded") };
    assert_eq!(&result.bytes[..], &fits[..]);
}

pub(crate) async fn there_are_as_many_steps_as_the_policy_allows(world: World) {
    world.job("resize").policy(room_for(3)).submit().await;
    let held = world.worker("holder").claim().await;
    record(&held, &world, "a (b) c").await;
    let before = world.contents().await;
    for kind in [StepKind::Step, StepKind::Wait] {
        let one_more = held.record(named(kind, "d", ""), b"");
        assert_refused!(world.backend.record_step(one_more).await, "limit_exceeded", "max_steps", 3, 4);
    }
    assert_eq!(world.contents().await, before);
    assert!(held.step("a", b"").await.duplicate, "what is recorded is still found");
    record(&held, &world, "~failed ~c ~b ~a").await;
    let one_more = held.record(named(StepKind::Undo, "d", ""), b"");
    assert_refused!(world.backend.record_step(one_more).await, "limit_exceeded");
}

pub(crate) async fn a_thousand_steps_are_recorded_when_nothing_else_is_said(world: World, held: LeasedExecution) {
    for nth in 0..limits::STEPS {
        let step = named(StepKind::Step, "item", &nth.to_string());
        assert_eq!(world.backend.record_step(held.record(step, b"r")).await.unwrap().seq, nth);
    }
    let one_more = held.record(named(StepKind::Step, "item", "one more"), b"r");
    let refusal = assert_refused!(world.backend.record_step(one_more).await, "limit_exceeded");
    assert_eq!(refusal.limit, Some((1_000, 1_001)));
    let keys: Vec<_> = all(&world, &held.id(), 300).await.iter().map(|step| step.step.key.to_string()).collect();
    assert_eq!(keys, (0..limits::STEPS).map(|nth| nth.to_string()).collect::<Vec<_>>());
}

pub(crate) async fn recording_leaves_lease_and_phase_alone(world: World, held: LeasedExecution) {
    let before = world.describe(&held.id()).await;
    world.clock.advance(ms(3)).await;
    held.step("a", b"").await;
    let mut after = world.describe(&held.id()).await;
    assert_eq!((after.steps, before.steps), (1, 0));
    after.steps = 0;
    assert_eq!(after, before);
    held.complete(b"done").await.unwrap();
}
