//! `ff lanes`: shows and configures lanes.

use clap::{Args, Subcommand};
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{ConfigureLaneArgs, Depths, LaneInfo, LanePlace, ListLanesArgs, Setting};
use ff_core::lane::LaneState;
use ff_core::limits;
use ff_core::quota::Per;
use ff_core::types::{FairKey, LaneId, Namespace, TimestampMs};
use ff_sdk::Client;

use crate::args::{every_page, span};
use crate::exit::{Exit, Usage};
use crate::output::{Table, or_dash};
use crate::settings::Settings;

/// List, pause, drain, resume and configure lanes
#[derive(Args)]
pub(crate) struct Lanes {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(List),
    /// Stop claims from a lane; it still accepts submissions, and running work continues
    Pause(LaneArg),
    /// Allow submissions to and claims from a lane again
    Resume(LaneArg),
    /// Stop submissions to a lane; its existing work can still be claimed
    Drain(LaneArg),
    Set(Set),
}

/// List lanes, with their settings and their executions by state
#[derive(Args)]
struct List {
    /// Include all namespaces, not only the one in force
    #[arg(long)]
    all_namespaces: bool,
}

#[derive(Args)]
struct LaneArg {
    lane: LaneId,
}

/// Change the settings of a lane; options not given stay unchanged
#[derive(Args)]
struct Set {
    lane: LaneId,

    /// Maximum number of executions running at once, or none for no limit
    #[arg(long, value_name = "N|none", value_parser = count)]
    concurrency: Option<Setting<u32>>,

    /// Waiting time that counts as one step of priority, or none for strict priority
    #[arg(long, value_name = "SPAN|none", value_parser = lasting)]
    ageing: Option<Setting<u64>>,

    /// How long executions submitted to it are kept after their end, or none for a week
    #[arg(long, value_name = "SPAN|none", value_parser = lasting)]
    retention: Option<Setting<u64>>,

    /// Key for fair queueing, whose values workers take in turn, or none for one queue
    #[arg(long, value_name = "kind|namespace|tag:NAME|none", value_parser = fair_by)]
    fair_by: Option<Setting<Per>>,

    /// Weight of a key: twice the weight is served twice as often; KEY= for 1 (repeatable)
    #[arg(long = "weight", value_name = "KEY=N", value_parser = weight)]
    weights: Vec<(FairKey, Setting<u32>)>,
}

impl Lanes {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let stand = |named: LaneArg, state| ConfigureLaneArgs::state(settings.namespace(), named.lane, state);
        let args = match self.command {
            Command::List(list) => return list.run(settings).await,
            Command::Pause(named) => stand(named, LaneState::Paused),
            Command::Resume(named) => stand(named, LaneState::Active),
            Command::Drain(named) => stand(named, LaneState::Draining),
            Command::Set(set) => set.into_args(settings)?,
        };
        args.check().map_err(Usage::from)?;
        let lane = settings.connect().await?.client().configure_lane(args).await?;
        settings.answer(&lane, || tabulate(std::slice::from_ref(&lane), false, SystemClock.now()).print())
    }
}

impl Set {
    fn into_args(self, settings: &Settings) -> Result<ConfigureLaneArgs, Usage> {
        let is_plain = self.concurrency.is_none() && self.ageing.is_none() && self.retention.is_none();
        if is_plain && self.fair_by.is_none() && self.weights.is_empty() {
            let options = "--concurrency, --ageing, --retention, --fair-by or --weight";
            return Err(Usage(format!("say what to set: {options}")));
        }
        Ok(ConfigureLaneArgs {
            concurrency: self.concurrency.unwrap_or_default(),
            ageing_ms: self.ageing.unwrap_or_default(),
            retention_ms: self.retention.unwrap_or_default(),
            fair_by: self.fair_by.unwrap_or_default(),
            weights: self.weights.into_iter().collect(),
            ..ConfigureLaneArgs::new(settings.namespace(), self.lane)
        })
    }
}

impl List {
    async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let namespace = (!self.all_namespaces).then(|| settings.namespace());
        let lanes = of_namespace(&client, namespace.as_ref()).await?;
        let page = ff_api::LanesPage { lanes, next: None };
        let none = format!("no lane {} has had any work or settings yet", scope(namespace.as_ref()));
        settings.answer(&page, || tabulate(&page.lanes, self.all_namespaces, SystemClock.now()).print_or(none))
    }
}

/// Returns the scope of a listing, in words.
pub(super) fn scope(namespace: Option<&Namespace>) -> String {
    namespace.map_or_else(|| "of any namespace".to_owned(), |name| format!("of namespace {name}"))
}

/// Returns the lanes of a namespace, or of all namespaces.
pub(super) async fn of_namespace(client: &Client, namespace: Option<&Namespace>) -> anyhow::Result<Vec<LaneInfo>> {
    let read = async |after| {
        let args = ListLanesArgs { namespace: namespace.cloned(), after, limit: limits::PAGE, finished: true };
        let page = client.lanes(args).await?;
        Ok((page.lanes, page.next))
    };
    every_page(None, read).await
}

/// Tabulates lanes, with their namespaces if `with_namespace` is set.
pub(super) fn tabulate(lanes: &[LaneInfo], with_namespace: bool, now: TimestampMs) -> Table {
    let namespace = with_namespace.then_some("NAMESPACE");
    let headings = namespace.into_iter().chain([
        "LANE",
        "STATE",
        "LIMIT",
        "AGEING",
        "KEPT",
        "FAIR BY",
        "WAITING",
        "OLDEST",
        "ACTIVE",
        "DELAYED",
        "SUSPENDED",
        "BLOCKED",
        "FINISHED",
    ]);
    let mut table = Table::new(&headings.collect::<Vec<_>>());
    let lasting = |ms: Option<u64>| or_dash(ms.map(span::exact));
    for lane in lanes {
        let depth = |standing| lane.depths.get(&standing).copied().unwrap_or_default();
        let count = |standing| depth(standing).count.to_string();
        let oldest = depth(LanePlace::Waiting).first_at;
        let namespace = with_namespace.then(|| lane.namespace.to_string());
        table.row(namespace.into_iter().chain([
            lane.lane_id.to_string(),
            lane.settings.state.to_string(),
            or_dash(lane.settings.concurrency),
            lasting(lane.settings.ageing_ms),
            lasting(lane.settings.retention_ms),
            or_dash(lane.settings.fair_by.as_ref()),
            count(LanePlace::Waiting),
            or_dash(oldest.map(|since| span::relative(since, now))),
            count(LanePlace::Active),
            count(LanePlace::Delayed),
            count(LanePlace::Suspended),
            blocked(&lane.depths),
            count(LanePlace::Finished),
        ]));
    }
    table
}

/// Formats the number of executions blocked by their flow and, for each other blocking reason, the number if it is not zero.
fn blocked(depths: &Depths) -> String {
    let count = |standing| depths.get(&standing).map_or(0, |depth| depth.count);
    let reasons = [
        (LanePlace::BlockedByOperator, "held"),
        (LanePlace::BlockedByRoute, "route"),
        (LanePlace::BlockedByQuota, "quota"),
        (LanePlace::BlockedByBudget, "budget"),
    ];
    let reasons = reasons.map(|(standing, word)| (count(standing), word)).into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<_> = reasons.map(|(count, word)| format!("{count} {word}")).collect();
    let in_flows = count(LanePlace::WaitingChildren).to_string();
    if words.is_empty() { in_flows } else { format!("{in_flows} ({})", words.join(", ")) }
}

fn count(text: &str) -> Result<Setting<u32>, String> {
    match text {
        "none" => Ok(Setting::Default),
        text => text.parse().map(Setting::To).map_err(|_| "must be a whole number, or none".to_owned()),
    }
}

fn fair_by(text: &str) -> Result<Setting<Per>, String> {
    match text {
        "none" => Ok(Setting::Default),
        text => text.parse().map(Setting::To).map_err(|error| format!("{error}; or none")),
    }
}

fn weight(text: &str) -> Result<(FairKey, Setting<u32>), String> {
    let (key, weight) =
        text.rsplit_once('=').filter(|(key, _)| !key.is_empty()).ok_or("must be KEY=N, or KEY= for 1")?;
    let key = FairKey::parse(key).map_err(|error| error.to_string())?;
    match weight {
        "" => Ok((key, Setting::Default)),
        weight => Ok((key, Setting::To(weight.parse().map_err(|_| "a weight must be a whole number")?))),
    }
}

fn lasting(text: &str) -> Result<Setting<u64>, String> {
    if text == "none" {
        return Ok(Setting::Default);
    }
    span::parse(text).map(|span| Setting::To(span::ms(span))).map_err(|error| format!("{error}, or none"))
}
