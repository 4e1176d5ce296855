//! The output of handlers, and readers that follow it.

use std::sync::Arc;
use std::time::Duration;

use ff_sdk::core::contracts::StreamItem;
use ff_sdk::core::engine_error::Code;
use ff_sdk::core::event::EventKind;
use ff_sdk::core::execution::Outcome;
use ff_sdk::core::limits;
use ff_sdk::core::policy::{Backoff, Policy};
use ff_sdk::core::stream::StreamMode;
use ff_sdk::core::types::{ExecutionId, FrameType};
use ff_sdk::{Context, Fault, FlowFabric, Job, Reply, Signal};
use serde_json::json;
use tokio::sync::{Notify, oneshot};

use crate::fixture::{fabric, in_time, start};

async fn submit(ff: &FlowFabric) -> ExecutionId {
    let mut policy = Policy::default();
    policy.retry_policy.backoff = Backoff::Fixed { delay_ms: 0, jitter: false };
    ff.client().submit(Job::new("talk", &()).policy(policy)).await.unwrap().execution_id
}

/// Reads the output of an execution until its end, in short form.
async fn read_output(ff: &FlowFabric, id: &ExecutionId) -> Vec<String> {
    let mut reader = ff.client().output(id, None);
    let mut items = Vec::new();
    while let Some(item) = in_time(reader.next()).await.unwrap() {
        items.push(match item {
            StreamItem::Frame { stored, .. } => {
                let bytes = str::from_utf8(&stored.frame.bytes).unwrap();
                format!("{} {}: {bytes}", stored.frame.channel, stored.frame.frame_type)
            }
            StreamItem::Summary { document, .. } => document,
            StreamItem::Trimmed { from, to, .. } => format!("trimmed {from}..{to}"),
            StreamItem::Closed { outcome, .. } => format!("{outcome:?}"),
            StreamItem::Superseded { by, .. } => format!("superseded by {by}"),
        });
    }
    items
}

#[tokio::test]
async fn handler_output_is_read_to_its_end() {
    let ff = fabric().await;
    let _worker = start(ff.worker("w").on("talk", |ctx: Context| async move {
        let out = ctx.stream("out");
        out.text("a").await?;
        out.json(&json!({ "b": 1 })).await?;
        ctx.stream("err").frame(FrameType::parse("x.own").unwrap(), "c").await?;
        Ok::<_, Fault>(Reply::done())
    }));
    let id = submit(&ff).await;
    assert_eq!(read_output(&ff, &id).await, ["out text: a", r#"out json: {"b":1}"#, "err x.own: c", "Success"]);
}

#[tokio::test]
async fn a_reader_hears_a_frame_while_the_handler_runs() {
    let ff = fabric().await;
    let go = Arc::new(Notify::new());
    let gate = go.clone();
    let _worker = start(ff.worker("w").on("talk", move |ctx: Context| {
        let gate = gate.clone();
        async move {
            ctx.stream("out").text("a").await?;
            gate.notified().await;
            Ok::<_, Fault>(Reply::done())
        }
    }));
    let id = submit(&ff).await;
    let mut reader = ff.client().output(&id, None);
    assert!(matches!(in_time(reader.next()).await.unwrap(), Some(StreamItem::Frame { .. })));
    let mut again = ff.client().output(&id, Some(reader.cursor()));
    go.notify_one();
    assert!(matches!(in_time(again.next()).await.unwrap(), Some(StreamItem::Closed { .. })), "it goes on after it");
    assert_eq!((in_time(again.next()).await.unwrap(), again.outcome()), (None, Some(Outcome::Success)));
}

/// Frames written in one turn of the scheduler go with one call, so there are far fewer calls than frames.
#[tokio::test]
async fn frames_that_come_together_are_appended_together() {
    let ff = fabric().await;
    let _worker = start(ff.worker("w").on("talk", |ctx: Context| async move {
        let out = ctx.stream("out");
        for nth in 0..5_000 {
            out.text(nth.to_string()).await?;
        }
        Ok::<_, Fault>(Reply::done())
    }));
    let id = submit(&ff).await;
    let items = read_output(&ff, &id).await;
    assert_eq!(items.len(), 5_001);
    let expected: Vec<_> = (0..5_000).map(|nth| format!("out text: {nth}")).collect();
    assert_eq!(items[..5_000], expected);
    let mut reader = ff.client().output(&id, None);
    let mut moments = std::collections::BTreeSet::new();
    while let Some(item) = reader.next().await.unwrap() {
        if let StreamItem::Frame { stored, .. } = item {
            moments.insert(stored.at);
        }
    }
    assert!(moments.len() < 500, "{} appends", moments.len());
}

#[tokio::test]
async fn more_than_the_buffer_holds_waits_and_is_not_lost() {
    let ff = fabric().await;
    let _worker = start(ff.worker("w").on("talk", |ctx: Context| async move {
        let large = vec![7; limits::FRAME_BYTES];
        for _ in 0..50 {
            ctx.stream("out").bytes(large.clone()).await?;
        }
        ctx.stream("out").flush().await?;
        Ok::<_, Fault>(Reply::done())
    }));
    let id = submit(&ff).await;
    let mut reader = ff.client().output(&id, None);
    let mut bytes = 0;
    while let Some(item) = in_time(reader.next()).await.unwrap() {
        if let StreamItem::Frame { stored, .. } = item {
            bytes += stored.frame.bytes.len();
        }
    }
    assert_eq!(bytes, 50 * limits::FRAME_BYTES);
}

#[tokio::test]
async fn stream_errors_are_returned_at_once_or_by_the_next_call() {
    let ff = fabric().await;
    let (sender, hears) = oneshot::channel();
    let sender = Arc::new(std::sync::Mutex::new(Some(sender)));
    let _worker = start(ff.worker("w").on("talk", move |ctx: Context| {
        let sender = sender.clone();
        async move {
            let out = ctx.stream("out");
            let large = out.bytes(vec![7; limits::FRAME_BYTES + 1]).await.unwrap_err().code();
            let named = ctx.stream("a b").text("a").await.unwrap_err().code();
            out.text("fine").await?;
            out.flush().await?;
            // The stream is durable since its first frame, so another mode is refused.
            out.clone().mode(StreamMode::BestEffort).text("refused").await?;
            let flushed = out.flush().await.unwrap_err().code();
            let next = out.text("never").await.unwrap_err().code();
            if let Some(sender) = sender.lock().unwrap().take() {
                sender.send([large, named, flushed, next]).unwrap();
            }
            Ok::<_, Fault>(Reply::done())
        }
    }));
    let id = submit(&ff).await;
    let codes = in_time(hears).await.unwrap();
    let (large, wrong) = (Some(Code::RetentionLimitExceeded), Some(Code::InvalidInput));
    assert_eq!(codes, [large, wrong, wrong, wrong]);
    let items = read_output(&ff, &id).await;
    assert_eq!(
        items[..3],
        ["out text: fine", "Failure", "superseded by 1"],
        "success counts only with all of the output"
    );
}

#[tokio::test]
async fn a_summary_fills_up() {
    let ff = fabric().await;
    let _worker = start(ff.worker("w").on("talk", |ctx: Context| async move {
        let out = ctx.stream("out");
        out.merge(&json!({ "status": "reading", "pages": 1 })).await?;
        out.merge(&json!({ "status": null, "pages": 2 })).await?;
        Ok::<_, Fault>(Reply::done())
    }));
    let id = submit(&ff).await;
    in_time(ff.client().wait(&id)).await.unwrap();
    assert_eq!(read_output(&ff, &id).await, [r#"{"pages":2}"#, "Success"]);
}

/// Output before a wait is stored before the wait begins, and the next run continues the same stream.
#[tokio::test]
async fn a_resumed_attempt_continues_its_stream() {
    let ff = fabric().await;
    let id = submit(&ff).await;
    let mut events = ff.client().events_of(&id, None).await.unwrap();
    let _worker = start(ff.worker("w").on("talk", |ctx: Context| async move {
        let run = if ctx.task().resumed { "second" } else { "first" };
        ctx.stream("out").text(run).await?;
        ctx.wait_for_signal("go").await?;
        Ok::<_, Fault>(Reply::done())
    }));
    while in_time(events.next()).await.unwrap().what != EventKind::Suspended {}
    let waitpoints = ff.client().waitpoints(&id).await.unwrap();
    let waitpoint = ff.client().open_waitpoint(&id, &waitpoints[0]).await.unwrap();
    ff.client().signal(Signal::new(&waitpoint, "go")).await.unwrap();
    assert_eq!(read_output(&ff, &id).await, ["out text: first", "out text: second", "Success"]);
}

#[tokio::test]
async fn a_token_is_made_for_a_while() {
    let ff = fabric().await;
    let id = submit(&ff).await;
    let token = ff.client().stream_token(&id, Duration::from_secs(60)).await.unwrap();
    assert!(token.expose().starts_with(&format!("k1:{}:", token.expires_at.0)));
    for refused in [Duration::ZERO, Duration::from_secs(86_401), Duration::MAX] {
        let error = ff.client().stream_token(&id, refused).await.unwrap_err();
        assert!(error.to_string().contains("expires_in_ms"), "{error}");
    }
}
