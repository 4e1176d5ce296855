//! Children: members a running handler adds to its own flow and waits for.
//!
//! The wait ends the handler's run, as every wait does: the lease is given up and the handler dropped, and it is called again
//! from its start when the children have ended. It then adds them again, which adds nothing, records that the wait is over, and is
//! told how they ended.

mod adding;
mod ended;

pub use adding::AddChildren;
pub(super) use adding::grow;
pub use ended::{Child, Children};
