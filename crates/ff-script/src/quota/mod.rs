//! The functions of quotas: copies of policies on partitions, and the usage of a policy at its home.

use ff_core::contracts::{
    AdmissionVerdict, AdmissionVerdicts, AdmissionsSettled, AdmitArgs, CopyQuotasArgs, DefineQuotaArgs, HeldSlot,
    KeyUse, QuotaDefined, QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage, QuotasCopied, ReleaseGuard,
    SettleAdmissionsArgs, WokenExecution,
};
use ff_core::keys::{QuotaKeyContext, quota_policies_index};
use ff_core::partition::{PartitionConfig, quota_partition};
use ff_core::quota::{QuotaSet, QuotaSlot, QuotaUse};
use ff_core::types::{Dimension, LeaseEpoch, Namespace, QuotaPolicyId, TimestampMs};

use crate::execution::index_keys;
use crate::server::{ask, ask_word};
use crate::signature::{CheckAdmissionAndRecord, CopyQuotas, CreateQuotaPolicy, ReadQuota, ReleaseAdmission};
use crate::{Fields, ScriptError, Server};

/// Returns the key of a namespace's policies on a partition.
pub fn quotas_key(partition: u16, namespace: &Namespace) -> String {
    index_keys(partition).quotas(namespace)
}

fn definition_key(policy_id: &QuotaPolicyId, partitions: &PartitionConfig) -> String {
    QuotaKeyContext::new(&quota_partition(policy_id, partitions), policy_id).definition()
}

/// Copies the policies of a namespace to a partition, if they are newer than the stored ones and, when `expected` is
/// given, that revision is stored. Returns the revision that is stored afterwards.
pub async fn ff_copy_quotas(
    server: &dyn Server,
    args: &CopyQuotasArgs,
    expected: Option<u64>,
) -> Result<QuotasCopied, ScriptError> {
    let CopyQuotasArgs { partition, set } = args;
    let copy = CopyQuotas {
        quotas_here: quotas_key(*partition, &set.namespace),
        namespace: set.namespace.to_string(),
        revision: set.revision,
        expected,
        set: written(set)?,
    };
    Ok(QuotasCopied { revision: ask_word(server, copy.call()).await? })
}

fn written(set: &QuotaSet) -> Result<String, ScriptError> {
    serde_json::to_string(set).map_err(|error| ScriptError::parse(format!("quotas cannot be written: {error}")))
}

/// Stores or removes the definition of a policy at its home.
pub async fn ff_create_quota_policy(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &DefineQuotaArgs,
) -> Result<QuotaDefined, ScriptError> {
    let policy = args.policy.as_ref();
    let rate = policy.and_then(|policy| policy.rate);
    let create = CreateQuotaPolicy {
        definition: definition_key(&args.policy_id, partitions),
        policies: quota_policies_index(&quota_partition(&args.policy_id, partitions).hash_tag()),
        policy_id: args.policy_id.to_string(),
        revision: args.revision,
        name: policy.map(|policy| policy.name.to_string()),
        rate_limit: rate.map(|rate| rate.limit),
        window_ms: rate.map(|rate| rate.window_ms),
        max_concurrent: policy.and_then(|policy| policy.max_concurrent).map(u64::from),
    };
    Ok(QuotaDefined { revision: ask_word(server, create.call()).await? })
}

/// Reserves slots of a policy for executions, and returns a verdict for each.
pub async fn ff_check_admission_and_record(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &AdmitArgs,
) -> Result<AdmissionVerdicts, ScriptError> {
    let triples =
        args.requests.iter().flat_map(|one| [one.key.clone(), one.execution_id.to_string(), one.epoch.to_string()]);
    let check = CheckAdmissionAndRecord {
        definition: definition_key(&args.policy_id, partitions),
        revision: args.revision,
        claim_id: args.claim_id.map(|id| id.to_string()),
        requests: triples.map(Into::into).collect(),
    };
    let mut fields = ask(server, check.call()).await?;
    let (name, at) = (fields.maybe_read()?, TimestampMs(fields.read()?));
    let verdicts = fields.items(|row| {
        let (used, limit) = (row.maybe_text()?, row.maybe_read()?);
        verdict(used, limit, row.maybe_read()?.map(TimestampMs), None)
    })?;
    Ok(AdmissionVerdicts { name, at, verdicts })
}

/// Returns the verdict on a request: `used` and `limit` say why it is refused.
pub(crate) fn verdict(
    used: Option<String>,
    limit: Option<u64>,
    retry_at: Option<TimestampMs>,
    dimension: Option<Dimension>,
) -> Result<AdmissionVerdict, ScriptError> {
    Ok(match (used.as_deref(), limit) {
        (Some("reserved_for_other"), _) => AdmissionVerdict::ReservedForOther,
        (Some(used), Some(limit)) => {
            let used = used.parse().map_err(|_| ScriptError::parse("a verdict cannot be read"))?;
            AdmissionVerdict::Refused { used, limit, retry_at, dimension }
        }
        _ => AdmissionVerdict::Admitted,
    })
}

/// Gives slots of a policy back, and returns the executions that no longer wait.
pub async fn ff_release_admission(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &SettleAdmissionsArgs,
) -> Result<AdmissionsSettled, ScriptError> {
    let each = args.releases.iter().flat_map(|one| {
        let unused = if one.is_unused { "1" } else { "" };
        [one.key.clone(), one.execution_id.to_string(), one.epoch.to_string(), unused.to_owned(), guard_text(one.guard)]
    });
    let release = ReleaseAdmission {
        definition: definition_key(&args.policy_id, partitions),
        releases: each.map(Into::into).collect(),
        others: args.keys.iter().map(|key| key.clone().into()).collect(),
    };
    let mut fields = ask(server, release.call()).await?;
    settled(&mut fields)
}

/// Returns the guard of a release as functions take it.
pub(crate) fn guard_text(guard: ReleaseGuard) -> String {
    match guard {
        ReleaseGuard::Any => String::new(),
        ReleaseGuard::Claim(claim_id) => claim_id.to_string(),
        ReleaseGuard::Since(at) => at.0.to_string(),
    }
}

/// Reads the number of releases, and the executions that no longer wait.
pub(crate) fn settled(fields: &mut Fields) -> Result<AdmissionsSettled, ScriptError> {
    let released = fields.read()?;
    let woken = fields.items(|row| {
        Ok(WokenExecution { key: row.text()?, execution_id: row.read()?, epoch: LeaseEpoch(row.read()?) })
    })?;
    Ok(AdmissionsSettled { released, woken })
}

/// Lists the values of a policy's key that are in use.
pub async fn ff_read_quota_keys(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &QuotaKeysArgs,
) -> Result<QuotaKeysPage, ScriptError> {
    let definition = definition_key(&args.policy_id, partitions);
    let (cursor, count) = (args.after.clone(), args.limit.max(1) as u64);
    let mut fields = ask(server, ReadQuota { definition, slots: false, cursor, count }.call()).await?;
    let next = fields.maybe_text()?;
    let keys = fields.items(|row| Ok(KeyUse::of(&row.text()?, &usage(&row.text()?)?)))?;
    Ok(QuotaKeysPage { keys, next })
}

fn usage(text: &str) -> Result<QuotaUse, ScriptError> {
    let numbers: Option<Vec<u64>> = text.split(' ').map(|number| number.parse().ok()).collect();
    let Some(&[first, next, in_window, promised, slots, first_waiter, next_waiter]) = numbers.as_deref() else {
        return Err(ScriptError::parse("what is used of a quota cannot be read"));
    };
    Ok(QuotaUse { first, next, in_window, promised, slots, first_waiter, next_waiter })
}

/// Lists the slots of a policy that are held.
pub async fn ff_read_quota_slots(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &QuotaSlotsArgs,
) -> Result<QuotaSlotsPage, ScriptError> {
    let definition = definition_key(&args.policy_id, partitions);
    let (cursor, count) = (args.after.clone(), args.limit.max(1) as u64);
    let mut fields = ask(server, ReadQuota { definition, slots: true, cursor, count }.call()).await?;
    let next = fields.maybe_text()?;
    let slots = fields.items(|row| {
        let (key, execution_id, epoch) = (row.text()?, row.read()?, LeaseEpoch(row.read()?));
        Ok(HeldSlot { key, execution_id, epoch, at: TimestampMs(row.read()?) })
    })?;
    Ok(QuotaSlotsPage { slots, next })
}

/// Returns the slots that an execution needs, as functions write them.
pub(crate) fn slots_text(slots: &[QuotaSlot]) -> String {
    let one = |slot: &QuotaSlot| format!("{} {} {}", slot.policy_id, slot.revision, slot.key);
    slots.iter().map(one).collect::<Vec<_>>().join("\t")
}

/// Parses the text of [`slots_text`].
pub(crate) fn slots_of(text: &str) -> Option<Vec<QuotaSlot>> {
    let one = |text: &str| {
        let mut words = text.splitn(3, ' ');
        let (policy_id, revision) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(QuotaSlot { policy_id, key: words.next()?.to_owned(), revision })
    };
    text.split('\t').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_read_back_as_they_are_written() {
        let slot = |key: &str| QuotaSlot { policy_id: QuotaPolicyId::new(), key: key.into(), revision: 7 };
        for slots in [vec![slot("")], vec![slot("a b"), slot("c")]] {
            assert_eq!(slots_of(&slots_text(&slots)), Some(slots));
        }
        assert_eq!(slots_of("nothing"), None);
    }
}
