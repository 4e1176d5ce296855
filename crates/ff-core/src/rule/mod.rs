//! What every rule uses: the view that it reads, the change that it returns, and the indexes and timers that follow from
//! a record.

pub mod change;
pub mod due;
#[cfg(test)]
pub(crate) mod fixture;
pub mod index;
#[cfg(test)]
pub(crate) mod samples;
pub mod view;
