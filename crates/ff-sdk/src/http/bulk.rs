//! Submitting many executions in as few requests as the server's limits allow.

use ff_core::backend::Answer;
use ff_core::contracts::{SubmitArgs, SubmittedExecution};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::limits;
use serde_json::value::{RawValue, to_raw_value};

use super::HttpConnection;
use super::error::unwritable;

impl HttpConnection {
    /// Submits up to [`limits::BULK`] executions, each with its own outcome, in order.
    pub(super) async fn submit_many(&self, args: Vec<SubmitArgs>) -> Answer<Vec<Answer<SubmittedExecution>>> {
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

    /// Sends one request of a bulk submission. If the request fails, each of its executions gets that error.
    async fn submit_part(&self, part: Vec<BulkItem>) -> Vec<(usize, Answer<SubmittedExecution>)> {
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

/// The position of a submission in its bulk, and its JSON.
type BulkItem = (usize, Box<RawValue>);

fn written(args: SubmitArgs) -> Answer<Box<RawValue>> {
    ff_api::Submit::of(args).and_then(|submit| to_raw_value(&submit)).map_err(unwritable)
}

/// Splits a bulk submission into request bodies of the size that the server accepts, in order.
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
