//! Flows on the wire: whole graphs, changes to them, and what is told of them. A file with a flow says the same.

mod after;
mod grow;
mod join;
mod node;
mod passing;
mod steer;
mod submit;
mod view;

pub use after::After;
pub use grow::{GrowFlow, GrownEdge, HolderOf, JoinOf};
pub use join::Joining;
pub use node::{Node, Nodes};
pub use steer::{CancelFlow, FlowStopped, TagFlow, WaitForChildren};
pub use submit::{NewFlow, SubmitFlow};
pub use view::{FlowGraph, FlowView, FlowsPage};
