//! Conformance tests for the output of attempts.

pub(crate) mod appending;
pub(crate) mod following;
pub(crate) mod keeping;
pub(crate) mod modes;
pub(crate) mod reading;

use crate::prelude::*;

/// Returns one text frame per word.
fn text(words: &[&str]) -> Vec<Frame> {
    words.iter().map(|word| Frame::text(*word)).collect()
}

/// Returns a merge patch.
fn patch(json: &str) -> Frame {
    Frame::new(FrameType::patch(), json.to_owned())
}

/// Returns the arguments that read the output of every attempt.
fn all(id: ExecutionId, limit: usize) -> ReadStreamArgs {
    ReadStreamArgs { execution_id: id, attempt: None, from: None, limit }
}

/// Returns the arguments that read the output of one attempt.
fn one(id: ExecutionId, attempt: u32, limit: usize) -> ReadStreamArgs {
    ReadStreamArgs { attempt: Some(AttemptIndex(attempt)), ..all(id, limit) }
}

/// Reads one page of the stream from a cursor on.
async fn page(world: &World, args: &ReadStreamArgs, from: Option<StreamCursor>) -> StreamPage {
    world.backend.read_stream(ReadStreamArgs { from, ..args.clone() }).await.unwrap()
}

/// Reads the stream to its end, and returns all items and the last page.
async fn everything(world: &World, args: &ReadStreamArgs) -> (Vec<StreamItem>, StreamPage) {
    let (mut items, mut from) = (Vec::new(), args.from);
    loop {
        let page = page(world, args, from).await;
        from = Some(page.next);
        items.extend(page.items.clone());
        if page.items.is_empty() {
            return (items, page);
        }
    }
}

/// Renders the items as short texts.
fn words(items: &[StreamItem]) -> Vec<String> {
    let word = |item: &StreamItem| match item {
        StreamItem::Frame { stored, .. } => {
            format!("{} {}", stored.seq, str::from_utf8(&stored.frame.bytes).unwrap_or("bytes"))
        }
        StreamItem::Summary { version, document, .. } => format!("summary {version} {document}"),
        StreamItem::Trimmed { from, to, .. } => format!("trimmed {from}..{to}"),
        StreamItem::Closed { attempt, outcome, .. } => format!("closed {attempt} {outcome:?}"),
        StreamItem::Superseded { attempt, by } => format!("superseded {attempt} by {by}"),
    };
    items.iter().map(word).collect()
}
