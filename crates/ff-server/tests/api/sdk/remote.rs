//! The server as a backend of the SDK: its replies equal those of a store in the same process.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_core::backend::{EngineBackend, LongPoll, Perform};
use ff_core::contracts::{
    ClaimArgs, CloseWaitpointArgs, CompleteArgs, CreateWaitpointArgs, DeliverArgs, Filter, ListArgs, NextArgs,
    RenewArgs, ResumeArgs, RotateSecretArgs, SignalsArgs, SubmitArgs, SubmittedExecution, SuspendArgs, WaitpointRef,
};
use ff_core::engine_error::{Code, EngineError};
use ff_core::lease::{Fence, Holder};
use ff_core::limits;
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::suspension::{Condition, OperatorDecision};
use ff_core::token::PresentedToken;
use ff_core::types::{
    AttemptId, ContentType, ExecutionId, Kind, LeaseEpoch, LeaseId, Namespace, SignalId, SignalName, WaitpointId,
    WaitpointKey,
};
use ff_engine::Orchestration;
use ff_sdk::http::HttpBackend;

use crate::world::{PARTITIONS, World};

fn work() -> SubmitArgs {
    SubmitArgs::new(Kind::parse("k").unwrap(), Payload::json("{ }"))
}

fn holder() -> Holder {
    Holder::parse("w", "w-1").unwrap()
}

fn anything() -> NextArgs {
    NextArgs { kinds: Vec::new(), max: 10, wait_ms: 60_000, ..NextArgs::new(holder()) }
}

async fn world() -> (World, HttpBackend) {
    let world = World::start().await;
    let remote = HttpBackend::connect(&world.url).await.unwrap();
    (world, remote)
}

#[tokio::test]
async fn the_partitions_are_the_stores() {
    let (_world, remote) = world().await;
    let expected = PartitionConfig { num_flow_partitions: PARTITIONS, ..PartitionConfig::default() };
    assert_eq!(remote.partitions(), expected);
}

#[tokio::test]
async fn work_travels_there_and_back() {
    let (_world, remote) = world().await;
    let content_type = ContentType::parse("text/plain; charset=\"é\"").unwrap();
    let payload = Payload::new(content_type, (0..=255).collect::<Vec<u8>>());
    let args = SubmitArgs { payload: payload.clone(), ..work() };
    let (claimed, submitted) = tokio::join!(remote.next(anything()), remote.submit(args.clone()));
    let (submitted, mut claimed) = (submitted.unwrap(), claimed.unwrap());
    assert!(remote.submit(args).await.unwrap().duplicate, "sent again it is the same");
    let id = submitted.execution_id;
    let claimed = claimed.remove(0);
    assert_eq!((claimed.task.execution_id, &claimed.payload), (id, &payload));
    assert_eq!(remote.payload(&id).await.unwrap(), payload);
    assert_eq!(remote.ended(&id, 0).await, Ok(None));
    assert_eq!(remote.describe(&id).await.unwrap().public_state.as_str(), "active");

    let complete = CompleteArgs { execution_id: id, fence: claimed.task.fence, result: Some(payload.clone()) };
    let (ended, completed) = tokio::join!(remote.ended(&id, 60_000), remote.complete(complete));
    completed.unwrap();
    let ended = ended.unwrap().unwrap();
    assert_eq!(ended.result, Some(payload));
    assert_eq!(remote.result(&id).await, Ok(ended));
    assert_eq!(remote.attempts(&id).await.unwrap().attempts.len(), 1);
    let all = ListArgs { filter: Filter::everything(Namespace::default_name()), after: None, limit: 9 };
    assert_eq!(remote.list(all).await.unwrap().executions.len(), 1);
}

#[tokio::test]
async fn a_remote_claim_of_one_partition_works_like_a_local_claim() {
    let (_world, remote) = world().await;
    let id = remote.submit(work()).await.unwrap().execution_id;
    let on = |partition| ClaimArgs { kinds: Vec::new(), ..ClaimArgs::new(partition, holder()) };
    assert_eq!(remote.claim(on((id.partition() + 1) % PARTITIONS)).await.unwrap().claimed, []);
    let claims = remote.claim(on(id.partition())).await.unwrap();
    assert_eq!(claims.claimed[0].task.execution_id, id);
    let refused = remote.claim(on(PARTITIONS)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidInput);
}

/// Sends the same invalid calls to a store in the process and to one behind a server.
#[tokio::test]
async fn a_refusal_is_the_one_a_store_here_gives() {
    let (_world, remote) = world().await;
    let partitions = remote.partitions();
    let clock = Arc::new(ff_core::backend::clock::SystemClock);
    let here = MemoryBackend::new(partitions, clock, Arc::new(ff_core::backend::entropy::SystemEntropy));
    let absent = ExecutionId::new(1, uuid::Uuid::nil());
    let beyond = ExecutionId::new(PARTITIONS, uuid::Uuid::nil());
    let fence = Fence { lease_id: LeaseId::new(), lease_epoch: LeaseEpoch(1), attempt_id: AttemptId::new() };

    let mut bad_policy = work();
    bad_policy.policy.max_replay_count = 1_000_001;
    let mut too_large = work();
    too_large.payload = Payload::bytes(vec![0; limits::PAYLOAD_BYTES + 1]);
    for args in [bad_policy, too_large] {
        let refused = remote.submit(args.clone()).await;
        assert!(refused.is_err());
        assert_eq!(refused, here.submit(args).await);
    }
    for id in [absent, beyond] {
        assert_eq!(remote.describe(&id).await, here.describe(&id).await);
        assert_eq!(remote.result(&id).await, here.result(&id).await);
        let renew = RenewArgs { execution_id: id, fence, lease_ttl_ms: None };
        assert_eq!(remote.renew(renew.clone()).await, here.renew(renew).await);
    }
    let renew = RenewArgs { execution_id: absent, fence, lease_ttl_ms: Some(1) };
    assert_eq!(remote.renew(renew.clone()).await, here.renew(renew).await);

    let again = SubmitArgs { uuid: uuid::Uuid::now_v7(), ..work() };
    for store in [&remote as &dyn Perform, &here] {
        store.submit(again.clone()).await.unwrap();
    }
    let other = SubmitArgs { payload: Payload::json("2"), ..again.clone() };
    assert_eq!(remote.submit(other.clone()).await, here.submit(other).await);
    let id = again.execution_id(&partitions);
    assert_eq!(remote.result(&id).await, here.result(&id).await);
    let complete = CompleteArgs { execution_id: id, fence, result: None };
    assert_eq!(remote.complete(complete.clone()).await, here.complete(complete).await);
}

/// Sends the same invalid suspensions and signals to a store in the process and to one behind a server.
#[tokio::test]
async fn a_refusal_about_waiting_is_the_one_a_store_here_gives() {
    let (_world, remote) = world().await;
    let clock = Arc::new(ff_core::backend::clock::SystemClock);
    let here = MemoryBackend::new(remote.partitions(), clock, Arc::new(ff_core::backend::entropy::SystemEntropy));
    let fence = Fence { lease_id: LeaseId::new(), lease_epoch: LeaseEpoch(1), attempt_id: AttemptId::new() };
    let key = || WaitpointKey::parse("a").unwrap();
    let name = SignalName::parse("n").unwrap();
    for partition in [1, PARTITIONS] {
        let id = ExecutionId::new(partition, uuid::Uuid::nil());
        let suspend = SuspendArgs::new(id, fence, key());
        let never = SuspendArgs { condition: Condition::TimeoutOnly, ..suspend.clone() };
        for args in [suspend, never] {
            assert_eq!(remote.suspend(args.clone()).await, here.suspend(args).await);
        }
        for expires_in_ms in [0, 5] {
            let args = CreateWaitpointArgs { execution_id: id, fence, key: key(), expires_in_ms };
            assert_eq!(remote.create_waitpoint(args.clone()).await, here.create_waitpoint(args).await);
        }
        let resume = ResumeArgs::new(id, OperatorDecision::Approve);
        let too_late = ResumeArgs { resume_delay_ms: Some(u64::MAX), ..resume.clone() };
        for args in [resume, too_late] {
            assert_eq!(remote.resume(args.clone()).await, here.resume(args).await);
        }
        let token = PresentedToken::new("k1:00");
        let deliver = DeliverArgs::new(id, WaitpointRef::Key(key()), token, name.clone());
        let unshown = DeliverArgs { token: PresentedToken::default(), ..deliver.clone() };
        for args in [deliver, unshown] {
            assert_eq!(remote.deliver(args.clone()).await, here.deliver(args).await);
        }
        let waitpoint = WaitpointId::new();
        assert_eq!(remote.waitpoints(&id).await, here.waitpoints(&id).await);
        assert_eq!(remote.waitpoint_token(&id, &waitpoint).await, here.waitpoint_token(&id, &waitpoint).await);
        let close = CloseWaitpointArgs { execution_id: id, waitpoint_id: waitpoint, reason: None };
        assert_eq!(remote.close_waitpoint(close.clone()).await, here.close_waitpoint(close).await);
        let signals = SignalsArgs { execution_id: id, skip: 0, limit: 0 };
        assert_eq!(remote.signals(signals.clone()).await, here.signals(signals).await);
        let signal = SignalId::new();
        assert_eq!(remote.signal(&id, &signal).await, here.signal(&id, &signal).await);
    }
    let rotation = RotateSecretArgs::parse("k2", "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", 5).unwrap();
    assert_eq!(remote.rotate_secret(rotation.clone()).await, here.rotate_secret(rotation).await);
    let conflict = RotateSecretArgs::parse("k2", "facadefacadefacadefacadefacadefa", 5).unwrap();
    assert_eq!(remote.rotate_secret(conflict.clone()).await, here.rotate_secret(conflict).await);
    assert_eq!(remote.kids().await.unwrap().len(), usize::from(PARTITIONS));
}

#[tokio::test]
async fn a_bulk_larger_than_a_body_arrives_in_order() {
    let (_world, remote) = world().await;
    let sized = |nth: u8| SubmitArgs { payload: Payload::bytes(vec![nth; limits::PAYLOAD_BYTES]), ..work() };
    let mut bulk: Vec<_> = (0..15).map(sized).collect();
    bulk[7].payload = Payload::bytes(vec![7; limits::PAYLOAD_BYTES + 1]);
    let ids: Vec<_> = bulk.iter().map(|one| one.execution_id(&remote.partitions())).collect();
    let answers = remote.submit_many(bulk).await.unwrap();
    assert_eq!(answers.len(), 15);
    for (nth, (answer, id)) in answers.into_iter().zip(ids).enumerate() {
        match answer {
            Ok(SubmittedExecution { execution_id, .. }) => assert_eq!(execution_id, id),
            Err(error) => assert_eq!((nth, error.code()), (7, Code::PayloadTooLarge)),
        }
    }
    let too_many = remote.submit_many(vec![work(); limits::BULK + 1]).await.unwrap_err();
    assert_eq!(too_many.code(), Code::LimitExceeded);
}

#[tokio::test]
async fn a_server_that_is_gone_is_unavailable() {
    let (world, remote) = world().await;
    world.stop().await;
    let error = remote.submit(work()).await.unwrap_err();
    assert!(matches!(error, EngineError::Unavailable(_)), "{error}");
}
