//! What is wrong in the file is found, and harms nobody but who asks for it.

use ff_core::backend::{ExecutionRoom, LeaseRoom};
use ff_core::engine_error::Code;
use ff_core::types::ExecutionId;

use crate::{Place, claim_on, findings, work};

async fn with_one_execution(place: &Place) -> ExecutionId {
    let store = place.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    store.submit(work()).await.unwrap();
    store.close().await;
    id
}

fn spoil(place: &Place, id: &ExecutionId, sql: &str) {
    let spoilt = place.look().execute(sql, [id.uuid().as_bytes()]).unwrap();
    assert_eq!(spoilt, 1);
}

#[tokio::test]
async fn a_column_that_does_not_follow_from_its_record_is_found() {
    for (change, found) in [
        ("state = 'active'", 1),
        ("due_at = 5", 1),
        ("namespace = 'acme'", 1),
        // Once as a column that is wrong, once for each index it takes the execution out of or into.
        ("eligible = 0", 3),
        ("deadline_at = 7", 2),
    ] {
        let place = Place::new();
        let id = with_one_execution(&place).await;
        spoil(&place, &id, &format!("UPDATE execution SET {change} WHERE uuid = ?1"));
        let findings = findings(&place.open()).await;
        assert_eq!(findings.len(), found, "{change}: {findings:?}");
        assert!(findings.iter().all(|finding| finding.invariant == "I8" && finding.about == id.to_string()));
    }
}

#[tokio::test]
async fn a_payload_that_is_gone_is_found() {
    let place = Place::new();
    let id = with_one_execution(&place).await;
    spoil(&place, &id, "DELETE FROM payload WHERE uuid = ?1");
    let store = place.open();
    let invariants: Vec<_> = findings(&store).await.into_iter().map(|finding| finding.invariant).collect();
    assert_eq!(invariants, ["I1"]);
    assert_eq!(store.payload(&id).await.unwrap_err().code(), Code::Corruption);
    assert_eq!(store.claim(claim_on(&id)).await.unwrap_err().code(), Code::Corruption);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_found_and_stops_only_who_needs_it() {
    let place = Place::new();
    let id = with_one_execution(&place).await;
    spoil(&place, &id, "UPDATE execution SET record = '{' WHERE uuid = ?1");
    let store = place.open();
    assert!(findings(&store).await.iter().any(|finding| finding.what.contains("cannot be read")));
    assert_eq!(store.describe(&id).await.unwrap_err().code(), Code::Corruption);
    let (spoilt, sound) = tokio::join!(store.claim(claim_on(&id)), store.submit(work()));
    assert_eq!(spoilt.unwrap_err().code(), Code::Corruption);
    sound.unwrap();
}
