//! The domain of quotas: the policies that partitions know, their usage, and the queries of both.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{HeldSlot, KeyUse, QuotaKeysArgs, QuotaKeysPage, QuotaSlotsArgs, QuotaSlotsPage};
use ff_core::operation::query::{ListAllQuotas, ReadQuotaSet};
use ff_core::partition::namespace_partition;
use ff_core::quota::{QuotaRow, QuotaRowName, QuotaSet, SlotRow, SlotState};
use ff_core::types::{Namespace, QuotaPolicyId};

use crate::ReadContext;
use crate::error::{SqlError, unreadable};
use crate::session::{Key, Put, Question, Read, load_record};
use crate::table::record;
use crate::table::schema::QUOTA_SET;
use crate::table::value::{Row, Value};

/// Selects the next namespace that has or had a quota policy.
pub(crate) const NEXT_QUOTA_NAMESPACE: &str =
    "SELECT namespace FROM quota_set WHERE namespace > $1 ORDER BY namespace LIMIT 1";

/// Selects the next rows of a policy in a range of names.
pub(crate) const QUOTA_ROWS: &str = "\
    SELECT name, record FROM quota_row WHERE policy_id = $1 AND name > $2 AND name < $3 ORDER BY name LIMIT $4";

pub(crate) fn key_of_quotas(namespace: &Namespace, partition: u16) -> Key {
    vec![namespace.as_str().into(), partition.into()]
}

pub(crate) fn key_of_quota_row(policy_id: &QuotaPolicyId, name: &QuotaRowName) -> Key {
    vec![Value::Uuid(*policy_id.as_uuid()), name.to_string().as_str().into()]
}

pub(crate) fn quotas_of(partition: u16, set: &QuotaSet) -> Result<Put, SqlError> {
    Put::record(key_of_quotas(&set.namespace, partition), set)
}

pub(crate) fn quota_row_of(policy_id: &QuotaPolicyId, name: &QuotaRowName, row: &QuotaRow) -> Result<Put, SqlError> {
    Put::record(key_of_quota_row(policy_id, name), row)
}

#[async_trait]
impl Question for ReadQuotaSet {
    type Answer = QuotaSet;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<QuotaSet> {
        let known = set_at_home(reader, &self.namespace, at).await?;
        Ok(known.unwrap_or_else(|| QuotaSet::empty(self.namespace)))
    }
}

#[async_trait]
impl Question for ListAllQuotas {
    type Answer = Vec<QuotaSet>;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<Vec<QuotaSet>> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let rows = reader.query(NEXT_QUOTA_NAMESPACE, &[vec![after.as_str().into()]]).await?;
            let Some(row) = rows.iter().flatten().next() else { return Ok(all) };
            let namespace = Namespace::parse(row.text(0)?).map_err(unreadable("a namespace"))?;
            let known = set_at_home(reader, &namespace, at).await?;
            all.extend(known);
            after = namespace.to_string();
        }
    }
}

async fn set_at_home(
    reader: &mut dyn Read,
    namespace: &Namespace,
    at: &ReadContext,
) -> Result<Option<QuotaSet>, SqlError> {
    let home = key_of_quotas(namespace, namespace_partition(namespace, &at.partitions));
    load_record(reader, &QUOTA_SET, home).await
}

#[async_trait]
impl Question for QuotaKeysArgs {
    type Answer = QuotaKeysPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<QuotaKeysPage> {
        let after = self.after.as_ref().map(|key| QuotaRowName::Use(key.clone()).to_string());
        let (rows, is_more) = rows_of(reader, &self.policy_id, "use/", after, self.limit).await?;
        let mut keys = Vec::with_capacity(rows.len());
        for (name, row) in rows {
            if let (Some(key), QuotaRow::Use(usage)) = (name.strip_prefix("use/"), row) {
                keys.push(KeyUse::of(key, &usage));
            }
        }
        let next = keys.last().filter(|_| is_more).map(|last| last.key.clone());
        Ok(QuotaKeysPage { keys, next })
    }
}

#[async_trait]
impl Question for QuotaSlotsArgs {
    type Answer = QuotaSlotsPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<QuotaSlotsPage> {
        let (rows, is_more) = rows_of(reader, &self.policy_id, "slot/", self.after, self.limit).await?;
        let next = rows.last().filter(|_| is_more).map(|(name, _)| name.clone());
        let mut slots = Vec::new();
        for (name, row) in rows {
            let slot = match row {
                QuotaRow::Slot(slot) => Some(slot),
                QuotaRow::Draw(draw) => draw.slot,
                _ => None,
            };
            let Some(SlotRow { epoch, at, state: SlotState::Held { .. }, .. }) = slot else { continue };
            let (key, id) = name.strip_prefix("slot/").and_then(|name| name.rsplit_once('/')).unwrap_or_default();
            let execution_id = id.parse().map_err(unreadable("a slot"))?;
            slots.push(HeldSlot { key: key.to_owned(), execution_id, epoch, at });
        }
        Ok(QuotaSlotsPage { slots, next })
    }
}

/// Returns the next rows whose names begin with a prefix, and whether there are more.
pub(crate) async fn rows_of(
    reader: &mut dyn Read,
    policy_id: &QuotaPolicyId,
    prefix: &str,
    after: Option<String>,
    limit: usize,
) -> Result<(Vec<(String, QuotaRow)>, bool), SqlError> {
    // The prefix ends with a slash. Ordered by bytes, a slash comes after `.` and before `0`.
    let (start, end) = (prefix.replace('/', "."), prefix.replace('/', "0"));
    let parameters = vec![
        Value::Uuid(*policy_id.as_uuid()),
        after.as_deref().unwrap_or(&start).into(),
        end.as_str().into(),
        Value::number(limit + 1),
    ];
    let found = reader.query(QUOTA_ROWS, &[parameters]).await?;
    let read = |row: &Row| Ok::<_, SqlError>((row.text(0)?.to_owned(), record::read(row.text(1)?)?));
    let mut rows = found.iter().flatten().map(read).collect::<Result<Vec<_>, _>>()?;
    let is_more = rows.len() > limit;
    rows.truncate(limit);
    Ok((rows, is_more))
}
