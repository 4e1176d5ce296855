//! The steps of a snapshot.

use ff_core::backend::Answer;
use ff_core::backend::snapshot::Snapshot;
use ff_core::contracts::ListStepsArgs;
use ff_core::limits;
use ff_core::types::ExecutionId;
use ff_script::step::ff_list_steps;

use crate::ValkeyBackend;

impl ValkeyBackend {
    /// Adds the recorded steps of one execution.
    pub(super) async fn add_steps(&self, snapshot: &mut Snapshot, id: ExecutionId) -> Answer<()> {
        let mut args = ListStepsArgs { execution_id: id, after: None, limit: limits::PAGE };
        loop {
            let page = ff_list_steps(&*self.calls, args).await?;
            snapshot.steps.entry(id).or_default().extend(page.steps);
            if page.next.is_none() {
                return Ok(());
            }
            args.after = page.next;
        }
    }
}
