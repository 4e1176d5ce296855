//! `ff signal`: delivers a signal to an execution.

use anyhow::{Context, anyhow};
use clap::Args;
use ff_core::contracts::{DeliverArgs, WaitpointInfo, WaitpointRef};
use ff_core::signal::{Effect, Source};
use ff_core::token::PresentedToken;
use ff_core::types::{ContentType, ExecutionId, IdempotencyKey, SignalName};
use ff_sdk::Client;

use crate::args::{IdArg, Input};
use crate::exit::{Exit, Usage};
use crate::output;
use crate::settings::Settings;

/// Deliver a signal to an execution, suspended or not yet
#[derive(Args)]
pub(crate) struct Signal {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Name of the signal, such as approved
    name: SignalName,

    /// Key or id of the waitpoint; optional when only one is open
    #[arg(long, value_name = "KEY|ID")]
    waitpoint: Option<String>,

    /// Token of the waitpoint; unless given, read from the server, which requires the role operate
    #[arg(long, env = "FF_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// Payload of the signal: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    payload: Option<Input>,

    /// Content type of a payload that is not JSON, such as text/plain
    #[arg(long, value_name = "TYPE", requires = "payload")]
    content_type: Option<ContentType>,

    /// Sender of the signal, such as bank or bank:b-7
    #[arg(long, value_name = "TYPE[:WHO]", value_parser = source, default_value = "cli")]
    source: Source,

    /// Delivering again with the same key has no further effect
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,
}

impl Signal {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let payload = self.payload.map(|input| input.payload(self.content_type)).transpose()?;
        let flowfabric = settings.connect().await?;
        let client = flowfabric.client();
        let id = self.id.find(settings, &client).await?;
        let (waitpoint, token) = address(&client, &id, self.waitpoint, self.token).await?;
        let args = DeliverArgs {
            source: self.source,
            payload,
            idempotency_key: self.idempotency_key,
            ..DeliverArgs::new(id, waitpoint, token, self.name)
        };
        let delivered = flowfabric.backend().deliver(args).await?;
        settings
            .answer(&delivered, || output::line(format_args!("{}: {}", delivered.signal_id, meaning(delivered.effect))))
    }
}

/// Returns the waitpoint and the token of a signal. Reads from the server those that are not given.
async fn address(
    client: &Client,
    id: &ExecutionId,
    waitpoint: Option<String>,
    token: Option<String>,
) -> anyhow::Result<(WaitpointRef, PresentedToken)> {
    if let (Some(waitpoint), Some(token)) = (&waitpoint, &token) {
        return Ok((named(waitpoint)?, PresentedToken::new(token)));
    }
    let open = client.waitpoints(id).await?;
    let target = choose(id, &open, waitpoint.as_deref())?;
    let token = match token {
        Some(token) => PresentedToken::new(token),
        None => PresentedToken::from(&client.open_waitpoint(id, target).await?.waitpoint_token),
    };
    Ok((WaitpointRef::Id(target.waitpoint_id), token))
}

/// Parses the waitpoint on the command line: an id, or else a key.
fn named(text: &str) -> anyhow::Result<WaitpointRef> {
    match text.parse() {
        Ok(id) => Ok(WaitpointRef::Id(id)),
        Err(_) => Ok(WaitpointRef::Key(text.parse().map_err(|error| Usage(format!("--waitpoint: {error}")))?)),
    }
}

/// Returns the open waitpoint with the given key or id, or the only open one if none is given.
fn choose<'w>(id: &ExecutionId, open: &'w [WaitpointInfo], text: Option<&str>) -> anyhow::Result<&'w WaitpointInfo> {
    let keys = || {
        let mut keys: Vec<_> = open.iter().map(|known| known.waitpoint_key.as_str()).collect();
        keys.sort_unstable();
        keys.join(", ")
    };
    match (text, open) {
        (_, []) => Err(anyhow!("{id} has no open waitpoint: it does not wait for a signal")),
        (None, [only]) => Ok(only),
        (None, _) => Err(anyhow!("{id} has several open waitpoints; name one with --waitpoint: {}", keys())),
        (Some(text), _) => {
            let is_named =
                |known: &&WaitpointInfo| known.waitpoint_key.as_str() == text || known.waitpoint_id.to_string() == text;
            let found = open.iter().find(is_named);
            found.with_context(|| format!("{id} has no open waitpoint {text:?}; open are: {}", keys()))
        }
    }
}

fn source(text: &str) -> Result<Source, String> {
    let (kind, identity) = text.split_once(':').map_or((text, None), |(kind, identity)| (kind, Some(identity)));
    Source::parse(kind, identity).map_err(|refusal| refusal.to_string())
}

/// Describes the effect of a signal in words.
fn meaning(effect: Effect) -> &'static str {
    match effect {
        Effect::Satisfied => "counted, and the execution resumes",
        Effect::Appended => "counted; the execution waits for more",
        Effect::Buffered => "kept until the execution waits for it",
        Effect::Recounted => "recorded, but its like had been counted before",
        Effect::NotInCondition => "recorded, but the execution does not wait on this waitpoint",
        Effect::MatcherFailed => "recorded, but the execution waits for a signal of another name",
        Effect::Duplicate => "had arrived before, under the same key",
    }
}
