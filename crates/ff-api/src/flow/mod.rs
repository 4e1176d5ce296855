//! Flows on the wire: whole graphs, changes to them, and views of them. A file with a flow has the same form.

mod grow;
mod incoming_edge;
mod join;
mod node;
mod operator;
mod passing;
mod query;
mod submit;
mod view;

pub use grow::{EdgeAddition, FlowHolder, GrowFlow, MemberJoin};
pub use incoming_edge::IncomingEdge;
pub use join::JoinBody;
pub use node::{Node, Nodes};
pub use operator::{CancelFlow, FlowCancellation, TagFlow, WaitForChildren};
pub use query::{EdgesQuery, FlowEventsQuery, FlowQuery, FlowsQuery, GraphLimit, MembersQuery, TagFilter};
pub use submit::{NewFlow, SubmitFlow};
pub use view::{FlowGraph, FlowView, FlowsPage};
