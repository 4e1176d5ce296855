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
    let mut actions: Vec<_> =
        terms.iter().filter(|term| term.verdict != Verdict::Passes).flat_map(|term| help(facts, term.term)).collect();
    actions.push(command("stop it", format!("ff cancel {id}")));
    actions
}

/// Returns the actions that can make one term pass.
fn help(facts: &Facts, term: TermKind) -> Vec<SuggestedAction> {
    let info = &facts.info;
    let (id, lane, kind) = (format!("'{}'", info.execution_id), &info.lane_id, &info.kind);
    let command = |what: &str, command: String| suggest(&info.namespace, what, command);
    match term {
        TermKind::Hold => vec![command("release it", format!("ff release {id}"))],
        TermKind::Assignment => vec![
            command("let any worker take it", format!("ff unassign {id}")),
            command("see what else is assigned", "ff grants".to_owned()),
        ],
        TermKind::Lane => vec![command("resume its lane", format!("ff lanes resume {lane}"))],
        TermKind::LaneLimit => {
            let more = facts.queue.settings.concurrency.unwrap_or_default().saturating_add(1);
            vec![command("raise the limit of its lane", format!("ff lanes set {lane} --concurrency {more}"))]
        }
        TermKind::Workers => {
            vec![command("start a worker", format!("ff worker --lane {lane} --kind {kind} --exec COMMAND"))]
        }
        TermKind::Requirements => {
            let required = &info.policy.routing_requirements.required_capabilities;
            let offers: String = required.iter().map(|capability| format!(" --capability {capability}")).collect();
            vec![command(
                "start such a worker",
                format!("ff worker --lane {lane} --kind {kind}{offers} --exec COMMAND"),
            )]
        }
        TermKind::Position => vec![command("raise its priority", format!("ff priority {id} 9000"))],
        TermKind::Turn => {
            let (key, more) = (&info.fair_key, facts.queue.settings.weight_of(&info.fair_key).saturating_add(1));
            vec![command("raise the weight of its key", format!("ff lanes set {lane} --weight '{key}={more}'"))]
        }
        TermKind::Suspension => {
            vec![command("approve it", format!("ff approve {id}")), command("resume it", format!("ff resume {id}"))]
        }
        TermKind::Dependencies => {
            let first = facts.upstreams.iter().find(|upstream| !upstream.public_state.is_terminal());
            let first = first.map(|first| {
                command("ask what the first of them waits for", format!("ff explain '{}'", first.execution_id))
            });
            let flow = info.flow_id.as_ref().map(|flow| command("see its flow", format!("ff flow get {flow}")));
            first.into_iter().chain(flow).collect()
        }
        TermKind::Deadline => vec![command("move its deadline", format!("ff deadline {id} 1h"))],
        TermKind::Quota => match info.blocking_detail.as_deref() {
            Some(BlockDetail::Quota { name, .. }) => {
                vec![command("see what is used of the quota", format!("ff quotas show {name}"))]
            }
            _ => Vec::new(),
        },
        TermKind::Singleton => match info.blocking_detail.as_deref() {
            Some(BlockDetail::Singleton { behind, .. }) => {
                vec![command("ask what the one before it waits for", format!("ff explain '{behind}'"))]
            }
            _ => Vec::new(),
        },
        TermKind::Budget => match info.blocking_detail.as_deref() {
            Some(BlockDetail::Budget { name, .. }) => {
                vec![command("see what is left of the budget", format!("ff budgets show {name}"))]
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
