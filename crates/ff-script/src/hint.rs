//! The text of published hints: a line of words for each.

use ff_core::backend::hint::Hint;
use ff_core::lease::Fence;
use ff_core::lease::contracts::{Head, LeaseLost};
use ff_core::types::{LeaseEpoch, RequirementClass, TimestampMs};

use crate::lane::lane_of_index;
use crate::quota::slots_of;
use crate::record::ending;

/// Returns the hints of one message. A line that cannot be read may be any hint, so it becomes [`Hint::Missed`].
pub fn hints(message: &[u8]) -> Vec<Hint> {
    let text = str::from_utf8(message).unwrap_or_default();
    text.lines().map(|line| hint(line).unwrap_or(Hint::Missed)).collect()
}

/// Returns the message for these hints. A hint that only the store itself publishes becomes `missed`.
pub fn message(hints: &[Hint]) -> String {
    hints.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(hint: &Hint) -> String {
    match hint {
        Hint::Ready { partition, lane, kind, class, head: Head { behind, created_at } } => {
            let line = format!("ready {partition} {} {} {behind} {}", lane.as_str(), kind.as_str(), created_at.0);
            if class.is_plain() { line } else { format!("{line} {class}") }
        }
        Hint::WorkersChanged => "workers".to_owned(),
        Hint::EngineSeen { engine_id, keeps_up } => {
            format!("engine {engine_id} {}", if *keeps_up { "keeps_up" } else { "behind" })
        }
        Hint::FlushMarker { nonce } => format!("flush {nonce}"),
        _ => "missed".to_owned(),
    }
}

fn hint(line: &str) -> Option<Hint> {
    let mut words = line.split(' ');
    let mut word = || words.next();
    match word()? {
        "ready" => Some(Hint::Ready {
            partition: word()?.parse().ok()?,
            lane: lane_of_index(word()?)?,
            kind: word()?.parse().ok()?,
            head: Head { behind: word()?.parse().ok()?, created_at: TimestampMs(word()?.parse().ok()?) },
            class: RequirementClass::parse(word().unwrap_or_default()).ok()?,
        }),
        "due" => Some(Hint::Due { partition: word()?.parse().ok()?, at: TimestampMs(word()?.parse().ok()?) }),
        "tick" => Some(Hint::TickDue { partition: word()?.parse().ok()?, at: TimestampMs(word()?.parse().ok()?) }),
        "lost" => {
            let execution_id = word()?.parse().ok()?;
            let fence = Fence {
                lease_id: word()?.parse().ok()?,
                lease_epoch: LeaseEpoch(word()?.parse().ok()?),
                attempt_id: word()?.parse().ok()?,
            };
            let lost = LeaseLost { execution_id, fence, ended: ending(word()?, None).ok()? };
            Some(Hint::LeaseLost { worker_instance_id: word()?.parse().ok()?, lost })
        }
        "ended" => Some(Hint::Ended { execution_id: word()?.parse().ok()? }),
        "stream" => Some(Hint::StreamMoved { execution_id: word()?.parse().ok()? }),
        "moved" => Some(Hint::FlowMoved { flow_id: word()?.parse().ok()? }),
        "flow_ended" => Some(Hint::FlowEnded { flow_id: word()?.parse().ok()? }),
        "freed" => Some(Hint::LaneFreed { partition: word()?.parse().ok()?, lane: lane_of_index(word()?)? }),
        "slots" => {
            let (execution_id, epoch) = (word()?.parse().ok()?, LeaseEpoch(word()?.parse().ok()?));
            let slots = slots_of(line.splitn(4, ' ').nth(3)?)?;
            Some(Hint::SlotsFreed { execution_id, epoch, slots, shared: true })
        }
        "quota" => Some(Hint::QuotaDefined { policy_id: word()?.parse().ok()? }),
        "told" => Some(Hint::EventRecorded { partition: word()?.parse().ok()? }),
        "engine" => Some(Hint::EngineSeen { engine_id: word()?.parse().ok()?, keeps_up: word()? == "keeps_up" }),
        "workers" => Some(Hint::WorkersChanged),
        "flush" => Some(Hint::FlushMarker { nonce: word()?.parse().ok()? }),
        "delivered" => Some(Hint::SignalDelivered { partition: word()?.parse().ok()? }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_of_a_flow_are_parsed() {
        let flow_id = ff_core::types::FlowId::new();
        let read = hints(format!("moved {flow_id}\nflow_ended {flow_id}").as_bytes());
        assert_eq!(read, [Hint::FlowMoved { flow_id }, Hint::FlowEnded { flow_id }]);
    }

    #[test]
    fn room_in_a_lane_and_news_of_a_partition_are_read() {
        let lane = lane_of_index("acme/mail").unwrap();
        let read = hints(b"freed 7 acme/mail\ntold 9");
        assert_eq!(read, [Hint::LaneFreed { partition: 7, lane }, Hint::EventRecorded { partition: 9 }]);
    }

    #[test]
    fn slots_that_are_free_are_read() {
        let policy_id = ff_core::types::QuotaPolicyId::new();
        let id = "{fp:1}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";
        let read = hints(format!("slots {id} 3 {policy_id} 7 a b\nquota {policy_id}").as_bytes());
        let slots = vec![ff_core::quota::QuotaSlot { policy_id, key: "a b".into(), revision: 7 }];
        let freed = Hint::SlotsFreed { execution_id: id.parse().unwrap(), epoch: LeaseEpoch(3), slots, shared: true };
        assert_eq!(read, [freed, Hint::QuotaDefined { policy_id }]);
    }

    #[test]
    fn hints_of_an_engine_read_back_as_sent() {
        let lane = lane_of_index("acme/mail").unwrap();
        let head = Head { behind: 3, created_at: TimestampMs(5) };
        let engine_id = ff_core::types::EngineId::new();
        let ready = |class| Hint::Ready {
            partition: 7,
            lane: lane.clone(),
            kind: "send".parse().unwrap(),
            class: RequirementClass::parse(class).unwrap(),
            head,
        };
        let announced = [
            ready(""),
            ready("gpu,region=eu"),
            Hint::WorkersChanged,
            Hint::EngineSeen { engine_id, keeps_up: true },
            Hint::EngineSeen { engine_id, keeps_up: false },
            Hint::FlushMarker { nonce: *engine_id.as_uuid() },
            Hint::Missed,
        ];
        assert_eq!(hints(message(&announced).as_bytes()), announced);
    }

    #[test]
    fn a_message_of_another_program_costs_a_look_everywhere() {
        assert_eq!(hints(b"ended {fp:1}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c").len(), 1);
        for message in
            [&b"news of something else"[..], b"due x 1", b"freed 1", b"told", b"ended {fp:1}:x", b"ready 1 a"]
        {
            assert_eq!(hints(message), [Hint::Missed]);
        }
        assert_eq!(hints(b"due 7 123\nnonsense"), [Hint::Due { partition: 7, at: TimestampMs(123) }, Hint::Missed]);
    }
}
