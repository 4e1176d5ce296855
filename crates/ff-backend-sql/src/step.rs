//! The domain of steps: recorded steps as rows, and their queries.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{ListStepsArgs, StepsPage};
use ff_core::limits;
use ff_core::step::{Step, StepHead, StepOutcome, StepRef, page_end};
use ff_core::types::ExecutionId;

use crate::ReadContext;
use crate::error::SqlError;
use crate::execution::found;
use crate::session::{Key, Put, Question, Read, key_of, longer};
use crate::table::record;
use crate::table::value::{Row, Value};

/// Selects every step of an execution, without the bytes of results.
pub(crate) const STEP_HEADS_OF: &str = "SELECT record FROM step WHERE uuid = $1 AND partition = $2 ORDER BY seq";

/// Selects the numbers and sizes of the next steps.
pub(crate) const STEP_SIZES_AFTER: &str = "\
    SELECT seq, bytes FROM step WHERE uuid = $1 AND partition = $2 AND seq > $3 ORDER BY seq LIMIT $4";

/// Selects the steps after a number up to another, with their results.
pub(crate) const STEPS_TO: &str = "\
    SELECT record, result FROM step WHERE uuid = $1 AND partition = $2 AND seq > $3 AND seq <= $4 ORDER BY seq";

/// Selects every step of a partition. Used only by the doctor.
pub(crate) const STEPS_ON: &str = "SELECT uuid, record, result FROM step WHERE partition = $1";

/// Returns the key of a step's row.
pub(crate) fn key_of_step(id: &ExecutionId, step: &StepRef) -> Key {
    longer(key_of(id), [step.kind.as_str(), step.name.as_str(), step.key.as_str()].map(Value::from))
}

/// Returns the row of a new step.
pub(crate) fn step_of(id: &ExecutionId, step: &Step) -> Result<Put, SqlError> {
    let result = match &step.outcome {
        StepOutcome::Succeeded { result } => Value::Bytes(result.bytes.clone()),
        StepOutcome::Failed { .. } => Value::Null,
    };
    let values = [Value::number(step.seq), Value::number(step.size()), record::written(&step.head())?, result];
    Ok(Put::new(longer(key_of_step(id, &step.step), values)))
}

/// Reads a step from its record at `at` and its result in the next column.
pub(crate) fn read_step(row: &Row, at: usize) -> Result<Step, SqlError> {
    let head: StepHead = record::read(row.text(at)?)?;
    let result = if row.is_null(at + 1) { bytes::Bytes::new() } else { row.bytes(at + 1)? };
    Ok(head.with_result(result))
}

/// Returns the parameters of a query of an execution's steps after a number.
pub(crate) fn after(id: &ExecutionId, after: Option<u32>, to: impl Into<Value>) -> Vec<Value> {
    let after = after.map_or(-1, i64::from);
    longer(key_of(id), [Value::Int(after), to.into()])
}

#[async_trait]
impl Question for ListStepsArgs {
    type Answer = StepsPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<StepsPage> {
        let execution = found(reader, &self.execution_id).await?;
        if execution.steps.is_none() {
            return Ok(StepsPage::default());
        }
        Ok(page(reader, &self).await?)
    }
}

/// Returns a page of steps. Sizes are read first, so that no more results are read than the page has.
async fn page(reader: &mut dyn Read, args: &ListStepsArgs) -> Result<StepsPage, SqlError> {
    let next = after(&args.execution_id, args.after, Value::number(args.limit + 1));
    let mut sizes = Vec::new();
    for row in reader.query(STEP_SIZES_AFTER, &[next]).await?.iter().flatten() {
        sizes.push((row.count(0)?, row.count(1)?));
    }
    let Some((last, is_more)) = page_end(sizes, args.limit, limits::PAGE_BYTES) else {
        return Ok(StepsPage::default());
    };
    let rows = reader.query(STEPS_TO, &[after(&args.execution_id, args.after, Value::number(last))]).await?;
    let steps = rows.iter().flatten().map(|row| read_step(row, 0)).collect::<Result<_, _>>()?;
    Ok(StepsPage { steps, next: is_more.then_some(last) })
}
