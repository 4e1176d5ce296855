//! `ff flow list`: lists flows.

use clap::Args;
use ff_api::FlowsPage;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{FlowCursor, FlowInfo, ListFlowsArgs};
use ff_core::flow::FlowState;
use ff_core::types::{Kind, TagKey, TagValue, TimestampMs};

use super::get::counted;
use crate::args::{Paging, span, tell_more};
use crate::commands::execution::tag;
use crate::exit::Exit;
use crate::output::Table;
use crate::settings::Settings;

/// List flows, newest first
#[derive(Args)]
pub(super) struct List {
    /// Only flows in this state: open, running, completed, failed, cancelled
    #[arg(long, value_name = "STATE")]
    state: Option<FlowState>,

    /// Only flows of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,

    /// Only flows with this tag
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    tag: Option<(TagKey, TagValue)>,

    #[command(flatten)]
    paging: Paging<FlowCursor>,
}

impl List {
    pub(super) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let (namespace, kind, state, tag) = (settings.namespace(), self.kind, self.state, self.tag);
        let args = ListFlowsArgs { kind, state, tag, ..ListFlowsArgs::new(namespace) };
        let read = async |after, limit| {
            let page = flowfabric.backend().list_flows(ListFlowsArgs { after, limit, ..args.clone() }).await?;
            Ok((page.flows, page.next))
        };
        let (flows, next) = self.paging.read(read).await?;
        let page = FlowsPage { flows, next_cursor: next.map(|cursor| cursor.to_string()) };
        settings.answer(&page, || {
            tabulate(&page.flows, SystemClock.now()).print()?;
            tell_more(page.next_cursor.as_ref());
            Ok(())
        })
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
