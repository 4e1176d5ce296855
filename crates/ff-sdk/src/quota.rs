//! Quotas: limits on how often, and how many at once, executions are claimed.

use ff_core::contracts::{PutQuotaArgs, QuotaDefinition, QuotaDeleted, QuotaInfo, QuotaRef};
use ff_core::engine_error::Refusal;
use ff_core::quota::QuotaPolicy;
use ff_core::types::{Namespace, QuotaName};

use crate::{Client, Error};

impl Client {
    /// Returns a handle to the quota policy of this name, in the namespace of the API key or else in `default`.
    pub fn quota(&self, name: &str) -> Result<QuotaHandle, Error> {
        let name = QuotaName::parse(name).map_err(|error| Refusal::invalid("quota", error))?;
        Ok(QuotaHandle { client: self.clone(), namespace: Namespace::default_name(), name })
    }

    /// Returns a handle to a quota policy of another namespace.
    pub fn quota_of(&self, namespace: &str, name: &str) -> Result<QuotaHandle, Error> {
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error))?;
        self.check_named(Some(&namespace))?;
        Ok(QuotaHandle { namespace, ..self.quota(name)? })
    }

    /// Lists the quota policies of a namespace.
    pub async fn quotas(&self, namespace: &Namespace) -> Result<Vec<QuotaPolicy>, Error> {
        Ok(self.backend().list_quotas(namespace).await?.quotas)
    }
}

/// A handle to a quota policy, by its name. Cheap to clone; creating it makes no call.
#[derive(Clone)]
pub struct QuotaHandle {
    client: Client,
    namespace: Namespace,
    name: QuotaName,
}

impl QuotaHandle {
    /// Creates or replaces the quota policy. When this returns, it holds on every partition.
    pub async fn put(&self, definition: QuotaDefinition) -> Result<QuotaPolicy, Error> {
        let QuotaRef { namespace, name } = self.named();
        let args = PutQuotaArgs { namespace, name, definition: Some(definition) };
        Ok(self.client.backend().put_quota(args).await?)
    }

    /// Returns the definition of the quota policy and its current use.
    pub async fn describe(&self) -> Result<QuotaInfo, Error> {
        Ok(self.client.backend().describe_quota(self.named()).await?)
    }

    /// Deletes the quota policy. Executions that it blocked become ready again.
    pub async fn delete(&self) -> Result<QuotaDeleted, Error> {
        Ok(self.client.backend().delete_quota(self.named()).await?)
    }

    fn named(&self) -> QuotaRef {
        QuotaRef { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}
