//! The way of a request to its handler: the routes, the rules for all of them, and the state that handlers share.

pub(crate) mod call;
pub(crate) mod cors;
pub(crate) mod guard;
pub(crate) mod links;
pub(crate) mod route_table;
pub(crate) mod router;
pub(crate) mod state;
