//! The frames a stream keeps, by its mode.

use super::{all, everything, page, patch, text, words};
use crate::prelude::*;

pub(crate) async fn a_bounded_stream_keeps_its_last_frames_and_reports_the_trimming(world: World) {
    let held = world.held().await;
    let bounded = |words| AppendFramesArgs { max_frames: Some(3), ..held.frames(text(words)) };
    world.backend.append_frames(bounded(&["a", "b"])).await.unwrap();
    let (_, reader) = everything(&world, &all(held.id(), 10)).await;
    world.backend.append_frames(bounded(&["c", "d", "e", "f", "g"])).await.unwrap();
    assert_eq!(words(&everything(&world, &all(held.id(), 10)).await.0), ["trimmed 0..4", "4 e", "5 f", "6 g"]);
    let behind = page(&world, &all(held.id(), 10), Some(reader.next)).await;
    assert_eq!(words(&behind.items), ["trimmed 2..4", "4 e", "5 f", "6 g"]);
    let cursor = StreamCursor::new(&held.id(), AttemptIndex(0), 5);
    assert_eq!(words(&page(&world, &all(held.id(), 10), Some(cursor)).await.items), ["5 f", "6 g"]);
}

pub(crate) async fn a_stream_bounded_in_bytes_keeps_no_more(world: World, held: LeasedExecution) {
    let most = limits::STREAM_MIN_BYTES;
    for _ in 0..20 {
        let frames = vec![Frame::text("x".repeat(5_000)); 3];
        world.backend.append_frames(AppendFramesArgs { max_bytes: Some(most), ..held.frames(frames) }).await.unwrap();
    }
    let (items, last) = everything(&world, &all(held.id(), 1_000)).await;
    let [StreamItem::Trimmed { from: 0, to, .. }, frames @ ..] = &items[..] else { panic!("{:?}", words(&items)) };
    assert_eq!((last.next.seq, to + frames.len() as u64), (60, 60), "nothing else is missing");
    assert!(frames.len() as u64 * 5_000 <= most && frames.len() as u64 * 5_000 > most / 2, "{}", frames.len());
}

pub(crate) async fn a_best_effort_stream_keeps_a_thousand_frames(world: World, held: LeasedExecution) {
    for _ in 0..3 {
        let frames = vec![Frame::text("x"); 400];
        let args = AppendFramesArgs { mode: Some(StreamMode::BestEffort), ..held.frames(frames) };
        world.backend.append_frames(args).await.unwrap();
    }
    let (items, _) = everything(&world, &all(held.id(), 1_000)).await;
    assert_eq!(words(&items[..2]), ["trimmed 0..200", "200 x"]);
    assert_eq!(items.len(), 1_001);
}

pub(crate) async fn a_summary_is_the_document_and_then_its_patches(world: World, held: LeasedExecution) {
    summarise(&world, &held, &[r#"{"a":1,"b":{"c":2}}"#, r#"{"b":{"c":null,"d":3}}"#]).await;
    let (items, reader) = everything(&world, &all(held.id(), 10)).await;
    assert_eq!(words(&items), [r#"summary 2 {"a":1,"b":{"d":3}}"#]);
    summarise(&world, &held, &[r#"{"a":null}"#]).await;
    let news = page(&world, &all(held.id(), 10), Some(reader.next)).await;
    assert_eq!(words(&news.items), [r#"2 {"a":null}"#]);
    assert_eq!(words(&everything(&world, &all(held.id(), 10)).await.0), [r#"summary 3 {"b":{"d":3}}"#]);
    let repeated = AppendFramesArgs { from: Some(2), ..held.frames(vec![patch(r#"{"a":null}"#)]) };
    assert_eq!(world.backend.append_frames(repeated).await.unwrap().next, 3);
    held.complete(b"done").await.unwrap();
    let (items, last) = everything(&world, &all(held.id(), 10)).await;
    assert_eq!(words(&items), [r#"summary 3 {"b":{"d":3}}"#, "closed 0 Success"]);
    assert!(last.ended);
}

pub(crate) async fn a_summary_keeps_numbers_as_they_were_written(world: World, held: LeasedExecution) {
    summarise(&world, &held, &[r#"{"big":9007199254740993,"exact":1.10}"#, r#"{"empty":[],"none":{}}"#]).await;
    let document = r#"summary 2 {"big":9007199254740993,"empty":[],"exact":1.10,"none":{}}"#;
    assert_eq!(words(&everything(&world, &all(held.id(), 10)).await.0), [document]);
}

pub(crate) async fn a_reader_too_far_behind_gets_the_summary_document(world: World, held: LeasedExecution) {
    summarise(&world, &held, &[r#"{"a":1}"#]).await;
    let (_, reader) = everything(&world, &all(held.id(), 10)).await;
    let many = vec![r#"{"b":2}"#; usize::try_from(limits::SUMMARY_PATCHES).unwrap() + 1];
    summarise(&world, &held, &many).await;
    let news = page(&world, &all(held.id(), 1_000), Some(reader.next)).await;
    assert_eq!(words(&news.items), [r#"summary 102 {"a":1,"b":2}"#]);
}

async fn summarise(world: &World, held: &LeasedExecution, patches: &[&str]) {
    let frames = patches.iter().map(|json| patch(json)).collect();
    let args = AppendFramesArgs { mode: Some(StreamMode::Summary), ..held.frames(frames) };
    world.backend.append_frames(args).await.unwrap();
}
