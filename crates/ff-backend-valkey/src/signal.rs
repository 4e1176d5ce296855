//! The domain of signals, on Valkey.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{
    DeliverArgs, DeliveredSignal, DeliveriesArgs, DeliveriesPage, ReceivedSignal, SignalsArgs, SignalsPage,
    WaitpointRef,
};
use ff_core::engine_error::Code;
use ff_core::operation::query::ReadSignal;
use ff_core::signal::{FeedCursor, FeedPart};
use ff_core::token::{PresentedToken, WaitpointToken};
use ff_core::types::{ExecutionId, WaitpointId};
use ff_script::signal::{
    VerifiedToken, ff_deliver_signal, ff_feed_end, ff_open_waitpoint, ff_read_deliveries, ff_read_signal,
    ff_read_signals,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;

/// Maximum number of partitions asked at the same time.
const AT_ONCE: usize = 64;

impl Handle<DeliverArgs, DeliveredSignal> for ValkeyBackend {
    /// The MAC is verified here, because the server cannot compute it fast. The function checks in the step that writes
    /// that the secret is still the same and still verifies.
    async fn handle(&self, args: DeliverArgs) -> Answer<DeliveredSignal> {
        let nonce = self.entropy.nonce();
        let (waitpoint_id, token) = self.verify_token(&args.execution_id, &args.waitpoint, &args.token).await?;
        Ok(ff_deliver_signal(&*self.calls, args, &waitpoint_id, &token, &nonce).await?)
    }
}

impl Handle<SignalsArgs, SignalsPage> for ValkeyBackend {
    async fn handle(&self, args: SignalsArgs) -> Answer<SignalsPage> {
        let page = ff_read_signals(&*self.calls, &args.execution_id, args.skip, args.limit, false).await?;
        let reached = args.skip.saturating_add(page.signals.len());
        let signals = page.signals.into_iter().map(|received| received.signal).collect();
        Ok(SignalsPage { signals, next: (reached < page.count).then_some(reached) })
    }
}

impl Handle<ReadSignal, ReceivedSignal> for ValkeyBackend {
    async fn handle(
        &self,
        ReadSignal { execution_id: ref id, signal_id: ref signal }: ReadSignal,
    ) -> Answer<ReceivedSignal> {
        let found = ff_read_signal(&*self.calls, id, signal).await?;
        found.ok_or_else(|| Code::NotFound.into())
    }
}

impl Handle<DeliveriesArgs, DeliveriesPage> for ValkeyBackend {
    async fn handle(&self, args: DeliveriesArgs) -> Answer<DeliveriesPage> {
        let Some(after) = args.after else {
            let next = self.feed_ends().await?;
            return Ok(DeliveriesPage { deliveries: vec![], next, missed: false });
        };
        let parts = self.feed_parts(&after, args.limit).await?;
        Ok(DeliveriesPage::merge(after, parts, args.limit))
    }
}

impl ValkeyBackend {
    /// Returns the waitpoint and the verified token that opens it. The refusal is the same for every missing record.
    pub(crate) async fn verify_token(
        &self,
        execution: &ExecutionId,
        waitpoint: &WaitpointRef,
        token: &PresentedToken,
    ) -> Answer<(WaitpointId, VerifiedToken)> {
        if token.is_missing() {
            return Err(Code::MissingToken.into());
        }
        let kid = WaitpointToken::parse(token.expose()).map_err(|_| Code::InvalidToken)?.kid;
        let opened = ff_open_waitpoint(&*self.calls, execution, waitpoint, &kid).await?;
        Ok((opened.waitpoint_id, opened.verify(execution, token, &kid)?))
    }

    /// Returns the current end of every feed.
    async fn feed_ends(&self) -> Answer<FeedCursor> {
        let end = |partition| async move { Answer::Ok((partition, ff_feed_end(&*self.calls, partition).await?)) };
        let ends = stream::iter(0..self.partitions.num_flow_partitions).map(end).buffered(AT_ONCE);
        let ends: Vec<_> = ends.try_collect().await?;
        Ok(FeedCursor(ends.into_iter().filter_map(|(partition, end)| Some((partition, end?))).collect()))
    }

    /// Returns the deliveries of every feed after a cursor.
    async fn feed_parts(&self, after: &FeedCursor, limit: usize) -> Answer<Vec<(u16, FeedPart)>> {
        let part = |partition| async move {
            let reached = after.0.get(&partition).copied();
            Answer::Ok((partition, ff_read_deliveries(&*self.calls, partition, reached, limit).await?))
        };
        stream::iter(0..self.partitions.num_flow_partitions).map(part).buffered(AT_ONCE).try_collect().await
    }
}
