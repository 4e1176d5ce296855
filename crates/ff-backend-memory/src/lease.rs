//! The domain of leases, over the model.

use ff_core::backend::Answer;
use ff_core::contracts::{ClaimDecision, ClaimedExecution, Claims, Task};
use ff_core::limits;
use ff_core::model::Model;

use crate::execution::payload_of;
use crate::flow;
use crate::signal::resumption_signals;

/// Returns the claimed executions with their payloads, signals, inputs and steps.
pub(crate) fn claims(model: &Model, decision: ClaimDecision) -> Answer<Claims> {
    let with_payload = |task: Task| {
        let payload = payload_of(model, &task.execution_id)?;
        let resumption = task.resumption.as_ref();
        let signals = resumption.map_or(Ok(vec![]), |r| resumption_signals(model, &task.execution_id, r))?;
        let passed = task.flow.as_ref().filter(|flow| flow.inputs > 0);
        let inputs = passed.map_or(vec![], |of| flow::inputs(model, &of.flow_id, &task.execution_id));
        let steps = model.steps_page(&task.execution_id, None, limits::PAGE, limits::CLAIM_STEP_BYTES);
        Ok(ClaimedExecution { task, payload, signals, inputs, steps })
    };
    let claimed = decision.tasks.into_iter().map(with_payload).collect::<Answer<_>>()?;
    Ok(Claims { claimed, next: decision.next, limited: decision.limited, admissions: decision.admissions })
}
