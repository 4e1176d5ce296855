//! The room of executions, over HTTP.
//!
//! What no state of the store could make acceptable is refused here in the store's own words, before it is sent.

use async_trait::async_trait;
use ff_core::backend::{Answer, ExecutionRoom};
use ff_core::contracts::{
    Attempts, BulkArgs, BulkPage, CancelArgs, Cancelled, ChangePriorityArgs, CompleteArgs, Completed, DelayArgs,
    Delayed, Ended, ExecutionInfo, FailArgs, Failed, Filter, ListArgs, Noted, Page, PriorityChanged, ProgressArgs,
    ReplayArgs, Replayed, SetTagsArgs, SubmitArgs, Submitted, Tagged,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::limits;
use ff_core::operation::check_id;
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use super::HttpBackend;
use super::call::unreadable;

/// Asks for the exact bytes of whatever is read.
pub(super) const EXACT: (&str, &str) = ("encoding", "base64");

#[async_trait]
impl ExecutionRoom for HttpBackend {
    async fn submit(&self, mut args: SubmitArgs) -> Answer<Submitted> {
        args.check()?;
        args.namespace = self.whose(&args.namespace);
        let submit = ff_api::Submit::of(args).map_err(|error| unwritable(&error))?;
        self.post(&["executions"], &submit, 0).await
    }

    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>> {
        if args.len() > limits::BULK {
            return Err(Refusal::over_limit(Code::LimitExceeded, "executions", limits::BULK, args.len()).into());
        }
        let (mut answers, mut sendable) = (Vec::with_capacity(args.len()), Vec::new());
        for (at, mut args) in args.into_iter().enumerate() {
            args.namespace = self.whose(&args.namespace);
            match args.check() {
                Err(refusal) => answers.push((at, Err(refusal.into()))),
                Ok(()) => sendable.push((at, written(args)?)),
            }
        }
        for part in parts(sendable) {
            answers.extend(self.submit_part(part).await);
        }
        answers.sort_by_key(|(at, _)| *at);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }

    async fn describe(&self, id: &ExecutionId) -> Answer<ExecutionInfo> {
        self.get(&["executions", &self.named(id)?], &[], 0).await
    }

    async fn list(&self, args: ListArgs) -> Answer<Page> {
        args.check()?;
        let Filter { namespace, lane, state, kind, tags, created_from, created_until } = args.filter;
        let labels: Vec<_> = tags.iter().map(|(key, value)| (format!("tag.{key}"), value.to_string())).collect();
        let mut query = vec![("namespace", self.whose(&namespace).to_string()), ("limit", args.limit.to_string())];
        query.extend(lane.map(|lane| ("lane", lane.to_string())));
        query.extend(state.map(|state| ("state", state.to_string())));
        query.extend(kind.map(|kind| ("kind", kind.to_string())));
        query.extend(labels.iter().map(|(name, value)| (name.as_str(), value.clone())));
        query.extend(created_from.map(|at| ("created_from", at.to_string())));
        query.extend(created_until.map(|at| ("created_until", at.to_string())));
        query.extend(args.after.map(|cursor| ("cursor", cursor.to_string())));
        let page: ff_api::Page = self.get(&["executions"], &query, 0).await?;
        page.into_page().map_err(|refusal| unreadable(&refusal))
    }

    async fn payload(&self, id: &ExecutionId) -> Answer<Payload> {
        let (name, value) = EXACT;
        let path = ["executions", &self.named(id)?, "payload"];
        let view: ff_api::PayloadView = self.get(&path, &[(name, value.to_owned())], 0).await?;
        view.into_payload().map_err(|refusal| unreadable(&refusal))
    }

    async fn result(&self, id: &ExecutionId) -> Answer<Ended> {
        self.result_within(id, 0).await
    }

    async fn attempts(&self, id: &ExecutionId) -> Answer<Attempts> {
        self.get(&["executions", &self.named(id)?, "attempts"], &[], 0).await
    }

    async fn progress(&self, args: ProgressArgs) -> Answer<Noted> {
        args.check()?;
        self.ask(args.execution_id, "progress", ff_api::Progress::of(args)).await
    }

    async fn complete(&self, args: CompleteArgs) -> Answer<Completed> {
        args.check()?;
        self.ask(args.execution_id, "complete", ff_api::Complete::of(args)).await
    }

    async fn fail(&self, args: FailArgs) -> Answer<Failed> {
        args.check()?;
        self.ask(args.execution_id, "fail", ff_api::Fail::of(args)).await
    }

    async fn delay(&self, args: DelayArgs) -> Answer<Delayed> {
        args.check()?;
        self.ask(args.execution_id, "delay", ff_api::Delay::of(args)).await
    }

    async fn cancel(&self, args: CancelArgs) -> Answer<Cancelled> {
        args.check()?;
        self.ask(args.execution_id, "cancel", ff_api::Cancel::of(args)).await
    }

    async fn replay(&self, args: ReplayArgs) -> Answer<Replayed> {
        args.check()?;
        self.ask(args.execution_id, "replay", ff_api::Replay::of(args)).await
    }

    async fn bulk(&self, mut args: BulkArgs) -> Answer<BulkPage> {
        args.check()?;
        args.filter.namespace = self.whose(&args.filter.namespace);
        self.post(&["executions", "bulk"], &ff_api::Bulk::of(args), 0).await
    }

    async fn change_priority(&self, args: ChangePriorityArgs) -> Answer<PriorityChanged> {
        self.ask(args.execution_id, "priority", ff_api::ChangePriority::of(args)).await
    }

    async fn set_tags(&self, args: SetTagsArgs) -> Answer<Tagged> {
        self.named(&args.execution_id)?;
        args.check()?;
        self.ask(args.execution_id, "tags", ff_api::SetTags::of(args)).await
    }
}

impl HttpBackend {
    /// Asks something of one execution.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        id: ExecutionId,
        verb: &str,
        body: impl Serialize + Send + Sync,
    ) -> Answer<T> {
        self.post(&["executions", &self.named(&id)?, verb], &body, 0).await
    }

    /// How an execution ended, asked for the exact bytes of its result.
    pub(super) async fn result_within(&self, id: &ExecutionId, wait_ms: u64) -> Answer<Ended> {
        let (name, value) = EXACT;
        let query = [(name, value.to_owned()), ("wait_ms", wait_ms.to_string())];
        let ended: ff_api::Ended = self.get(&["executions", &self.named(id)?, "result"], &query, wait_ms).await?;
        ended.into_ended().map_err(|refusal| unreadable(&refusal))
    }

    pub(super) fn named(&self, id: &ExecutionId) -> Answer<String> {
        check_id(id, &self.partitions)?;
        Ok(id.to_string())
    }

    /// Sends one body's worth of a bulk submission. When no answer comes, that is the answer for each of them.
    async fn submit_part(&self, part: Vec<Positioned>) -> Vec<(usize, Answer<Submitted>)> {
        let (positions, executions): (Vec<_>, Vec<_>) = part.into_iter().unzip();
        let answer = self.post::<ff_api::Batched>(&["executions", "batch"], &ff_api::Batch { executions }, 0).await;
        match answer {
            Ok(batched) if batched.results.len() == positions.len() => {
                positions.into_iter().zip(batched.results.into_iter().map(Result::from)).collect()
            }
            Ok(_) => {
                let error = EngineError::Unknown("the server answered for another number of executions".into());
                positions.into_iter().map(|at| (at, Err(error.clone()))).collect()
            }
            Err(error) => positions.into_iter().map(|at| (at, Err(error.clone()))).collect(),
        }
    }
}

/// A submission as it will be sent, and where in its bulk it stands.
type Positioned = (usize, Box<RawValue>);

fn written(args: SubmitArgs) -> Answer<Box<RawValue>> {
    ff_api::Submit::of(args).and_then(|submit| to_raw_value(&submit)).map_err(|error| unwritable(&error))
}

/// Cuts a bulk submission into bodies the server takes, in order.
fn parts(sendable: Vec<Positioned>) -> Vec<Vec<Positioned>> {
    const ENVELOPE: usize = r#"{"executions":[]}"#.len();
    let mut parts: Vec<Vec<Positioned>> = Vec::new();
    let mut bytes = usize::MAX;
    for one in sendable {
        let more = one.1.get().len() + 1;
        match parts.last_mut() {
            Some(part) if bytes + more <= ff_api::BATCH_BODY_BYTES => {
                bytes += more;
                part.push(one);
            }
            _ => {
                bytes = ENVELOPE + more;
                parts.push(vec![one]);
            }
        }
    }
    parts
}

pub(super) fn unwritable(error: &serde_json::Error) -> EngineError {
    Refusal::new(Code::InvalidInput).because(format!("cannot be written as JSON: {error}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bulk_submission_is_cut_where_a_body_is_full() {
        let sized = |bytes: usize| RawValue::from_string(format!("\"{}\"", "x".repeat(bytes - 2))).unwrap();
        let half = ff_api::BATCH_BODY_BYTES / 2;
        let cut = parts(vec![(0, sized(half)), (1, sized(half - 20)), (2, sized(10)), (3, sized(half))]);
        let positions: Vec<Vec<usize>> = cut.iter().map(|part| part.iter().map(|(at, _)| *at).collect()).collect();
        assert_eq!(positions, [vec![0, 1], vec![2, 3]]);
        for part in cut {
            let executions = part.into_iter().map(|(_, json)| json).collect();
            let body = serde_json::to_vec(&ff_api::Batch { executions }).unwrap();
            assert!(body.len() <= ff_api::BATCH_BODY_BYTES);
        }
    }
}
