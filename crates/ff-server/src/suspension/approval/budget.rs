//! Budget increases given with an approval, only for the budgets that the execution waits for.

use std::collections::BTreeMap;

use ff_core::budget::OnHardLimit;
use ff_core::contracts::{BudgetRef, ExecutionInfo, PutBudgetArgs};
use ff_core::engine_error::{EngineError, Refusal};
use ff_core::suspension::SuspendReason;
use ff_core::types::{BudgetName, Dimension, Namespace};
use ff_scheduler::Runtime;

/// A dimension of a budget whose usage exceeds its hard limit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Overrun {
    pub(super) namespace: Namespace,
    pub(super) budget: BudgetName,
    pub(super) dimension: Dimension,
    pub(super) hard: u64,
    pub(super) used: u64,
}

/// An amount to add to a hard limit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Addition {
    pub(super) budget: BudgetName,
    pub(super) dimension: Dimension,
    pub(super) amount: u64,
}

impl Addition {
    /// Prefix of the form field's name.
    pub(super) const PREFIX: &str = "add:";

    /// Returns the name of the form field.
    pub(super) fn field(budget: &BudgetName, dimension: &Dimension) -> String {
        format!("{}{budget}:{dimension}", Self::PREFIX)
    }

    /// Parses a form field; returns `None` if it was left empty.
    pub(super) fn read(field: &str, text: &str) -> Result<Option<Self>, Refusal> {
        let unknown = || Refusal::invalid(field, "must name a budget and a dimension, as in add:agent:tokens");
        let (budget, dimension) =
            field.strip_prefix(Self::PREFIX).and_then(|of| of.split_once(':')).ok_or_else(unknown)?;
        let budget = BudgetName::parse(budget).map_err(|error| Refusal::invalid(field, error))?;
        let dimension = Dimension::parse(dimension).map_err(|error| Refusal::invalid(field, error))?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        let amount = text.trim().parse().ok().filter(|amount| *amount > 0);
        let amount = amount.ok_or_else(|| Refusal::invalid(field, "must be a whole number of at least 1"))?;
        Ok(Some(Self { budget, dimension, amount }))
    }
}

/// Returns the exceeded limits of an execution that a budget suspended.
pub(super) async fn overruns(ff: &Runtime, info: &ExecutionInfo) -> Result<Vec<Overrun>, EngineError> {
    let reason = info.suspension.as_ref().map(|suspension| &suspension.reason);
    if reason != Some(&SuspendReason::PausedByBudget) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for budget in ff.backend().list_budgets(&info.namespace).await?.budgets {
        let definition = &budget.definition;
        if definition.on_hard_limit != OnHardLimit::Suspend || !definition.scope.takes_in_info(info) {
            continue;
        }
        let named = BudgetRef { namespace: info.namespace.clone(), name: budget.name };
        let standing = ff.backend().describe_budget(named.clone()).await?;
        let over = standing.balance.into_iter().filter_map(|(dimension, balance)| {
            let hard = balance.hard.filter(|hard| balance.used > *hard)?;
            let BudgetRef { namespace, name: budget } = named.clone();
            Some(Overrun { namespace, budget, dimension, hard, used: balance.used })
        });
        found.extend(over);
    }
    Ok(found)
}

/// Raises the hard limits of budgets that the execution waits for. If any addition is for another budget, refuses and raises
/// none.
pub(super) async fn raise(ff: &Runtime, over: &[Overrun], additions: &[Addition]) -> Result<(), EngineError> {
    let mut raised = BTreeMap::<BudgetName, PutBudgetArgs>::new();
    for Addition { budget, dimension, amount } in additions {
        let asked_for = over.iter().find(|one| one.budget == *budget && one.dimension == *dimension);
        let unasked = || Refusal::invalid(Addition::field(budget, dimension), "is not what the work waits for");
        let namespace = asked_for.ok_or_else(unasked)?.namespace.clone();
        let named = BudgetRef { namespace: namespace.clone(), name: budget.clone() };
        let mut args = match raised.remove(budget) {
            Some(args) => args,
            None => {
                let definition = Some(ff.backend().describe_budget(named).await?.budget.definition);
                PutBudgetArgs { namespace, name: budget.clone(), definition }
            }
        };
        args.definition.as_mut().map(|definition| definition.raise(dimension, *amount));
        args.check()?;
        raised.insert(budget.clone(), args);
    }
    for args in raised.into_values() {
        ff.backend().put_budget(args).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_addition_is_a_budget_a_dimension_and_a_number() {
        let read = |field, text| Addition::read(field, text).map_err(|refusal| refusal.to_string());
        let added = read("add:agent:tokens", " 500 ").unwrap().unwrap();
        assert_eq!((added.budget.as_str(), added.dimension.as_str(), added.amount), ("agent", "tokens", 500));
        assert_eq!(read("add:agent:tokens", " "), Ok(None));
        for text in ["0", "-1", "1.5", "many", "18446744073709551616"] {
            assert!(read("add:agent:tokens", text).unwrap_err().contains("whole number"), "{text}");
        }
        for field in ["add:agent", "add::tokens", "add:agent:", "add:a b:tokens"] {
            assert!(read(field, "1").is_err(), "{field}");
        }
    }
}
