//! Deciding about what waits, without a token: an operator's yes, no, or go on.

use std::time::Duration;

use clap::Args;
use ff_core::contracts::ResumeArgs;
use ff_core::payload::Payload;
use ff_core::suspension::OperatorDecision;
use ff_core::types::{ContentType, SourceIdentity, SuspensionId};

use crate::exit::Exit;
use crate::id::IdArg;
use crate::input::Input;
use crate::settings::Settings;
use crate::{output, span};

/// Approve what an execution waits for; it goes on and is told so
#[derive(Args)]
pub(crate) struct Approve {
    #[command(flatten)]
    decide: Decide,
}

/// Reject what an execution waits for; it goes on and is told so
#[derive(Args)]
pub(crate) struct Reject {
    #[command(flatten)]
    decide: Decide,
}

/// Let an execution go on, whatever it waits for
#[derive(Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    decide: Decide,
}

#[derive(Args)]
struct Decide {
    /// The execution: {fp:N}:<uuid>, quoted for the shell, or the uuid alone
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

impl Approve {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        self.decide.run(settings, OperatorDecision::Approve, "approved").await
    }
}

impl Reject {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        self.decide.run(settings, OperatorDecision::Reject, "rejected").await
    }
}

impl Resume {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        self.decide.run(settings, OperatorDecision::Resume, "resumed").await
    }
}

impl Decide {
    async fn run(self, settings: &Settings, decision: OperatorDecision, done: &str) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let id = self.id.find(&client).await?;
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
        if settings.json {
            output::json(&resumed)?;
        } else if resumed.already {
            output::line(format_args!("{id} had already been {done}, and is {}", resumed.public_state))?;
        } else {
            output::line(format_args!("{id} was {done}, and is {}", resumed.public_state))?;
        }
        Ok(Exit::Done)
    }
}

/// A reason as workers hear it.
fn comment(reason: &String) -> Payload {
    Payload::json(serde_json::json!({ "comment": reason }).to_string())
}
