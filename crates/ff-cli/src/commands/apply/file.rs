//! The file of `ff apply`: a section for each kind of resource, with an entry for each name.

use std::collections::BTreeMap;
use std::path::Path;

use ff_api::PutSchedule;
use ff_core::budget::BudgetDefinition;
use ff_core::contracts::QuotaDefinition;
use ff_core::engine_error::{Code, Refusal};
use ff_core::limits;
use ff_core::types::{BudgetName, LaneId, Namespace, QuotaName, ScheduleName};
use ff_sdk::yaml;
use serde::{Deserialize, Serialize};

use super::lane::LaneEntry;
use super::resource::{Resource, Tenant};
use crate::args::Input;
use crate::exit::Usage;

/// A configuration file. Resources of an absent section are left alone. A present but empty section names no resources, so
/// pruning applies to all resources of its kind.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigurationFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lanes: Option<BTreeMap<LaneId, LaneEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) quotas: Option<BTreeMap<QuotaName, QuotaDefinition>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) schedules: Option<BTreeMap<ScheduleName, PutSchedule>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) budgets: Option<BTreeMap<BudgetName, BudgetDefinition>>,
}

impl ConfigurationFile {
    /// Reads a file and checks every entry. The YAML parser reads JSON as well.
    pub(super) fn read(file: &Path, namespace: &Namespace) -> anyhow::Result<Self> {
        let text = Input::path(file).text(limits::FLOW_BYTES)?;
        let read = yaml::to_json(&text).and_then(|json| match json.first() {
            Some(b'{') => ff_api::object::<Self>(&json),
            _ => Err(Refusal::new(Code::InvalidInput)
                .because("must be a map with the sections lanes, quotas, schedules and budgets")),
        });
        let checked = read.and_then(|read| {
            check(&read.lanes, namespace)?;
            check(&read.quotas, namespace)?;
            check(&read.schedules, namespace)?;
            check(&read.budgets, namespace)?;
            Ok(read)
        });
        checked.map_err(|refusal| Usage(format!("{}: {refusal}", file.display())).into())
    }

    /// Returns the resources of a namespace.
    pub(super) async fn stored(tenant: &Tenant) -> anyhow::Result<Self> {
        let lanes = Some(LaneEntry::stored(tenant).await?);
        let quotas = Some(QuotaDefinition::stored(tenant).await?);
        let schedules = Some(PutSchedule::stored(tenant).await?);
        let budgets = Some(BudgetDefinition::stored(tenant).await?);
        Ok(Self { lanes, quotas, schedules, budgets })
    }
}

/// Returns the refusal of the first invalid entry. Its field begins with the section and the name of the entry.
fn check<R: Resource>(entries: &Option<BTreeMap<R::Name, R>>, namespace: &Namespace) -> Result<(), Refusal> {
    for (name, entry) in entries.iter().flatten() {
        entry.check(namespace, name).map_err(|mut refusal| {
            let within = format!("{}.{name}", R::SECTION);
            refusal.field = Some(refusal.field.map_or(within.clone(), |field| format!("{within}.{field}")));
            refusal
        })?;
    }
    Ok(())
}
