//! Loads the steps that a batch has missed, writes its changed steps, and reads the steps that claims attach.

use std::collections::BTreeSet;

use ff_core::contracts::StepsPage;
use ff_core::limits;
use ff_core::rule::change::Write;
use ff_core::step::{Step, StepCounter, StepHead, page_end};
use ff_core::types::ExecutionId;

use super::suspensions::load;
use crate::batch_state::{BatchState, StepChanges, StepIdentity, StepRecords};
use crate::error::SqlError;
use crate::execution::Body;
use crate::session::{Read, Session, delete_all, key_of, put_all};
use crate::step::{STEP_HEADS_OF, STEP_SIZES_AFTER, STEPS_TO, after, key_of_step, read_step, step_of};
use crate::table::record;
use crate::table::schema::STEP;
use crate::table::value::Value;

/// The misses of a batch, each once, and always in the same order.
#[derive(Clone, Default)]
pub(super) struct StepMisses {
    pub(super) steps: BTreeSet<StepIdentity>,
    pub(super) heads: BTreeSet<ExecutionId>,
    pub(super) payloads: BTreeSet<ExecutionId>,
}

impl StepMisses {
    /// Loads all misses. An unreadable record fails only the operations that need it.
    pub(super) async fn load(self, reader: &mut dyn Read, state: &mut BatchState) -> Result<(), SqlError> {
        let key = |(id, step): &StepIdentity| key_of_step(id, step);
        let table = (&STEP, &["record", "result"][..]);
        load(reader, &mut state.steps.records, self.steps, table, key, |_, row| read_step(row, 0)).await?;
        let keys: Vec<_> = self.heads.iter().map(key_of).collect();
        for (id, rows) in self.heads.into_iter().zip(reader.query(STEP_HEADS_OF, &keys).await?) {
            let heads = rows.iter().map(|row| record::read::<StepHead>(row.text(0)?));
            let heads = heads.collect::<Result<_, SqlError>>().map_err(|error| error.to_string());
            state.steps.lay_heads(id, heads);
        }
        load_payloads(reader, state, self.payloads).await
    }
}

/// Loads payloads with the batch's changes. For a payload that another execution's result replaces, that result is read.
async fn load_payloads(
    reader: &mut dyn Read,
    state: &mut BatchState,
    ids: BTreeSet<ExecutionId>,
) -> Result<(), SqlError> {
    let (mut own, mut injected) = (Vec::new(), Vec::new());
    for id in ids {
        match state.side_writes.payloads.get(&id) {
            Some(Write::Put(payload)) => state.steps.lay_payload(id, Some(payload.clone())),
            Some(Write::ResultOf(other)) => injected.push((id, *other)),
            Some(Write::Keep | Write::Remove) | None => own.push(id),
        }
    }
    let payloads = Body::Payload.of(reader, &own).await?;
    own.into_iter().for_each(|id| state.steps.lay_payload(id, payloads.get(&id).cloned()));
    let others: Vec<_> = injected.iter().map(|(_, other)| *other).collect();
    let results = Body::Result.of(reader, &others).await?;
    injected.into_iter().for_each(|(id, other)| state.steps.lay_payload(id, results.get(&other).cloned()));
    Ok(())
}

/// Deletes the removed steps first and then adds the recorded ones, which may reuse the numbers.
pub(super) async fn write_steps(session: &mut dyn Session, steps: &StepRecords) -> Result<bool, SqlError> {
    let mut written = delete_all(session, &STEP, steps.cleared().map(key_of).collect()).await?;
    let gone = steps.gone().map(|(id, step)| key_of_step(id, step));
    written |= delete_all(session, &STEP, gone.collect()).await?;
    let recorded = steps.records.written().map(|((id, _), step)| step_of(id, step));
    written |= put_all(session, &STEP, recorded.collect::<Result<_, _>>()?).await?;
    Ok(written)
}

/// The steps to attach to a claim: their counter, and the batch's changes when the claim was decided.
pub(super) struct WantedSteps {
    counter: StepCounter,
    changes: StepChanges,
}

impl WantedSteps {
    /// Returns none for an execution without steps.
    pub(super) fn of(state: &BatchState, id: &ExecutionId) -> Option<Self> {
        let counter = state.counted_steps(id)?;
        Some(Self { counter, changes: state.steps.changes(id) })
    }

    fn comes_whole(&self) -> bool {
        self.counter.bytes <= limits::CLAIM_STEP_BYTES as u64
            && (self.counter.count + self.counter.undos) as usize <= limits::PAGE
    }

    /// Returns where the claim's page of steps ends, given the numbers and sizes of the stored steps.
    fn end(&self, stored: Vec<(u32, u64)>) -> Option<(u32, bool)> {
        let mut sizes: Vec<_> = stored.into_iter().filter(|(seq, _)| !self.changes.gone.contains(seq)).collect();
        sizes.extend(self.changes.recorded.iter().map(|step| (step.seq, step.size())));
        sizes.sort_unstable();
        page_end(sizes, limits::PAGE, limits::CLAIM_STEP_BYTES)
    }

    /// Returns the page of steps up to this end.
    fn page(self, (last, is_more): (u32, bool), stored: Vec<Step>) -> StepsPage {
        let mut steps: Vec<_> = stored.into_iter().filter(|step| !self.changes.gone.contains(&step.seq)).collect();
        steps.extend(self.changes.recorded.into_iter().filter(|step| step.seq <= last));
        steps.sort_by_key(|step| step.seq);
        StepsPage { steps, next: is_more.then_some(last) }
    }
}

/// Returns the pages of steps of claims, in the order of the claims.
pub(super) async fn steps_of_claims(
    reader: &mut dyn Read,
    wanted: Vec<(ExecutionId, WantedSteps)>,
) -> Result<Vec<StepsPage>, SqlError> {
    let reads_sizes = |wanted: &WantedSteps| !wanted.changes.cleared && !wanted.comes_whole();
    let large = wanted.iter().filter(|(_, wanted)| reads_sizes(wanted));
    let most = |wanted: &WantedSteps| limits::PAGE + 1 + wanted.changes.gone.len();
    let keys: Vec<_> = large.map(|(id, wanted)| after(id, None, Value::number(most(wanted)))).collect();
    let mut sizes = reader.query(STEP_SIZES_AFTER, &keys).await?.into_iter();
    let mut ends = Vec::with_capacity(wanted.len());
    for (_, wanted) in &wanted {
        let rows = if reads_sizes(wanted) { sizes.next().unwrap_or_default() } else { Vec::new() };
        let stored = rows.iter().map(|row| Ok((row.count(0)?, row.count(1)?))).collect::<Result<_, SqlError>>()?;
        let whole = wanted.comes_whole().then_some((u32::MAX, false));
        ends.push(whole.or_else(|| wanted.end(stored)).unwrap_or((u32::MAX, false)));
    }
    let stored = wanted.iter().zip(&ends).filter(|((_, wanted), _)| !wanted.changes.cleared);
    let keys: Vec<_> = stored.map(|((id, _), (last, _))| after(id, None, Value::number(*last))).collect();
    let mut rows = reader.query(STEPS_TO, &keys).await?.into_iter();
    let mut pages = Vec::with_capacity(wanted.len());
    for ((_, wanted), end) in wanted.into_iter().zip(ends) {
        let stored = if wanted.changes.cleared { Vec::new() } else { rows.next().unwrap_or_default() };
        let stored = stored.iter().map(|row| read_step(row, 0)).collect::<Result<_, _>>()?;
        pages.push(wanted.page(end, stored));
    }
    Ok(pages)
}
