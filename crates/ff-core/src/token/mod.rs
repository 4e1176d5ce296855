//! Tokens: permission to signal a waitpoint, or to read a stream. A token consists of the name of a secret and a MAC
//! under this secret. It opens one waitpoint of one execution, or the stream of one execution until a given time, and
//! nothing else. Tokens are minted and verified here, with the same bytes on every store.

pub mod contracts;
pub(crate) mod hex;
mod mac;
mod ring;
mod rotate;
mod secret;
mod stream_token;
mod text;

pub use mac::Mac;
pub use ring::{KeyRing, RingKey};
pub use secret::{BadSecret, Secret};
pub use stream_token::StreamToken;
pub use text::{BadToken, PresentedToken, WaitpointToken};
