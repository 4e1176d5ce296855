//! The domain of steps, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ListStepsArgs, StepsPage};
use ff_core::limits;

use crate::MemoryBackend;

impl Handle<ListStepsArgs, StepsPage> for MemoryBackend {
    async fn handle(&self, args: ListStepsArgs) -> Answer<StepsPage> {
        self.look(&args.execution_id, |model, execution| {
            Ok(model.steps_page(&execution.id, args.after, args.limit, limits::PAGE_BYTES))
        })
    }
}
