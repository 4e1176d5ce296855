//! Calls that take several operations of a store: the server makes them.

use async_trait::async_trait;
use ff_core::backend::{Answer, EngineBackend};
use ff_core::budget::Budget;
use ff_core::contracts::{
    BudgetDeleted, BudgetInfo, BudgetRef, BudgetReset, Budgets, BulkArgs, BulkPage, ConfigureLaneArgs, LaneInfo,
    PutBudgetArgs, PutQuotaArgs, QuotaDeleted, QuotaInfo, QuotaRef, Quotas, RotateSecretArgs, RotationReport,
    StreamTokenArgs, SubmitArgs, SubmitFlowArgs, Submitted, SubmittedFlow, UsageInfo,
};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::explain::{Explanation, LaneExplanation};
use ff_core::limits;
use ff_core::quota::QuotaPolicy;
use ff_core::token::StreamToken;
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace};
use serde_json::value::{RawValue, to_raw_value};

use super::HttpBackend;
use crate::http::execution::unwritable;

#[async_trait]
impl EngineBackend for HttpBackend {
    async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<Submitted>>> {
        if args.len() > limits::BULK {
            return Err(Refusal::over_limit(Code::LimitExceeded, "executions", limits::BULK, args.len()).into());
        }
        let (mut answers, mut sendable) = (Vec::with_capacity(args.len()), Vec::new());
        for (at, mut args) in args.into_iter().enumerate() {
            args.namespace = self.effective_namespace(&args.namespace);
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

    async fn explain(&self, id: &ExecutionId) -> Answer<Explanation> {
        self.get(&["executions", &id.to_string(), "explain"], &[], 0).await
    }

    async fn explain_lane(&self, namespace: &Namespace, lane: &LaneId) -> Answer<LaneExplanation> {
        let namespace = self.effective_namespace(namespace).to_string();
        self.get(&["lanes", lane.as_str(), "explain"], &[("namespace", namespace)], 0).await
    }

    async fn bulk(&self, mut args: BulkArgs) -> Answer<BulkPage> {
        args.check()?;
        args.filter.namespace = self.effective_namespace(&args.filter.namespace);
        self.post(&["executions", "bulk"], &ff_api::Bulk::of(args), 0).await
    }

    async fn submit_flow(&self, mut args: SubmitFlowArgs) -> Answer<SubmittedFlow> {
        args.header.namespace = self.effective_namespace(&args.header.namespace);
        args.header.follow_key();
        args.clone().plan()?;
        let submit = ff_api::SubmitFlow::of(args).map_err(unwritable)?;
        self.post(&["flows"], &submit, 0).await
    }

    async fn configure_lane(&self, mut args: ConfigureLaneArgs) -> Answer<LaneInfo> {
        args.check()?;
        args.namespace = self.effective_namespace(&args.namespace);
        let lane = args.lane.clone();
        self.post(&["lanes", lane.as_str()], &ff_api::ConfigureLane::of(args), 0).await
    }

    async fn put_quota(&self, args: PutQuotaArgs) -> Answer<QuotaPolicy> {
        args.check()?;
        let missing = || Refusal::invalid("definition", "must be said; to delete a quota is another call");
        let definition = args.definition.ok_or_else(missing)?;
        let put = ff_api::PutQuota::of(self.effective_namespace(&args.namespace), definition);
        self.post(&["quotas", args.name.as_str()], &put, 0).await
    }

    async fn delete_quota(&self, QuotaRef { namespace, name }: QuotaRef) -> Answer<QuotaDeleted> {
        let delete = ff_api::DeleteQuota { namespace: Some(self.effective_namespace(&namespace)) };
        self.post(&["quotas", name.as_str(), "delete"], &delete, 0).await
    }

    async fn list_quotas(&self, namespace: &Namespace) -> Answer<Quotas> {
        self.get(&["quotas"], &[("namespace", self.effective_namespace(namespace).to_string())], 0).await
    }

    async fn put_budget(&self, args: PutBudgetArgs) -> Answer<Budget> {
        args.check()?;
        let missing = || Refusal::invalid("definition", "must be said; to delete a budget is another call");
        let definition = args.definition.ok_or_else(missing)?;
        let put = ff_api::PutBudget::of(self.effective_namespace(&args.namespace), definition);
        self.post(&["budgets", args.name.as_str()], &put, 0).await
    }

    async fn delete_budget(&self, BudgetRef { namespace, name }: BudgetRef) -> Answer<BudgetDeleted> {
        let delete = ff_api::DeleteBudget { namespace: Some(self.effective_namespace(&namespace)) };
        self.post(&["budgets", name.as_str(), "delete"], &delete, 0).await
    }

    async fn reset_budget(&self, BudgetRef { namespace, name }: BudgetRef) -> Answer<BudgetReset> {
        let reset = ff_api::ResetBudget { namespace: Some(self.effective_namespace(&namespace)) };
        self.post(&["budgets", name.as_str(), "reset"], &reset, 0).await
    }

    async fn list_budgets(&self, namespace: &Namespace) -> Answer<Budgets> {
        self.get(&["budgets"], &[("namespace", self.effective_namespace(namespace).to_string())], 0).await
    }

    async fn describe_budget(&self, BudgetRef { namespace, name }: BudgetRef) -> Answer<BudgetInfo> {
        let query = [("namespace", self.effective_namespace(&namespace).to_string())];
        self.get(&["budgets", name.as_str()], &query, 0).await
    }

    async fn flow_usage(&self, flow_id: &FlowId) -> Answer<UsageInfo> {
        self.get(&["flows", &flow_id.to_string(), "usage"], &[], 0).await
    }

    async fn describe_quota(&self, QuotaRef { namespace, name }: QuotaRef) -> Answer<QuotaInfo> {
        let query = [("namespace", self.effective_namespace(&namespace).to_string())];
        self.get(&["quotas", name.as_str()], &query, 0).await
    }

    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport> {
        args.check()?;
        let report: ff_api::RotationReport =
            self.post(&["secrets", "rotate"], &ff_api::RotateSecret::of(&args), 0).await?;
        Ok(report.into())
    }

    async fn stream_token(&self, args: StreamTokenArgs) -> Answer<StreamToken> {
        args.check(&self.partitions)?;
        let path = ["executions", &args.execution_id.to_string(), "stream", "token"];
        let reply: ff_api::StreamTokenReply = self.post(&path, &ff_api::MakeStreamToken::of(&args), 0).await?;
        Ok(reply.token)
    }
}

impl HttpBackend {
    /// Sends one body's worth of a bulk submission. When no answer comes, that is the answer for each of them.
    async fn submit_part(&self, part: Vec<BulkItem>) -> Vec<(usize, Answer<Submitted>)> {
        let (positions, executions): (Vec<_>, Vec<_>) = part.into_iter().unzip();
        let answer = self.post::<ff_api::BatchReply>(&["executions", "batch"], &ff_api::Batch { executions }, 0).await;
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
type BulkItem = (usize, Box<RawValue>);

fn written(args: SubmitArgs) -> Answer<Box<RawValue>> {
    ff_api::Submit::of(args).and_then(|submit| to_raw_value(&submit)).map_err(unwritable)
}

/// Cuts a bulk submission into bodies the server takes, in order.
fn parts(sendable: Vec<BulkItem>) -> Vec<Vec<BulkItem>> {
    const ENVELOPE: usize = r#"{"executions":[]}"#.len();
    let mut parts: Vec<Vec<BulkItem>> = Vec::new();
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
