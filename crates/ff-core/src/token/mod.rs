//! Tokens: who may signal a waitpoint. A token is the name of a secret and a MAC under it; it opens one waitpoint of one
//! execution and nothing else. Minted and verified here, with the same bytes on every store.

pub mod contracts;
pub(crate) mod hex;
mod mac;
mod ring;
mod rotate;
mod secret;
mod text;

pub use mac::Mac;
pub use ring::{KeyRing, RingKey};
pub use secret::{BadSecret, Secret};
pub use text::{BadToken, PresentedToken, WaitpointToken};
