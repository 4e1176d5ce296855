//! Which flows there are.

use clap::Args;
use ff_core::backend::EngineBackend;
use ff_core::clock::{Clock, SystemClock};
use ff_core::contracts::{FlowCursor, FlowInfo, FlowsPage, ListFlowsArgs};
use ff_core::flow::FlowState;
use ff_core::limits;
use ff_core::types::{Kind, TagKey, TagValue, TimestampMs};

use super::get::counted;
use crate::commands::submit::tag;
use crate::exit::{Exit, tell};
use crate::input::{cursor, whole};
use crate::settings::Settings;
use crate::table::Table;
use crate::{output, span};

/// List flows, newest first
#[derive(Args)]
pub(super) struct List {
    /// Only those in this state: open, running, completed, failed, cancelled
    #[arg(long, value_name = "STATE")]
    state: Option<FlowState>,

    /// Only those of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,

    /// Only those with this label
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    tag: Option<(TagKey, TagValue)>,

    /// How many at most
    #[arg(long, value_name = "N", default_value_t = limits::PAGE_DEFAULT, value_parser = whole::<usize>)]
    limit: usize,

    /// Go on where another listing ended
    #[arg(long, value_name = "CURSOR", value_parser = cursor::<FlowCursor>)]
    cursor: Option<FlowCursor>,

    /// All there are, however many
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

impl List {
    pub(super) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let all = self.all;
        let args = ListFlowsArgs {
            namespace: settings.namespace(),
            kind: self.kind,
            state: self.state,
            tag: self.tag,
            after: self.cursor,
            limit: if all { limits::PAGE } else { self.limit },
        };
        let backend = &**flowfabric.backend();
        let page = if all { every_page(backend, args).await? } else { backend.list_flows(args).await? };
        if settings.json {
            output::json(&ff_api::FlowsPage::from(page))?;
        } else {
            tabulate(&page.flows, SystemClock.now()).print()?;
            if let Some(next) = page.next {
                tell(format_args!("more: --cursor {next}, or --all"));
            }
        }
        Ok(Exit::Done)
    }
}

/// All pages as one.
async fn every_page(backend: &dyn EngineBackend, mut args: ListFlowsArgs) -> anyhow::Result<FlowsPage> {
    let mut flows = Vec::new();
    loop {
        let page = backend.list_flows(args.clone()).await?;
        flows.extend(page.flows);
        if page.next.is_none() {
            return Ok(FlowsPage { flows, next: None });
        }
        args.after = page.next;
    }
}

fn tabulate(flows: &[FlowInfo], now: TimestampMs) -> Table {
    let mut table = Table::new(&["ID", "STATE", "KIND", "SUBMITTED", "MEMBERS"]);
    for info in flows {
        table.row([
            info.flow_id.to_string(),
            info.state.to_string(),
            info.kind.to_string(),
            span::relative(info.created_at, now),
            counted(&info.counts),
        ]);
    }
    table
}
