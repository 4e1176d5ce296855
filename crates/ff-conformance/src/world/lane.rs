//! A lane as an operator sees it.

use super::World;
use crate::records::*;

/// A lane of a tenant.
#[derive(Clone)]
pub struct Lane {
    world: World,
    namespace: Namespace,
    lane: LaneId,
}

impl World {
    /// Returns a lane of the default namespace.
    pub fn lane(&self, name: &str) -> Lane {
        Lane { world: self.clone(), namespace: Namespace::default_name(), lane: LaneId::parse(name).unwrap() }
    }
}

impl Lane {
    /// Returns the lane of the same name in another namespace.
    pub fn of(mut self, namespace: &str) -> Self {
        self.namespace = Namespace::parse(namespace).unwrap();
        self
    }

    /// Returns arguments that name the lane and change no setting.
    pub fn args(&self) -> ConfigureLaneArgs {
        ConfigureLaneArgs::new(self.namespace.clone(), self.lane.clone())
    }

    /// Configures the lane.
    pub async fn configure(&self, args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        self.world.backend.configure_lane(args).await
    }

    /// Pauses the lane: it accepts work and hands out none.
    pub async fn pause(&self) -> LaneInfo {
        self.stand(LaneState::Paused).await
    }

    /// Resumes the lane: it accepts and hands out work.
    pub async fn resume(&self) -> LaneInfo {
        self.stand(LaneState::Active).await
    }

    /// Drains the lane: it accepts no new work.
    pub async fn drain(&self) -> LaneInfo {
        self.stand(LaneState::Draining).await
    }

    /// Limits the number of executions that are leased at once.
    pub async fn limit(&self, to: u32) -> LaneInfo {
        self.configure(ConfigureLaneArgs { concurrency: Setting::To(to), ..self.args() }).await.unwrap()
    }

    /// Returns the settings and depths of the lane.
    pub async fn describe(&self) -> LaneInfo {
        self.world.backend.describe_lane(&self.namespace, &self.lane).await.unwrap()
    }

    /// Returns the depth of the lane in one standing.
    pub async fn depth(&self, standing: LanePlace) -> Depth {
        self.describe().await.depths.get(&standing).copied().unwrap_or_default()
    }

    async fn stand(&self, state: LaneState) -> LaneInfo {
        self.configure(ConfigureLaneArgs { state: Some(state), ..self.args() }).await.unwrap()
    }
}
