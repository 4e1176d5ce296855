//! Asking whether an execution may go on that has spent more than a budget allows.

use ff_core::budget::OnHardLimit;
use ff_core::contracts::{BudgetStanding, BudgetStatus, UsageReported};
use ff_core::engine_error::{Code, Refusal};
use ff_core::step::{StepKind, StepRef};
use ff_core::suspension::{Condition, SignalSelection, SuspendReason};
use ff_core::types::IdempotencyKey;
use futures_util::future::BoxFuture;

use super::approval::decided;
use super::{Decision, Suspend, WaitError, WaitOutcome, suspend_handler};
use crate::worker::step::reference;
use crate::{Context, Error, Fault, Waitpoint};

/// Passes the waitpoint of the question on.
pub(in crate::worker) type Announcement = Box<dyn FnOnce(Waitpoint) -> BoxFuture<'static, Result<(), Fault>> + Send>;

/// The name under which these waits are recorded; the report is the key.
const STEP: &str = "usage report";

/// The wait at a report of usage. It is known by the report, so that a run that goes on finds the answer at the same report.
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

    /// The answer to the report from the run that was suspended at it; `None` without one. Refused when it is no.
    pub(in crate::worker) async fn answer(&self) -> Result<Option<UsageReported>, Error> {
        let Some((outcome, Some(note))) = suspend_handler::answer_to(&self.context, &self.step).await? else {
            return Ok(None);
        };
        check(outcome)?;
        serde_json::from_value(note).map(Some).map_err(Error::Decode)
    }

    /// Suspends the execution until an operator says whether it may go on, where a budget asks for that. Refused when the answer is no.
    pub(in crate::worker) async fn ask(
        self,
        reported: UsageReported,
        announce: Option<Announcement>,
    ) -> Result<UsageReported, Error> {
        let suspends = |one: &&BudgetStanding| {
            one.status == BudgetStatus::HardExceeded && one.on_hard_limit == OnHardLimit::Suspend
        };
        let over: Vec<_> = reported.budgets.iter().filter(suspends).collect();
        let Some(first) = over.first().filter(|_| !reported.late) else { return Ok(reported) };
        let note = serde_json::to_value(&reported).map_err(Error::Encode)?;
        let mut wait = Suspend::new(self.context, &format!("budget {}", first.budget))
            .reason(SuspendReason::PausedByBudget)
            .asking(&question(&over))
            .set(|plan| {
                plan.condition = Condition::approval(&plan.name);
                // Answers that came early are all handed over, so that the first of them can be told from the rest.
                plan.resume_policy.handed = SignalSelection::All;
                (plan.may_time_out, plan.step, plan.note) = (false, Some(self.step), Some(note));
            });
        if let Some(announce) = announce {
            wait = wait.announce(super::signal::only(announce));
        }
        check(wait.await?)?;
        Ok(reported)
    }
}

/// Refuses when the answer is no. A resume without a decision counts as yes.
fn check(outcome: WaitOutcome) -> Result<(), Error> {
    match decided(outcome) {
        Ok(Decision::Approved(_)) | Err(WaitError::Undecided { .. }) => Ok(()),
        Ok(Decision::Rejected(said)) => {
            let comment = said.comment.map(|comment| format!(": {comment}")).unwrap_or_default();
            let why = format!("{} rejected that the execution spends more{comment}", said.by);
            Err(Refusal::new(Code::BudgetExceeded).because(why).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// The question, in words for people.
fn question(over: &[&BudgetStanding]) -> String {
    let one = |standing: &&BudgetStanding| {
        let dimensions: Vec<_> = standing.exceeded.iter().map(ToString::to_string).collect();
        format!("budget {} is exceeded: {}", standing.budget, dimensions.join(", "))
    };
    let over: Vec<_> = over.iter().map(one).collect();
    format!("May it go on? {}", over.join("; "))
}
