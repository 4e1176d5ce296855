//! Actions suggested to an operator, as shell commands.

use super::facts::Facts;
use super::{SuggestedAction, Term, TermKind, Verdict};
use crate::execution::{BlockDetail, Outcome};
use crate::state::{PublicState, TerminalOutcome};
use crate::types::Namespace;

/// Returns the suggested commands, those for the first cause first.
pub(super) fn all(facts: &Facts, terms: &[Term]) -> Vec<SuggestedAction> {
    let info = &facts.info;
    let id = format!("'{}'", info.execution_id);
    let command = |what: &str, command: String| suggest(&info.namespace, what, command);
    if info.public_state.is_terminal() {
        let failed = info.state.terminal_outcome != TerminalOutcome::from(Outcome::Success);
        let again = failed.then(|| command("run it again", format!("ff replay {id}")));
        return again.into_iter().chain([command("see how it ended", format!("ff result {id}"))]).collect();
    }
    if info.public_state == PublicState::Active {
        let release = info.hold.is_some().then(|| command("release it", format!("ff release {id}")));
        let take = command("revoke its lease", format!("ff revoke {id}"));
        return release.into_iter().chain([take, command("stop it", format!("ff cancel {id}"))]).collect();
    }
    let keeps = terms.iter().filter(|term| term.verdict != Verdict::Passes);
    let helps = keeps.flat_map(|term| help(facts, term.term)).map(|(what, text)| command(what, text));
    helps.chain([command("stop it", format!("ff cancel {id}"))]).collect()
}

/// Returns the actions that can make one term pass.
fn help(facts: &Facts, term: TermKind) -> Vec<(&'static str, String)> {
    let info = &facts.info;
    let (id, lane, kind) = (format!("'{}'", info.execution_id), &info.lane_id, &info.kind);
    match term {
        TermKind::Hold => vec![("release it", format!("ff release {id}"))],
        TermKind::Assignment => vec![
            ("let any worker take it", format!("ff unassign {id}")),
            ("see what else is assigned", "ff grants".to_owned()),
        ],
        TermKind::Lane => vec![("resume its lane", format!("ff lanes resume {lane}"))],
        TermKind::LaneLimit => {
            let more = facts.queue.settings.concurrency.unwrap_or_default().saturating_add(1);
            vec![("raise the limit of its lane", format!("ff lanes set {lane} --concurrency {more}"))]
        }
        TermKind::Workers => {
            vec![("start a worker", format!("ff worker --lane {lane} --kind {kind} --exec COMMAND"))]
        }
        TermKind::Requirements => {
            let required = &info.policy.routing_requirements.required_capabilities;
            let offers: String = required.iter().map(|capability| format!(" --capability {capability}")).collect();
            let command = format!("ff worker --lane {lane} --kind {kind}{offers} --exec COMMAND");
            vec![("start such a worker", command)]
        }
        TermKind::Position => vec![("raise its priority", format!("ff priority {id} 9000"))],
        TermKind::Turn => {
            let (key, more) = (&info.fair_key, facts.queue.settings.weight_of(&info.fair_key).saturating_add(1));
            vec![("raise the weight of its key", format!("ff lanes set {lane} --weight '{key}={more}'"))]
        }
        TermKind::Suspension => {
            vec![("approve it", format!("ff approve {id}")), ("resume it", format!("ff resume {id}"))]
        }
        TermKind::Dependencies => {
            let first = facts.upstreams.iter().find(|upstream| !upstream.public_state.is_terminal());
            let first = first.map(|first| format!("ff explain '{}'", first.execution_id));
            let flow = info.flow_id.as_ref().map(|flow| ("see its flow", format!("ff flow get {flow}")));
            first.map(|first| ("ask what the first of them waits for", first)).into_iter().chain(flow).collect()
        }
        TermKind::Deadline => vec![("move its deadline", format!("ff deadline {id} 1h"))],
        TermKind::Quota | TermKind::Singleton | TermKind::Budget => match info.blocking_detail.as_deref() {
            Some(BlockDetail::Quota { name, .. }) => {
                vec![("see what is used of the quota", format!("ff quotas show {name}"))]
            }
            Some(BlockDetail::Singleton { behind, .. }) => {
                vec![("ask what the one before it waits for", format!("ff explain '{behind}'"))]
            }
            Some(BlockDetail::Budget { name, .. }) => {
                vec![("see what is left of the budget", format!("ff budgets show {name}"))]
            }
            _ => Vec::new(),
        },
        TermKind::Delay => Vec::new(),
    }
}

pub(super) fn suggest(namespace: &Namespace, what: &str, mut command: String) -> SuggestedAction {
    if !namespace.is_default() {
        command = format!("{command} --namespace {namespace}");
    }
    SuggestedAction { what: what.to_owned(), command }
}
