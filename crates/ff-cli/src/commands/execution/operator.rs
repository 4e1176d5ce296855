//! Operations on one execution or on many: cancel, hold, release, replay, revoke the lease.

use std::io::IsTerminal;

use anyhow::Context;
use clap::Args;
use ff_core::contracts::{HoldReleased, ReplayArgs, ReplayedExecution};
use ff_core::state::PublicState;
use ff_sdk::{Bulk, Client, Search};

use super::bulk;
use super::steps::step_point;
use crate::args::IdArg;
use crate::args::filter::Term;
use crate::exit::{Exit, Usage, print_message};
use crate::output;
use crate::settings::Settings;

/// Cancel an execution, or all that match a filter; running workers are notified at once
#[derive(Args)]
#[command(
    override_usage = "ff cancel [OPTIONS] <ID>\n       ff cancel [OPTIONS] --filter <FIELD=VALUE> [--filter <FIELD=VALUE>]..."
)]
pub(crate) struct Cancel {
    #[command(flatten)]
    what: OneOrMany,

    /// Do not ask for confirmation before cancelling all executions
    #[arg(long, requires = "filter")]
    yes: bool,
}

/// Prevent claims of an execution, or of all that match a filter, until released; running ones continue
#[derive(Args)]
#[command(
    override_usage = "ff hold [OPTIONS] <ID>\n       ff hold [OPTIONS] --filter <FIELD=VALUE> [--filter <FIELD=VALUE>]..."
)]
pub(crate) struct Hold {
    #[command(flatten)]
    what: OneOrMany,
}

/// End the hold of an execution, or of all that match a filter
#[derive(Args)]
#[command(
    visible_alias = "unhold",
    override_usage = "ff release [OPTIONS] <ID>\n       ff release [OPTIONS] --filter <FIELD=VALUE> [--filter <FIELD=VALUE>]..."
)]
pub(crate) struct Release {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    #[arg(required_unless_present = "filter", conflicts_with = "filter")]
    id: Option<IdArg>,

    /// Filter: lane=, state=, reason=, kind=, tag.KEY=, since=, until=, or all (repeatable; all must match)
    #[arg(long, value_name = "FIELD=VALUE")]
    filter: Vec<Term>,

    /// Only print how many would be released
    #[arg(long, requires = "filter")]
    dry_run: bool,
}

/// Run an ended execution again, or all that match a filter
#[derive(Args)]
#[command(
    override_usage = "ff replay [OPTIONS] <ID>\n       ff replay [OPTIONS] --filter <FIELD=VALUE> [--filter <FIELD=VALUE>]..."
)]
pub(crate) struct Replay {
    #[command(flatten)]
    what: OneOrMany,

    /// Also replay its finished dependents in the flow
    #[arg(long)]
    reopen_downstream: bool,

    /// First recorded step to run again, with all steps recorded after it: NAME, or NAME#KEY
    #[arg(long, value_name = "STEP", conflicts_with = "filter")]
    from: Option<String>,

    /// Key of that step; NAME is then not split at #
    #[arg(long, value_name = "KEY", requires = "from")]
    key: Option<String>,
}

/// Revoke the lease of an execution, so that another worker can claim it
#[derive(Args)]
pub(crate) struct Revoke {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Reason, stored in the lease history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
struct OneOrMany {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    #[arg(required_unless_present = "filter", conflicts_with = "filter")]
    id: Option<IdArg>,

    /// Filter: lane=, state=, reason=, kind=, tag.KEY=, since=, until=, or all (repeatable; all must match)
    #[arg(long, value_name = "FIELD=VALUE")]
    filter: Vec<Term>,

    /// Only print how many executions would be changed
    #[arg(long, requires = "filter")]
    dry_run: bool,

    /// Reason, stored with the execution
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl Cancel {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let OneOrMany { id, filter, dry_run, reason } = self.what;
        let Some(id) = id else {
            let means_all = filter.iter().all(|term| *term == Term::All);
            if means_all && !dry_run && !self.yes {
                // The question names the namespace, which may be that of the key: it is known once connected.
                settings.connect().await?;
                if !confirmed(settings)? {
                    return Ok(Exit::Error);
                }
            }
            let begin = |client: &Client, search: Search| because(client.cancel_all(search)?, reason.as_deref());
            return bulk::act(settings, (filter, dry_run), "cancelled", begin).await;
        };
        let client = settings.connect().await?.client();
        let id = id.find(settings, &client).await?;
        let cancelled = client.cancel(&id, reason.as_deref()).await?;
        let already = if cancelled.already { " already" } else { "" };
        settings.answer(&cancelled, || output::line(format_args!("{id} is{already} cancelled")))
    }
}

impl Hold {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let OneOrMany { id, filter, dry_run, reason } = self.what;
        let Some(id) = id else {
            let begin = |client: &Client, search: Search| because(client.hold_all(search)?, reason.as_deref());
            return bulk::act(settings, (filter, dry_run), "held", begin).await;
        };
        let client = settings.connect().await?.client();
        let id = id.find(settings, &client).await?;
        let placed = client.hold(&id, reason.as_deref()).await?;
        let already = if placed.already { " already" } else { "" };
        let continues = match placed.public_state {
            PublicState::Active => "; its worker continues",
            _ => "",
        };
        settings.answer(&placed, || output::line(format_args!("{id} is{already} held{continues}")))
    }
}

impl Release {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let Some(id) = self.id else {
            let begin = |client: &Client, search: Search| client.release_all(search);
            return bulk::act(settings, (self.filter, self.dry_run), "released", begin).await;
        };
        let client = settings.connect().await?.client();
        let id = id.find(settings, &client).await?;
        let released = client.release(&id).await?;
        let HoldReleased { public_state, already } = released;
        let was = if already { "was not held" } else { "is released" };
        settings.answer(&released, || output::line(format_args!("{id} {was}; it is {public_state}")))
    }
}

impl Replay {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let OneOrMany { id, filter, dry_run, reason } = self.what;
        let reopen_downstream = self.reopen_downstream;
        let Some(id) = id else {
            let begin = |client: &Client, search: Search| {
                let replaying = client.replay_all(search)?;
                let replaying = if reopen_downstream { replaying.reopen_downstream() } else { replaying };
                because(replaying, reason.as_deref())
            };
            return bulk::act(settings, (filter, dry_run), "replayed", begin).await;
        };
        let from_step = self.from.map(|step| step_point("--from", &step, self.key.as_deref())).transpose()?;
        let flowfabric = settings.connect().await?;
        let id = id.find(settings, &flowfabric.client()).await?;
        let args = ReplayArgs { reason, reopen_downstream, from_step, ..ReplayArgs::new(id) };
        let replayed = flowfabric.backend().replay(args).await?;
        let ReplayedExecution { public_state, replays } = replayed;
        settings.answer(&replayed, || output::line(format_args!("{id} is {public_state} again, replay {replays}")))
    }
}

impl Revoke {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let id = self.id.find(settings, &client).await?;
        let revoked = client.revoke(&id, self.reason.as_deref()).await?;
        let was = if revoked.already { "had already been" } else { "was" };
        settings.answer(&revoked, || output::line(format_args!("lease {} of {id} {was} revoked", revoked.lease_epoch)))
    }
}

/// Asks the user to confirm that all executions are cancelled. Without a terminal, or with `--json`, `--yes` is required.
fn confirmed(settings: &Settings) -> anyhow::Result<bool> {
    let namespace = settings.namespace();
    if settings.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let why = format!("--filter all cancels every execution of namespace {namespace}; confirm it with --yes");
        return Err(Usage(format!("{why}, or count them with --dry-run")).into());
    }
    print_message(format_args!("cancel every execution of namespace {namespace}? Type yes to do it:"));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    let is_confirmed = matches!(answer.trim(), "y" | "yes");
    if !is_confirmed {
        print_message("nothing was cancelled");
    }
    Ok(is_confirmed)
}

/// Adds the reason to a bulk action, if there is one.
fn because(bulk: Bulk, reason: Option<&str>) -> Result<Bulk, ff_sdk::Error> {
    Ok(match reason {
        Some(reason) => bulk.reason(reason),
        None => bulk,
    })
}
