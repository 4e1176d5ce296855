//! Saying how a lane is to be.

use crate::engine_error::{Code, Refusal};
use crate::lane::{Lane, LaneState};
use crate::limits;
use crate::types::{LaneId, Namespace};

/// Someone says how a lane is to be. What is not named stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigureLaneArgs {
    pub namespace: Namespace,
    pub lane: LaneId,
    pub state: Option<LaneState>,
    pub concurrency: Setting<u32>,
    pub ageing_ms: Setting<u64>,
    pub retention_ms: Setting<u64>,
}

/// What becomes of one setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setting<T> {
    #[default]
    Keep,
    /// As if nobody had said anything about it.
    Default,
    To(T),
}

impl ConfigureLaneArgs {
    /// Names nothing yet.
    pub fn new(namespace: Namespace, lane: LaneId) -> Self {
        let (state, concurrency) = (None, Setting::Keep);
        Self { namespace, lane, state, concurrency, ageing_ms: Setting::Keep, retention_ms: Setting::Keep }
    }

    /// Says only how the lane stands: paused, draining, or active again.
    pub fn state(namespace: Namespace, lane: LaneId, state: LaneState) -> Self {
        Self { state: Some(state), ..Self::new(namespace, lane) }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        within("concurrency", self.concurrency.map(u64::from), 1, limits::CONCURRENCY_MAX.into())?;
        within("ageing_ms", self.ageing_ms, 1, limits::AGEING_MAX_MS)?;
        within("retention_ms", self.retention_ms, 0, limits::SPAN_MAX_MS)
    }
}

impl<T> Setting<T> {
    fn map<U>(self, map: impl FnOnce(T) -> U) -> Setting<U> {
        match self {
            Self::Keep => Setting::Keep,
            Self::Default => Setting::Default,
            Self::To(value) => Setting::To(map(value)),
        }
    }
}

fn within(field: &str, setting: Setting<u64>, low: u64, high: u64) -> Result<(), Refusal> {
    match setting {
        Setting::To(sent) if !(low..=high).contains(&sent) => {
            let mut refusal = Refusal::new(Code::LimitExceeded).at(field);
            refusal.limit = Some((if sent < low { low } else { high }, sent));
            Err(refusal.because(format!("must be from {low} to {high}, got {sent}")))
        }
        _ => Ok(()),
    }
}

/// A partition is told how a lane is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyLaneArgs {
    pub partition: u16,
    pub lane: Lane,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_taken_at_their_limits_and_refused_past_them() {
        let lane = || ConfigureLaneArgs::new(Namespace::default_name(), LaneId::default_name());
        let limited = |to| ConfigureLaneArgs { concurrency: Setting::To(to), ..lane() }.check();
        assert_eq!((limited(1), limited(limits::CONCURRENCY_MAX)), (Ok(()), Ok(())));
        assert_eq!(limited(0).unwrap_err().limit, Some((1, 0)));
        assert_eq!(limited(limits::CONCURRENCY_MAX + 1).unwrap_err().limit, Some((1_000_000, 1_000_001)));
        let ageing = |to| ConfigureLaneArgs { ageing_ms: Setting::To(to), ..lane() }.check();
        assert_eq!((ageing(1), ageing(limits::AGEING_MAX_MS)), (Ok(()), Ok(())));
        assert_eq!(ageing(limits::AGEING_MAX_MS + 1).unwrap_err().field.as_deref(), Some("ageing_ms"));
        let kept = |to| ConfigureLaneArgs { retention_ms: Setting::To(to), ..lane() }.check();
        assert_eq!((kept(0), kept(limits::SPAN_MAX_MS)), (Ok(()), Ok(())));
        assert_eq!(kept(limits::SPAN_MAX_MS + 1).unwrap_err().code, Code::LimitExceeded);
    }
}
