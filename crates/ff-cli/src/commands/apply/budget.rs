//! Budgets in the file. An entry is the definition in `POST /v1/budgets/{budget}`.

use std::collections::BTreeMap;

use ff_core::budget::BudgetDefinition;
use ff_core::contracts::PutBudgetArgs;
use ff_core::engine_error::Refusal;
use ff_core::types::{BudgetName, Namespace};

use super::resource::{Resource, Tenant};

impl Resource for BudgetDefinition {
    type Name = BudgetName;

    const SECTION: &'static str = "budgets";
    const NOUN: &'static str = "budget";

    fn check(&self, namespace: &Namespace, name: &BudgetName) -> Result<(), Refusal> {
        let definition = Some(self.clone());
        PutBudgetArgs { namespace: namespace.clone(), name: name.clone(), definition }.check()
    }

    async fn stored(tenant: &Tenant) -> anyhow::Result<BTreeMap<BudgetName, Self>> {
        let budgets = tenant.client.budgets(&tenant.namespace).await?;
        Ok(budgets.into_iter().map(|budget| (budget.name, budget.definition)).collect())
    }

    async fn write(tenant: &Tenant, name: BudgetName, _: Option<Self>, to: Option<Self>) -> anyhow::Result<()> {
        let budget = tenant.client.budget_of(tenant.namespace.as_str(), name.as_str())?;
        match to {
            Some(definition) => drop(budget.put(definition).await?),
            None => drop(budget.delete().await?),
        }
        Ok(())
    }
}
