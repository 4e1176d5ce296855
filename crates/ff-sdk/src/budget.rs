//! Budgets: limits on the spending of executions.

use ff_core::budget::{Budget, BudgetDefinition};
use ff_core::contracts::{BudgetDeleted, BudgetInfo, BudgetRef, BudgetReset, PutBudgetArgs, UsageInfo};
use ff_core::engine_error::Refusal;
use ff_core::types::{BudgetName, ExecutionId, FlowId, Namespace};

use crate::{Client, Error};

impl Client {
    /// Returns a handle to the budget of this name, in the namespace of the API key or else in `default`.
    pub fn budget(&self, name: &str) -> Result<BudgetHandle, Error> {
        let name = BudgetName::parse(name).map_err(|error| Refusal::invalid("budget", error))?;
        Ok(BudgetHandle { client: self.clone(), namespace: Namespace::default_name(), name })
    }

    /// Returns a handle to a budget of another namespace.
    pub fn budget_of(&self, namespace: &str, name: &str) -> Result<BudgetHandle, Error> {
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error))?;
        self.check_named(Some(&namespace))?;
        Ok(BudgetHandle { namespace, ..self.budget(name)? })
    }

    /// Lists the budgets of a namespace.
    pub async fn budgets(&self, namespace: &Namespace) -> Result<Vec<Budget>, Error> {
        Ok(self.backend().list_budgets(namespace).await?.budgets)
    }

    /// Returns the usage of an execution, in total and by attempt.
    pub async fn usage(&self, id: &ExecutionId) -> Result<UsageInfo, Error> {
        Ok(self.backend().usage(id).await?)
    }

    /// Returns the total usage of a flow's members.
    pub async fn flow_usage(&self, id: &FlowId) -> Result<UsageInfo, Error> {
        Ok(self.backend().flow_usage(id).await?)
    }
}

/// A handle to a budget, by its name. Cheap to clone; creating it makes no call.
#[derive(Clone)]
pub struct BudgetHandle {
    client: Client,
    namespace: Namespace,
    name: BudgetName,
}

impl BudgetHandle {
    /// Creates or replaces the budget. When this returns, the budget holds on every partition, and executions that it blocked
    /// are checked again.
    pub async fn put(&self, definition: BudgetDefinition) -> Result<Budget, Error> {
        let BudgetRef { namespace, name } = self.named();
        let args = PutBudgetArgs { namespace, name, definition: Some(definition) };
        Ok(self.client.backend().put_budget(args).await?)
    }

    /// Returns the definition of the budget, its period and its balance.
    pub async fn describe(&self) -> Result<BudgetInfo, Error> {
        Ok(self.client.backend().describe_budget(self.named()).await?)
    }

    /// Resets the budget before its period ends. Executions that it blocked become ready again.
    pub async fn reset(&self) -> Result<BudgetReset, Error> {
        Ok(self.client.backend().reset_budget(self.named()).await?)
    }

    /// Deletes the budget. Executions that it blocked become ready again.
    pub async fn delete(&self) -> Result<BudgetDeleted, Error> {
        Ok(self.client.backend().delete_budget(self.named()).await?)
    }

    fn named(&self) -> BudgetRef {
        BudgetRef { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}
