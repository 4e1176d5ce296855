//! Servers in front of Postgres and Valkey, and stores that may lose acknowledged work.

mod durability;
mod postgres;
mod valkey;
