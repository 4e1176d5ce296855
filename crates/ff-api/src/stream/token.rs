//! Stream tokens on the wire.

use ff_core::contracts::StreamTokenArgs;
use ff_core::limits;
use ff_core::token::StreamToken;
use ff_core::types::{ExecutionId, TimestampMs};

use crate::object::{answers, requests};

requests! {
    /// Creates a token for reading the stream of an execution.
    pub struct MakeStreamToken {
        /// How long it is valid, at most a day (default: an hour).
        pub expires_in_ms: Option<u64>,
    }
}

answers! {
    /// A token that reads the stream of an execution.
    pub struct StreamTokenReply {
        pub token: StreamToken,
        pub expires_at: TimestampMs,
    }
}

impl MakeStreamToken {
    /// Makes the body of the call.
    pub fn of(args: &StreamTokenArgs) -> Self {
        Self { expires_in_ms: Some(args.expires_in_ms) }
    }

    /// Returns the arguments of the call about this execution.
    pub fn into_args(self, execution_id: ExecutionId) -> StreamTokenArgs {
        let expires_in_ms = self.expires_in_ms.unwrap_or(limits::STREAM_TOKEN_DEFAULT_MS);
        StreamTokenArgs { execution_id, expires_in_ms }
    }
}

impl From<StreamToken> for StreamTokenReply {
    fn from(token: StreamToken) -> Self {
        Self { expires_at: token.expires_at, token }
    }
}
