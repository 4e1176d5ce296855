//! The keys of suspensions, compared with the key builders of the contract, because Lua spells out the names itself.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{DeliverArgs, SuspendArgs};
use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::limits;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::payload::Payload;
use ff_core::suspension::{Condition, Distinct};
use ff_core::types::{AttemptIndex, IdempotencyKey, LaneId};
use ff_script::LibraryClock;
use ff_script::signal::{VerifiedToken, ff_deliver_signal};
use ff_script::suspension::{SignedSuspension, suspend_signed};
use redis::cmd;

use super::scene::{Scene, Stand, key};
use crate::situation::Situation;
use crate::wire::Wire;

/// Follows one execution through a suspension that has every kind of data, and compares the keys that appear and
/// disappear at each stage.
#[tokio::test]
async fn a_suspension_is_kept_under_the_keys_of_the_contract() {
    let wire = Wire::start(LibraryClock::Test).await;
    let mut scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let partition = Partition::new(PartitionFamily::Execution, 0);
    let (of, index) = (ExecKeyContext::new(&partition, &scene.subject.id), IndexKeys::new(&partition));
    let lane = LaneId::default_name();
    let held = list_keys(&wire).await;
    assert!(held.contains(&(index.waitpoint_hmac_secrets(), "hash")));

    scene.pend("b").await;
    let waitpoint = scene.granted().waitpoint_id;
    let pending = [(of.waitpoint(&waitpoint), "hash"), (of.waitpoints(), "set")];
    let pending = added(&held, &pending).chain([(index.pending_waitpoint_expiry(), "zset")]).collect::<BTreeSet<_>>();
    assert_eq!(list_keys(&wire).await, pending);

    let signal = deliver(&scene, "early").await;
    let early = [
        (of.exec_signals(), "zset"),
        (of.signal(&signal), "hash"),
        (of.signal_payload(&signal), "string"),
        (of.signal_dedup(&waitpoint, "early"), "string"),
        (of.waitpoint_signals(&waitpoint), "list"),
        (index.partition_signal_delivery(), "stream"),
    ];
    let buffered: BTreeSet<_> = added(&pending, &early).collect();
    assert_eq!(list_keys(&wire).await, buffered);

    suspend(&scene).await;
    let suspension = [
        (of.suspension_current(), "hash"),
        (of.suspension_tally(), "hash"),
        (of.suspend_dedup("once"), "hash"),
        (of.attempt_hash(AttemptIndex(0)), "hash"),
        (of.lease_history(), "list"),
        (index.lane_suspended(&lane), "zset"),
        (index.suspension_timeout(), "zset"),
    ];
    let now = list_keys(&wire).await;
    for key in suspension {
        assert!(now.contains(&key), "{key:?} is missing");
    }
    for gone in [of.lease_current(), index.pending_waitpoint_expiry(), index.lease_expiry(), index.lane_active(&lane)] {
        assert!(now.iter().all(|(key, _)| *key != gone), "{gone} is still there");
    }

    deliver(&scene, "late").await;
    let now = list_keys(&wire).await;
    assert!(now.contains(&(of.suspension_last(), "hash")));
    for gone in
        [of.suspension_current(), of.suspension_tally(), index.lane_suspended(&lane), index.suspension_timeout()]
    {
        assert!(now.iter().all(|(key, _)| *key != gone), "{gone} is still there");
    }
}

/// Suspends until two signals of one waitpoint have arrived; one has.
async fn suspend(scene: &Scene<'_>) {
    let condition = Condition::Count { n: 2, of: Distinct::Signals, waitpoints: vec![key("b")], name: None };
    let id = scene.granted().waitpoint_id;
    let args = SuspendArgs {
        waitpoints: vec![ff_core::contracts::WaitpointBinding::Pending { id, key: key("b") }],
        condition,
        timeout: Some(ff_core::contracts::Timeout::After(1_000)),
        idempotency_key: IdempotencyKey::parse("once").ok(),
        ..SuspendArgs::new(scene.subject.id, scene.subject.fence, key("b"))
    };
    let signed = SignedSuspension::new(args, &scene.ring.clone().into(), &SystemEntropy.nonce());
    suspend_signed(scene.wire, &signed).await.unwrap();
}

async fn deliver(scene: &Scene<'_>, idempotency_key: &str) -> ff_core::types::SignalId {
    let granted = scene.granted();
    let args = DeliverArgs {
        payload: Some(Payload::bytes("yes")),
        idempotency_key: IdempotencyKey::parse(idempotency_key).ok(),
        ..scene.signal()
    };
    let shown = VerifiedToken { token: granted.waitpoint_token.clone(), secret_mark: None };
    let nonce = SystemEntropy.nonce();
    ff_deliver_signal(scene.wire, args, &granted.waitpoint_id, &shown, &nonce).await.unwrap().signal_id
}

fn added<'k>(
    to: &'k BTreeSet<(String, &'static str)>,
    more: &'k [(String, &'static str)],
) -> impl Iterator<Item = (String, &'static str)> {
    to.iter().cloned().chain(more.iter().cloned())
}

/// Returns every key on the server, with its type.
async fn list_keys(wire: &Wire) -> BTreeSet<(String, &'static str)> {
    const TYPES: &[&str] = &["string", "hash", "list", "set", "zset", "stream"];
    let mut keys = BTreeMap::new();
    for key in wire.keys().await {
        let kind: String = wire.ask(cmd("TYPE").arg(&key)).await;
        keys.insert(key, *TYPES.iter().find(|known| **known == kind).unwrap());
    }
    keys.into_iter().collect()
}

/// This holds however late the server's clock is, because scores lose their fractions as times grow.
#[tokio::test]
async fn signals_of_the_same_time_are_kept_in_their_order_of_arrival() {
    let wire = Wire::start(LibraryClock::Test).await;
    let last = u64::try_from(limits::TIMESTAMP_MAX_MS).unwrap();
    wire.advance(last - wire.now() - 24 * 60 * 60 * 1_000).await;
    let scene = Stand::Pending.arrange(&wire).await;
    let mut nonces: Vec<_> = (0..4).map(|_| SystemEntropy.nonce()).collect();
    nonces.sort_by_key(|nonce| std::cmp::Reverse(nonce.signal()));
    let shown = VerifiedToken { token: scene.granted().waitpoint_token.clone(), secret_mark: None };
    for nonce in &nonces {
        let waitpoint_id = &scene.granted().waitpoint_id;
        ff_deliver_signal(&wire, scene.signal(), waitpoint_id, &shown, nonce).await.unwrap();
    }
    let listed: Vec<String> = wire.ask(cmd("ZRANGE").arg(scene.keys().0.exec_signals()).arg(0).arg(-1)).await;
    assert_eq!(listed, nonces.iter().map(|nonce| nonce.signal().to_string()).collect::<Vec<_>>());
}
