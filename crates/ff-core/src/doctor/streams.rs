//! The doctor's checks of streams.

use super::{Finding, Findings};
use crate::backend::snapshot::Snapshot;
use crate::stream::{StoredFrame, StreamMode, StreamRecord};

/// Returns the findings about the streams of attempts.
pub(super) fn examine(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Findings::default();
    for ((id, attempt), (stream, frames)) in &snapshot.streams {
        let mut find = |invariant, what: String| findings.find(invariant, id, format!("stream {attempt}: {what}"));
        match snapshot.executions.get(id) {
            None => find("I1", "its execution is gone".into()),
            Some(execution) => {
                if !execution.streamed {
                    find("I1", "its execution does not know of it".into());
                }
                if attempt.0 >= execution.attempts_made {
                    find("I1", format!("there were only {} attempts", execution.attempts_made));
                }
            }
        }
        for what in gaps(stream, frames) {
            find("I15", what);
        }
        if (stream.mode == StreamMode::Summary) != stream.summary.is_some() {
            find("I15", format!("is of mode {} and its summary is {:?}", stream.mode, stream.summary.is_some()));
        }
    }
    findings.0
}

/// I15: the stored frames are those of the record, without gaps, and their sizes add up to its size.
fn gaps(stream: &StreamRecord, frames: &[StoredFrame]) -> Vec<String> {
    let mut wrong = Vec::new();
    let numbers = frames.iter().map(|frame| frame.seq);
    if !numbers.eq(stream.first..stream.next) {
        let (first, last) = (frames.first().map(|frame| frame.seq), frames.last().map(|frame| frame.seq));
        let (from, to, count) = (stream.first, stream.next, frames.len());
        wrong.push(format!("should have the frames {from}..{to}, has {count} from {first:?} to {last:?}"));
    }
    let bytes: u64 = frames.iter().map(|frame| frame.frame.bytes.len() as u64).sum();
    if bytes > stream.bytes || (stream.first == 0 && bytes != stream.bytes) {
        wrong.push(format!("should have {} bytes, has {bytes}", stream.bytes));
    }
    if frames.windows(2).any(|two| two[0].at > two[1].at) {
        wrong.push("a frame is older than the one before it".into());
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::super::violated;
    use super::*;
    use crate::execution::Execution;
    use crate::rule::samples::{at, running};
    use crate::stream::Frame;
    use crate::types::AttemptIndex;

    fn healthy() -> Snapshot {
        let execution = Execution { streamed: true, ..running() };
        let mut stream = StreamRecord::new(StreamMode::Durable, Some(3), None, at(0));
        let frames = stream.append(&vec![Frame::text("x"); 5], at(1)).unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.streams.insert((execution.id, AttemptIndex(0)), (stream, frames));
        snapshot.executions.insert(execution.id, execution);
        snapshot
    }

    #[test]
    fn whatever_is_missing_is_found() {
        let found = |damage: fn(&mut Snapshot)| violated(examine, &healthy(), damage);
        fn stream(snapshot: &mut Snapshot) -> &mut (StreamRecord, Vec<StoredFrame>) {
            snapshot.streams.values_mut().next().unwrap()
        }
        assert_eq!(found(|snapshot| snapshot.executions.clear()), ["I1"]);
        assert_eq!(found(|snapshot| snapshot.executions.values_mut().for_each(|e| e.streamed = false)), ["I1"]);
        assert_eq!(found(|snapshot| snapshot.executions.values_mut().for_each(|e| e.attempts_made = 0)), ["I1"]);
        assert_eq!(found(|snapshot| drop(stream(snapshot).1.remove(1))), ["I15"]);
        assert_eq!(found(|snapshot| stream(snapshot).0.bytes = 1), ["I15"]);
        assert_eq!(found(|snapshot| stream(snapshot).0.mode = StreamMode::Summary), ["I15"]);
    }
}
