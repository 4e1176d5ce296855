//! Budgets: how much executions may spend.

use ff_core::budget::{Budget, BudgetDefinition};
use ff_core::contracts::{BudgetDeleted, BudgetInfo, BudgetRef, BudgetReset, PutBudgetArgs, UsageInfo};
use ff_core::engine_error::Refusal;
use ff_core::types::{BudgetName, ExecutionId, FlowId, Namespace};

use crate::{Client, Error};

impl Client {
    /// A budget of the key's namespace, or of `default`, by its name.
    pub fn budget(&self, name: &str) -> Result<BudgetHandle, Error> {
        let name = BudgetName::parse(name).map_err(|error| Refusal::invalid("budget", error))?;
        Ok(BudgetHandle { client: self.clone(), namespace: Namespace::default_name(), name })
    }

    /// A tenant's budget by its name.
    pub fn budget_of(&self, namespace: &str, name: &str) -> Result<BudgetHandle, Error> {
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error))?;
        self.check_named(Some(&namespace))?;
        Ok(BudgetHandle { namespace, ..self.budget(name)? })
    }

    /// The budgets of a namespace.
    pub async fn budgets(&self, namespace: &Namespace) -> Result<Vec<Budget>, Error> {
        Ok(self.backend().list_budgets(namespace).await?.budgets)
    }

    /// The spending of an execution, in total and by attempt.
    pub async fn usage(&self, id: &ExecutionId) -> Result<UsageInfo, Error> {
        Ok(self.backend().usage(id).await?)
    }

    /// The total spending of a flow's members.
    pub async fn flow_usage(&self, id: &FlowId) -> Result<UsageInfo, Error> {
        Ok(self.backend().flow_usage(id).await?)
    }
}

/// A budget by its name. Cheap to clone; makes no call before a method is called.
#[derive(Clone)]
pub struct BudgetHandle {
    client: Client,
    namespace: Namespace,
    name: BudgetName,
}

impl BudgetHandle {
    /// Creates or replaces it. Once this returns it holds everywhere; executions it blocked are checked again.
    pub async fn put(&self, definition: BudgetDefinition) -> Result<Budget, Error> {
        let BudgetRef { namespace, name } = self.named();
        let args = PutBudgetArgs { namespace, name, definition: Some(definition) };
        Ok(self.client.backend().put_budget(args).await?)
    }

    /// How it is defined, and how it stands.
    pub async fn describe(&self) -> Result<BudgetInfo, Error> {
        Ok(self.client.backend().describe_budget(self.named()).await?)
    }

    /// Resets it before its time; executions it blocked are ready again.
    pub async fn reset(&self) -> Result<BudgetReset, Error> {
        Ok(self.client.backend().reset_budget(self.named()).await?)
    }

    /// Deletes it; executions it blocked are ready again.
    pub async fn delete(&self) -> Result<BudgetDeleted, Error> {
        Ok(self.client.backend().delete_budget(self.named()).await?)
    }

    fn named(&self) -> BudgetRef {
        BudgetRef { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}
