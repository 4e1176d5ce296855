//! Many submissions in one call, each with its own outcome.

use crate::prelude::*;

pub(crate) async fn a_thousand_at_once_each_have_their_own_answer(world: World) {
    let too_big = Payload::bytes(vec![0; limits::PAYLOAD_BYTES + 1]);
    let jobs: Vec<SubmitArgs> = (0..limits::BULK)
        .map(|nth| match nth {
            500 => world.job("resize").payload(too_big.clone()).args(),
            600..610 => world.job("resize").key("same").args(),
            610 => world.job("shrink").key("same").args(),
            _ => world.job("resize").payload(Payload::json(nth.to_string())).args(),
        })
        .collect();
    let config = world.backend.partitions();
    let expected: Vec<_> = jobs.iter().map(|job| job.execution_id(&config)).collect();

    let answers = world.backend.submit_many(jobs).await.unwrap();

    assert_eq!(answers.len(), limits::BULK);
    for (nth, answer) in answers.into_iter().enumerate() {
        match nth {
            500 => {
                assert_refused!(answer, "payload_too_large");
            }
            610 => {
                assert_refused!(answer, "idempotency_conflict");
            }
            601..610 => {
                let submitted = answer.unwrap();
                assert_eq!((submitted.execution_id, submitted.duplicate), (expected[600], true), "{nth}");
            }
            _ => {
                let submitted = answer.unwrap();
                assert_eq!((submitted.execution_id, submitted.duplicate), (expected[nth], false), "{nth}");
            }
        }
    }
    let stored: usize = world.contents().await.iter().map(|partition| partition.executions.len()).sum();
    assert_eq!(stored, limits::BULK - 11);
}

pub(crate) async fn a_bulk_of_a_thousand_and_one_is_refused_as_a_whole(world: World) {
    let jobs = (0..=limits::BULK).map(|_| world.job("resize").args()).collect();
    let refusal = assert_refused!(world.backend.submit_many(jobs).await, "limit_exceeded");
    assert_eq!(refusal.limit, Some((1_000, 1_001)));
    assert!(world.contents().await.iter().all(|partition| partition.executions.is_empty()));
}

pub(crate) async fn a_bulk_keeps_its_order_within_a_partition(world: World) {
    let jobs: Vec<_> = (0..50).map(|_| world.job("resize").on_partition(1).args()).collect();
    let config = world.backend.partitions();
    let sent: Vec<_> = jobs.iter().map(|job| job.execution_id(&config)).collect();
    world.backend.submit_many(jobs).await.unwrap();
    let taken: Vec<_> = world.worker("worker").claim_on(1, 50).await.iter().map(LeasedExecution::id).collect();
    assert_eq!(taken, sent);
}

pub(crate) async fn nothing_at_once_is_nothing(world: World) {
    assert_eq!(world.backend.submit_many(Vec::new()).await, Ok(Vec::new()));
}
