//! A submission is stored as it was sent, and starts at the requested time.

use crate::prelude::*;

pub(crate) async fn work_reads_back_as_it_was_submitted(world: World) {
    let policy = Policy {
        retry_policy: RetryPolicy {
            max_retries: 7,
            backoff: Backoff::Exponential { initial_delay_ms: 10, max_delay_ms: 1_000, multiplier: 1.5, jitter: false },
            retryable_categories: vec!["network".into(), "busy".into()],
        },
        timeout_policy: TimeoutPolicy { attempt_timeout_ms: Some(60_000), execution_deadline_ms: Some(3_600_000) },
        max_reclaim_count: 4,
        max_replay_count: 2,
        dedup_window_ms: 1_000,
        max_steps: Some(7),
        retention_ms: Some(60_000),
        routing_requirements: RoutingRequirements {
            required_capabilities: [Capability::parse("gpu").unwrap(), Capability::parse("say=\"hi\"").unwrap()].into(),
        },
    };
    let job = world
        .job("resize")
        .namespace("acme")
        .lane("images")
        .priority(9_000)
        .tag("customer", "Zoë & Söhne")
        .tag("size", "640")
        .key("order-17")
        .payload(Payload::json("[1, 2]"))
        .policy(policy.clone());
    let sent = job.clone().args();
    let submitted = job.try_submit().await.unwrap();
    assert_eq!((submitted.public_state, submitted.duplicate), (PublicState::Waiting, false));

    let read = world.describe(&submitted.execution_id).await;
    assert_eq!(read.execution_id, submitted.execution_id);
    assert_eq!((read.namespace.as_str(), read.lane_id.as_str()), ("acme", "images"));
    assert_eq!((read.kind, read.priority), (Kind::parse("resize").unwrap(), Priority::new(9_000).unwrap()));
    assert_eq!((read.tags, read.policy, read.idempotency_key), (sent.tags, policy, sent.idempotency_key));
    assert_eq!((read.payload_bytes, read.created_at, read.changed_at), (6, world.clock.now(), world.clock.now()));
    assert_eq!(read.deadline_at, Some(world.clock.now() + 3_600_000));
    assert_eq!((read.attempts_made, read.retries, read.reclaims, read.replays), (0, 0, 0, 0));
    assert_eq!((read.started_at, read.finished_at, read.lease, read.failure), (None, None, None, None));
}

/// A submitter may sign or hash the text it sent, so the same JSON written another way is another payload.
pub(crate) async fn json_comes_back_with_its_own_whitespace(world: World) {
    for text in [
        "{ \"b\" :1,\t\"a\": [ ] }\n",
        "  null ",
        "{\"a\":1,\"a\":2}",
        "1.0e+02",
        "12345678901234567890123",
        "\"\\u00e9 é \u{2028}\"",
    ] {
        let id = world.job("resize").payload(Payload::json(text)).submit().await;
        assert_eq!(world.backend.payload(&id).await.unwrap(), Payload::json(text));
        assert_eq!(world.worker("reader").claim().await.payload, Payload::json(text));
    }
}

pub(crate) async fn bytes_come_back_unchanged(world: World) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let png = ContentType::parse("image/png").unwrap();
    for payload in [Payload::default(), Payload::bytes(every_byte.clone()), Payload::new(png, every_byte)] {
        let id = world.job("resize").payload(payload.clone()).submit().await;
        assert_eq!(world.backend.payload(&id).await.unwrap(), payload);
        assert_eq!(world.worker("reader").claim().await.payload, payload);
    }
}

pub(crate) async fn work_may_start_after_a_while(world: World) {
    let later = world.job("resize").after(ms(500)).try_submit().await.unwrap();
    assert_eq!(later.public_state, PublicState::Delayed);
    assert_eq!(world.describe(&later.execution_id).await.delayed_until, Some(world.clock.now() + 500));

    world.clock.advance(ms(499)).await;
    assert!(world.worker("early").claim_up_to(1).await.is_empty());
    world.clock.advance(ms(1)).await;
    assert_eq!(world.worker("punctual").claim().await.id(), later.execution_id);
}

pub(crate) async fn an_execution_can_start_at_a_timestamp(world: World) {
    let moment = world.clock.now() + 2_000;
    let id = world.job("resize").at(moment).submit().await;
    assert_eq!(world.state(&id).await, PublicState::Delayed);

    world.clock.advance(ms(1_999)).await;
    assert!(world.worker("early").claim_up_to(1).await.is_empty());
    world.clock.advance(ms(1)).await;
    assert_eq!(world.worker("punctual").claim().await.id(), id);
}

pub(crate) async fn a_start_time_in_the_past_means_now(world: World) {
    for moment in [world.clock.now() - 1_000, world.clock.now()] {
        let submitted = world.job("resize").at(moment).try_submit().await.unwrap();
        assert_eq!(submitted.public_state, PublicState::Waiting);
    }
    assert_eq!(world.job("resize").after(ms(0)).try_submit().await.unwrap().public_state, PublicState::Waiting);
    assert_eq!(world.worker("worker").claim_up_to(3).await.len(), 3);
}

pub(crate) async fn a_client_reads_its_own_writes(world: World) {
    for nth in 0..20_u8 {
        let id = world.submit("resize", &[nth]).await;
        assert_eq!(world.state(&id).await, PublicState::Waiting);
        let held = world.worker("worker").claim().await;
        assert_eq!(world.state(&id).await, PublicState::Active);
        held.complete(&[nth, nth]).await.unwrap();
        assert_eq!(world.result(&id).await, [nth, nth]);
    }
}

/// The clock of a machine may be set back. Recorded times must not follow it.
pub(crate) async fn recorded_times_do_not_run_backwards(world: World, held: LeasedExecution) {
    let before = world.describe(&held.id()).await.changed_at;

    world.clock.set_back(ms(10_000));
    let later = world.submit("resize", b"dog.png").await;
    held.complete(b"done").await.unwrap();

    assert!(world.describe(&later).await.created_at >= before);
    assert!(world.ended(&held.id()).await.at >= before);
    assert!(world.describe(&held.id()).await.changed_at >= before);
}
