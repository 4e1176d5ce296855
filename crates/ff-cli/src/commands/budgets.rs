//! `ff budgets` and `ff usage`: limits on the spending of executions, and their usage.

use std::collections::BTreeMap;

use clap::{Args, Subcommand, ValueEnum};
use ff_core::budget::{Amounts, Budget, BudgetDefinition, BudgetLimit, CalendarUnit, OnHardLimit, Reset};
use ff_core::contracts::{BudgetInfo, BudgetRef, PutBudgetArgs, UsageInfo};
use ff_core::quota::Scope;
use ff_core::types::{BudgetName, Dimension, FlowId};

use crate::args::{IdArg, span, timestamp};
use crate::exit::{Exit, Usage as BadUsage, print_message};
use crate::output::{Table, or_dash};
use crate::settings::Settings;

/// Manage budgets: limits on the tokens, money, calls or seconds that executions spend
#[derive(Args)]
pub(crate) struct Budgets {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Define a budget
    Create(Put),
    /// Change a budget; options not given stay unchanged
    Set(Put),
    /// Change the scope of a budget: namespace, lane:LANE, kind:KIND, tag:NAME=VALUE, flow:ID or execution:ID
    Attach { name: BudgetName, scope: Scope },
    /// List the budgets of the namespace
    List,
    /// Show a budget and its usage
    Show(NameArg),
    /// Reset a budget; executions that waited for it are ready again
    Reset(NameArg),
    /// Delete a budget; executions that waited for it are ready again
    Delete(NameArg),
}

#[derive(Args)]
struct Put {
    name: BudgetName,

    /// Scope: namespace, lane:LANE, kind:KIND, tag:NAME=VALUE, flow:ID or execution:ID [default: namespace]
    #[arg(long)]
    scope: Option<Scope>,

    /// Hard limit of a dimension, such as tokens=100000: nothing starts once this much is spent and reserved
    #[arg(long, value_name = "DIMENSION=N", value_parser = amount)]
    hard: Vec<(Dimension, u64)>,

    /// Soft limit of a dimension: spending more emits one event per period
    #[arg(long, value_name = "DIMENSION=N", value_parser = amount)]
    soft: Vec<(Dimension, u64)>,

    /// When it resets: never, a span such as 6h, or day, week or month in a time zone, such as day@Europe/Berlin
    #[arg(long, value_name = "WHEN", value_parser = reset)]
    reset: Option<Reset>,

    /// What happens to an execution that exceeds a hard limit
    #[arg(long, value_enum)]
    on_hard_limit: Option<OnExcess>,

    /// Amount a claim reserves, for every kind or for one: tokens=2000 or chat:tokens=5000
    #[arg(long, value_name = "[KIND:]DIMENSION=N", value_parser = estimate)]
    estimate: Vec<(String, Dimension, u64)>,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnExcess {
    /// It may finish; nothing further is started
    Block,
    /// It fails with budget_exceeded
    Fail,
    /// It waits for ff approve or ff reject; nothing further is started
    Suspend,
}

#[derive(Args)]
struct NameArg {
    name: BudgetName,
}

/// Show the usage of an execution or a flow
#[derive(Args)]
pub(crate) struct Usage {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    #[arg(required_unless_present = "flow")]
    id: Option<IdArg>,

    /// Show the total of all members of this flow
    #[arg(long, conflicts_with = "id")]
    flow: Option<FlowId>,
}

impl Budgets {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let named = |name: &BudgetName| BudgetRef { namespace: settings.namespace(), name: name.clone() };
        let flowfabric = settings.connect().await?;
        let backend = flowfabric.backend();
        let known = async |name: &BudgetName| {
            let budgets = backend.list_budgets(&settings.namespace()).await?.budgets;
            anyhow::Ok(budgets.into_iter().find(|budget| budget.name == *name).map(|budget| budget.definition))
        };
        let put = async |name: BudgetName, definition: BudgetDefinition| {
            let args = PutBudgetArgs { namespace: settings.namespace(), name, definition: Some(definition) };
            args.check().map_err(BadUsage::from)?;
            let budget = backend.put_budget(args).await?;
            settings.answer(&budget, || tabulate(std::slice::from_ref(&budget)).print())
        };
        match self.command {
            Command::Create(new) => {
                if known(&new.name).await?.is_some() {
                    return Err(
                        BadUsage(format!("there is a budget {}; change it with ff budgets set", new.name)).into()
                    );
                }
                put(new.name.clone(), new.over(None)).await
            }
            Command::Set(change) => {
                let before = known(&change.name).await?;
                put(change.name.clone(), change.over(before)).await
            }
            Command::Attach { name, scope } => {
                let before = backend.describe_budget(named(&name)).await?.budget.definition;
                put(name, BudgetDefinition { scope, ..before }).await
            }
            Command::List => {
                let budgets = backend.list_budgets(&settings.namespace()).await?;
                let none = format!("namespace {} has no budget", settings.namespace());
                settings.answer(&budgets, || tabulate(&budgets.budgets).print_or(none))
            }
            Command::Show(NameArg { name }) => {
                let info = backend.describe_budget(named(&name)).await?;
                settings.answer(&info, || show(&info))
            }
            Command::Reset(NameArg { name }) => {
                let reset = backend.reset_budget(named(&name)).await?;
                settings.answer(&reset, || {
                    print_message(format_args!("{name} is reset"));
                    Ok(())
                })
            }
            Command::Delete(NameArg { name }) => {
                let deleted = backend.delete_budget(named(&name)).await?;
                settings.answer_deleted(&deleted, deleted.already, ("budget", &name))
            }
        }
    }
}

impl Usage {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let flowfabric = settings.connect().await?;
        let usage = match (self.flow, self.id) {
            (Some(flow), _) => flowfabric.backend().flow_usage(&flow).await?,
            (None, Some(id)) => {
                let id = id.find(settings, &flowfabric.client()).await?;
                flowfabric.backend().usage(&id).await?
            }
            (None, None) => return Err(BadUsage("an execution or --flow is required".into()).into()),
        };
        settings.answer(&usage, || spent(&usage))
    }
}

impl Put {
    /// Returns the definition `before`, changed by the given options.
    fn over(self, before: Option<BudgetDefinition>) -> BudgetDefinition {
        let nothing = || BudgetDefinition {
            scope: Scope::Namespace,
            limits: BTreeMap::new(),
            reset: Reset::Never,
            on_hard_limit: OnHardLimit::Block,
            estimate: BTreeMap::new(),
        };
        let mut after = before.unwrap_or_else(nothing);
        after.scope = self.scope.unwrap_or(after.scope);
        after.reset = self.reset.unwrap_or(after.reset);
        after.on_hard_limit = match self.on_hard_limit {
            Some(OnExcess::Block) => OnHardLimit::Block,
            Some(OnExcess::Fail) => OnHardLimit::Fail,
            Some(OnExcess::Suspend) => OnHardLimit::Suspend,
            None => after.on_hard_limit,
        };
        for (dimension, amount) in self.hard {
            after.limits.entry(dimension).or_default().hard = Some(amount);
        }
        for (dimension, amount) in self.soft {
            after.limits.entry(dimension).or_default().soft = Some(amount);
        }
        for (kind, dimension, amount) in self.estimate {
            after.estimate.entry(kind).or_default().insert(dimension, amount);
        }
        after
    }
}

fn tabulate(budgets: &[Budget]) -> Table {
    let mut table = Table::new(&["BUDGET", "SCOPE", "LIMITS", "RESET", "ON HARD LIMIT"]);
    for budget in budgets {
        let definition = &budget.definition;
        let limits = definition.limits.iter().map(|(dimension, limit)| format!("{dimension} {}", bounds(*limit)));
        table.row([
            budget.name.to_string(),
            definition.scope.to_string(),
            limits.collect::<Vec<_>>().join(", "),
            reset_text(&definition.reset),
            definition.on_hard_limit.as_str().to_owned(),
        ]);
    }
    table
}

fn show(info: &BudgetInfo) -> anyhow::Result<()> {
    tabulate(std::slice::from_ref(&info.budget)).print()?;
    let mut table = Table::new(&["DIMENSION", "USED", "RESERVED", "HARD", "SOFT", "SPENT EVER"]);
    for (dimension, of) in &info.balance {
        let (used, reserved, spent) = (of.used.to_string(), of.reserved.to_string(), of.spent.to_string());
        table.row([dimension.to_string(), used, reserved, or_dash(of.hard), or_dash(of.soft), spent]);
    }
    table.print()?;
    if let Some(until) = info.period.until {
        print_message(format_args!("resets at {}", timestamp::utc(until)));
    }
    if info.waiting > 0 {
        print_message(format_args!("{} wait for it", info.waiting));
    }
    Ok(())
}

fn spent(usage: &UsageInfo) -> anyhow::Result<()> {
    if usage.usage.is_empty() {
        print_message("nothing was reported");
        return Ok(());
    }
    let mut table = Table::new(&["ATTEMPT", "DIMENSION", "AMOUNT"]);
    let mut add = |of: &str, amounts: &Amounts| {
        for (dimension, amount) in amounts {
            table.row([of.to_owned(), dimension.to_string(), amount.to_string()]);
        }
    };
    usage.attempts.iter().for_each(|(index, amounts)| add(&index.to_string(), amounts));
    add("all", &usage.usage);
    table.print()
}

fn bounds(limit: BudgetLimit) -> String {
    match limit {
        BudgetLimit { hard: Some(hard), soft: Some(soft) } => format!("{hard} (soft {soft})"),
        BudgetLimit { hard: Some(hard), soft: None } => hard.to_string(),
        BudgetLimit { hard: None, soft: Some(soft) } => format!("soft {soft}"),
        BudgetLimit { hard: None, soft: None } => "-".to_owned(),
    }
}

fn reset_text(reset: &Reset) -> String {
    match reset {
        Reset::Never => "never".to_owned(),
        Reset::Interval { every_ms } => format!("every {}", span::exact(*every_ms)),
        Reset::Calendar { unit, time_zone } => {
            let unit = match unit {
                CalendarUnit::Day => "day",
                CalendarUnit::Week => "week",
                CalendarUnit::Month => "month",
            };
            format!("{unit}@{time_zone}")
        }
    }
}

pub(super) fn amount(text: &str) -> Result<(Dimension, u64), String> {
    let wrong = || "must be a dimension, an equals sign and a whole number, for example tokens=100000".to_owned();
    let (dimension, amount) = text.split_once('=').ok_or_else(wrong)?;
    let dimension = Dimension::parse(dimension).map_err(|error| format!("the dimension {error}"))?;
    Ok((dimension, amount.parse().map_err(|_| wrong())?))
}

fn estimate(text: &str) -> Result<(String, Dimension, u64), String> {
    let (kind, rest) = text.rsplit_once(':').unwrap_or(("*", text));
    let (dimension, amount) = amount(rest)?;
    Ok((kind.to_owned(), dimension, amount))
}

fn reset(text: &str) -> Result<Reset, String> {
    let (unit, time_zone) = text.split_once('@').unwrap_or((text, "UTC"));
    let unit = match unit {
        "never" => return Ok(Reset::Never),
        "day" => CalendarUnit::Day,
        "week" => CalendarUnit::Week,
        "month" => CalendarUnit::Month,
        _ => return Ok(Reset::Interval { every_ms: span::ms(span::parse(text)?) }),
    };
    Ok(Reset::Calendar { unit, time_zone: time_zone.to_owned() })
}
