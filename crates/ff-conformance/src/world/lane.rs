//! A lane as an operator sees it.

use ff_core::backend::Answer;
use ff_core::contracts::{ConfigureLaneArgs, Depth, LaneInfo, LaneStanding, Setting};
use ff_core::lane::LaneState;
use ff_core::types::{LaneId, Namespace};

use super::World;

/// A lane of a tenant.
#[derive(Clone)]
pub struct Lane {
    world: World,
    namespace: Namespace,
    lane: LaneId,
}

impl World {
    /// A lane of the default tenant.
    pub fn lane(&self, name: &str) -> Lane {
        Lane { world: self.clone(), namespace: Namespace::default_name(), lane: LaneId::parse(name).unwrap() }
    }
}

impl Lane {
    /// The lane of this name of another tenant.
    pub fn of(mut self, namespace: &str) -> Self {
        self.namespace = Namespace::parse(namespace).unwrap();
        self
    }

    /// Names the lane and no setting.
    pub fn args(&self) -> ConfigureLaneArgs {
        ConfigureLaneArgs::new(self.namespace.clone(), self.lane.clone())
    }

    /// Has it be as asked.
    pub async fn configure(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        self.world.backend.configure_lane(args).await
    }

    /// Has it take work and hand out none.
    pub async fn pause(&self) -> LaneInfo {
        self.stand(LaneState::Paused).await
    }

    /// Has it take and hand out work.
    pub async fn resume(&self) -> LaneInfo {
        self.stand(LaneState::Active).await
    }

    /// Has it take no new work.
    pub async fn drain(&self) -> LaneInfo {
        self.stand(LaneState::Draining).await
    }

    /// Has it hold so many at once at most.
    pub async fn limit(&self, to: u32) -> LaneInfo {
        self.configure(ConfigureLaneArgs { concurrency: Setting::To(to), ..self.args() }).await.unwrap()
    }

    /// How it is configured, and how much of it is where.
    pub async fn describe(&self) -> LaneInfo {
        self.world.backend.describe_lane(&self.namespace, &self.lane).await.unwrap()
    }

    /// How much of it is somewhere.
    pub async fn depth(&self, standing: LaneStanding) -> Depth {
        self.describe().await.depths.get(&standing).copied().unwrap_or_default()
    }

    async fn stand(&self, state: LaneState) -> LaneInfo {
        self.configure(ConfigureLaneArgs { state: Some(state), ..self.args() }).await.unwrap()
    }
}
