//! Many workers on many flows at once, while some of the flows are cancelled. What happened in each must fit its graph.

mod crowd;
mod history;

pub use crowd::{Crowd, work_through};
pub use history::check_flow;
