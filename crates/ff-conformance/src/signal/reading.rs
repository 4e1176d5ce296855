//! The signals of an execution are read in the order of their arrival, page by page.

use crate::prelude::*;
use crate::world::conditions::count;

pub(crate) async fn the_oldest_signal_comes_first(world: World) {
    let (id, sent) = received(&world, 12).await;
    let read: Vec<_> = world.signals(&id).await.into_iter().map(|signal| signal.id).collect();
    assert_eq!(read, sent);
}

/// All signals arrive at one moment. They are read in the order of arrival.
pub(crate) async fn every_signal_is_on_exactly_one_page(world: World) {
    let (id, sent) = received(&world, 12).await;
    for limit in [1, 5, 11, 12, 13, 1_000] {
        let (mut read, mut skip) = (Vec::new(), Some(0));
        while let Some(pass_over) = skip {
            let args = SignalsArgs { execution_id: id, skip: pass_over, limit };
            let page = world.backend.signals(args).await.unwrap();
            assert!(page.signals.len() == limit || page.next.is_none(), "pages of {limit}");
            read.extend(page.signals.into_iter().map(|signal| signal.id));
            skip = page.next;
        }
        assert_eq!(read, sent, "pages of {limit}");
    }
    for skip in [99, u32::MAX as usize, usize::MAX] {
        let beyond = SignalsArgs { execution_id: id, skip, limit: 5 };
        let page = world.backend.signals(beyond).await.unwrap();
        assert_eq!((page.signals, page.next), (Vec::new(), None), "{skip} are passed over");
    }
}

pub(crate) async fn a_page_of_signals_has_at_most_a_thousand(world: World) {
    let (id, _) = received(&world, 1).await;
    let page = async |limit| world.backend.signals(SignalsArgs { execution_id: id, skip: 0, limit }).await;
    assert_refused!(page(0).await, "invalid_input", "limit");
    assert_refused!(page(1_001).await, "limit_exceeded", "limit", 1_000, 1_001);
    assert_eq!(page(1_000).await.unwrap().signals.len(), 1);
}

pub(crate) async fn work_that_received_nothing_has_no_signals(world: World) {
    let id = world.submit("resize", b"cat.png").await;
    assert!(world.signals(&id).await.is_empty());
    assert_refused!(world.backend.signal(&id, &SignalId::new()).await, "not_found");
}

/// A signal is found only under the execution that received it.
pub(crate) async fn a_signal_is_found_only_under_its_execution(world: World) {
    let (_, sent) = received(&world, 1).await;
    let other = world.submit("resize", b"cat.png").await;
    assert_refused!(world.backend.signal(&other, &sent[0]).await, "not_found");
    let unknown = ExecutionId::new(0, Uuid::now_v7());
    assert_refused!(world.backend.signal(&unknown, &sent[0]).await, "execution_not_found");
    let of_unknown = SignalsArgs { execution_id: unknown, skip: 0, limit: 1 };
    assert_refused!(world.backend.signals(of_unknown).await, "execution_not_found");
    let beyond = ExecutionId::new(world.partitions().end, Uuid::now_v7());
    assert_refused!(world.backend.signal(&beyond, &sent[0]).await, "invalid_execution_id");
}

async fn received(world: &World, many: usize) -> (ExecutionId, Vec<SignalId>) {
    let held = world.held().await;
    let [a] = held.wait_for(count(100, Distinct::Signals, &["a"]), ["a"]).await;
    let mut sent = Vec::new();
    for nth in 0..many {
        sent.push(a.send(&format!("vote-{nth}")).await.unwrap().signal_id);
    }
    (held.id(), sent)
}
