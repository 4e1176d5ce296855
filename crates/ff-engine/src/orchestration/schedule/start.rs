//! Starting the work of a tick, checking whether it is live, and cancelling it.

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{CancelArgs, CancelFlowArgs};
use ff_core::engine_error::{Class, Code, EngineError, Refusal};
use ff_core::flow::CancelPolicy;
use ff_core::schedule::{Schedule, ScheduleTarget, SkipReason, StartedWork, TickOutcome, TickRecord, Turn};
use ff_core::singleton::KeyConflict;
use ff_core::types::{FlowId, TimestampMs};

use crate::orchestration::{Orchestration, ask};

/// The outcome of the start of a tick.
pub(super) enum StartOutcome {
    Started(StartedWork),
    /// A live execution has the same singleton key.
    SingletonConflict(StartedWork),
    Refused(String),
}

impl StartOutcome {
    pub(super) fn note(self, turn: &mut Turn, tick: TimestampMs) {
        match self {
            Self::Started(work) => turn.started(tick, work),
            Self::SingletonConflict(work) => turn.singleton_conflict(tick, work),
            Self::Refused(why) => turn.refused(tick, why),
        }
    }

    pub(super) fn note_in(self, record: &mut TickRecord) {
        let work = match self {
            Self::Started(work) => work,
            Self::SingletonConflict(work) => {
                (record.outcome, record.reason) = (TickOutcome::Skipped, Some(SkipReason::Singleton));
                work
            }
            Self::Refused(why) => {
                (record.outcome, record.detail) = (TickOutcome::Refused, Some(why));
                return;
            }
        };
        match work {
            StartedWork::Execution(id) => record.execution_id = Some(id),
            StartedWork::Flow(id) => record.flow_id = Some(id),
        }
    }
}

/// Submits the work of a tick. A repeated submission finds the existing work.
pub(super) async fn start<S: EngineStore + ?Sized>(
    store: &S,
    schedule: &Schedule,
    tick: TimestampMs,
) -> Answer<StartOutcome> {
    match schedule.definition.target.at_tick(&schedule.tick(tick)) {
        Ok(ScheduleTarget::Execution(args)) => {
            let id = args.execution_id(&store.partitions());
            match ask(store, *args).await {
                Ok(submitted) if submitted.conflict == Some(KeyConflict::Skipped) => {
                    Ok(StartOutcome::SingletonConflict(StartedWork::Execution(submitted.execution_id)))
                }
                Ok(submitted) => Ok(StartOutcome::Started(StartedWork::Execution(submitted.execution_id))),
                Err(error) => refused(error, StartedWork::Execution(id)),
            }
        }
        Ok(ScheduleTarget::Flow(args)) => {
            let id: FlowId = args.header.flow_id;
            match store.submit_flow(*args).await {
                Ok(submitted) => Ok(StartOutcome::Started(StartedWork::Flow(submitted.flow_id))),
                Err(error) => refused(error, StartedWork::Flow(id)),
            }
        }
        Err(refusal) => Ok(StartOutcome::Refused(describe(&refusal))),
    }
}

/// Interprets a refused start. Only the tick's own work has the tick's key, so a conflict means that it was started before the
/// schedule was redefined.
fn refused(error: EngineError, work: StartedWork) -> Answer<StartOutcome> {
    match error {
        EngineError::Refused(refusal) if refusal.code == Code::IdempotencyConflict => Ok(StartOutcome::Started(work)),
        EngineError::Refused(refusal) if refusal.code.class() != Class::Retryable => {
            Ok(StartOutcome::Refused(describe(&refusal)))
        }
        error => Err(error),
    }
}

fn describe(refusal: &Refusal) -> String {
    let what = refusal.detail.as_deref().unwrap_or(refusal.code.sentence());
    match &refusal.field {
        Some(field) => format!("{}: {field}: {what}", refusal.code),
        None => format!("{}: {what}", refusal.code),
    }
}

/// Returns whether the started work is live. For a while from now on, the store sends the hint of its end.
pub(super) async fn lives<S: EngineStore + ?Sized>(store: &S, work: StartedWork) -> Answer<bool> {
    let has_ended = match work {
        StartedWork::Execution(id) => store.end_of(&id).await.map(|end| end.is_some()),
        StartedWork::Flow(id) => store.end_of_flow(&id).await.map(|end| end.is_some()),
    };
    match has_ended {
        Ok(has_ended) => Ok(!has_ended),
        Err(EngineError::Refused(refusal)) if matches!(refusal.code, Code::ExecutionNotFound | Code::FlowNotFound) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Cancels the work of the previous tick. Work that has ended in the meantime needs no cancelling.
pub(super) async fn cancel<S: EngineStore + ?Sized>(store: &S, schedule: &Schedule, work: StartedWork) -> Answer<()> {
    let reason = Some("the next tick of its schedule has come".to_owned());
    let requested_by = Some(format!("schedule {}", schedule.name));
    let cancelled = match work {
        StartedWork::Execution(execution_id) => {
            store.cancel(CancelArgs { execution_id, reason, requested_by }).await.map(drop)
        }
        StartedWork::Flow(flow_id) => {
            let args = CancelFlowArgs { flow_id, policy: CancelPolicy::CancelAll, reason, requested_by };
            store.cancel_flow(args).await.map(drop)
        }
    };
    match cancelled {
        Err(EngineError::Refused(refusal)) if refusal.code.class() != Class::Retryable => Ok(()),
        other => other,
    }
}
