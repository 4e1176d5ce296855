//! The attachments of a batch's claims: payloads, signals, steps and the results that other executions pass on. An attachment
//! that the batch itself has changed is copied when the claim is decided, because it may change again later in the batch. Stored
//! attachments are read for all claims together, in the same transaction.

use std::collections::HashMap;

use ff_core::backend::Answer;
use ff_core::contracts::{
    AdmittedClaim, AdmittedClaims, ClaimDecision, ClaimedExecution, Claims, GrantedClaim, GrantedClaims, Input,
    StepsPage, Task,
};
use ff_core::engine_error::EngineError;
use ff_core::limits;
use ff_core::operation::{Operation, Reply};
use ff_core::payload::Payload;
use ff_core::rule::change::Write;
use ff_core::rule::view::{EdgesOf, View};
use ff_core::types::ExecutionId;

use super::QueuedOperation;
use super::signals::ClaimSignals;
use super::steps::{WantedSteps, steps_of_claims};
use crate::batch_state::{BatchState, all_into};
use crate::error::SqlError;
use crate::execution::Body;
use crate::session::{Load, Read, key_of};

/// The attachments of a claimed execution that the batch knows.
pub(super) struct ClaimAttachments {
    payload: Source,
    inputs: Vec<Input>,
    /// Executions whose stored results are still to be put into `inputs`.
    awaited: Vec<ExecutionId>,
    /// None when the execution has no steps, and once they are loaded.
    wanted_steps: Option<WantedSteps>,
    steps: StepsPage,
}

/// The source of a payload.
enum Source {
    Batch(Payload),
    Stored,
    ResultOf(ExecutionId),
}

/// Returns the attachments of a reply's executions. Needs the edges into the executions with inputs to be loaded.
pub(super) fn attachments(state: &BatchState, reply: &Reply) -> Vec<ClaimAttachments> {
    tasks(reply).iter().map(|task| attachment(state, task)).collect()
}

/// Returns the edges that pass inputs to the executions of a reply.
pub(super) fn edges_of_inputs(reply: &Reply) -> impl Iterator<Item = EdgesOf> {
    tasks(reply).iter().filter_map(edges_into)
}

fn edges_into(task: &Task) -> Option<EdgesOf> {
    let flow = task.flow.as_ref().filter(|flow| flow.inputs > 0)?;
    Some(all_into(flow.flow_id, task.execution_id))
}

fn attachment(state: &BatchState, task: &Task) -> ClaimAttachments {
    let payload = match state.side_writes.payloads.get(&task.execution_id) {
        Some(Write::Put(payload)) => Source::Batch(payload.clone()),
        Some(Write::ResultOf(other)) => Source::ResultOf(*other),
        Some(Write::Keep | Write::Remove) | None => Source::Stored,
    };
    let edges = edges_into(task).and_then(|query| Some((query.flow, state.edges(&query).ok()?)));
    let edges = edges.into_iter().flat_map(|(flow, ids)| ids.into_iter().map(move |id| (flow, id)));
    let edges: Vec<_> = edges.filter_map(|(flow, id)| state.edge(&flow, &id).ok().flatten()).collect();
    let mut awaited = Vec::new();
    let inputs = Input::of_edges(edges, |upstream| match state.side_writes.results.get(upstream) {
        Some(Write::Put(result)) => Some(result.clone()),
        Some(_) => None,
        None => {
            awaited.push(*upstream);
            None
        }
    });
    let wanted_steps = WantedSteps::of(state, &task.execution_id);
    ClaimAttachments { payload, inputs, awaited, wanted_steps, steps: StepsPage::default() }
}

/// Returns the load of the payloads that a claim will need, if its list of waiting executions is known while another record is
/// still missed. Only for a batch of one claim: of several claims, each one's executions are known only when it is decided.
pub(super) fn payloads_ahead(state: &BatchState, batch: &[QueuedOperation]) -> Option<Load> {
    let [QueuedOperation { operation: Operation::Claim(args), .. }] = batch else { return None };
    let first = state.waiting(args).take(args.max.min(limits::CLAIM_AT_ONCE));
    let keys: Vec<_> = first.filter(|id| !state.small_payloads.contains_key(id)).map(key_of).collect();
    (!keys.is_empty()).then(|| Body::Payload.load(keys))
}

/// Attaches to every claim its payloads, inputs, steps and signals, with one query per table for the stored ones.
pub(super) async fn attach(
    reader: &mut dyn Read,
    state: &BatchState,
    mut replies: Vec<Answer<(Reply, Vec<ClaimAttachments>)>>,
) -> Result<Vec<Answer<Reply>>, SqlError> {
    let (mut own, mut others, mut at_hand) = (Vec::new(), Vec::new(), Vec::new());
    for (reply, attachments) in replies.iter().flatten() {
        for (task, attachments) in tasks(reply).iter().zip(attachments) {
            match &attachments.payload {
                Source::Batch(_) => {}
                Source::Stored => match state.small_payloads.get(&task.execution_id) {
                    Some(payload) => at_hand.push((task.execution_id, payload.clone())),
                    None => own.push(task.execution_id),
                },
                Source::ResultOf(other) => others.push(*other),
            }
            others.extend(&attachments.awaited);
        }
    }
    attach_steps(reader, &mut replies).await?;
    let mut payloads = Body::Payload.of(reader, &own).await?;
    payloads.extend(at_hand);
    let found = StoredAttachments {
        payloads,
        results: Body::Result.of(reader, &others).await?,
        signals: ClaimSignals::find(reader, state, replies.iter().flatten().flat_map(|(reply, _)| tasks(reply)))
            .await?,
    };
    Ok(replies
        .into_iter()
        .map(|reply| reply.and_then(|(reply, attachments)| found.complete(reply, attachments)))
        .collect())
}

/// Attaches the first steps to every claim of an execution that has steps.
async fn attach_steps(
    reader: &mut dyn Read,
    replies: &mut [Answer<(Reply, Vec<ClaimAttachments>)>],
) -> Result<(), SqlError> {
    let (mut wanted, mut places) = (Vec::new(), Vec::new());
    for (reply, attachments) in replies.iter_mut().flatten() {
        for (task, attachments) in tasks(reply).iter().zip(attachments) {
            if let Some(steps) = attachments.wanted_steps.take() {
                wanted.push((task.execution_id, steps));
                places.push(&mut attachments.steps);
            }
        }
    }
    for (place, page) in places.into_iter().zip(steps_of_claims(reader, wanted).await?) {
        *place = page;
    }
    Ok(())
}

/// The attachments that were loaded from the store.
struct StoredAttachments {
    payloads: HashMap<ExecutionId, Payload>,
    results: HashMap<ExecutionId, Payload>,
    signals: ClaimSignals,
}

impl StoredAttachments {
    /// Returns the reply with the attachments of its claims.
    fn complete(&self, reply: Reply, attachments: Vec<ClaimAttachments>) -> Answer<Reply> {
        Ok(match reply {
            Reply::ClaimDecision(decision) => Reply::Claimed(self.claims(decision, attachments)?),
            Reply::ClaimGranted(GrantedClaim { decision, count }) => {
                Reply::GrantClaimed(GrantedClaims { claims: self.claims(decision, attachments)?, count })
            }
            Reply::ClaimAdmitted(AdmittedClaim { decision, count, running }) => {
                Reply::AdmittedClaimed(AdmittedClaims { claims: self.claims(decision, attachments)?, count, running })
            }
            complete => complete,
        })
    }

    fn claims(&self, decision: ClaimDecision, attachments: Vec<ClaimAttachments>) -> Answer<Claims> {
        let ClaimDecision { tasks, next, limited, admissions } = decision;
        let claimed = tasks.into_iter().zip(attachments).map(|(task, attachments)| self.claimed(task, attachments));
        Ok(Claims { claimed: claimed.collect::<Answer<_>>()?, next, limited, admissions })
    }

    fn claimed(&self, task: Task, attachments: ClaimAttachments) -> Answer<ClaimedExecution> {
        let id = task.execution_id;
        let payload = match attachments.payload {
            Source::Batch(payload) => Some(payload),
            Source::Stored => self.payloads.get(&id).cloned(),
            Source::ResultOf(other) => self.results.get(&other).cloned(),
        };
        let payload = payload.ok_or_else(|| EngineError::Corrupt(format!("{id} has lost its payload")))?;
        let mut inputs = attachments.inputs;
        for input in inputs.iter_mut().filter(|input| attachments.awaited.contains(&input.from)) {
            input.payload = self.results.get(&input.from).cloned();
        }
        Ok(ClaimedExecution { payload, signals: self.signals.to(&task)?, inputs, steps: attachments.steps, task })
    }
}

fn tasks(reply: &Reply) -> &[Task] {
    match reply {
        Reply::ClaimDecision(decision) => &decision.tasks,
        Reply::ClaimGranted(granted) => &granted.decision.tasks,
        Reply::ClaimAdmitted(admitted) => &admitted.decision.tasks,
        _ => &[],
    }
}
