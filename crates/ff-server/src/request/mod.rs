//! What handlers get from a request: its body, parameters and path.

pub(crate) mod body;
pub(crate) mod params;
pub(crate) mod path;
