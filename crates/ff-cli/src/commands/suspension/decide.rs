//! Decisions on suspended executions, without a token: an operator approves, rejects or resumes.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Args, Subcommand};
use ff_core::budget::BudgetDefinition;
use ff_core::contracts::{BudgetRef, PutBudgetArgs, ResumeArgs};
use ff_core::engine_error::Code;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::suspension::OperatorDecision;
use ff_core::types::{BudgetName, ContentType, Dimension, SourceIdentity, SuspensionId};

use crate::args::{IdArg, Input, span};
use crate::exit::{Exit, Usage as BadUsage};
use crate::output;
use crate::settings::Settings;

#[derive(Subcommand)]
pub(crate) enum Decision {
    /// Approve a suspended execution; it resumes with the approval
    Approve(Approve),
    /// Reject a suspended execution; it resumes with the rejection
    Reject(Decide),
    /// Resume a suspended execution, whatever it waits for
    Resume(Decide),
}

#[derive(Args)]
pub(crate) struct Approve {
    #[command(flatten)]
    decide: Decide,

    /// First raise the hard limit of a budget by this amount, such as agent:tokens=50000
    #[arg(long, value_name = "BUDGET:DIMENSION=N", value_parser = addition)]
    add: Vec<(BudgetName, Dimension, u64)>,
}

#[derive(Args)]
pub(crate) struct Decide {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Reason, stored with the execution and sent to the worker as a comment
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Who decides, stored with the execution
    #[arg(long = "by", env = "USER", value_name = "NAME")]
    by: Option<SourceIdentity>,

    /// Payload for the worker instead of the comment: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    payload: Option<Input>,

    /// Content type of a payload that is not JSON, such as text/plain
    #[arg(long, value_name = "TYPE", requires = "payload")]
    content_type: Option<ContentType>,

    /// Only if it is still in this suspension, as shown by ff get
    #[arg(long, value_name = "ID")]
    suspension: Option<SuspensionId>,

    /// Delay before a worker can claim it; unless given, that of its resume policy
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    delay: Option<Duration>,
}

impl Decision {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        match self {
            Self::Approve(Approve { decide, add }) => {
                if !add.is_empty() {
                    decide.refuse_unless_suspended(settings).await?;
                    raise(settings, add).await?;
                }
                decide.run(settings, OperatorDecision::Approve, "approved").await
            }
            Self::Reject(decide) => decide.run(settings, OperatorDecision::Reject, "rejected").await,
            Self::Resume(decide) => decide.run(settings, OperatorDecision::Resume, "resumed").await,
        }
    }
}

impl Decide {
    /// Refuses an execution that is not suspended. This check precedes the raise of a limit, because a refused decision
    /// does not undo the raise.
    async fn refuse_unless_suspended(&self, settings: &Settings) -> anyhow::Result<()> {
        let client = settings.connect().await?.client();
        let state = client.get(&self.id.find(settings, &client).await?).await?.public_state;
        if state != PublicState::Suspended {
            return Err(ff_sdk::Error::from(Code::ExecutionNotSuspended.refusal().in_state(state)).into());
        }
        Ok(())
    }

    async fn run(self, settings: &Settings, decision: OperatorDecision, done: &str) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let id = self.id.find(settings, &client).await?;
        let payload = match self.payload {
            Some(input) => Some(input.payload(self.content_type)?),
            None => self.reason.as_ref().map(comment),
        };
        let args = ResumeArgs {
            suspension_id: self.suspension,
            payload,
            reason: self.reason,
            requested_by: self.by,
            resume_delay_ms: self.delay.map(span::ms),
            ..ResumeArgs::new(id, decision)
        };
        let resumed = client.decide(args).await?;
        let was = if resumed.already { "had already been" } else { "was" };
        settings.answer(&resumed, || output::line(format_args!("{id} {was} {done}, and is {}", resumed.public_state)))
    }
}

/// Raises hard limits of budgets.
async fn raise(settings: &Settings, more: Vec<(BudgetName, Dimension, u64)>) -> anyhow::Result<()> {
    let flowfabric = settings.connect().await?;
    let backend = flowfabric.backend();
    let mut raised = BTreeMap::<BudgetName, BudgetDefinition>::new();
    for (name, dimension, amount) in more {
        let namespace = settings.namespace();
        let mut definition = match raised.remove(&name) {
            Some(definition) => definition,
            None => backend.describe_budget(BudgetRef { namespace, name: name.clone() }).await?.budget.definition,
        };
        if !definition.raise(&dimension, amount) {
            return Err(BadUsage(format!("budget {name} has no hard limit of {dimension}")).into());
        }
        raised.insert(name, definition);
    }
    for (name, definition) in raised {
        let args = PutBudgetArgs { namespace: settings.namespace(), name, definition: Some(definition) };
        args.check().map_err(BadUsage::from)?;
        backend.put_budget(args).await?;
    }
    Ok(())
}

fn addition(text: &str) -> Result<(BudgetName, Dimension, u64), String> {
    let wrong = || "must be a budget, a colon, a dimension, an equals sign and a number: agent:tokens=50000".to_owned();
    let (budget, rest) = text.split_once(':').ok_or_else(wrong)?;
    let (dimension, amount) = crate::commands::budgets::amount(rest)?;
    Ok((BudgetName::parse(budget).map_err(|error| format!("the budget {error}"))?, dimension, amount))
}

/// Returns a reason as the payload for the worker.
fn comment(reason: &String) -> Payload {
    Payload::json(serde_json::json!({ "comment": reason }).to_string())
}
