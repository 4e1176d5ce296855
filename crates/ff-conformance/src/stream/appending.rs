//! Only the holder of an execution appends frames.

use super::{all, everything, patch, text, words};
use crate::prelude::*;

pub(crate) async fn frames_are_numbered_in_the_order_they_were_appended(world: World, held: LeasedExecution) {
    let first = held.append(text(&["a", "b"])).await.unwrap();
    assert_eq!((first.attempt_index.0, first.first, first.next), (0, 0, 2));
    world.clock.advance(ms(7)).await;
    let second = held.append(text(&["c"])).await.unwrap();
    assert_eq!((second.first, second.next), (2, 3));
    let (items, _) = everything(&world, &all(held.id(), 10)).await;
    assert_eq!(words(&items), ["0 a", "1 b", "2 c"]);
    let StreamItem::Frame { stored, .. } = &items[2] else { panic!("{items:?}") };
    assert_eq!(stored.at, world.clock.now());
}

pub(crate) async fn frames_come_back_byte_for_byte(world: World) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let own = FrameType::parse("x.own").unwrap();
    let frames = vec![
        Frame::text("ä \"quoted\" \\ \n\u{0}"),
        Frame::text(""),
        Frame::new(FrameType::json(), r#" {"a": 1.10, "b": 9007199254740993} "#),
        Frame::new(FrameType::json(), "[1,\n2]"),
        Frame::new(FrameType::bytes(), every_byte.clone()),
        Frame { channel: Channel::parse("err").unwrap(), ..Frame::new(own, every_byte) },
    ];
    let held = world.held().await;
    held.append(frames.clone()).await.unwrap();
    let (items, _) = everything(&world, &all(held.id(), 4)).await;
    let back = items.into_iter().map(|item| match item {
        StreamItem::Frame { stored, .. } => stored.frame,
        other => panic!("{other:?}"),
    });
    assert_eq!(back.collect::<Vec<_>>(), frames);
}

pub(crate) async fn a_repeated_append_adds_nothing_twice(world: World, held: LeasedExecution) {
    let args = AppendFramesArgs { from: Some(0), ..held.frames(text(&["a", "b"])) };
    let first = world.backend.append_frames(args.clone()).await.unwrap();
    assert_eq!(world.backend.append_frames(args).await.unwrap(), first);
    let longer = AppendFramesArgs { from: Some(1), ..held.frames(text(&["b", "c"])) };
    let reply = world.backend.append_frames(longer).await.unwrap();
    assert_eq!((reply.first, reply.next), (1, 3));
    assert_eq!(words(&everything(&world, &all(held.id(), 10)).await.0), ["0 a", "1 b", "2 c"]);
}

pub(crate) async fn a_frame_after_a_gap_is_refused(world: World, held: LeasedExecution) {
    held.append(text(&["a"])).await.unwrap();
    let late = AppendFramesArgs { from: Some(2), ..held.frames(text(&["c"])) };
    assert_refused!(world.backend.append_frames(late).await, "invalid_offset", "from");
    assert_eq!(words(&everything(&world, &all(held.id(), 10)).await.0), ["0 a"]);
}

pub(crate) async fn only_the_holder_appends(world: World) {
    let id = world.job("resize").retries(1, ms(0)).submit().await;
    let held = world.worker("first").claim().await;
    held.append(text(&["a"])).await.unwrap();
    let before = world.contents().await;
    let other = held.with_fence(|fence| fence.lease_id = LeaseId::new());
    assert_refused!(other.append(text(&["x"])).await, "stale_lease");
    let other = held.with_fence(|fence| fence.attempt_id = AttemptId::new());
    assert_refused!(other.append(text(&["x"])).await, "stale_lease");
    assert_eq!(world.contents().await, before);
    world.clock.advance(held.lease_ttl()).await;
    assert_refused!(held.append(text(&["x"])).await, "lease_expired");
    let next = world.worker("second").claim().await;
    assert_refused!(held.append(text(&["x"])).await, "stale_lease");
    next.append(text(&["b"])).await.unwrap();
    next.complete(b"done").await.unwrap();
    assert_refused!(next.append(text(&["x"])).await, "execution_not_active");
    let never = world.submit("resize", b"cat.png").await;
    let stranger = AppendFramesArgs { execution_id: never, ..next.frames(text(&["x"])) };
    assert_refused!(world.backend.append_frames(stranger).await, "execution_not_active");
    let output = words(&everything(&world, &all(id, 10)).await.0);
    assert_eq!(output, ["0 a", "closed 0 LeaseExpired", "superseded 0 by 1", "0 b", "closed 1 Success"]);
}

pub(crate) async fn a_wrong_stream_request_is_refused_and_writes_nothing(world: World, held: LeasedExecution) {
    let before = world.contents().await;
    let bytes = |count| Frame::new(FrameType::bytes(), vec![7; count]);
    let with = |frames, change: fn(&mut AppendFramesArgs)| {
        let mut args = held.frames(frames);
        change(&mut args);
        args
    };
    let summary: fn(&mut AppendFramesArgs) = |args| args.mode = Some(StreamMode::Summary);
    for (args, code, field) in [
        (with(vec![], |_| {}), "invalid_input", "frames"),
        (with(vec![bytes(1), bytes(limits::FRAME_BYTES + 1)], |_| {}), "retention_limit_exceeded", "frames[1]"),
        (with(vec![bytes(limits::FRAME_BYTES - 1); 17], |_| {}), "payload_too_large", "frames"),
        (with(vec![patch(r#"{"a":1}"#)], |_| {}), "invalid_frame_type", "frames[0].type"),
        (with(text(&["a"]), summary), "invalid_frame_type", "frames[0].type"),
        (with(vec![patch(r#"{"a":1}"#), patch("[1]")], summary), "invalid_input", "frames[1]"),
        (with(vec![Frame::new(FrameType::json(), "{")], |_| {}), "invalid_input", "frames[0]"),
        (with(vec![Frame::new(FrameType::text(), vec![0xff])], |_| {}), "invalid_input", "frames[0]"),
        (with(text(&["a"]), |args| args.max_frames = Some(0)), "invalid_input", "max_frames"),
        (with(text(&["a"]), |args| args.max_bytes = Some(1)), "invalid_input", "max_bytes"),
    ] {
        assert_refused!(world.backend.append_frames(args).await, code, field);
    }
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_stream_does_not_change_its_kind(world: World, held: LeasedExecution) {
    let bounded = AppendFramesArgs { max_frames: Some(7), ..held.frames(text(&["a"])) };
    world.backend.append_frames(bounded).await.unwrap();
    let before = world.contents().await;
    for (args, field) in [
        (AppendFramesArgs { mode: Some(StreamMode::BestEffort), ..held.frames(text(&["b"])) }, "mode"),
        (AppendFramesArgs { mode: Some(StreamMode::Summary), ..held.frames(vec![patch("{}")]) }, "mode"),
        (AppendFramesArgs { max_frames: Some(8), ..held.frames(text(&["b"])) }, "max_frames"),
        (AppendFramesArgs { max_bytes: Some(limits::STREAM_BYTES), ..held.frames(text(&["b"])) }, "max_bytes"),
    ] {
        assert_refused!(world.backend.append_frames(args).await, "invalid_input", field);
    }
    assert_refused!(held.append(vec![patch("{}")]).await, "invalid_frame_type");
    assert_eq!(world.contents().await, before);
    held.append(text(&["b"])).await.unwrap();
}

pub(crate) async fn limits_hold_at_them_and_not_one_past_them(world: World, held: LeasedExecution) {
    let largest = Frame::new(FrameType::bytes(), vec![7; limits::FRAME_BYTES]);
    held.append(vec![largest; limits::APPEND_BYTES / limits::FRAME_BYTES]).await.unwrap();
    let most = vec![Frame::text("x"); limits::APPEND_FRAMES];
    held.append(most.clone()).await.unwrap();
    let refusal = assert_refused!(held.append([most, text(&["x"])].concat()).await, "limit_exceeded");
    assert_eq!(refusal.limit, Some((limits::APPEND_FRAMES as u64, limits::APPEND_FRAMES as u64 + 1)));
    let (items, last) = everything(&world, &all(held.id(), limits::PAGE)).await;
    assert_eq!(items.len(), 1_016);
    assert_eq!(last.next.seq, 1_016);
    assert_refused!(world.backend.read_stream(all(held.id(), limits::PAGE + 1)).await, "limit_exceeded", "limit");
}

pub(crate) async fn a_resumed_attempt_appends_to_the_same_stream(world: World) {
    let first = world.held().await;
    first.append(text(&["a"])).await.unwrap();
    first.delay(ms(100)).await.unwrap();
    world.clock.advance(ms(100)).await;
    let second = world.worker("second").claim().await;
    let appended = second.append(text(&["b"])).await.unwrap();
    assert_eq!((appended.attempt_index.0, appended.first), (0, 1));
    assert_eq!(words(&everything(&world, &all(first.id(), 10)).await.0), ["0 a", "1 b"]);
}
