//! Handing in work.

use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use clap::Args;
use ff_core::contracts::{Start, SubmitArgs};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::types::{
    Capability, ContentType, ExecutionId, IdempotencyKey, Kind, LaneId, Priority, TagKey, TagValue, TimestampMs,
};
use ff_core::worker::Worker;
use ff_sdk::Client;
use futures_util::future::{Either, select};
use tokio::time::timeout;

use super::workers;
use crate::exit::{Exit, tell};
use crate::input::{Input, TraceArgs, whole};
use crate::settings::Settings;
use crate::{ending, output, span};

/// A worker that is there takes what waits well within this.
const SOON: Duration = Duration::from_secs(1);

/// Submit an execution, and print its id or wait for its result
#[derive(Args)]
pub(crate) struct Submit {
    /// What kind of work it is
    kind: Kind,

    /// What the worker gets: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    payload: Option<Input>,

    /// What the payload is when it is not JSON, as in text/plain
    #[arg(long, value_name = "TYPE", requires = "payload")]
    content_type: Option<ContentType>,

    /// The lane it waits in
    #[arg(long, value_name = "LANE", default_value = "default")]
    lane: LaneId,

    /// 0 to 9000; the highest goes first
    #[arg(long, value_name = "N", default_value = "0", value_parser = priority, allow_hyphen_values = true)]
    priority: Priority,

    /// Not before so long from now: 500ms, 10s, 5m, 2h
    #[arg(long, value_name = "SPAN", value_parser = span::parse)]
    delay: Option<Duration>,

    /// Not before this moment, in milliseconds since 1970
    #[arg(long, value_name = "MS", conflicts_with = "delay", value_parser = whole::<i64>)]
    at: Option<i64>,

    /// A label; may be given again
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    /// Submitting again with the same key is the same execution
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,

    /// Retries, timeouts and bounds: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    policy: Option<Input>,

    /// A capability its worker must have, as in gpu or region=eu; may be given again
    #[arg(long = "require", value_name = "CAPABILITY")]
    requires: Vec<Capability>,

    #[command(flatten)]
    traced: TraceArgs,

    /// Wait for the end and print the result
    #[arg(long)]
    wait: bool,

    /// Wait no longer than this
    #[arg(long, value_name = "SPAN", value_parser = span::parse, requires = "wait")]
    timeout: Option<Duration>,
}

impl Submit {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let (wait, patience) = (self.wait, self.timeout);
        let args = self.into_args(settings)?;
        let flowfabric = settings.connect().await?;
        let submitted = flowfabric.backend().submit(args).await?;
        if wait {
            let (client, id) = (flowfabric.client(), submitted.execution_id);
            let waiting = pin!(ending::wait(settings, &client, &id, patience));
            return match select(waiting, pin!(tell_if_not_taken(settings, &client, &id))).await {
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
        args.trace = self.traced.read()?;
        args.start = match (self.delay, self.at) {
            (Some(delay), _) => Start::After(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
            (None, Some(at)) => Start::At(TimestampMs(at)),
            (None, None) => Start::Now,
        };
        if let Some(input) = self.policy {
            args.policy = input.policy()?;
        }
        args.policy.routing_requirements.required_capabilities.extend(self.requires);
        Ok(args)
    }
}

/// Says so when an execution is not taken up soon and no registered worker would take it. Workers that only claim are not
/// registered, so this is a hint and no error.
async fn tell_if_not_taken(settings: &Settings, client: &Client, id: &ExecutionId) {
    // Nothing ends this wait but the time.
    drop(timeout(SOON, pending::<()>()).await);
    let looked = async {
        let info = client.get(id).await?;
        if info.public_state != PublicState::Waiting || info.attempts_made > 0 {
            return Ok(None);
        }
        let workers = workers::of_namespace(client, Some(&settings.namespace())).await?;
        let takes = |worker: &Worker| {
            worker.lanes.contains(&info.lane_id) && (worker.kinds.is_empty() || worker.kinds.contains(&info.kind))
        };
        anyhow::Ok((!workers.iter().any(takes)).then_some(info))
    };
    match looked.await {
        Ok(Some(info)) => tell(format_args!(
            "no worker takes kind {} from lane {} yet; start one: ff worker --kind {} --exec COMMAND",
            info.kind, info.lane_id, info.kind
        )),
        Ok(None) => {}
        // A key that may only submit may not look at workers.
        Err(error) => tracing::debug!("cannot look for a worker: {error:#}"),
    }
}

/// Reads a priority.
pub(super) fn priority(text: &str) -> Result<Priority, String> {
    let number = text.parse().map_err(|_| "must be a whole number".to_owned())?;
    Priority::new(number).map_err(|error| error.to_string())
}

/// Reads a label.
pub(super) fn tag(text: &str) -> Result<(TagKey, TagValue), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    let key = TagKey::parse(key).map_err(|error| format!("key: {error}"))?;
    let value = TagValue::parse(value).map_err(|error| format!("value: {error}"))?;
    Ok((key, value))
}
