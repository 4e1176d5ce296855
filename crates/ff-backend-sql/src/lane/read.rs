//! Reading lanes: how they are configured, and how much of each is where.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{LaneInfo, LanesFill, LanesPage, ListLanesArgs, Meets};
use ff_core::lane::Lane;
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::query::DescribeLane;
use ff_core::types::LaneId;

use super::depths::depths;
use super::key_of_lane;
use crate::error::SqlError;
use crate::execution::lane_of;
use crate::queries::{NEXT_CONFIGURED_LANE, NEXT_LANE};
use crate::schema::LANE;
use crate::session::{Question, Read};
use crate::{ReadContext, record};

#[async_trait]
impl Question for DescribeLane {
    type Answer = LaneInfo;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<LaneInfo> {
        Ok(describe(reader, self.lane.within(&self.namespace), &at.partitions, true).await?.0)
    }
}

#[async_trait]
impl Question for ListLanesArgs {
    type Answer = LanesPage;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<LanesPage> {
        let mut fill = LanesFill::of(&self);
        let mut after = self.begin();
        while !fill.is_full()
            && let Some(key) = next_lane(reader, &after).await?
        {
            match self.meets(&key) {
                Meets::Listed => after = key.to_string(),
                Meets::Skip(to) => {
                    after = to;
                    continue;
                }
                Meets::End => break,
            }
            // What is only staged is not there yet.
            let (info, is_configured) = describe(reader, key, &at.partitions, self.finished).await?;
            fill.look(info, is_configured);
        }
        Ok(fill.into_page())
    }
}

/// A lane, and whether somebody configured it. Its home knows the newest settings.
async fn describe(
    reader: &mut dyn Read,
    key: LaneId,
    partitions: &PartitionConfig,
    finished: bool,
) -> Result<(LaneInfo, bool), SqlError> {
    let home = key_of_lane(&key, lane_partition(&key, partitions));
    let rows = reader.load(&LANE, LANE.named(&["record"]), &[home]).await?;
    let known = rows.iter().flatten().next().map(|row| record::read::<Lane>(row.text(0)?)).transpose()?;
    let (namespace, lane_id) = key.apart();
    let settings = known.as_ref().map(|lane| lane.settings).unwrap_or_default();
    Ok((LaneInfo { namespace, lane_id, settings, depths: depths(reader, &key, finished).await? }, known.is_some()))
}

/// The lane after a place in the order of keys.
async fn next_lane(reader: &mut dyn Read, after: &str) -> Result<Option<LaneId>, SqlError> {
    let mut next: Option<LaneId> = None;
    for sql in [NEXT_LANE, NEXT_CONFIGURED_LANE] {
        for row in reader.query(sql, &[vec![after.into()]]).await?.iter().flatten() {
            let lane = lane_of(row.text(0)?)?;
            next = Some(next.map_or(lane.clone(), |known| known.min(lane)));
        }
    }
    Ok(next)
}
