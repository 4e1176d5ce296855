//! The part of the walks that waits: suspensions, signals, and the secrets behind tokens.

mod chooser;
mod reads;
mod reference;
mod step;

pub(crate) use reads::{deliveries, look, rotate_everywhere};
pub(crate) use reference::{Handed, handed_with};
pub use step::{On, Sending, Shown, Tree, Which, Wish};
