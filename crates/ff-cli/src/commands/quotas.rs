//! `ff quotas`: limits on the rate of claims and on the number of executions running at once.

use clap::{Args, Subcommand};
use ff_core::contracts::{PutQuotaArgs, QuotaDefinition, QuotaInfo, QuotaRef};
use ff_core::quota::{Per, QuotaPolicy, Rate, Scope};
use ff_core::types::QuotaName;

use crate::args::span;
use crate::exit::{Exit, Usage, print_message};
use crate::output::{Table, or_dash};
use crate::settings::Settings;

/// Manage quotas: limits on the rate and concurrency of executions
#[derive(Args)]
pub(crate) struct Quotas {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Set(Set),
    /// List the quota policies of the namespace
    List,
    /// Show a quota policy and its usage
    Show(NameArg),
    /// Delete a quota policy; executions that waited for it are ready again
    Delete(NameArg),
}

/// Create or replace a quota policy
#[derive(Args)]
struct Set {
    name: QuotaName,

    /// Scope: namespace, lane:LANE, kind:KIND, tag:NAME=VALUE or flow:ID
    #[arg(long, default_value = "namespace")]
    scope: Scope,

    /// Count each value separately: kind, namespace or tag:NAME; work without the tag is not limited
    #[arg(long)]
    per: Option<Per>,

    /// Maximum number of claims in any window of this length, such as 100/1m
    #[arg(long, value_name = "N/SPAN", value_parser = rate)]
    rate: Option<Rate>,

    /// Maximum number of executions running at once
    #[arg(long, value_name = "N")]
    max_concurrent: Option<u32>,
}

#[derive(Args)]
struct NameArg {
    name: QuotaName,
}

impl Quotas {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let named = |name| QuotaRef { namespace: settings.namespace(), name };
        match self.command {
            Command::Set(Set { name, scope, per, rate, max_concurrent }) => {
                let definition = Some(QuotaDefinition { scope, per, rate, max_concurrent });
                let args = PutQuotaArgs { namespace: settings.namespace(), name, definition };
                args.check().map_err(Usage::from)?;
                let policy = settings.connect().await?.backend().put_quota(args).await?;
                settings.answer(&policy, || tabulate(std::slice::from_ref(&policy)).print())
            }
            Command::List => {
                let quotas = settings.connect().await?.backend().list_quotas(&settings.namespace()).await?;
                let none = format!("namespace {} has no quota", settings.namespace());
                settings.answer(&quotas, || tabulate(&quotas.quotas).print_or(none))
            }
            Command::Show(NameArg { name }) => {
                let info = settings.connect().await?.backend().describe_quota(named(name)).await?;
                settings.answer(&info, || show(&info))
            }
            Command::Delete(NameArg { name }) => {
                let deleted = settings.connect().await?.backend().delete_quota(named(name.clone())).await?;
                settings.answer_deleted(&deleted, deleted.already, ("quota", &name))
            }
        }
    }
}

fn tabulate(quotas: &[QuotaPolicy]) -> Table {
    let mut table = Table::new(&["QUOTA", "SCOPE", "PER", "RATE", "AT ONCE"]);
    for policy in quotas {
        let rate = policy.rate.map(|rate| format!("{}/{}", rate.limit, span::exact(rate.window_ms)));
        table.row([
            policy.name.to_string(),
            policy.scope.to_string(),
            or_dash(policy.per.as_ref()),
            or_dash(rate),
            or_dash(policy.max_concurrent),
        ]);
    }
    table
}

fn show(info: &QuotaInfo) -> anyhow::Result<()> {
    tabulate(std::slice::from_ref(&info.policy)).print()?;
    if info.keys.is_empty() {
        print_message("nothing of it is used");
        return Ok(());
    }
    let mut table = Table::new(&["KEY", "IN WINDOW", "HELD", "WAITING"]);
    for used in &info.keys {
        let key = Some(&used.key).filter(|key| !key.is_empty());
        table.row([or_dash(key), used.in_window.to_string(), used.held.to_string(), used.waiting.to_string()]);
    }
    table.print()?;
    if info.more {
        print_message("and more keys");
    }
    Ok(())
}

fn rate(text: &str) -> Result<Rate, String> {
    let wrong = || "must be a number, a slash and a span, for example 100/1m".to_owned();
    let (limit, window) = text.split_once('/').ok_or_else(wrong)?;
    let window_ms = span::ms(span::parse(window)?);
    Ok(Rate { limit: limit.parse().map_err(|_| wrong())?, window_ms })
}
