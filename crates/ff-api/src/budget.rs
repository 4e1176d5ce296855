//! Budgets on the wire.

use std::collections::BTreeMap;

use ff_core::budget::{Amounts, BudgetDefinition, BudgetLimit, OnHardLimit, Reset};
use ff_core::contracts::PutBudgetArgs;
use ff_core::quota::Scope;
use ff_core::types::{BudgetName, Dimension, Namespace};

use crate::Strict;
use crate::object::{requests, variant};

requests! {
    /// Creates or replaces a budget.
    pub struct PutBudget {
        pub namespace: Option<Namespace>,
        /// What it applies to: `namespace`, `lane:<lane>`, `kind:<kind>`, `tag:<name>=<value>`, `flow:<id>` or `execution:<id>`.
        pub scope: Scope,
        /// By dimension: `tokens`, `usd_micros`, `calls`, `seconds` or any other name.
        pub limits: BTreeMap<Dimension, Strict<BudgetLimit>>,
        #[serde(default, deserialize_with = "variant")]
        pub reset: Reset,
        #[serde(default, deserialize_with = "variant")]
        pub on_hard_limit: OnHardLimit,
        /// Amounts a claim reserves, by kind; `*` stands for all other kinds.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub estimate: BTreeMap<String, Amounts>,
    }
}

impl PutBudget {
    pub fn of(namespace: Namespace, definition: BudgetDefinition) -> Self {
        let BudgetDefinition { scope, limits, reset, on_hard_limit, estimate } = definition;
        let limits = limits.into_iter().map(|(dimension, limit)| (dimension, Strict(limit))).collect();
        Self { namespace: Some(namespace), scope, limits, reset, on_hard_limit, estimate }
    }

    pub fn into_args(self, name: BudgetName) -> PutBudgetArgs {
        let Self { namespace, scope, limits, reset, on_hard_limit, estimate } = self;
        let limits = limits.into_iter().map(|(dimension, Strict(limit))| (dimension, limit)).collect();
        let definition = Some(BudgetDefinition { scope, limits, reset, on_hard_limit, estimate });
        PutBudgetArgs { namespace: namespace.unwrap_or_else(Namespace::default_name), name, definition }
    }
}

requests! {
    /// Deletes a budget.
    pub struct DeleteBudget {
        pub namespace: Option<Namespace>,
    }

    /// Resets a budget now.
    pub struct ResetBudget {
        pub namespace: Option<Namespace>,
    }
}
