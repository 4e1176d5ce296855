//! A note: the hints of one commit as text that fits into a notification.
//!
//! The first line names the sender. Each further line is a hint: a letter for its kind, and its parts between blanks. No part has
//! a blank in it.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ff_core::backend::hint::Hint;
use ff_core::contracts::{Head, LeaseLost};
use ff_core::types::{
    EngineId, ExecutionId, FlowId, Kind, LaneId, Namespace, RequirementClass, TimestampMs, WorkerInstanceId,
};
use uuid::Uuid;

/// Length in bytes that a note must stay below: the server refuses longer ones.
const BYTES: usize = 8_000;

/// Returns the note with these hints, each once. A note that would be too long becomes a miss, upon which every listener sweeps
/// everything.
pub(super) fn write(sender: &str, hints: &[Hint]) -> String {
    let mut urgent = UrgentHints::default();
    hints.iter().for_each(|hint| urgent.add(hint));
    let note = urgent.lines.into_iter().chain(urgent.ready.iter().map(ready)).chain(urgent.due.iter().map(due));
    let note = note.chain(urgent.ticks.iter().map(|(partition, at)| format!("k {partition} {}", at.0)));
    let note = std::iter::once(sender.to_owned()).chain(note).collect::<Vec<_>>().join("\n");
    if note.len() < BYTES { note } else { format!("{sender}\n{MISSED}") }
}

/// Returns the note of a program that begins to listen and asks the others to answer.
pub(super) fn hello(sender: &str) -> String {
    format!("{sender}\n{HELLO}")
}

/// Returns whether a note asks for an answer.
pub(super) fn is_hello(note: &str) -> bool {
    note.lines().nth(1) == Some(HELLO)
}

/// Returns the sender of a note.
pub(super) fn sender(note: &str) -> &str {
    note.lines().next().unwrap_or_default()
}

/// Returns the hints of another program's note. A line that cannot be read was written by another version of this program, and
/// becomes a miss.
pub(super) fn read(ourselves: &str, note: &str) -> Vec<Hint> {
    if sender(note) == ourselves || is_hello(note) {
        return Vec::new();
    }
    note.lines().skip(1).map(|line| hint(line).unwrap_or(Hint::Missed)).collect()
}

const MISSED: &str = "m";
const HELLO: &str = "h";

/// A queue on a partition: its lane, kind and requirement class.
type ReadyQueue<'h> = (u16, &'h LaneId, &'h Kind, &'h RequirementClass);

/// The hints of a note: the most urgent one of each queue or partition, and all others as lines.
#[derive(Default)]
struct UrgentHints<'h> {
    ready: BTreeMap<ReadyQueue<'h>, Head>,
    due: BTreeMap<u16, TimestampMs>,
    ticks: BTreeMap<u16, TimestampMs>,
    lines: Vec<String>,
}

impl<'h> UrgentHints<'h> {
    fn add(&mut self, hint: &'h Hint) {
        let line = match hint {
            Hint::Ready { partition, lane, kind, class, head } => {
                let best = self.ready.entry((*partition, lane, kind, class)).or_insert(*head);
                *best = *head.min(best);
                return;
            }
            Hint::Due { partition, at } => {
                let first = self.due.entry(*partition).or_insert(*at);
                *first = *at.min(first);
                return;
            }
            Hint::TickDue { partition, at } => {
                let first = self.ticks.entry(*partition).or_insert(*at);
                *first = *at.min(first);
                return;
            }
            Hint::LeaseLost { worker_instance_id, lost } => match serde_json::to_string(lost) {
                Ok(lost) => format!("l {} {lost}", worker_instance_id.as_str()),
                Err(_) => MISSED.to_owned(),
            },
            Hint::SignalDelivered { partition } => format!("s {partition}"),
            Hint::Ended { execution_id } => {
                format!("e {} {}", execution_id.partition(), short(execution_id.uuid()))
            }
            Hint::StreamMoved { execution_id } => {
                format!("w {} {}", execution_id.partition(), short(execution_id.uuid()))
            }
            Hint::FlowMoved { flow_id } => format!("f {}", short(*flow_id.as_uuid())),
            Hint::FlowEnded { flow_id } => format!("o {}", short(*flow_id.as_uuid())),
            Hint::LaneFreed { partition, lane } => format!("p {partition} {}", lane.as_str()),
            // The program whose commit freed the slots gives them back; other programs find those it left over.
            // Nothing is flushed, because hints of this program do not pass through the server.
            Hint::SlotsFreed { .. } | Hint::QuotaDefined { .. } | Hint::FlushMarker { .. } => return,
            Hint::EventRecorded { partition } => format!("t {partition}"),
            Hint::EngineSeen { engine_id, keeps_up } => format!("g {} {keeps_up}", short(*engine_id.as_uuid())),
            Hint::WorkersChanged => "c".to_owned(),
            Hint::Missed => MISSED.to_owned(),
        };
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

fn ready((&(partition, lane, kind, class), head): (&ReadyQueue<'_>, &Head)) -> String {
    let line = format!("r {partition} {} {} {} {}", lane.as_str(), kind.as_str(), head.behind, head.created_at.0);
    if class.is_plain() { line } else { format!("{line} {class}") }
}

fn due((partition, at): (&u16, &TimestampMs)) -> String {
    format!("d {partition} {}", at.0)
}

fn hint(line: &str) -> Option<Hint> {
    let mut parts = line.split(' ');
    let mut next = || parts.next();
    Some(match next()? {
        "r" => Hint::Ready {
            partition: next()?.parse().ok()?,
            lane: lane(next()?)?,
            kind: Kind::parse(next()?).ok()?,
            head: Head { behind: next()?.parse().ok()?, created_at: TimestampMs(next()?.parse().ok()?) },
            class: RequirementClass::parse(next().unwrap_or_default()).ok()?,
        },
        "d" => Hint::Due { partition: next()?.parse().ok()?, at: TimestampMs(next()?.parse().ok()?) },
        "k" => Hint::TickDue { partition: next()?.parse().ok()?, at: TimestampMs(next()?.parse().ok()?) },
        "s" => Hint::SignalDelivered { partition: next()?.parse().ok()? },
        "p" => Hint::LaneFreed { partition: next()?.parse().ok()?, lane: lane(next()?)? },
        "t" => Hint::EventRecorded { partition: next()?.parse().ok()? },
        "e" => Hint::Ended { execution_id: ExecutionId::new(next()?.parse().ok()?, long(next()?)?) },
        "w" => Hint::StreamMoved { execution_id: ExecutionId::new(next()?.parse().ok()?, long(next()?)?) },
        "f" => Hint::FlowMoved { flow_id: FlowId::from_uuid(long(next()?)?) },
        "o" => Hint::FlowEnded { flow_id: FlowId::from_uuid(long(next()?)?) },
        "l" => Hint::LeaseLost {
            worker_instance_id: WorkerInstanceId::parse(next()?).ok()?,
            lost: serde_json::from_str::<LeaseLost>(next()?).ok()?,
        },
        "g" => Hint::EngineSeen { engine_id: EngineId::from_uuid(long(next()?)?), keeps_up: next()?.parse().ok()? },
        "c" => Hint::WorkersChanged,
        MISSED => Hint::Missed,
        _ => return None,
    })
}

/// Parses a lane as indexes name it.
fn lane(key: &str) -> Option<LaneId> {
    match key.split_once('/') {
        Some((namespace, name)) => Some(LaneId::parse(name).ok()?.within(&Namespace::parse(namespace).ok()?)),
        None => LaneId::parse(key).ok(),
    }
}

/// Returns a uuid in its shortest text form, so that many fit into one note.
fn short(uuid: Uuid) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(uuid.as_bytes())
}

fn long(text: &str) -> Option<Uuid> {
    Uuid::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use ff_core::lease::{Fence, LeaseEnding};
    use ff_core::types::{AttemptId, LeaseEpoch, LeaseId, Priority};

    use super::*;

    fn ready(partition: u16, priority: i64) -> Hint {
        Hint::Ready {
            partition,
            lane: LaneId::parse("mail").unwrap().within(&Namespace::parse("acme").unwrap()),
            kind: Kind::parse("send").unwrap(),
            class: RequirementClass::parse("gpu,region=eu").unwrap(),
            head: Head::new(Priority::new(priority).unwrap(), TimestampMs(5)),
        }
    }

    fn ended(nth: u128) -> Hint {
        Hint::Ended { execution_id: ExecutionId::new(255, Uuid::from_u128(nth)) }
    }

    fn everything() -> Vec<Hint> {
        let fence = Fence {
            lease_id: LeaseId::from_uuid(Uuid::from_u128(7)),
            lease_epoch: LeaseEpoch(8),
            attempt_id: AttemptId::from_uuid(Uuid::from_u128(9)),
        };
        let lost = LeaseLost { execution_id: ExecutionId::new(3, Uuid::max()), fence, ended: LeaseEnding::Revoked };
        let lane = LaneId::default_name().within(&Namespace::default_name());
        let head = Head::new(Priority::default(), TimestampMs(-1));
        vec![
            Hint::LeaseLost { worker_instance_id: WorkerInstanceId::parse("w-1").unwrap(), lost },
            Hint::SignalDelivered { partition: 9 },
            Hint::LaneFreed { partition: 2, lane: lane.clone() },
            Hint::EventRecorded { partition: 7 },
            ended(1),
            Hint::FlowMoved { flow_id: FlowId::from_uuid(Uuid::from_u128(5)) },
            Hint::FlowEnded { flow_id: FlowId::from_uuid(Uuid::from_u128(5)) },
            Hint::EngineSeen { engine_id: EngineId::from_uuid(Uuid::from_u128(6)), keeps_up: true },
            Hint::WorkersChanged,
            Hint::Missed,
            Hint::Ready { partition: 0, lane, kind: Kind::parse("k").unwrap(), class: RequirementClass::PLAIN, head },
            ready(9, 3),
            Hint::Due { partition: 4, at: TimestampMs(i64::MAX) },
            Hint::TickDue { partition: 3, at: TimestampMs(7) },
        ]
    }

    #[test]
    fn others_read_what_was_written_and_the_sender_hears_nothing() {
        let note = write("me", &everything());
        assert_eq!(read("you", &note), everything());
        assert_eq!(read("me", &note), []);
    }

    #[test]
    fn a_hello_holds_no_hints_and_says_who_came() {
        let note = hello("me");
        assert!(is_hello(&note) && sender(&note) == "me");
        assert_eq!(read("you", &note), []);
        assert!(!is_hello(&write("me", &[])) && !is_hello(&write("me", &everything())));
    }

    #[test]
    fn only_the_most_urgent_hint_is_sent() {
        let at = |at| Hint::Due { partition: 1, at: TimestampMs(at) };
        let hints = [ready(1, 0), ready(1, 9), ready(1, 5), at(9), at(3), at(7), ended(1), ended(1)];
        assert_eq!(read("you", &write("me", &hints)), [ended(1), ready(1, 9), at(3)]);
    }

    #[test]
    fn a_full_batch_of_ends_fits_and_what_does_not_says_to_look_everywhere() {
        let ends: Vec<_> = (0..256).map(|nth| ended(u128::MAX - nth)).collect();
        assert_eq!(read("you", &write("0123456789abcdef", &ends)), ends);
        let too_many: Vec<_> = (0..512).map(|nth| ended(u128::MAX - nth)).collect();
        assert_eq!(read("you", &write("0123456789abcdef", &too_many)), [Hint::Missed]);
    }

    #[test]
    fn an_unreadable_note_becomes_a_missed_hint() {
        for line in ["", "x", "r 1", "d one 2", "e 1 short", "f short", "p 1", "t", "l w {}"] {
            assert_eq!(read("you", &format!("me\n{line}\ns 1"))[0], Hint::Missed, "{line}");
        }
    }
}
