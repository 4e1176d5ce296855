//! Quotas: how often, and how many at once, executions may be claimed.

use ff_core::contracts::{PutQuotaArgs, QuotaDefinition, QuotaDeleted, QuotaInfo, QuotaRef};
use ff_core::engine_error::Refusal;
use ff_core::quota::QuotaPolicy;
use ff_core::types::{Namespace, QuotaName};

use crate::{Client, Error};

impl Client {
    /// A quota policy of the key's namespace, or of `default`, by its name.
    pub fn quota(&self, name: &str) -> Result<QuotaHandle, Error> {
        let name = QuotaName::parse(name).map_err(|error| Refusal::invalid("quota", error))?;
        Ok(QuotaHandle { client: self.clone(), namespace: Namespace::default_name(), name })
    }

    /// A tenant's quota policy by its name.
    pub fn quota_of(&self, namespace: &str, name: &str) -> Result<QuotaHandle, Error> {
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error))?;
        self.check_named(Some(&namespace))?;
        Ok(QuotaHandle { namespace, ..self.quota(name)? })
    }

    /// The quota policies of a namespace.
    pub async fn quotas(&self, namespace: &Namespace) -> Result<Vec<QuotaPolicy>, Error> {
        Ok(self.backend().list_quotas(namespace).await?.quotas)
    }
}

/// A quota policy by its name. Cheap to clone; makes no call before a method is called.
#[derive(Clone)]
pub struct QuotaHandle {
    client: Client,
    namespace: Namespace,
    name: QuotaName,
}

impl QuotaHandle {
    /// Defines it, or defines it anew. Once this is answered it holds everywhere.
    pub async fn put(&self, definition: QuotaDefinition) -> Result<QuotaPolicy, Error> {
        let QuotaRef { namespace, name } = self.named();
        let args = PutQuotaArgs { namespace, name, definition: Some(definition) };
        Ok(self.client.backend().put_quota(args).await?)
    }

    /// Its definition and its current use.
    pub async fn describe(&self) -> Result<QuotaInfo, Error> {
        Ok(self.client.backend().describe_quota(self.named()).await?)
    }

    /// Deletes it; executions it blocked are ready again.
    pub async fn delete(&self) -> Result<QuotaDeleted, Error> {
        Ok(self.client.backend().delete_quota(self.named()).await?)
    }

    fn named(&self) -> QuotaRef {
        QuotaRef { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}
