//! The shapes of the jobs of a measurement.

use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy};
use ff_sdk::{Job, Reply};

use crate::KIND;

/// Bytes of the result of a typical job.
const RESULT: usize = 100;
/// Number of teams, a tag of typical jobs. Each has an index on every partition.
const TEAMS: usize = 10;

/// The shape of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobShape {
    /// A binary payload, two tags, a priority, a retry policy, and a result of 100 bytes.
    #[default]
    Typical,
    /// A JSON payload only.
    Plain,
}

impl JobShape {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Typical => "typical",
            Self::Plain => "plain",
        }
    }

    /// Returns the job with number `nth`, with a payload of `bytes` bytes.
    pub(crate) fn job(self, bytes: usize, nth: usize) -> Job {
        match self {
            Self::Plain => Job::with_payload(KIND, Payload::json(vec![b'1'; bytes])),
            Self::Typical => {
                let backoff = Backoff::Fixed { delay_ms: 1_000, jitter: true };
                let retry_policy = RetryPolicy { max_retries: 5, backoff, ..RetryPolicy::default() };
                Job::with_payload(KIND, Payload::bytes(vec![0xff; bytes]))
                    .tag("team", &format!("team-{}", nth % TEAMS))
                    .tag("env", "production")
                    .priority(5)
                    .policy(Policy { retry_policy, ..Policy::default() })
            }
        }
    }

    /// Returns the reply of the job's handler.
    pub(crate) fn reply(self) -> Reply {
        match self {
            Self::Plain => Reply::done(),
            Self::Typical => Reply::payload(Payload::bytes(vec![0xff; RESULT])),
        }
    }
}
