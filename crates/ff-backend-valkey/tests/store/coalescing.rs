//! Completions and submissions of one partition that arrive at the same time.

use std::collections::BTreeSet;

use ff_backend_valkey::ValkeyBackend;
use ff_core::backend::Perform;
use ff_core::contracts::{CompleteArgs, SubmitArgs, Task};
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::types::{LeaseEpoch, Priority};
use futures_util::future::join_all;

use crate::support::Process;
use crate::{claim_on, findings, start, work};

#[tokio::test]
async fn many_at_once_are_few_calls_and_each_has_its_own_answer() {
    let (server, store) = start().await;
    let mut ends: Vec<_> = running(&store, 60).await.iter().map(end).collect();
    for stale in &mut ends[..20] {
        stale.fence.lease_epoch = LeaseEpoch(7);
    }
    let twice = ends[59].clone();
    ends.push(twice);
    let before = calls(&server);
    let answers = join_all(ends.iter().map(|end| store.complete(end.clone()))).await;
    assert!(calls(&server) - before < 10, "{} calls", calls(&server) - before);
    for (nth, (end, answer)) in ends.iter().zip(answers).enumerate() {
        if nth < 20 {
            assert_eq!(answer.unwrap_err().code(), Code::StaleLease);
            assert_eq!(store.describe(&end.execution_id).await.unwrap().public_state.as_str(), "active");
        } else {
            assert_eq!(answer.unwrap().public_state.as_str(), "completed");
            assert!(store.result(&end.execution_id).await.unwrap().result == end.result, "its own result");
        }
    }
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn large_results_end_as_well_as_small_ones() {
    let (_server, store) = start().await;
    let mut ends: Vec<_> = running(&store, 6).await.iter().map(end).collect();
    for (nth, end) in ends.iter_mut().enumerate() {
        end.result = Some(Payload::bytes(vec![u8::try_from(nth).unwrap(); limits::PAYLOAD_BYTES]));
    }
    ends[3].result = None;
    let answers = join_all(ends.iter().map(|end| store.complete(end.clone()))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    for end in &ends {
        assert!(store.result(&end.execution_id).await.unwrap().result == end.result, "its own result");
    }
    assert_eq!(findings(&store).await, []);
}

/// A caller that drops its future does not cancel the calls of others that were sent with it.
#[tokio::test]
async fn a_caller_that_goes_away_leaves_the_others_their_answers() {
    let (_server, store) = start().await;
    let ends: Vec<_> = running(&store, 9).await.iter().map(end).collect();
    let (gone, there) = ends.split_at(3);
    for end in gone {
        let waiting = store.complete(end.clone());
        assert!(futures_util::FutureExt::now_or_never(waiting).is_none());
    }
    let answers = join_all(there.iter().map(|end| store.complete(end.clone()))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn concurrent_submissions_share_calls_and_each_gets_its_own_answer() {
    let (server, store) = start().await;
    be_known_everywhere(&store).await;
    let mut works: Vec<_> =
        (0..100).map(|nth| SubmitArgs { payload: Payload::json(nth.to_string()), ..work() }).collect();
    works.push(works[99].clone());
    works.push(SubmitArgs { payload: Payload::json("\"other\""), ..works[99].clone() });
    works.push(SubmitArgs { priority: Priority::new(7).unwrap(), ..work() });
    let before = calls(&server);
    let answers = join_all(works.iter().map(|work| store.submit(work.clone()))).await;
    assert!(calls(&server) - before < 20, "{} calls", calls(&server) - before);
    for (nth, (work, answer)) in works.iter().zip(answers).enumerate() {
        let id = work.execution_id(&store.partitions());
        match nth {
            100 => assert!(answer.unwrap().duplicate),
            101 => assert_eq!(answer.unwrap_err().code(), Code::IdempotencyConflict),
            _ => {
                let submitted = answer.unwrap();
                assert_eq!((submitted.execution_id, submitted.duplicate), (id, false), "{nth}");
                assert_eq!(store.payload(&id).await.unwrap(), work.payload);
                assert_eq!(store.describe(&id).await.unwrap().priority, work.priority);
            }
        }
    }
    assert_eq!(findings(&store).await, []);
}

/// Submits to every partition, because the first submission to a partition writes directory entries first.
async fn be_known_everywhere(store: &ValkeyBackend) {
    let mut unknown: BTreeSet<_> = (0..store.partitions().num_flow_partitions).collect();
    while !unknown.is_empty() {
        unknown.remove(&store.submit(work()).await.unwrap().execution_id.partition());
    }
}

/// Returns `count` executions of one partition, each held.
async fn running(store: &ValkeyBackend, count: usize) -> Vec<Task> {
    let mut submitted = 0;
    while submitted < count {
        let args = work();
        if args.execution_id(&store.partitions()).partition() == 0 {
            store.submit(args).await.unwrap();
            submitted += 1;
        }
    }
    let mut tasks = Vec::new();
    while tasks.len() < count {
        let claims = store.claim(claim_on(0, count - tasks.len())).await.unwrap();
        tasks.extend(claims.claimed.into_iter().map(|claimed| claimed.task));
    }
    tasks
}

pub(crate) fn end(task: &Task) -> CompleteArgs {
    let result = Some(Payload::bytes(task.execution_id.to_string()));
    CompleteArgs { execution_id: task.execution_id, fence: task.fence, result }
}

/// Returns the number of function calls that a server has received.
fn calls(server: &Process) -> usize {
    let stats = server.ask(&["INFO", "commandstats"]);
    let line = stats.lines().find_map(|line| line.strip_prefix("cmdstat_fcall:calls="));
    line.and_then(|line| line.split(',').next()).unwrap().parse().unwrap()
}
