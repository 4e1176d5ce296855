//! Quota policies on the wire.

use ff_core::contracts::{PutQuotaArgs, QuotaDefinition};
use ff_core::quota::{Per, Rate, Scope};
use ff_core::types::{Namespace, QuotaName};

use crate::Strict;
use crate::object::requests;

requests! {
    /// Creates or replaces a quota policy. At least one of `rate` and `max_concurrent` is required.
    pub struct PutQuota {
        pub namespace: Option<Namespace>,
        /// What it applies to: `namespace`, `lane:<lane>`, `kind:<kind>`, `tag:<name>=<value>` or `flow:<id>`.
        pub scope: Scope,
        /// Counts each value separately: `kind`, `namespace` or `tag:<name>`.
        pub per: Option<Per>,
        pub rate: Option<Strict<Rate>>,
        /// Maximum number of executions running at once.
        pub max_concurrent: Option<u32>,
    }
}

impl PutQuota {
    pub fn of(namespace: Namespace, definition: QuotaDefinition) -> Self {
        let QuotaDefinition { scope, per, rate, max_concurrent } = definition;
        Self { namespace: Some(namespace), scope, per, rate: rate.map(Strict), max_concurrent }
    }

    pub fn into_args(self, name: QuotaName) -> PutQuotaArgs {
        let Self { namespace, scope, per, rate, max_concurrent } = self;
        let definition = Some(QuotaDefinition { scope, per, rate: rate.map(|Strict(rate)| rate), max_concurrent });
        PutQuotaArgs { namespace: namespace.unwrap_or_else(Namespace::default_name), name, definition }
    }
}

requests! {
    /// Deletes a quota policy.
    pub struct DeleteQuota {
        pub namespace: Option<Namespace>,
    }
}
