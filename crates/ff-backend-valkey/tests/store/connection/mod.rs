//! The connection to a server: wrong servers, TLS, servers that hang, and answers that wait for the disk.

mod durability;
mod hanging;
mod stand_in;
mod tls;
mod wrong_servers;
