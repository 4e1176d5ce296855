//! The domain of streams, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ReadStreamArgs, StreamPage};

use crate::MemoryBackend;

impl Handle<ReadStreamArgs, StreamPage> for MemoryBackend {
    async fn handle(&self, args: ReadStreamArgs) -> Answer<StreamPage> {
        self.look(&args.execution_id, |model, execution| {
            Ok(StreamPage::of(&args, model.stream_parts(execution, &args))?)
        })
    }
}
