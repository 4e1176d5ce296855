//! The secrets of the partitions, as rows.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::backend::entropy::Entropy;
use ff_core::contracts::PartitionKids;
use ff_core::operation::query::{ListKids, ReadKeyRing};
use ff_core::partition::PartitionConfig;
use ff_core::token::{KeyRing, Secret};
use ff_core::types::Kid;

use crate::ReadContext;
use crate::error::SqlError;
use crate::queries::RINGS;
use crate::session::{Put, Question, Read};
use crate::table::record;
use crate::table::schema::KEY_RING;
use crate::table::value::Row;

/// Returns the row of a partition's secrets.
pub(crate) fn ring_of(partition: u16, ring: &KeyRing) -> Result<Put, SqlError> {
    Put::record(vec![partition.into()], ring)
}

/// Reads the secrets of a partition. The error does not say why they cannot be read, because it could quote them.
pub(crate) fn read_ring(text: &str) -> Result<KeyRing, SqlError> {
    record::read(text).map_err(|_| SqlError::Unreadable("the secrets cannot be read".into()))
}

/// Loads the secrets of a partition.
pub(crate) async fn load_ring(reader: &mut dyn Read, partition: u16) -> Result<Option<KeyRing>, SqlError> {
    let rows = reader.load(&KEY_RING, KEY_RING.named(&["record"]), &[vec![partition.into()]]).await?;
    rows.iter().flatten().map(|row| read_ring(row.text(0)?)).next().transpose()
}

/// Returns the records of secrets for partitions that have none: a copy of the stored ones, or the store's first secret. All
/// partitions have the same secrets, so a rotation is the same everywhere.
pub fn missing_rings(
    stored: &BTreeMap<u16, String>,
    partitions: &PartitionConfig,
    entropy: &dyn Entropy,
) -> Result<Vec<(u16, String)>, SqlError> {
    let missing: Vec<_> = (0..partitions.num_flow_partitions).filter(|of| !stored.contains_key(of)).collect();
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let ring = match stored.values().next() {
        Some(known) => known.clone(),
        None => record::text(&KeyRing::of(Kid::first(), Secret::drawn(entropy.secret())))?,
    };
    Ok(missing.into_iter().map(|partition| (partition, ring.clone())).collect())
}

#[async_trait]
impl Question for ReadKeyRing {
    type Answer = KeyRing;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<KeyRing> {
        Ok(load_ring(reader, self.partition).await?.unwrap_or_default())
    }
}

#[async_trait]
impl Question for ListKids {
    type Answer = Vec<PartitionKids>;

    const IS_TIMED: bool = true;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<Vec<PartitionKids>> {
        let count = at.partitions.num_flow_partitions;
        let rows = reader.query(RINGS, &[vec![count.into()]]).await?;
        let ring = |row: &Row| Ok((row.partition(0)?, read_ring(row.text(1)?)?));
        let rings = rows.iter().flatten().map(ring).collect::<Result<BTreeMap<_, _>, SqlError>>()?;
        let kids = |partition| {
            let ring = rings.get(&partition);
            PartitionKids { partition, kids: ring.map(|ring| ring.kids(at.now)).unwrap_or_default() }
        };
        Ok((0..count).map(kids).collect())
    }
}

#[cfg(test)]
mod tests {
    use ff_core::backend::entropy::SeededEntropy;

    use super::*;

    const THREE: PartitionConfig =
        PartitionConfig { num_flow_partitions: 3, num_budget_partitions: 1, num_quota_partitions: 1 };

    fn missing(stored: &BTreeMap<u16, String>, seed: u64) -> Vec<(u16, String)> {
        missing_rings(stored, &THREE, &SeededEntropy::new(seed)).unwrap()
    }

    #[test]
    fn every_partition_gets_the_same_first_secret() {
        let first = missing(&BTreeMap::new(), 1);
        assert_eq!(first.iter().map(|(partition, _)| *partition).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(first.iter().all(|(_, ring)| *ring == first[0].1));
        let ring = read_ring(&first[0].1).unwrap();
        assert_eq!(ring, KeyRing::of(Kid::first(), Secret::drawn(SeededEntropy::new(1).secret())));
    }

    #[test]
    fn a_partition_without_secrets_gets_those_of_the_others() {
        let stored: BTreeMap<_, _> = missing(&BTreeMap::new(), 1).into_iter().filter(|(of, _)| *of != 1).collect();
        assert_eq!(missing(&stored, 2), [(1, stored[&0].clone())]);
        let whole = missing(&BTreeMap::new(), 1).into_iter().collect();
        assert_eq!(missing(&whole, 2), []);
    }

    #[test]
    fn secrets_that_cannot_be_read_are_not_quoted() {
        let error = read_ring(r#"{"keys":{"k1":{"secret":["c0ffee"]}}}"#).unwrap_err();
        assert!(!error.to_string().contains("c0ffee"), "{error}");
    }
}
