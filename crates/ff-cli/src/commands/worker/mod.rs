//! Commands for workers: run one, list them, and assign executions to one of them.

mod assign;
mod list;
mod run;

pub(crate) use assign::{Assign, Grants, Unassign};
pub(crate) use list::Workers;
pub(crate) use run::Worker;
