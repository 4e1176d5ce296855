//! What operations cost: their statements, and the plans of their queries.

mod flows;
mod idle;
mod lifecycle;
mod plans;
mod searching;
