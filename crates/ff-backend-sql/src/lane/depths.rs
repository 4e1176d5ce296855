//! How much of a lane is where.

use ff_core::contracts::{Depth, Depths, LaneStanding};
use ff_core::state::PublicState;
use ff_core::types::LaneId;

use crate::error::SqlError;
use crate::queries::{DEPTH, DEPTH_SINCE};
use crate::session::Read;
use crate::value::Row;

/// Counts every standing of a lane that has anything; what has finished only when somebody wants to know, for there may be
/// much of it.
pub(super) async fn depths(reader: &mut dyn Read, lane: &LaneId, finished: bool) -> Result<Depths, SqlError> {
    let mut depths = Depths::new();
    for sql in [DEPTH, DEPTH_SINCE] {
        let wanted = |state: &&PublicState| query_of(**state) == sql && (finished || !state.is_terminal());
        let states: Vec<_> = PublicState::ALL.iter().filter(wanted).collect();
        let parameters: Vec<_> = states.iter().map(|state| vec![lane.as_str().into(), state.as_str().into()]).collect();
        for (state, rows) in states.into_iter().zip(reader.query(sql, &parameters).await?) {
            let (Some(standing), Some(row)) = (standing_of(*state), rows.first()) else { continue };
            let depth = depth_of(row, standing)?;
            if depth.count > 0 {
                let known = depths.entry(standing).or_default();
                *known = known.with(depth);
            }
        }
    }
    Ok(depths)
}

fn depth_of(row: &Row, standing: LaneStanding) -> Result<Depth, SqlError> {
    let has_age = standing != LaneStanding::Finished && !row.is_null(1);
    let first_at = has_age.then(|| row.moment(1)).transpose()?;
    Ok(Depth { count: row.count(0)?, first_at })
}

fn standing_of(state: PublicState) -> Option<LaneStanding> {
    match state {
        PublicState::Waiting => Some(LaneStanding::Waiting),
        PublicState::Delayed => Some(LaneStanding::Delayed),
        PublicState::Active => Some(LaneStanding::Active),
        PublicState::Suspended => Some(LaneStanding::Suspended),
        PublicState::WaitingChildren => Some(LaneStanding::WaitingChildren),
        state => state.is_terminal().then_some(LaneStanding::Finished),
    }
}

/// What is in order by its creation is counted in its index alone; of the rest the rows are looked at.
fn query_of(state: PublicState) -> &'static str {
    match state {
        PublicState::Delayed | PublicState::Active | PublicState::Suspended => DEPTH_SINCE,
        _ => DEPTH,
    }
}
