//! The doctor finds damage in the file, and damage affects only the operations that read it.

use ff_core::backend::Perform;
use ff_core::contracts::{CloseFlowArgs, DeliverArgs, SubmitFlowArgs, SuspendArgs};
use ff_core::engine_error::Code;
use ff_core::payload::Payload;
use ff_core::suspension::{Condition, Distinct};
use ff_core::types::ExecutionId;
use ff_engine::Orchestration;

use crate::shared::flow::{chain, partition_of, run};
use crate::{StoreLocation, claim_on, findings, key, signal, suspended, work};

async fn with_one_execution(place: &StoreLocation) -> ExecutionId {
    let store = place.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    store.submit(work()).await.unwrap();
    store.close().await;
    id
}

fn spoil(place: &StoreLocation, id: &ExecutionId, sql: &str) {
    let spoilt = place.look().execute(sql, [id.uuid().as_bytes()]).unwrap();
    assert_eq!(spoilt, 1);
}

#[tokio::test]
async fn a_column_that_does_not_follow_from_its_record_is_found() {
    for change in ["state = 'active'", "namespace = 'acme'", "lane = 'mail'", "delayed_until = 7", "flow_id = uuid"] {
        let place = StoreLocation::new();
        let id = with_one_execution(&place).await;
        spoil(&place, &id, &format!("UPDATE execution SET {change} WHERE uuid = ?1"));
        let findings = findings(&place.open()).await;
        assert_eq!(findings.len(), 1, "{change}: {findings:?}");
        assert!(findings.iter().all(|finding| finding.invariant == "I8" && finding.about == id.to_string()));
    }
}

#[tokio::test]
async fn a_row_that_is_missing_in_a_narrow_table_or_too_many_is_found() {
    for (change, found) in [
        // One finding for each of its two indexes.
        ("DELETE FROM ready WHERE uuid = ?1", 2),
        ("UPDATE ready SET priority = 7 WHERE uuid = ?1", 2),
        ("INSERT INTO due SELECT partition, 5, uuid FROM ready WHERE uuid = ?1", 1),
        ("INSERT INTO lease SELECT partition, 5, uuid, lane, 3 FROM ready WHERE uuid = ?1", 1),
        ("INSERT INTO tag SELECT 'default', '', 'failed', created_at, partition, uuid FROM ready WHERE uuid = ?1", 1),
    ] {
        let place = StoreLocation::new();
        let id = with_one_execution(&place).await;
        spoil(&place, &id, change);
        let findings = findings(&place.open()).await;
        assert_eq!(findings.len(), found, "{change}: {findings:?}");
        assert!(findings.iter().all(|finding| finding.about == id.to_string()), "{change}: {findings:?}");
    }
}

#[tokio::test]
async fn a_flow_that_is_not_as_its_record_says_or_cannot_be_read_is_found_and_harms_no_other() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit_flow(chain(2)).await.unwrap().flow_id;
    // The other flow is on another partition, so that no claim meets both.
    let elsewhere = |args: &SubmitFlowArgs| partition_of(&store, &args.header.flow_id) != partition_of(&store, &id);
    let whole = std::iter::repeat_with(|| chain(2)).find(elsewhere).unwrap();
    let other = store.submit_flow(whole).await.unwrap().flow_id;
    store.close().await;
    drop(store);
    let spoil = |sql: &str| assert_eq!(place.look().execute(sql, [id.as_uuid().as_bytes()]).unwrap(), 1);
    spoil("UPDATE flow SET kind = 'other' WHERE flow_id = ?1");
    let found = findings(&place.open()).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].invariant == "I8" && found[0].what.contains("flow: kind should be"), "{found:?}");
    spoil("UPDATE flow SET record = 'torn' WHERE flow_id = ?1");
    let store = place.open();
    assert!(findings(&store).await.iter().any(|finding| finding.what.contains("flow: a record cannot be read")));
    assert_eq!(store.close_flow(CloseFlowArgs { flow_id: id }).await.unwrap_err().code(), Code::Corruption);
    run(&store, &other).await;
    assert!(store.describe_flow(&other).await.unwrap().ended_at.is_some());
}

#[tokio::test]
async fn the_doctor_checks_suspended_executions() {
    for (change, invariants) in [
        ("UPDATE execution SET changed_at = 7 WHERE uuid = ?1", &["I8"][..]),
        ("DELETE FROM waitpoint WHERE uuid = ?1", &["I9"]),
        ("DELETE FROM signal WHERE uuid = ?1", &["I11", "I11"]),
        ("UPDATE signal SET nth = 1 WHERE uuid = ?1", &["I8"]),
        ("UPDATE signal SET bytes = x'00' WHERE uuid = ?1", &["I17"]),
    ] {
        let place = StoreLocation::new();
        let store = place.open();
        let id = store.submit(work()).await.unwrap().execution_id;
        let fence = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task.fence;
        let waitpoints = vec![key("a")];
        let condition = Condition::Count { n: 2, of: Distinct::Signals, waitpoints, name: None };
        let args = SuspendArgs { condition, ..SuspendArgs::new(id, fence, key("a")) };
        let granted = store.suspend(args).await.unwrap().waitpoints.remove(0);
        let payload = Some(Payload::json("12"));
        store.deliver(DeliverArgs { payload, ..signal(&id, &granted, "go") }).await.unwrap();
        store.close().await;
        drop(store);
        spoil(&place, &id, change);
        let findings = findings(&place.open()).await;
        let found: Vec<_> = findings.iter().map(|finding| finding.invariant).collect();
        assert_eq!(found, invariants, "{change}: {findings:?}");
    }
}

#[tokio::test]
async fn a_waitpoint_or_secrets_that_cannot_be_read_stop_only_who_needs_them() {
    for (table, column) in [("waitpoint", "uuid = ?1"), ("key_ring", "?1 IS NOT NULL")] {
        let place = StoreLocation::new();
        let store = place.open();
        let (id, granted) = suspended(&store).await;
        store.close().await;
        drop(store);
        let sql = format!("UPDATE {table} SET record = '{{' WHERE {column}");
        place.look().execute(&sql, [id.uuid().as_bytes()]).unwrap();
        let store = place.open();
        let (spoilt, sound) = tokio::join!(store.deliver(signal(&id, &granted, "go")), store.submit(work()));
        assert_eq!(spoilt.unwrap_err().code(), Code::Corruption, "{table}");
        sound.unwrap();
    }
}

#[tokio::test]
async fn a_submission_that_is_gone_is_found() {
    let place = StoreLocation::new();
    let id = with_one_execution(&place).await;
    spoil(&place, &id, "DELETE FROM submission WHERE uuid = ?1");
    let store = place.open();
    let found = findings(&store).await;
    assert!(found.iter().any(|finding| finding.what.contains("its definition is gone")), "{found:?}");
    assert_eq!(store.payload(&id).await.unwrap_err().code(), Code::Corruption);
    assert_eq!(store.claim(claim_on(&id)).await.unwrap_err().code(), Code::Corruption);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_found_and_stops_only_who_needs_it() {
    let place = StoreLocation::new();
    let id = with_one_execution(&place).await;
    spoil(&place, &id, "UPDATE execution SET record = '{' WHERE uuid = ?1");
    let store = place.open();
    assert!(findings(&store).await.iter().any(|finding| finding.what.contains("cannot be read")));
    assert_eq!(store.describe(&id).await.unwrap_err().code(), Code::Corruption);
    let (spoilt, sound) = tokio::join!(store.claim(claim_on(&id)), store.submit(work()));
    assert_eq!(spoilt.unwrap_err().code(), Code::Corruption);
    sound.unwrap();
}
