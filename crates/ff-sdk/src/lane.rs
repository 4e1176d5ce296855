//! Lanes: how each stands, and how it is to be.

use std::time::Duration;

use ff_core::contracts::{ConfigureLaneArgs, LaneInfo, LanesPage, ListLanesArgs, Setting};
use ff_core::engine_error::Refusal;
use ff_core::explain::LaneExplanation;
use ff_core::lane::LaneState;
use ff_core::types::{FairKey, LaneId, Namespace};

use crate::{Client, Error};

impl Client {
    /// A lane of the key's namespace, or of `default`, by its name. It need not be made.
    pub fn lane(&self, lane: &str) -> Result<LaneHandle, Error> {
        let lane = LaneId::parse(lane).map_err(|error| Refusal::invalid("lane", error))?;
        Ok(LaneHandle { client: self.clone(), namespace: Namespace::default_name(), lane })
    }

    /// A tenant's lane by its name.
    pub fn lane_of(&self, namespace: &str, lane: &str) -> Result<LaneHandle, Error> {
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error))?;
        self.check_named(Some(&namespace))?;
        Ok(LaneHandle { namespace, ..self.lane(lane)? })
    }

    /// The lanes that were configured or have executions, a page at a time.
    pub async fn lanes(&self, args: ListLanesArgs) -> Result<LanesPage, Error> {
        Ok(self.backend().list_lanes(args).await?)
    }

    /// Why the work of a lane does not run, grouped by cause.
    pub async fn explain_lane(&self, namespace: &Namespace, lane: &LaneId) -> Result<LaneExplanation, Error> {
        Ok(self.backend().explain_lane(namespace, lane).await?)
    }

    /// Configures a lane; settings that are not named stay as they are.
    pub async fn configure_lane(&self, args: ConfigureLaneArgs) -> Result<LaneInfo, Error> {
        Ok(self.backend().configure_lane(args).await?)
    }
}

/// A lane by its name. Cheap to clone; makes no call before a method is called. Once a change is
/// answered it holds everywhere, and making it again is harmless.
#[derive(Clone)]
pub struct LaneHandle {
    client: Client,
    namespace: Namespace,
    lane: LaneId,
}

impl LaneHandle {
    /// Why its work does not run, grouped by cause.
    pub async fn explain(&self) -> Result<LaneExplanation, Error> {
        self.client.explain_lane(&self.namespace, &self.lane).await
    }

    /// How it is configured, and how much of it is where.
    pub async fn describe(&self) -> Result<LaneInfo, Error> {
        Ok(self.client.backend().describe_lane(&self.namespace, &self.lane).await?)
    }

    /// Has it hand out no more work. It goes on accepting submissions, and running executions go on.
    pub async fn pause(&self) -> Result<LaneInfo, Error> {
        self.stand(LaneState::Paused).await
    }

    /// Has it accept no more submissions. It goes on handing out the executions it has.
    pub async fn drain(&self) -> Result<LaneInfo, Error> {
        self.stand(LaneState::Draining).await
    }

    /// Has it take and hand out work.
    pub async fn resume(&self) -> Result<LaneInfo, Error> {
        self.stand(LaneState::Active).await
    }

    /// How many of it may be held at once; as many as there are workers for, when none is given.
    pub async fn limit(&self, concurrency: Option<u32>) -> Result<LaneInfo, Error> {
        let concurrency = concurrency.map_or(Setting::Default, Setting::To);
        self.client.configure_lane(ConfigureLaneArgs { concurrency, ..self.unchanged() }).await
    }

    /// How long a wait weighs as much as one step of priority; strict priority when none is given.
    pub async fn ageing(&self, span: Option<Duration>) -> Result<LaneInfo, Error> {
        self.client.configure_lane(ConfigureLaneArgs { ageing_ms: setting(span), ..self.unchanged() }).await
    }

    /// How long executions submitted from now on are kept after their end; a week when none is given.
    pub async fn retention(&self, span: Option<Duration>) -> Result<LaneInfo, Error> {
        self.client.configure_lane(ConfigureLaneArgs { retention_ms: setting(span), ..self.unchanged() }).await
    }

    /// By which key its work is queued from now on, so that workers take the keys in turn: `kind`, `namespace` or `tag:<name>`; by
    /// none when none is given. Another key takes away the weights of the one before.
    pub async fn fair_by(&self, key: Option<&str>) -> Result<LaneInfo, Error> {
        let fair_by = match key {
            Some(key) => Setting::To(key.parse().map_err(|error| Refusal::invalid("fair_by", error))?),
            None => Setting::Default,
        };
        self.client.configure_lane(ConfigureLaneArgs { fair_by, ..self.unchanged() }).await
    }

    /// The weight of a key: a key with twice the weight is served twice as often. It is 1 when none is given.
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
