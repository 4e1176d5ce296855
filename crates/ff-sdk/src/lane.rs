//! Lanes: their state and their settings.

use std::time::Duration;

use ff_core::contracts::{ConfigureLaneArgs, LaneInfo, LanesPage, ListLanesArgs, Setting};
use ff_core::engine_error::Refusal;
use ff_core::explain::LaneExplanation;
use ff_core::lane::LaneState;
use ff_core::types::{FairKey, LaneId, Namespace};

use crate::{Client, Error};

impl Client {
    /// Returns a handle to the lane of this name, in the namespace of the API key or else in `default`. The lane need not
    /// exist yet.
    pub fn lane(&self, lane: &str) -> Result<LaneHandle, Error> {
        let lane = LaneId::parse(lane).map_err(|error| Refusal::invalid("lane", error))?;
        Ok(LaneHandle { client: self.clone(), namespace: Namespace::default_name(), lane })
    }

    /// Returns a handle to a lane of another namespace.
    pub fn lane_of(&self, namespace: &str, lane: &str) -> Result<LaneHandle, Error> {
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error))?;
        self.check_named(Some(&namespace))?;
        Ok(LaneHandle { namespace, ..self.lane(lane)? })
    }

    /// Returns a page of the lanes that were configured or have executions.
    pub async fn lanes(&self, args: ListLanesArgs) -> Result<LanesPage, Error> {
        Ok(self.backend().list_lanes(args).await?)
    }

    /// Explains why the work of a lane does not run, grouped by cause.
    pub async fn explain_lane(&self, namespace: &Namespace, lane: &LaneId) -> Result<LaneExplanation, Error> {
        Ok(self.backend().explain_lane(namespace, lane).await?)
    }

    /// Configures a lane. Settings that are not named do not change.
    pub async fn configure_lane(&self, args: ConfigureLaneArgs) -> Result<LaneInfo, Error> {
        Ok(self.backend().configure_lane(args).await?)
    }
}

/// A handle to a lane, by its name. Cheap to clone; creating it makes no call. When a change returns, it holds on every
/// partition, and repeating it is harmless.
#[derive(Clone)]
pub struct LaneHandle {
    client: Client,
    namespace: Namespace,
    lane: LaneId,
}

impl LaneHandle {
    /// Explains why the work of the lane does not run, grouped by cause.
    pub async fn explain(&self) -> Result<LaneExplanation, Error> {
        self.client.explain_lane(&self.namespace, &self.lane).await
    }

    /// Returns the settings of the lane and the number of its executions in each state.
    pub async fn describe(&self) -> Result<LaneInfo, Error> {
        Ok(self.client.backend().describe_lane(&self.namespace, &self.lane).await?)
    }

    /// Pauses the lane: workers get no more work from it. It still accepts submissions, and running executions continue.
    pub async fn pause(&self) -> Result<LaneInfo, Error> {
        self.stand(LaneState::Paused).await
    }

    /// Drains the lane: it accepts no more submissions. Workers still get the executions it has.
    pub async fn drain(&self) -> Result<LaneInfo, Error> {
        self.stand(LaneState::Draining).await
    }

    /// Resumes the lane: it accepts submissions, and workers get its work.
    pub async fn resume(&self) -> Result<LaneInfo, Error> {
        self.stand(LaneState::Active).await
    }

    /// Limits how many executions of the lane run at once; `None` removes the limit.
    pub async fn limit(&self, concurrency: Option<u32>) -> Result<LaneInfo, Error> {
        let concurrency = concurrency.map_or(Setting::Default, Setting::To);
        self.client.configure_lane(ConfigureLaneArgs { concurrency, ..self.unchanged() }).await
    }

    /// Sets the waiting time that counts as one step of priority; `None` means strict priority.
    pub async fn ageing(&self, span: Option<Duration>) -> Result<LaneInfo, Error> {
        self.client.configure_lane(ConfigureLaneArgs { ageing_ms: setting(span), ..self.unchanged() }).await
    }

    /// Sets how long executions submitted from now on are kept after their end; `None` means a week.
    pub async fn retention(&self, span: Option<Duration>) -> Result<LaneInfo, Error> {
        self.client.configure_lane(ConfigureLaneArgs { retention_ms: setting(span), ..self.unchanged() }).await
    }

    /// Sets the key for fair queueing of work from now on, whose values workers take in turn: `kind`, `namespace` or
    /// `tag:<name>`. `None` means one queue. Another key removes the weights of the previous one.
    pub async fn fair_by(&self, key: Option<&str>) -> Result<LaneInfo, Error> {
        let fair_by = match key {
            Some(key) => Setting::To(key.parse().map_err(|error| Refusal::invalid("fair_by", error))?),
            None => Setting::Default,
        };
        self.client.configure_lane(ConfigureLaneArgs { fair_by, ..self.unchanged() }).await
    }

    /// Sets the weight of a key: a key with twice the weight is served twice as often. `None` means 1.
    pub async fn weight(&self, key: &str, weight: Option<u32>) -> Result<LaneInfo, Error> {
        let key = FairKey::parse(key).map_err(|error| Refusal::invalid("weights", error))?;
        let weights = [(key, weight.map_or(Setting::Default, Setting::To))].into();
        self.client.configure_lane(ConfigureLaneArgs { weights, ..self.unchanged() }).await
    }

    async fn stand(&self, state: LaneState) -> Result<LaneInfo, Error> {
        self.client.configure_lane(ConfigureLaneArgs { state: Some(state), ..self.unchanged() }).await
    }

    fn unchanged(&self) -> ConfigureLaneArgs {
        ConfigureLaneArgs::new(self.namespace.clone(), self.lane.clone())
    }
}

fn setting(span: Option<Duration>) -> Setting<u64> {
    span.map_or(Setting::Default, |span| Setting::To(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
}
