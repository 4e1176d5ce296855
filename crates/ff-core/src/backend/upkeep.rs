//! What only an engine asks of a store.

use std::time::Duration;

use async_trait::async_trait;

use super::{Answer, EngineBackend, LaneSteps};
use crate::due::Pumped;
use crate::engine_error::Code;
use crate::execution::contracts::Ended;
use crate::flow::contracts::FlowEnd;
use crate::hint::Hints;
use crate::key::ApiKey;
use crate::lease::contracts::Head;
use crate::outage::OutageLog;
use crate::snapshot::Snapshot;
use crate::token::{KeyRing, PresentedToken};
use crate::types::{ExecutionId, FlowId, KeyId, Kind, LaneId, Namespace, TimestampMs, WaitpointId, WorkerInstanceId};

/// What happens unasked: firing what is due, finding what hints have missed, checking the whole.
#[async_trait]
pub trait Upkeep: EngineBackend + LaneSteps {
    /// What time it is for this store.
    async fn now(&self) -> Answer<TimestampMs>;

    /// Fires what is due on a partition, at most one batch, pays one step of what is owed within flows, and says when the
    /// next thing is: in the past when there is more of either.
    async fn pump(&self, partition: u16) -> Answer<Pumped>;

    /// Looks at a partition without being told: what waits there, and what is due when.
    async fn sweep(&self, partition: u16) -> Answer<Swept>;

    /// Takes out worker instances that went without a word, and says which.
    async fn sweep_workers(&self) -> Answer<Vec<WorkerInstanceId>>;

    /// A key with what is kept of its secret, for whoever judges the one that is shown.
    async fn find_key(&self, id: &KeyId) -> Answer<Option<ApiKey>>;

    /// The secrets tokens are signed under, for a server that signs something of its own. Every partition has the same.
    async fn key_ring(&self) -> Answer<KeyRing>;

    /// Whether a token opens a waitpoint, without using it. Refused as `invalid_token` whatever is missing, so that nothing is told to a
    /// caller without one.
    async fn judge_token(&self, id: &ExecutionId, waitpoint: &WaitpointId, shown: &PresentedToken) -> Answer<()>;

    /// Whose an execution is; none where there is none of this id. It is asked before anything else of an id a tenant names, and reads the
    /// same little of one that is there and one that is not, so that how long it takes does not tell them apart.
    async fn namespace_of(&self, id: &ExecutionId) -> Answer<Option<Namespace>>;

    /// Whose a flow is; the same of flows.
    async fn namespace_of_flow(&self, id: &FlowId) -> Answer<Option<Namespace>>;

    /// How often every partition must be swept because hints can be lost; never, where they cannot.
    fn sweep_every(&self) -> Option<Duration>;

    /// Hints from now on.
    fn hints(&self) -> Hints;

    /// Where every loop over this store logs that it does not answer.
    fn outages(&self) -> &OutageLog;

    /// How an execution ended. While it has not, its end is among the hints from now on, for at least a long poll's time;
    /// stores may leave out ends nobody asked about.
    async fn end_of(&self, id: &ExecutionId) -> Answer<Option<Ended>> {
        match self.result(id).await {
            Ok(ended) => Ok(Some(ended)),
            Err(error) if error.code() == Code::ExecutionNotTerminal => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How a flow ended. While it has not, its end and what happens in it are among the hints from now on, for at least a
    /// long poll's time; stores may leave out flows nobody asked about.
    async fn end_of_flow(&self, id: &FlowId) -> Answer<Option<FlowEnd>> {
        Ok(self.describe_flow(id).await?.end())
    }

    /// Everything a partition holds.
    async fn snapshot(&self, partition: u16) -> Answer<Snapshot>;
}

/// How a partition stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub ready: Vec<Ready>,
    pub next_due: Option<TimestampMs>,
}

/// Work of one kind waits on a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// As indexes name it.
    pub lane: LaneId,
    pub kind: Kind,
    pub head: Head,
}
