//! `ff flow submit`: submits the flow in a file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use ff_core::limits;
use ff_core::types::{TagKey, TagValue};
use ff_sdk::Flow;

use super::watch;
use crate::args::{Input, TraceArgs, span};
use crate::commands::execution::tag;
use crate::exit::{Exit, Usage};
use crate::output;
use crate::settings::{Settings, check};

/// Maximum size of the file: twice the limit of all payloads together, because the encoding makes them larger.
const FILE_BYTES: usize = 2 * limits::FLOW_BYTES;

/// Submit a flow from a file, and print its id or watch it until it ends
#[derive(Args)]
pub(super) struct Submit {
    /// File with the flow in YAML or JSON; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Additional tag of the flow (repeatable)
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    #[command(flatten)]
    traced: TraceArgs,

    /// Watch the flow until it ends
    #[arg(long)]
    wait: bool,

    /// Maximum time to wait
    #[arg(long, value_name = "SPAN", value_parser = span::parse, requires = "wait")]
    timeout: Option<Duration>,
}

impl Submit {
    pub(super) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flow = read(&self.file)?;
        let named = flow.named().cloned();
        let wrong = |why: String| Usage(format!("{}: {why}", self.file.display()));
        let mut args = flow.build().map_err(|error| wrong(error.to_string()))?;
        args.header.tags.extend(self.tags);
        args.header.trace = args.header.trace.or(self.traced.read()?);
        let flowfabric = settings.connect().await?;
        match (settings.given_namespace(), flowfabric.key_namespace()) {
            (Some(given), _) => {
                args.header.namespace = given.clone();
                args.header.derive_id();
            }
            (None, Some(own)) => check(named.as_ref(), own, "namespace").map_err(|usage| wrong(usage.0))?,
            (None, None) => {}
        }
        let submitted = flowfabric.backend().submit_flow(args).await?;
        if self.wait {
            return watch::until_ended(settings, &flowfabric, submitted.flow_id, self.timeout).await;
        }
        settings.answer(&submitted, || output::line(submitted.flow_id))
    }
}

/// Reads the flow in a file. The YAML parser reads JSON too, but the JSON parser has better error messages.
pub(in crate::commands) fn read(file: &Path) -> anyhow::Result<Flow> {
    let text = Input::path(file).text(FILE_BYTES)?;
    let is_json = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let flow = if is_json { Flow::from_json(&text) } else { Flow::from_yaml(&text) };
    flow.map_err(|error| Usage(format!("{}: {error}", file.display())).into())
}
