//! Arguments and outcomes of every operation, from the domains that own them.

pub use crate::api_key::contracts::*;
pub use crate::budget::contracts::*;
pub use crate::event::contracts::*;
pub use crate::execution::contracts::*;
pub use crate::explain::{QueueArgs, QueueFacts};
pub use crate::flow::contracts::*;
pub use crate::lane::contracts::*;
pub use crate::lease::contracts::*;
pub use crate::quota::contracts::*;
pub use crate::rule::due::PumpArgs;
pub use crate::schedule::contracts::*;
pub use crate::signal::contracts::*;
pub use crate::step::contracts::*;
pub use crate::stream::contracts::*;
pub use crate::suspension::contracts::*;
pub use crate::token::contracts::*;
pub use crate::worker::contracts::*;
