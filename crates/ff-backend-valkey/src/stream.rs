//! The domain of streams, on Valkey.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{AppendFramesArgs, FramesAppended, ReadStreamArgs, StreamPage};
use ff_core::stream::StreamMode;
use ff_script::stream::{ff_append_frame, ff_read_attempt_stream};

use crate::ValkeyBackend;
use crate::call::WithoutFsync;

impl Handle<AppendFramesArgs, FramesAppended> for ValkeyBackend {
    async fn handle(&self, args: AppendFramesArgs) -> Answer<FramesAppended> {
        Ok(match args.mode {
            Some(StreamMode::BestEffort) => ff_append_frame(&WithoutFsync(&self.calls), args).await?,
            _ => ff_append_frame(&*self.calls, args).await?,
        })
    }
}

impl Handle<ReadStreamArgs, StreamPage> for ValkeyBackend {
    async fn handle(&self, args: ReadStreamArgs) -> Answer<StreamPage> {
        let parts = ff_read_attempt_stream(&*self.calls, &args).await?;
        Ok(StreamPage::of(&args, parts)?)
    }
}
