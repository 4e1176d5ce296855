//! `ff flow graph`: the edges of a flow, or input for Graphviz.

use clap::Args;
use ff_core::contracts::{EdgeInfo, MemberInfo};
use ff_core::flow::{EdgeState, Join, PassMode};
use ff_core::state::PublicState;

use super::snapshot::FlowSnapshot;
use crate::args::FlowIdArg;
use crate::exit::Exit;
use crate::output::{self, Table};
use crate::settings::Settings;

/// Print the graph of a flow: one edge per line, or input for Graphviz
#[derive(Args)]
pub(super) struct Graph {
    /// The flow: the uuid printed by `ff flow submit`, or its first digits
    id: FlowIdArg,

    /// Print input for Graphviz, as in `ff flow graph --dot ID | dot -Tsvg`
    #[arg(long)]
    dot: bool,
}

impl Graph {
    pub(super) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let id = self.id.find(settings, &flowfabric).await?;
        let flow = FlowSnapshot::read(&flowfabric.client().flow(&id)).await?;
        match (self.dot, settings.json) {
            (true, _) => output::line(dot(&flow))?,
            (false, true) => output::json(&flow.into_view())?,
            (false, false) => edges(&flow).print()?,
        }
        Ok(Exit::Done)
    }
}

fn edges(flow: &FlowSnapshot) -> Table {
    let mut table = Table::new(&["FROM", "TO", "STATE", "PASSES"]);
    for (edge, upstream, downstream) in flow.ends() {
        let passes = match &edge.passes {
            None => "-",
            Some(PassMode::Payload) => "payload",
            Some(PassMode::Input(name)) => name.as_str(),
        };
        table.row([upstream.node.as_str(), downstream.node.as_str(), edge.state.as_str(), passes]);
    }
    table
}

/// Returns the graph in the language of Graphviz, with nodes coloured by state.
fn dot(flow: &FlowSnapshot) -> String {
    let mut text = format!("digraph {} {{\n", quoted(flow.info.kind.as_str()));
    text.push_str("  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n");
    for member in &flow.members {
        text.push_str(&node(member));
    }
    for (edge, upstream, downstream) in flow.ends() {
        text.push_str(&arrow(edge, upstream, downstream));
    }
    text.push('}');
    text
}

fn node(member: &MemberInfo) -> String {
    let join = member.group.map_or(String::new(), |group| match group.join {
        Join::AllOf => String::new(),
        Join::AnyOf { .. } => "\nany of".to_owned(),
        Join::Quorum { k, .. } => format!("\n{k} of"),
    });
    let label = format!("{}\n{}{join}", member.node, member.public_state);
    let (name, label, colour) = (quoted(member.node.as_str()), quoted(&label), colour(member.public_state));
    format!("  {name} [label={label}, fillcolor=\"{colour}\"];\n")
}

fn arrow(edge: &EdgeInfo, upstream: &MemberInfo, downstream: &MemberInfo) -> String {
    let label = match &edge.passes {
        None => String::new(),
        Some(PassMode::Payload) => "label=\"payload\", ".to_owned(),
        Some(PassMode::Input(name)) => format!("label={}, ", quoted(name.as_str())),
    };
    let style = match edge.state {
        EdgeState::Pending => "dashed",
        EdgeState::Satisfied => "solid",
        EdgeState::Failed | EdgeState::Skipped => "dotted",
    };
    let (from, to) = (quoted(upstream.node.as_str()), quoted(downstream.node.as_str()));
    format!("  {from} -> {to} [{label}style={style}];\n")
}

/// Returns the colour of a state. The colours also differ in lightness.
fn colour(state: PublicState) -> &'static str {
    match state {
        PublicState::Completed => "#b7e4c7",
        PublicState::Active => "#90caf9",
        PublicState::Suspended => "#ce93d8",
        PublicState::Failed | PublicState::Expired => "#ef9a9a",
        PublicState::Cancelled | PublicState::Skipped => "#cfcfcf",
        PublicState::Waiting | PublicState::Delayed | PublicState::RateLimited => "#fff3b0",
        PublicState::WaitingChildren => "#ffffff",
    }
}

/// Quotes a text for Graphviz.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::samples::flow;
    use super::*;

    #[test]
    fn every_node_and_every_edge_is_drawn() {
        let text = dot(&flow("a>b a>c b>d c>d"));
        assert!(text.starts_with("digraph \"etl\" {\n") && text.ends_with('}'), "{text}");
        assert_eq!(text.matches("fillcolor").count(), 4);
        assert_eq!(text.matches(" -> ").count(), 4);
        assert!(text.contains("  \"c\" -> \"d\" [style=dashed];\n"), "{text}");
    }

    #[test]
    fn quotes_in_a_name_end_nothing() {
        assert_eq!(quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
    }
}
