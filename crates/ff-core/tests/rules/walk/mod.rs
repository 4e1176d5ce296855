//! What the walks over the rules share: moves, scripts, what must hold after every step, and what a walk has covered.

pub(crate) mod deed;
pub(crate) mod expected;
pub(crate) mod flow_graphs;
pub(crate) mod flow_moves;
pub(crate) mod flow_play;
pub(crate) mod flow_script;
pub(crate) mod healthy;
pub(crate) mod lane_moves;
pub(crate) mod lawful;
pub(crate) mod lazy;
pub(crate) mod ledger;
pub(crate) mod moves;
pub(crate) mod opened;
pub(crate) mod play;
pub(crate) mod promised;
pub(crate) mod repeated;
pub(crate) mod sameness;
pub(crate) mod script;
pub(crate) mod splitmix;
pub(crate) mod tally;
pub(crate) mod transition;
pub(crate) mod wait_moves;
pub(crate) mod waiting;
pub(crate) mod waits;
