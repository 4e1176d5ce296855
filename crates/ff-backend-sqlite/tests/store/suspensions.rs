//! Suspensions, waitpoints and signals in a file: listings and unchanged bytes.

use ff_core::backend::Perform;
use ff_core::contracts::{
    CreateWaitpointArgs, DeliverArgs, Filter, ListArgs, ReceivedSignal, SignalsArgs, SuspendArgs,
};
use ff_core::engine_error::Code;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::suspension::{Condition, Distinct};
use ff_core::types::{ContentType, Namespace, SignalId, WaitpointId};

use crate::{StoreLocation, claim_on, key, signal, suspended, work};

#[tokio::test]
async fn a_suspended_execution_is_listed_with_its_waitpoints() {
    let place = StoreLocation::new();
    let store = place.open();
    let (id, granted) = suspended(&store).await;
    store.submit(work()).await.unwrap();
    let all = || Filter::everything(Namespace::default_name());
    let filter = || Filter { state: Some(PublicState::Suspended), ..all() };
    let waiting = || ListArgs { filter: filter(), after: None, limit: 10 };
    let listed = store.list(waiting()).await.unwrap().executions;
    assert_eq!(listed.iter().map(|info| info.execution_id).collect::<Vec<_>>(), [id]);
    let suspension = listed[0].suspension.as_ref().unwrap();
    assert_eq!(suspension.waitpoints[0].id, granted.waitpoint_id);
    assert_eq!(store.waitpoint_token(&id, &granted.waitpoint_id).await.unwrap(), granted.waitpoint_token);
    let unknown = store.waitpoint_token(&id, &WaitpointId::new()).await.unwrap_err();
    assert_eq!(unknown.code(), Code::WaitpointNotFound);
    store.deliver(signal(&id, &granted, "go")).await.unwrap();
    assert_eq!(store.list(waiting()).await.unwrap().executions, []);
    assert_eq!(store.waitpoints(&id).await.unwrap(), []);
}

#[tokio::test]
async fn every_byte_of_a_signal_comes_back_as_it_was() {
    let place = StoreLocation::new();
    let store = place.open();
    let all: Vec<u8> = (0..=255).collect();
    for bytes in [vec![0], all.clone(), all.repeat(1_024)] {
        let (id, granted) = suspended(&store).await;
        let payload = Some(Payload::new(ContentType::parse("image/x-own").unwrap(), bytes));
        let args = DeliverArgs { payload: payload.clone(), ..signal(&id, &granted, "go") };
        let signal_id = store.deliver(args).await.unwrap().signal_id;
        let read = store.signal(&id, &signal_id).await.unwrap();
        assert_eq!(read.payload, payload);
        assert_eq!(store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).signals, [read]);
    }
}

#[tokio::test]
async fn pages_of_signals_together_are_all_of_them_in_order() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    let fence = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task.fence;
    let ahead = CreateWaitpointArgs { execution_id: id, fence, key: key("ahead"), expires_in_ms: 60_000 };
    let ahead = store.create_waitpoint(ahead).await.unwrap();
    let mut sent = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        sent.push(store.deliver(signal(&id, &ahead, name)).await.unwrap().signal_id);
    }
    let page = async |skip, limit| store.signals(SignalsArgs { execution_id: id, skip, limit }).await.unwrap();
    let mut paged = Vec::new();
    let mut next = Some(0);
    while let Some(skip) = next {
        let page = page(skip, 2).await;
        paged.extend(page.signals.into_iter().map(|signal| signal.id));
        next = page.next;
    }
    assert_eq!(paged, sent);
    assert_eq!(page(0, 5).await.next, None, "a full last page is still the last");
    assert_eq!((page(9, 5).await.signals, page(9, 5).await.next), (vec![], None));
    let unknown = store.signal(&id, &SignalId::new()).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
}

/// A claim brings every signal. If their payloads are too many for one reply, only the first signals have theirs.
#[tokio::test]
async fn signals_too_large_to_come_along_come_without_their_bytes() {
    let place = StoreLocation::new();
    let store = place.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    let fence = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task.fence;
    let n = 18;
    let condition = Condition::Count { n, of: Distinct::Signals, waitpoints: vec![key("parts")], name: None };
    let args = SuspendArgs { condition, ..SuspendArgs::new(id, fence, key("parts")) };
    let granted = store.suspend(args).await.unwrap().waitpoints.remove(0);
    for _ in 0..n {
        let payload = Some(Payload::bytes(vec![7; 250_000]));
        store.deliver(DeliverArgs { payload, ..signal(&id, &granted, "part") }).await.unwrap();
    }
    let claimed = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0);
    let with_bytes: Vec<_> = claimed.signals.iter().map(|received| received.payload.is_some()).collect();
    let expected: Vec<_> = (0..n).map(|nth| nth < 16).collect();
    assert_eq!(with_bytes, expected);
    let ReceivedSignal { signal, payload } = &claimed.signals[17];
    assert_eq!((signal.payload_bytes, payload), (250_000, &None));
    assert!(store.signal(&id, &signal.id).await.unwrap().payload.is_some(), "it is read by itself");
}
