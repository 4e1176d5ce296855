//! The file of a store: opening and closing it, what it holds, and what survives.

mod bytes;
mod closing;
mod damage;
mod opening;
mod restart;
mod schema;
mod secrets;
