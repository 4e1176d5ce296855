//! A stream is deleted with its execution.

use super::{all, text};
use crate::prelude::*;

pub(crate) async fn nothing_of_forgotten_output_is_left(world: World) {
    let before = world.contents().await;
    let id = world.job("resize").retention(ms(1_000)).retries(1, ms(0)).submit().await;
    let first = world.worker("first").claim().await;
    first.append(text(&["a", "b"])).await.unwrap();
    first.fail("network").await.unwrap();
    let second = world.worker("second").claim().await;
    let summary =
        AppendFramesArgs { mode: Some(StreamMode::Summary), ..second.frames(vec![super::patch(r#"{"a":1}"#)]) };
    world.backend.append_frames(summary).await.unwrap();
    second.complete(b"done").await.unwrap();
    assert_eq!(world.contents().await.iter().map(|contents| contents.streams.len()).sum::<usize>(), 2);
    world.clock.advance(ms(1_000)).await;
    assert_refused!(world.backend.read_stream(all(id, 10)).await, "execution_not_found");
    assert_eq!(world.contents().await, before);
}
