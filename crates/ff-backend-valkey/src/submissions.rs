//! Submissions in company: what a process submits within a moment lives together, as its ids are drawn.

use ff_core::contracts::Submitted;
use ff_core::types::{Kind, LaneId, Namespace};
use ff_script::execution::{PlainWork, ff_create_executions};

use crate::calls::Calls;
use crate::together::{Answers, Joins};

impl Joins for PlainWork {
    type Company = (u16, Namespace, LaneId, Kind);
    type Told = Submitted;

    fn company(&self) -> Self::Company {
        (self.execution_id.partition(), self.namespace.clone(), self.lane.clone(), self.kind.clone())
    }

    fn bytes(&self) -> usize {
        self.payload.bytes.len()
    }

    async fn ask(calls: &Calls, all: Vec<Self>) -> Answers<Submitted> {
        ff_create_executions(calls, all).await
    }
}
