//! The domain of lanes, over the model.

use ff_core::contracts::{LaneInfo, LanesPage, ListLanesArgs};
use ff_core::operation::query::DescribeLane;

use crate::reads;

reads! {
    DescribeLane => LaneInfo: |store, query| store.model()?.lane_info(&query.lane.within(&query.namespace));
    ListLanesArgs => LanesPage: |store, query| store.model()?.lanes(&query);
}
