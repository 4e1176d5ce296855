//! A value at its limit is accepted. A value one past it is refused with the field, the limit and the value sent, and nothing is
//! written.

use crate::prelude::*;

pub(crate) async fn a_payload_may_have_a_mebibyte(world: World) {
    let sized = |bytes| world.job("resize").payload(Payload::bytes(vec![7; bytes]));
    let id = sized(limits::PAYLOAD_BYTES).submit().await;
    assert_eq!(world.backend.payload(&id).await.unwrap().bytes.len(), limits::PAYLOAD_BYTES);
    let over = world.writes_nothing(sized(limits::PAYLOAD_BYTES + 1).try_submit()).await;
    assert_refused!(over, "payload_too_large", "payload", 1_048_576, 1_048_577);
}

pub(crate) async fn a_result_may_have_a_mebibyte(world: World, held: LeasedExecution) {
    let over = world.writes_nothing(held.complete(&vec![7; limits::PAYLOAD_BYTES + 1])).await;
    assert_refused!(over, "payload_too_large", "result", 1_048_576, 1_048_577);
    held.complete(&vec![7; limits::PAYLOAD_BYTES]).await.unwrap();
    assert_eq!(world.result(&held.id()).await.len(), limits::PAYLOAD_BYTES);
}

pub(crate) async fn work_may_have_thirty_two_tags(world: World) {
    let tagged = |count| (0..count).fold(world.job("resize"), |job, nth| job.tag(&format!("tag-{nth}"), "value"));
    let id = tagged(32).submit().await;
    assert_eq!(world.describe(&id).await.tags.len(), 32);
    assert_refused!(tagged(33).try_submit().await, "limit_exceeded", "tags", 32, 33);
}

pub(crate) async fn names_and_texts_may_be_as_long_as_they_may(world: World) {
    let job = world
        .job(&"k".repeat(limits::NAME_BYTES))
        .namespace(&"n".repeat(limits::NAME_BYTES))
        .lane(&"l".repeat(limits::LANE_BYTES))
        .key(&"é".repeat(limits::TEXT_BYTES / 2))
        .tag(&"t".repeat(limits::NAME_BYTES), &"ü".repeat(limits::TEXT_BYTES / 2));
    let sent = job.clone().args();
    let id = job.submit().await;
    let read = world.describe(&id).await;
    assert_eq!((read.kind, read.namespace, read.lane_id), (sent.kind, sent.namespace, sent.lane));
    assert_eq!((read.tags, read.idempotency_key), (sent.tags, sent.idempotency_key));
}

pub(crate) async fn a_start_may_be_ten_years_away(world: World) {
    let later = |span| world.job("resize").after(ms(span));
    later(limits::SPAN_MAX_MS).submit().await;
    let (most, over) = (limits::SPAN_MAX_MS, limits::SPAN_MAX_MS + 1);
    assert_refused!(later(over).try_submit().await, "limit_exceeded", "delay_ms", most, over);

    let held = world.held().await;
    assert_refused!(held.delay_to(Start::After(over)).await, "limit_exceeded", "delay_ms", most, over);
    held.delay_to(Start::After(most)).await.unwrap();
}

pub(crate) async fn a_message_may_have_eight_kibibytes(world: World) {
    let (fits, too_long) = ("m".repeat(limits::MESSAGE_BYTES), "m".repeat(limits::MESSAGE_BYTES + 1));
    let over = |answer: Answer<()>, field: &str| drop(assert_refused!(answer, "limit_exceeded", field, 8_192, 8_193));
    let held = world.held().await;
    let id = held.id();
    let before = world.contents().await;
    over(held.progress(None, Some(&too_long)).await.map(drop), "message");
    over(held.fail_with("input", &too_long, true).await.map(drop), "message");
    let cancel = |reason: &String| CancelArgs { execution_id: id, reason: Some(reason.clone()), requested_by: None };
    over(world.backend.cancel(cancel(&too_long)).await.map(drop), "reason");
    let by = CancelArgs { execution_id: id, reason: None, requested_by: Some(too_long.clone()) };
    over(world.backend.cancel(by).await.map(drop), "requested_by");
    let revoke = RevokeArgs { execution_id: id, lease_id: None, reason: Some(too_long.clone()) };
    over(world.backend.revoke(revoke).await.map(drop), "reason");
    assert_eq!(world.contents().await, before);

    held.progress(None, Some(&fits)).await.unwrap();
    held.fail_with("input", &fits, true).await.unwrap();
    assert_eq!(world.ended(&id).await.failure.unwrap().message, fits);
    let replay = |reason: &String| ReplayArgs { reason: Some(reason.clone()), ..ReplayArgs::new(id) };
    over(world.backend.replay(replay(&too_long)).await.map(drop), "reason");
    world.backend.replay(replay(&fits)).await.unwrap();
    world.backend.cancel(cancel(&fits)).await.unwrap();
}

type Spoil = fn(&mut Policy);

/// A policy is accepted whole or refused whole.
pub(crate) async fn a_policy_out_of_range_is_refused_by_its_field(world: World) {
    let cases: &[(&str, Spoil)] = &[
        ("retry_policy.max_retries", |policy| policy.retry_policy.max_retries = limits::MAX_RETRIES_MAX + 1),
        ("retry_policy.backoff.delay_ms", |policy| {
            let delay_ms = limits::BACKOFF_CEILING_MS + 1;
            policy.retry_policy.backoff = Backoff::Fixed { delay_ms, jitter: false };
        }),
        ("retry_policy.retryable_categories[1]", |policy| {
            policy.retry_policy.retryable_categories = vec!["network".into(), "not a name".into()];
        }),
        ("timeout_policy.attempt_timeout_ms", |policy| policy.timeout_policy.attempt_timeout_ms = Some(0)),
        ("timeout_policy.execution_deadline_ms", |policy| {
            policy.timeout_policy.execution_deadline_ms = Some(limits::SPAN_MAX_MS + 1);
        }),
        ("max_reclaim_count", |policy| policy.max_reclaim_count = limits::MAX_RETRIES_MAX + 1),
        ("dedup_window_ms", |policy| policy.dedup_window_ms = limits::SPAN_MAX_MS + 1),
        ("max_steps", |policy| policy.max_steps = Some(0)),
        ("max_steps", |policy| policy.max_steps = Some(limits::STEPS_MAX + 1)),
    ];
    for (field, spoil) in cases {
        let mut policy = Policy::default();
        spoil(&mut policy);
        let refusal = assert_refused!(world.job("resize").policy(policy).try_submit().await, "invalid_policy_json");
        assert!(refusal.field.as_deref().is_some_and(|named| named.ends_with(field)), "{field}: {refusal:?}");
    }
    assert!(world.contents().await.iter().all(|partition| partition.executions.is_empty()));
}
