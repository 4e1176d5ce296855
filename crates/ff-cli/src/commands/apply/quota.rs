//! Quotas in the file. An entry is the definition in `POST /v1/quotas/{quota}`.

use std::collections::BTreeMap;

use ff_core::contracts::{PutQuotaArgs, QuotaDefinition};
use ff_core::engine_error::Refusal;
use ff_core::types::{Namespace, QuotaName};

use super::resource::{Resource, Tenant};

impl Resource for QuotaDefinition {
    type Name = QuotaName;

    const SECTION: &'static str = "quotas";
    const NOUN: &'static str = "quota";

    fn check(&self, namespace: &Namespace, name: &QuotaName) -> Result<(), Refusal> {
        let definition = Some(self.clone());
        PutQuotaArgs { namespace: namespace.clone(), name: name.clone(), definition }.check()
    }

    async fn stored(tenant: &Tenant) -> anyhow::Result<BTreeMap<QuotaName, Self>> {
        let quotas = tenant.client.quotas(&tenant.namespace).await?;
        let defined = quotas.into_iter().map(|policy| {
            let (scope, per, rate, max_concurrent) = (policy.scope, policy.per, policy.rate, policy.max_concurrent);
            (policy.name, Self { scope, per, rate, max_concurrent })
        });
        Ok(defined.collect())
    }

    async fn write(tenant: &Tenant, name: QuotaName, _: Option<Self>, to: Option<Self>) -> anyhow::Result<()> {
        let quota = tenant.client.quota_of(tenant.namespace.as_str(), name.as_str())?;
        match to {
            Some(definition) => drop(quota.put(definition).await?),
            None => drop(quota.delete().await?),
        }
        Ok(())
    }
}
