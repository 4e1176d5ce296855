//! `ff submit`: submits an execution.

use std::future::pending;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use clap::Args;
use ff_core::contracts::{Start, SubmitArgs};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::singleton::{Debounce, KeyConflict, KeyRule, OnConflict, Singleton};
use ff_core::state::PublicState;
use ff_core::types::{
    Capability, ContentType, ExecutionId, IdempotencyKey, Kind, LaneId, Priority, SubmissionKey, TagKey, TagValue,
    TimestampMs,
};
use ff_sdk::Client;
use futures_util::future::{Either, select};
use tokio::time::timeout;

use super::submit_lines;
use crate::args::{Input, TraceArgs, span, timestamp, whole};
use crate::ending;
use crate::exit::{Exit, Usage, print_message};
use crate::output::{self, printable};
use crate::settings::Settings;

/// An idle worker claims a waiting execution well within this time.
const SOON: Duration = Duration::from_secs(2);

/// Submit an execution, and print its id or wait for its result
#[derive(Args)]
pub(crate) struct Submit {
    /// Kind of the execution
    kind: Kind,

    /// Payload for the worker: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    payload: Option<Input>,

    /// Content type of a payload that is not JSON, such as text/plain
    #[arg(long, value_name = "TYPE", requires = "payload")]
    content_type: Option<ContentType>,

    /// Lane of the execution
    #[arg(long, value_name = "LANE", default_value = "default")]
    lane: LaneId,

    /// Priority, 0 to 9000; the highest goes first
    #[arg(long, value_name = "N", default_value = "0", value_parser = priority, allow_hyphen_values = true)]
    priority: Priority,

    /// Start no earlier than this span from now: 500ms, 10s, 5m, 2h
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    delay: Option<Duration>,

    /// Start no earlier than this time: 2026-12-24T18:00:00Z, or milliseconds since 1970
    #[arg(
        long,
        value_name = "WHEN",
        conflicts_with = "delay",
        value_parser = timestamp::parse,
        allow_hyphen_values = true
    )]
    at: Option<TimestampMs>,

    /// Tag of the execution (repeatable)
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    /// Submitting again with the same key returns the same execution
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,

    /// Run at most one execution of this key; see --on-conflict
    #[arg(long, value_name = "KEY", conflicts_with_all = ["idempotency_key", "debounce", "from"])]
    singleton: Option<SubmissionKey>,

    /// While another execution of the singleton key is live: skip this one, replace the one not yet started, or queue
    /// behind it
    #[arg(long, value_name = "WHAT", requires = "singleton", default_value = "skip")]
    on_conflict: OnConflict,

    /// Start --debounce-delay after the last submission of this key; an execution not yet started takes the new payload
    #[arg(long, value_name = "KEY", requires = "debounce_delay", conflicts_with_all = ["idempotency_key", "delay", "at", "from"])]
    debounce: Option<SubmissionKey>,

    /// Delay after the last submission of the debounce key; at most ten times this after the first
    #[arg(long, value_name = "SPAN", requires = "debounce", value_parser = span::parse)]
    debounce_delay: Option<Duration>,

    /// Retries, timeouts and bounds: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    policy: Option<Input>,

    /// Maximum number of retries after failures; overrides --policy
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    retries: Option<u32>,

    /// Maximum run time of one attempt; overrides --policy
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    attempt_timeout: Option<Duration>,

    /// Maximum time from submission to the end; overrides --policy
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    deadline: Option<Duration>,

    /// Submit one execution per line of a file, with the line as JSON payload; - for standard input. With
    /// --idempotency-key KEY each has the key KEY/LINE, so that the same command again submits the rest
    #[arg(long, value_name = "FILE", conflicts_with_all = ["payload", "content_type", "wait"])]
    from: Option<PathBuf>,

    /// Capability its worker must have, such as gpu or region=eu (repeatable)
    #[arg(long = "require", value_name = "CAPABILITY")]
    requires: Vec<Capability>,

    #[command(flatten)]
    traced: TraceArgs,

    /// Wait until the execution ends, and print the result
    #[arg(long)]
    wait: bool,

    /// Maximum time to wait
    #[arg(long, value_name = "SPAN", value_parser = span::parse, requires = "wait")]
    timeout: Option<Duration>,
}

impl Submit {
    pub(crate) async fn run(mut self, settings: &Settings) -> anyhow::Result<Exit> {
        let (wait, patience) = (self.wait, self.timeout);
        if let Some(file) = self.from.take() {
            return submit_lines::run(settings, file, self.into_args(settings)?).await;
        }
        let args = self.into_args(settings)?;
        let flowfabric = settings.connect().await?;
        let submitted = flowfabric.backend().submit(args).await?;
        if let Some(conflict) = submitted.conflict.filter(|_| !settings.json) {
            print_message(describe(conflict));
        }
        if wait {
            let (client, id) = (flowfabric.client(), submitted.execution_id);
            let waiting = pin!(ending::wait(settings, &client, &id, patience));
            return match select(waiting, pin!(tell_what_it_waits_for(&client, &id))).await {
                Either::Left((ended, _)) => ended,
                Either::Right(((), waiting)) => waiting.await,
            };
        }
        settings.answer(&submitted, || output::line(submitted.execution_id))
    }

    fn into_args(self, settings: &Settings) -> anyhow::Result<SubmitArgs> {
        let payload = match self.payload {
            Some(input) => input.payload(self.content_type)?,
            None => Payload::default(),
        };
        let mut args = SubmitArgs::new(self.kind, payload);
        args.namespace = settings.namespace();
        args.lane = self.lane;
        args.priority = self.priority;
        args.tags = self.tags.into_iter().collect();
        args.idempotency_key = self.idempotency_key;
        let on_conflict = self.on_conflict;
        let singleton = self.singleton.map(|key| Singleton { key, on_conflict });
        let debounce = self.debounce.zip(self.debounce_delay);
        let debounce = debounce.map(|(key, delay)| Debounce { key, delay_ms: span::ms(delay) });
        args.key_rule = KeyRule::of(singleton, debounce).map_err(Usage::from)?;
        args.trace = self.traced.read()?;
        args.start = match (self.delay, self.at) {
            (Some(delay), _) => Start::After(span::ms(delay)),
            (None, Some(at)) => Start::At(at),
            (None, None) => Start::Now,
        };
        if let Some(input) = self.policy {
            args.policy = input.policy()?;
        }
        args.policy.routing_requirements.required_capabilities.extend(self.requires);
        let Policy { retry_policy, timeout_policy, .. } = &mut args.policy;
        retry_policy.max_retries = self.retries.unwrap_or(retry_policy.max_retries);
        timeout_policy.attempt_timeout_ms = self.attempt_timeout.map(span::ms).or(timeout_policy.attempt_timeout_ms);
        timeout_policy.execution_deadline_ms = self.deadline.map(span::ms).or(timeout_policy.execution_deadline_ms);
        args.policy.check().map_err(Usage::from)?;
        Ok(args)
    }
}

/// Describes the effect of another execution of the same key on a submission.
fn describe(conflict: KeyConflict) -> &'static str {
    match conflict {
        KeyConflict::Skipped => "skipped: this execution of the key lives already",
        KeyConflict::Replaced => "replaced the execution of the key that had not started",
        KeyConflict::Queued => "queued behind another execution of the key",
    }
}

/// Prints why an execution does not run, if it has not started after `SOON`.
async fn tell_what_it_waits_for(client: &Client, id: &ExecutionId) {
    // Sleeps: `pending` never completes.
    drop(timeout(SOON, pending::<()>()).await);
    match client.explain(id).await {
        Ok(explained) if explained.public_state.is_terminal() || explained.public_state == PublicState::Active => {}
        Ok(explained) => {
            print_message(printable(&explained.summary));
            if let Some(action) = explained.actions.first() {
                print_message(format_args!("{}: {}", action.what, action.command));
            }
        }
        // The explanation is only a hint, so an error does not end the wait for the result.
        Err(error) => tracing::debug!("cannot look at what it waits for: {error:#}"),
    }
}

/// Parses a priority.
pub(in crate::commands) fn priority(text: &str) -> Result<Priority, String> {
    let number = text.parse().map_err(|_| "must be a whole number".to_owned())?;
    Priority::new(number).map_err(|error| error.to_string())
}

/// Parses a tag.
pub(in crate::commands) fn tag(text: &str) -> Result<(TagKey, TagValue), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    let key = TagKey::parse(key).map_err(|error| format!("key: {error}"))?;
    let value = TagValue::parse(value).map_err(|error| format!("value: {error}"))?;
    Ok((key, value))
}
