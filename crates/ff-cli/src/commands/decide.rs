//! Deciding about what waits, without a token: an operator's yes, no, or go on.

use std::time::Duration;

use clap::{Args, Subcommand};
use ff_core::contracts::ResumeArgs;
use ff_core::payload::Payload;
use ff_core::suspension::OperatorDecision;
use ff_core::types::{ContentType, SourceIdentity, SuspensionId};

use crate::exit::Exit;
use crate::id::IdArg;
use crate::input::Input;
use crate::settings::Settings;
use crate::{output, span};

#[derive(Subcommand)]
pub(crate) enum Decision {
    /// Approve what an execution waits for; it goes on and is told so
    Approve(Decide),
    /// Reject what an execution waits for; it goes on and is told so
    Reject(Decide),
    /// Let an execution go on, whatever it waits for
    Resume(Decide),
}

#[derive(Args)]
pub(crate) struct Decide {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Why; it is kept with the execution, and the worker gets it as a comment
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Who decides; it is kept with the execution
    #[arg(long = "by", env = "USER", value_name = "NAME")]
    by: Option<SourceIdentity>,

    /// What the worker gets instead of the comment: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    payload: Option<Input>,

    /// What the payload is when it is not JSON, as in text/plain
    #[arg(long, value_name = "TYPE", requires = "payload")]
    content_type: Option<ContentType>,

    /// Only if it still waits in this suspension, as ff get shows it
    #[arg(long, value_name = "ID")]
    suspension: Option<SuspensionId>,

    /// How long before a worker may take it up; as the execution's own policy says unless given
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    delay: Option<Duration>,
}

impl Decision {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        match self {
            Self::Approve(decide) => decide.run(settings, OperatorDecision::Approve, "approved").await,
            Self::Reject(decide) => decide.run(settings, OperatorDecision::Reject, "rejected").await,
            Self::Resume(decide) => decide.run(settings, OperatorDecision::Resume, "resumed").await,
        }
    }
}

impl Decide {
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
            resume_delay_ms: self.delay.map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
            ..ResumeArgs::new(id, decision)
        };
        let resumed = client.decide(args).await?;
        let was = if resumed.already { "had already been" } else { "was" };
        settings.answer(&resumed, || output::line(format_args!("{id} {was} {done}, and is {}", resumed.public_state)))
    }
}

/// A reason as workers hear it.
fn comment(reason: &String) -> Payload {
    Payload::json(serde_json::json!({ "comment": reason }).to_string())
}
