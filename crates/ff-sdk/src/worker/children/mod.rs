//! Children: members that a running handler adds to its own flow and waits for.
//!
//! As every wait, this one ends the run of the handler: the lease is given up and the handler is dropped. When the
//! children have ended, the handler is called again from its start. It adds the children again, which changes nothing,
//! records that the wait is over, and gets the ends of the children.

mod adding;
mod ended;

pub use adding::AddChildren;
pub(super) use adding::grow;
pub use ended::{Child, Children};
