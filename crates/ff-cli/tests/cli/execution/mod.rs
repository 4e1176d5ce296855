//! Commands for executions: submitting, showing, changing, waiting for, and replaying them.

mod operations;
mod operator;
mod reading;
mod steps;
mod submitting;
mod wait;
