//! The keys that the functions write, compared with the key builders of the contract, because Lua spells out the names
//! itself.

use std::collections::BTreeMap;

use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{CompleteArgs, DelayArgs, FailArgs, Start, SubmitArgs};
use ff_core::execution::Failure;
use ff_core::keys::{ExecKeyContext, IndexKeys, global_config_partitions, idempotency_key};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{AttemptIndex, IdempotencyKey, Kind, LaneId, Namespace, TagKey, TagValue, WorkerInstanceId};
use ff_script::LibraryClock;
use ff_script::engine::{ff_configure_partitions, ff_pump};
use ff_script::execution::{ff_complete_execution, ff_create_execution, ff_delay_execution, ff_fail_execution};
use ff_script::lease::ff_renew_lease;
use redis::cmd;

use crate::situation::{LEASE_TTL_MS, ONE_PARTITION, claim};
use crate::wire::Wire;

/// Follows one execution that has every kind of data, and compares the keys at each stage.
#[tokio::test]
async fn an_execution_is_kept_under_the_keys_of_the_contract() {
    let wire = Wire::start(LibraryClock::Test).await;
    ff_configure_partitions(&wire, &ONE_PARTITION).await.unwrap();
    let args = eventful();
    let id = args.execution_id(&ONE_PARTITION);
    let partition = Partition::new(PartitionFamily::Execution, 0);
    let (of, index) = (ExecKeyContext::new(&partition, &id), IndexKeys::new(&partition));
    let (lane, kind) = (LaneId::default_name(), Kind::parse("resize").unwrap());
    let (region, eu) = (TagKey::parse("region").unwrap(), TagValue::parse("eu").unwrap());
    let always = vec![
        (global_config_partitions(), "hash"),
        (ff_script::test_clock_key("{fp:0}"), "string"),
        (index.clock(), "string"),
        (of.core(), "hash"),
        (of.payload(), "string"),
        (of.policy(), "string"),
        (of.tags(), "hash"),
        (idempotency_key("{fp:0}", "default", "order 7"), "string"),
        (index.all_executions(), "zset"),
        (index.tag(&Namespace::default_name(), &region, &eu), "zset"),
    ];
    let with = |more: Vec<(String, &'static str)>| always.iter().cloned().chain(more).collect::<BTreeMap<_, _>>();
    let lived = [(index.lanes(), "set"), (index.execution_deadline(), "zset")];
    let live = |more: Vec<(String, &'static str)>| with(lived.iter().cloned().chain(more).collect());
    let queued = vec![(index.lane_eligible(&lane), "zset"), (index.lane_eligible_kind(&lane, &kind), "zset")];
    let delayed = vec![
        (index.lane_delayed(&lane), "zset"),
        (index.delayed(), "zset"),
        (index.in_state(&Namespace::default_name(), PublicState::Delayed), "zset"),
    ];

    ff_create_execution(&wire, &ONE_PARTITION, args).await.unwrap();
    assert_eq!(list_keys(&wire).await, live(queued.clone()));

    let task = claim(&wire).await;
    let held = vec![
        (of.lease_current(), "hash"),
        (index.lane_active(&lane), "zset"),
        (index.lease_expiry(), "zset"),
        (index.attempt_timeout(), "zset"),
        (index.worker_leases(&WorkerInstanceId::parse("w-1").unwrap()), "set"),
    ];
    assert_eq!(list_keys(&wire).await, live(held.clone()));

    let delay = DelayArgs { execution_id: id, fence: task.fence, start: Start::After(100) };
    ff_delay_execution(&wire, delay).await.unwrap();
    let history = vec![(of.lease_history(), "list"), (of.attempt_hash(AttemptIndex(0)), "hash")];
    assert_eq!(list_keys(&wire).await, live([delayed.clone(), history.clone()].concat()));

    wire.advance(100).await;
    ff_pump(&wire, 0, &SystemEntropy.nonce()).await.unwrap();
    assert_eq!(list_keys(&wire).await, live([queued, history.clone()].concat()));

    let task = claim(&wire).await;
    let failure = Failure { category: Kind::parse("network").unwrap(), message: "no".into(), permanent: false };
    let fail = FailArgs { execution_id: id, fence: task.fence, failure };
    ff_fail_execution(&wire, fail, &SystemEntropy.nonce()).await.unwrap();
    assert_eq!(list_keys(&wire).await, live([delayed, history.clone()].concat()));

    wire.advance(10_000).await;
    ff_pump(&wire, 0, &SystemEntropy.nonce()).await.unwrap();
    let task = claim(&wire).await;
    let renew = ff_core::contracts::RenewArgs { execution_id: id, fence: task.fence, lease_ttl_ms: Some(LEASE_TTL_MS) };
    ff_renew_lease(&wire, renew).await.unwrap();
    assert_eq!(list_keys(&wire).await, live([held, history.clone()].concat()));

    let result = Some(Payload::bytes("done"));
    ff_complete_execution(&wire, CompleteArgs { execution_id: id, fence: task.fence, result }).await.unwrap();
    let ended = vec![
        (of.result(), "string"),
        (of.attempt_hash(AttemptIndex(1)), "hash"),
        (index.lane_terminal(&lane), "zset"),
        (index.retention(), "zset"),
        (index.lanes(), "set"),
    ];
    assert_eq!(list_keys(&wire).await, with([ended, history].concat()));
}

/// Returns a submission with every kind of data.
fn eventful() -> SubmitArgs {
    let mut args = SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::bytes("cat.png"));
    args.tags.insert(TagKey::parse("region").unwrap(), TagValue::parse("eu").unwrap());
    args.idempotency_key = Some(IdempotencyKey::parse("order 7").unwrap());
    args.policy.timeout_policy.attempt_timeout_ms = Some(60_000);
    args.policy.timeout_policy.execution_deadline_ms = Some(600_000);
    args
}

/// Returns every key on the server, with its type.
async fn list_keys(wire: &Wire) -> BTreeMap<String, &'static str> {
    let mut keys = BTreeMap::new();
    for key in wire.keys().await {
        let kind: String = wire.ask(cmd("TYPE").arg(&key)).await;
        keys.insert(key, ["string", "hash", "list", "set", "zset"].into_iter().find(|known| *known == kind).unwrap());
    }
    keys
}
