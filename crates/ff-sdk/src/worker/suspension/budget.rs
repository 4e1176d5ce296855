//! The wait for an approval when an execution has spent more than a budget allows.

use ff_core::budget::OnHardLimit;
use ff_core::contracts::{BudgetState, BudgetStatus, UsageReported};
use ff_core::engine_error::{Code, Refusal};
use ff_core::step::{StepKind, StepRef};
use ff_core::suspension::{Condition, SignalSelection, SuspendReason};
use ff_core::types::IdempotencyKey;
use futures_util::future::BoxFuture;

use super::approval::decided;
use super::{Decision, Suspend, WaitError, WaitOutcome, suspend_handler};
use crate::worker::step::reference;
use crate::{Context, Error, Fault, Waitpoint};

/// A function that gets the waitpoint of the approval.
pub(in crate::worker) type Announcement = Box<dyn FnOnce(Waitpoint) -> BoxFuture<'static, Result<(), Fault>> + Send>;

/// The step name under which these waits are recorded. The key of the step is the id of the usage report.
const STEP: &str = "usage report";

/// The wait at a usage report. It is identified by the report, so that a resumed run finds the answer at the same report.
pub(in crate::worker) struct BudgetPause {
    context: Context,
    step: StepRef,
}

impl BudgetPause {
    pub(in crate::worker) fn at(context: &Context, report_id: &IdempotencyKey) -> Result<Self, Error> {
        let named = |refusal: Refusal| Refusal { field: Some("report_id".into()), ..refusal };
        let step = reference(StepKind::Wait, STEP, report_id.as_str()).map_err(named)?;
        Ok(Self { context: context.clone(), step })
    }

    /// Returns the answer to the usage report from the run that was suspended at it; `None` if no run was. Refused when the
    /// decision is a rejection.
    pub(in crate::worker) async fn answer(&self) -> Result<Option<UsageReported>, Error> {
        let Some((outcome, Some(note))) = suspend_handler::answer_to(&self.context, &self.step).await? else {
            return Ok(None);
        };
        check(outcome)?;
        serde_json::from_value(note).map(Some).map_err(Error::Decode)
    }

    /// Suspends the execution until an operator decides whether it may continue, if an exceeded budget demands that. Refused
    /// when the decision is a rejection.
    pub(in crate::worker) async fn ask(
        self,
        reported: UsageReported,
        announce: Option<Announcement>,
    ) -> Result<UsageReported, Error> {
        let suspends =
            |one: &&BudgetState| one.status == BudgetStatus::HardExceeded && one.on_hard_limit == OnHardLimit::Suspend;
        let over: Vec<_> = reported.budgets.iter().filter(suspends).collect();
        let Some(first) = over.first().filter(|_| !reported.late) else { return Ok(reported) };
        let note = serde_json::to_value(&reported).map_err(Error::Encode)?;
        let mut wait = Suspend::new(self.context, &format!("budget {}", first.budget))
            .reason(SuspendReason::PausedByBudget)
            .asking(&question(&over))
            .set(|plan| {
                plan.condition = Condition::approval(&plan.name);
                // Request all answers that came early, so that the first of them can be found.
                plan.resume_policy.signals = SignalSelection::All;
                (plan.may_time_out, plan.step, plan.note) = (false, Some(self.step), Some(note));
            });
        if let Some(announce) = announce {
            wait = wait.announce(super::signal::only(announce));
        }
        check(wait.await?)?;
        Ok(reported)
    }
}

/// Refuses a rejection. A resume without a decision counts as an approval.
fn check(outcome: WaitOutcome) -> Result<(), Error> {
    match decided(outcome) {
        Ok(Decision::Approved(_)) | Err(WaitError::Undecided { .. }) => Ok(()),
        Ok(Decision::Rejected(verdict)) => {
            let comment = verdict.comment.map(|comment| format!(": {comment}")).unwrap_or_default();
            let why = format!("{} rejected that the execution spends more{comment}", verdict.by);
            Err(Refusal::new(Code::BudgetExceeded).because(why).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the question to the operator.
fn question(over: &[&BudgetState]) -> String {
    let one = |standing: &&BudgetState| {
        let dimensions: Vec<_> = standing.exceeded.iter().map(ToString::to_string).collect();
        format!("budget {} is exceeded: {}", standing.budget, dimensions.join(", "))
    };
    let over: Vec<_> = over.iter().map(one).collect();
    format!("May it go on? {}", over.join("; "))
}
