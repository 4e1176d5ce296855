//! Queues of singleton and debounce keys, and places in the queues of lanes.

use super::Model;
use crate::execution::{Execution, Phase};
use crate::explain::{AHEAD_MAX, HOLDERS_MAX, QueueArgs, QueueFacts};
use crate::singleton::KeyQueue;

impl Model {
    /// Writes the queues of singleton and debounce keys. An empty queue is removed.
    pub(super) fn write_key_queues(&mut self, queues: Vec<KeyQueue>) {
        for queue in queues {
            let name = (queue.namespace.clone(), queue.name.clone());
            if queue.executions.is_empty() {
                self.key_queues.remove(&name);
            } else {
                self.key_queues.insert(name, queue);
            }
        }
    }

    /// Returns the configuration of an execution's lane, and the work ahead of the execution.
    pub fn queue_facts(&self, args: &QueueArgs) -> QueueFacts {
        let key = args.lane.within(&args.namespace);
        let settings = self.lane_info(&key).settings;
        let own = args.execution_id.partition();
        let is_ahead = |one: &&Execution| {
            let older = one.created_at < args.created_at;
            let same_age = one.created_at == args.created_at && one.id.partition() == own && one.id < args.execution_id;
            one.phase == Phase::Waiting
                && one.kind == args.kind
                && one.class() == args.class
                && one.fair_key == args.key
                && one.lane_key() == key
                && (one.priority > args.priority || (one.priority == args.priority && (older || same_age)))
        };
        let ahead =
            self.executions.values().filter(is_ahead).take(usize::try_from(AHEAD_MAX + 1).unwrap_or(usize::MAX));
        let is_limited = settings.concurrency.is_some();
        let mut facts = QueueFacts { settings, ahead: ahead.count() as u64, ..QueueFacts::default() };
        facts.keys_ahead = self.turns.ahead_of(&args.turn(), &args.turn_queue());
        if is_limited {
            let held = self.executions.values().filter_map(|one| match &one.phase {
                Phase::Running { lease } if one.lane_key() == key => Some((lease.acquired_at, one.id)),
                _ => None,
            });
            let mut held: Vec<_> = held.collect();
            held.sort_unstable();
            facts.active = held.len() as u64;
            facts.running = held.into_iter().take(HOLDERS_MAX).map(|(_, id)| id).collect();
        }
        facts
    }
}
