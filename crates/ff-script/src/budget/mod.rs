//! The functions of budgets: the usage of a budget at its home, and the spending of an execution.

use std::collections::BTreeMap;

use ff_core::budget::{Amounts, Balance, BudgetLimit, Draw, OnHardLimit, Period, Reset, SoftCrossing, Usage};
use ff_core::contracts::{
    AdmissionVerdicts, AdmissionsSettled, AdmitArgs, BudgetAnswer, BudgetReset, BudgetState, ChargeBudgetArgs,
    DefineBudgetArgs, PendingUsage, QuotaDefined, ReportUsageArgs, ResetBudgetArgs, SettleAdmissionsArgs,
    SettleUsageArgs, UsageReported, UsageSettled, UsageTotal,
};
use ff_core::keys::{BudgetKeyContext, budget_policies_index, usage_dedup_key};
use ff_core::partition::{PartitionConfig, budget_partition};
use ff_core::quota::{SlotRow, SlotState};
use ff_core::types::{AttemptIndex, BudgetId, BudgetName, Dimension, ExecutionId, LeaseEpoch, TimestampMs};

use crate::execution::core_key;
use crate::quota::{guard_text, settled, verdict};
use crate::record::Hash;
use crate::server::{ask, ask_fields, ask_word};
use crate::signature::{
    CreateBudget, ReadBudget, RecordSpend, ReleaseBudget, ReportUsageAndCheck, ReserveBudget, ResetBudget, SettleUsage,
};
use crate::{Fcall, Fields, ScriptError, Server, Value};

/// Maximum number of times that one call is sent, because the period may end between two of them.
const PERIODS: usize = 4;

fn definition_key(id: &BudgetId, partitions: &PartitionConfig) -> String {
    BudgetKeyContext::new(&budget_partition(id, partitions), id).definition()
}

/// Stores or removes the definition of a budget at its home. `now` is the time at the home.
pub async fn ff_create_budget(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &DefineBudgetArgs,
    now: TimestampMs,
) -> Result<QuotaDefined, ScriptError> {
    let budget = args.budget.as_ref();
    let period = budget.map(|budget| budget.definition.reset.period_at(budget.created_at, now));
    let bounds = budget.into_iter().flat_map(|budget| &budget.definition.limits).flat_map(|(dimension, limit)| {
        let BudgetLimit { hard, soft } = *limit;
        [dimension.to_string(), optional(hard), optional(soft)]
    });
    let estimates = budget.into_iter().flat_map(|budget| &budget.definition.estimate);
    let estimates = estimates.flat_map(|(kind, amounts)| [kind.clone(), amounts_text(amounts)]);
    let create = CreateBudget {
        definition: definition_key(&args.budget_id, partitions),
        policies: budget_policies_index(&budget_partition(&args.budget_id, partitions).hash_tag()),
        budget_id: args.budget_id.to_string(),
        revision: args.revision,
        name: budget.map(|budget| budget.name.to_string()),
        created_at: budget.map(|budget| moment(budget.created_at)),
        on_hard_limit: budget.map(|budget| budget.definition.on_hard_limit.as_str().to_owned()),
        reset: budget.map(|budget| reset_text(&budget.definition.reset)).transpose()?,
        period_from: period.map(|period| moment(period.from)),
        period_until: period.and_then(|period| period.until).map(moment),
        bounds: bounds.map(Into::into).collect(),
        estimates: estimates.map(Into::into).collect(),
    };
    Ok(QuotaDefined { revision: ask_word(server, create.call()).await? })
}

/// Sends a call to the home of a budget. If the stored period is over, starts the current period and sends the call
/// again.
async fn ask_home(
    server: &dyn Server,
    definition: &str,
    call: impl Fn() -> Fcall,
) -> Result<(Option<String>, TimestampMs, Fields), ScriptError> {
    for _ in 0..PERIODS {
        let mut fields = ask(server, call()).await?;
        let (state, at) = (fields.maybe_text()?, TimestampMs(fields.read()?));
        let Some(over) = state.as_deref().and_then(|state| state.strip_prefix("over ")) else {
            return Ok((state, at, fields));
        };
        let unreadable = || ScriptError::parse(format!("the period of a budget {over:?} cannot be read"));
        let (begun, reset) = over.split_once(' ').ok_or_else(unreadable)?;
        let reset: Reset = serde_json::from_str(reset).map_err(|_| unreadable())?;
        let Period { from, until } = reset.period_at(TimestampMs(begun.parse().map_err(|_| unreadable())?), at);
        let begin = ResetBudget {
            definition: definition.to_owned(),
            period_from: Some(moment(from)),
            period_until: until.map(moment),
        };
        ask_fields(server, begin.call()).await?;
    }
    Err(ScriptError::parse("the periods of a budget end faster than it answers"))
}

/// Reserves the estimated spending of executions in a budget, and returns a verdict for each.
pub async fn ff_reserve_budget(
    server: &dyn Server,
    partitions: &PartitionConfig,
    id: &BudgetId,
    args: &AdmitArgs,
) -> Result<AdmissionVerdicts, ScriptError> {
    let definition = definition_key(id, partitions);
    let call = || {
        let one = |one: &ff_core::contracts::SlotRequest| {
            [one.key.clone(), one.execution_id.to_string(), one.epoch.to_string()]
        };
        let reserve = ReserveBudget {
            definition: definition.clone(),
            revision: args.revision,
            claim_id: args.claim_id.map(|id| id.to_string()),
            requests: args.requests.iter().flat_map(one).map(Into::into).collect(),
        };
        reserve.call()
    };
    let (_, at, mut fields) = ask_home(server, &definition, call).await?;
    let (name, retry_at) = (fields.maybe_text()?, fields.maybe_read()?.map(TimestampMs));
    let verdicts = fields.items(|row| verdict(row.maybe_text()?, row.maybe_read()?, retry_at, row.maybe_read()?))?;
    Ok(AdmissionVerdicts { name, at, verdicts })
}

/// Releases reservations that were not used, and returns the executions that no longer wait.
pub async fn ff_release_budget(
    server: &dyn Server,
    partitions: &PartitionConfig,
    id: &BudgetId,
    args: &SettleAdmissionsArgs,
) -> Result<AdmissionsSettled, ScriptError> {
    let definition = definition_key(id, partitions);
    let call = || {
        let one = |one: &ff_core::contracts::AdmissionRelease| {
            [one.key.clone(), one.execution_id.to_string(), one.epoch.to_string(), guard_text(one.guard)]
        };
        let releases = args.releases.iter().flat_map(one).map(Into::into).collect();
        ReleaseBudget { definition: definition.clone(), releases }.call()
    };
    let (_, _, mut fields) = ask_home(server, &definition, call).await?;
    settled(&mut fields)
}

/// Counts the spending of an execution in a budget, and returns the budget's balance.
pub async fn ff_report_usage_and_check(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &ChargeBudgetArgs,
) -> Result<BudgetAnswer, ScriptError> {
    let definition = definition_key(&args.budget_id, partitions);
    let call = || {
        let report = ReportUsageAndCheck {
            definition: definition.clone(),
            execution_id: args.execution_id.to_string(),
            kind: args.kind.to_string(),
            seq: args.total.seq,
            total: maybe(amounts_text(&args.total.amounts)),
            counted_seq: args.counted.seq,
            counted: maybe(amounts_text(&args.counted.amounts)),
        };
        report.call()
    };
    let (state, _, mut fields) = ask_home(server, &definition, call).await?;
    if state.is_some() {
        return Ok(BudgetAnswer { state: None, crossed: false });
    }
    let (budget, on_hard_limit) = (fields.read::<BudgetName>()?, hard_limit_of(&fields.text()?)?);
    let crossed = fields.maybe_text()?.is_some();
    let mut row = fields.nested()?;
    let (mut balance, mut limits) = (Balance::default(), BTreeMap::new());
    while !row.is_empty() {
        let dimension: Dimension = row.read()?;
        balance.used.insert(dimension.clone(), row.read()?);
        balance.reserved.insert(dimension.clone(), row.read()?);
        limits.insert(dimension, BudgetLimit { hard: row.maybe_read()?, soft: row.maybe_read()? });
    }
    Ok(BudgetAnswer { state: Some(BudgetState::of(budget, on_hard_limit, &limits, &balance)), crossed })
}

/// Clears the usage of a budget's current period.
pub async fn ff_reset_budget(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &ResetBudgetArgs,
) -> Result<BudgetReset, ScriptError> {
    let definition = definition_key(&args.budget_id, partitions);
    let call = || ResetBudget { definition: definition.clone(), period_from: None, period_until: None }.call();
    let (_, _, mut fields) = ask_home(server, &definition, call).await?;
    Ok(BudgetReset { next_reset_at: fields.maybe_read()?.map(TimestampMs) })
}

/// The balance of a budget and a page of its draws.
pub struct BudgetPage {
    pub balance: Balance,
    /// Execution, its kind, and its draw.
    pub draws: Vec<(ExecutionId, String, Draw)>,
    pub next: Option<String>,
}

/// Reads a budget and about `count` of its draws; none when `count` is 0.
pub async fn ff_read_budget(
    server: &dyn Server,
    partitions: &PartitionConfig,
    id: &BudgetId,
    cursor: Option<String>,
    count: u64,
) -> Result<BudgetPage, ScriptError> {
    let read = ReadBudget { definition: definition_key(id, partitions), cursor, count };
    let mut fields = ask(server, read.call()).await?;
    let next = fields.maybe_text()?;
    let balance = balance(&Hash::parse(fields.list()?)?)?;
    let draws = fields.items(|row| {
        let (id, text) = (row.read()?, row.text()?);
        let (kind, draw) = draw(&text).ok_or_else(|| ScriptError::parse(format!("a draw {text:?} cannot be read")))?;
        Ok((id, kind, draw))
    })?;
    Ok(BudgetPage { balance, draws, next })
}

fn balance(fields: &Hash) -> Result<Balance, ScriptError> {
    let mut balance = Balance {
        period: Period {
            from: TimestampMs(fields.count("period_from")?),
            until: fields.maybe("period_until")?.map(TimestampMs),
        },
        first_waiter: fields.count("first_waiter")?,
        next_waiter: fields.count("next_waiter")?,
        ..Balance::default()
    };
    for (name, value) in fields.all::<String, String>()? {
        let Some((dimension, word)) = name.rsplit_once(':') else { continue };
        let unreadable = || ScriptError::parse(format!("{name} of a budget cannot be read: {value:?}"));
        let dimension: Dimension = dimension.parse().map_err(|_| unreadable())?;
        let amount = || value.parse::<i64>().map_err(|_| unreadable());
        let sums = match word {
            "used" => &mut balance.used,
            "reserved" => &mut balance.reserved,
            "spent" => &mut balance.spent,
            "folded" => {
                balance.folded.insert(dimension, amount()?);
                continue;
            }
            _ => {
                let (id, seq) = value.split_once(' ').ok_or_else(unreadable)?;
                let (execution_id, seq) =
                    (id.parse().map_err(|_| unreadable())?, seq.parse().map_err(|_| unreadable())?);
                balance.crossings.insert(dimension, SoftCrossing { execution_id, seq });
                continue;
            }
        };
        sums.insert(dimension, amount()?.unsigned_abs());
    }
    Ok(balance)
}

fn draw(text: &str) -> Option<(String, Draw)> {
    let mut parts = text.split('|');
    let (kind, slot, counted) = (parts.next()?.to_owned(), parts.next()?, parts.next()?);
    let (reserved, seen) = (amounts_of(parts.next()?)?, amounts_of(parts.next()?)?);
    let slot = if slot.is_empty() { None } else { Some(slot_of(slot)?) };
    let (seq, at) = if counted.is_empty() { ("0", "0") } else { counted.split_once(' ')? };
    Some((kind, Draw { slot, reserved, seq: seq.parse().ok()?, seen, at: TimestampMs(at.parse().ok()?) }))
}

fn slot_of(text: &str) -> Option<SlotRow> {
    let mut words = text.split(' ');
    let (word, epoch, at) = (words.next()?, LeaseEpoch(words.next()?.parse().ok()?), words.next()?.parse().ok()?);
    let (place, claim_id) = (words.next()?, words.next()?);
    let state = match word {
        "held" => SlotState::Held { admission: None },
        _ => SlotState::Waiting { place: place.parse().ok()? },
    };
    let claim_id = if claim_id.is_empty() { None } else { Some(claim_id.parse().ok()?) };
    Some(SlotRow { epoch, at: TimestampMs(at), state, claim_id })
}

/// Adds the spending that a holder reports, once per report, and returns the amounts that budgets must count.
pub async fn ff_record_spend(server: &dyn Server, args: ReportUsageArgs) -> Result<UsageReported, ScriptError> {
    let id = args.execution_id;
    let tag = format!("{{fp:{}}}", id.partition());
    let amounts = args.amounts.iter().flat_map(|(dimension, amount)| [dimension.to_string(), amount.to_string()]);
    let record = RecordSpend {
        core: core_key(&id),
        remembered: usage_dedup_key(&tag, &format!("{}:{}", id.uuid(), args.report_id)),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        amounts: amounts.map(Into::into).collect(),
    };
    let (mut fields, duplicate) = ask_fields(server, record.call()).await?;
    let (late, kind) = (fields.maybe_text()?.is_some(), fields.read()?);
    let unreadable = || ScriptError::parse("what an execution has spent cannot be read");
    let mut total = || -> Result<UsageTotal, ScriptError> {
        let (seq, text) = (fields.read()?, fields.maybe_text()?.unwrap_or_default());
        Ok(UsageTotal { seq, amounts: amounts_of(&text).ok_or_else(unreadable)? })
    };
    let (total, counted) = (total()?, total()?);
    let budgets: Vec<_> = fields.items(Fields::read)?;
    let usage = total.amounts.clone();
    let is_pending = !budgets.is_empty();
    let pending = Box::new(PendingUsage { execution_id: id, kind, budgets, total, counted });
    let pending = is_pending.then_some(pending);
    Ok(UsageReported { duplicate, late, usage, budgets: Vec::new(), failed: false, pending })
}

/// Records that every budget has counted a number of reports.
pub async fn ff_settle_usage(server: &dyn Server, args: SettleUsageArgs) -> Result<UsageSettled, ScriptError> {
    let settle = SettleUsage {
        core: core_key(&args.execution_id),
        counted_seq: args.counted.seq,
        counted: maybe(amounts_text(&args.counted.amounts)),
        crossed: maybe(args.crossed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")),
    };
    let mut fields = ask(server, settle.call()).await?;
    Ok(UsageSettled { settled: fields.maybe_text()?.is_some() })
}

/// Returns the usage in an execution's record, with the spending of each attempt from the attempts' hashes.
pub(crate) fn usage(core: &Hash, attempts: Vec<Value>) -> Result<Option<Box<Usage>>, ScriptError> {
    let Some(text) = core.text("usage")? else { return Ok(None) };
    let unreadable = || ScriptError::parse(format!("the usage {text:?} cannot be read"));
    let mut parts = text.split('|');
    let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok()).ok_or_else(unreadable);
    let (seq, counted_seq) = (number()?, number()?);
    let counted = parts.nth(1).and_then(amounts_of).ok_or_else(unreadable)?;
    let mut by_attempt = BTreeMap::new();
    for (index, value) in (0..).zip(attempts) {
        let Value::List(values) = value else { return Err(unreadable()) };
        let amounts: Amounts = Hash::parse(values)?.all()?.into_iter().collect();
        if !amounts.is_empty() {
            by_attempt.insert(AttemptIndex(index), amounts);
        }
    }
    Ok(Some(Box::new(Usage { seq, by_attempt, counted: UsageTotal { seq: counted_seq, amounts: counted } })))
}

fn amounts_text(amounts: &Amounts) -> String {
    amounts.iter().map(|(dimension, amount)| format!("{dimension} {amount}")).collect::<Vec<_>>().join(" ")
}

fn amounts_of(text: &str) -> Option<Amounts> {
    let mut words = text.split_whitespace();
    let mut amounts = Amounts::new();
    while let Some(dimension) = words.next() {
        amounts.insert(dimension.parse().ok()?, words.next()?.parse().ok()?);
    }
    Some(amounts)
}

fn maybe(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn optional(amount: Option<u64>) -> String {
    amount.map(|amount| amount.to_string()).unwrap_or_default()
}

fn moment(at: TimestampMs) -> u64 {
    at.0.try_into().unwrap_or(0)
}

fn reset_text(reset: &Reset) -> Result<String, ScriptError> {
    serde_json::to_string(reset).map_err(|error| ScriptError::parse(format!("a reset cannot be written: {error}")))
}

fn hard_limit_of(word: &str) -> Result<OnHardLimit, ScriptError> {
    word.parse().map_err(|_| ScriptError::parse(format!("no budget does {word:?}")))
}
