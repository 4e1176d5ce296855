//! An execution keeps the trace context of its submission.

use crate::prelude::*;

pub(crate) async fn the_trace_of_a_submission_reaches_its_handler(world: World) {
    for state in [None, Some("vendor=00f067aa0ba902b7,other=1")] {
        let trace = trace(1, state);
        let id = world.job("resize").trace(&trace).submit().await;
        assert_eq!(world.describe(&id).await.trace.as_deref(), Some(&trace));
        let held = world.worker("w").claim().await;
        assert_eq!(held.task.trace.as_deref(), Some(&trace));
        held.complete(b"done").await.unwrap();
        assert_eq!(world.describe(&id).await.trace.as_deref(), Some(&trace), "also when it has ended");
    }
}

pub(crate) async fn work_without_a_trace_has_none(world: World) {
    let id = world.job("resize").submit().await;
    assert_eq!(world.describe(&id).await.trace, None);
    assert_eq!(world.worker("w").claim().await.task.trace, None);
}

pub(crate) async fn every_attempt_is_in_the_same_trace(world: World) {
    let trace = trace(1, Some("vendor=1"));
    let id = world.job("resize").trace(&trace).retries(1, ms(0)).submit().await;
    world.worker("first").claim().await.fail("network").await.unwrap();
    let second = world.worker("second").claim().await;
    assert_eq!((second.task.attempt_index.0, second.task.trace.as_deref()), (1, Some(&trace)), "a retry");
    second.delay(ms(100)).await.unwrap();
    world.clock.advance(ms(100)).await;
    let third = world.worker("third").claim().await;
    assert_eq!((third.task.resumed, third.task.trace.as_deref()), (true, Some(&trace)), "one that goes on");
    world.clock.advance(third.lease_ttl()).await;
    let fourth = world.worker("fourth").claim().await;
    assert_eq!(fourth.task.trace.as_deref(), Some(&trace), "one whose lease was lost");
    fourth.complete(b"done").await.unwrap();
    world.replay(&id).await.unwrap();
    assert_eq!(world.worker("fifth").claim().await.task.trace.as_deref(), Some(&trace), "a replay");
}

pub(crate) async fn another_trace_is_the_same_submission(world: World) {
    let first = trace(1, None);
    let work = || world.job("resize").key("once");
    let submitted = work().trace(&first).try_submit().await.unwrap();
    for again in [work().trace(&trace(2, Some("vendor=1"))), work()] {
        let again = again.try_submit().await.unwrap();
        assert_eq!((again.execution_id, again.duplicate), (submitted.execution_id, true));
    }
    assert_eq!(world.describe(&submitted.execution_id).await.trace.as_deref(), Some(&first));
    let plain = world.job("resize").key("plain").submit().await;
    world.job("resize").key("plain").trace(&first).submit().await;
    assert_eq!(world.describe(&plain).await.trace, None, "a repeat changes nothing");
}

pub(crate) async fn each_of_many_has_its_own_trace(world: World) {
    let traces: Vec<_> = (0..6).map(|nth: u64| (nth % 2 == 1).then(|| trace(nth, None))).collect();
    let works = traces.iter().map(|trace| match trace {
        Some(trace) => world.job("resize").trace(trace).args(),
        None => world.job("resize").args(),
    });
    let submitted = world.backend.submit_many(works.collect()).await.unwrap();
    for (answer, trace) in submitted.into_iter().zip(traces) {
        let id = answer.unwrap().execution_id;
        assert_eq!(world.describe(&id).await.trace.map(|trace| *trace), trace);
    }
}

pub(crate) fn trace(id: u64, state: Option<&str>) -> TraceContext {
    TraceContext::parse(&format!("00-0af7651916cd43dd{id:016x}-b7ad6b7169203331-01"), state).unwrap()
}
