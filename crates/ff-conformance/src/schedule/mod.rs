//! Conformance tests for schedules.

pub(crate) mod backfilling;
pub(crate) mod catching_up;
pub(crate) mod changing;
pub(crate) mod defining;
pub(crate) mod overlapping;
pub(crate) mod pausing;
pub(crate) mod targets;
pub(crate) mod ticking;

use ff_core::schedule::{CatchUp, Overlap, ScheduleDefinition, ScheduleTarget, TickOutcome, TickRecord, Timing};

use crate::prelude::*;

pub(crate) const MINUTE: u64 = 60_000;

/// A builder of schedules.
pub(crate) struct Plan {
    world: World,
    args: PutScheduleArgs,
}

impl Plan {
    /// Returns a schedule of this name that ticks every minute from now on.
    pub(crate) fn new(world: &World, name: &str) -> Self {
        let target = ScheduleTarget::Execution(Box::new(world.job("report").args()));
        let definition = ScheduleDefinition::new(Timing::EveryMs(MINUTE), target);
        Self { world: world.clone(), args: PutScheduleArgs { schedule: named(name), definition } }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut ScheduleDefinition)) -> Self {
        change(&mut self.args.definition);
        self
    }

    pub(crate) fn of(mut self, namespace: &str) -> Self {
        self.args.schedule.namespace = Namespace::parse(namespace).unwrap();
        self
    }

    pub(crate) fn starts(self, args: SubmitArgs) -> Self {
        self.with(|definition| definition.target = ScheduleTarget::Execution(Box::new(args)))
    }

    pub(crate) fn overlap(self, overlap: Overlap) -> Self {
        self.with(|definition| definition.overlap = overlap)
    }

    pub(crate) fn catch_up(self, which: CatchUp, window_ms: u64) -> Self {
        self.with(|definition| (definition.catch_up, definition.catch_up_ms) = (which, window_ms))
    }

    pub(crate) async fn try_put(self) -> Answer<ScheduleInfo> {
        self.world.backend.put_schedule(self.args).await
    }

    pub(crate) async fn put(self) -> ScheduleInfo {
        self.try_put().await.unwrap()
    }
}

pub(crate) fn named(name: &str) -> ScheduleRef {
    ScheduleRef { namespace: Namespace::default_name(), name: ScheduleName::parse(name).unwrap() }
}

pub(crate) async fn show(world: &World, name: &str) -> ScheduleInfo {
    world.backend.describe_schedule(named(name)).await.unwrap()
}

/// Returns the recorded ticks of a schedule.
pub(crate) async fn ticks(world: &World, name: &str) -> Vec<TickRecord> {
    show(world, name).await.schedule.ticks
}

/// Returns the outcomes of the recorded ticks.
pub(crate) async fn outcomes(world: &World, name: &str) -> Vec<TickOutcome> {
    ticks(world, name).await.into_iter().map(|tick| tick.outcome).collect()
}

/// Returns every execution that was submitted, up to a page.
pub(crate) async fn everything(world: &World) -> Vec<ExecutionInfo> {
    let filter = Filter::everything(Namespace::default_name());
    world.backend.list(ListArgs { filter, after: None, limit: limits::PAGE }).await.unwrap().executions
}
