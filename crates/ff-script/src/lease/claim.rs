//! Functions that claim executions of one lane on one partition.

use std::collections::BTreeSet;

use bytes::Bytes;
use ff_core::backend::entropy::Nonce;
use ff_core::contracts::{
    AdmissionRequest, AdmittedClaimArgs, AdmittedClaims, ClaimArgs, ClaimedExecution, Claims, GrantedClaimArgs, Head,
    LaneCount, Resumption, StepsPage, Task, TaskFlow,
};
use ff_core::execution::{Origin, Tags};
use ff_core::lease::Fence;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::types::{AttemptIndex, Capability, LaneId, LeaseEpoch, Namespace, Priority, TimestampMs};

use crate::execution::{index_keys, moment};
use crate::flow::Inputs;
use crate::lane::lane_count;
use crate::quota::{slots_of, slots_text};
use crate::record::{Hash, origin, priority, read_policy, read_trace, resumption};
use crate::server::ask;
use crate::signature::{ClaimAdmitted, ClaimExecution, ClaimGranted};
use crate::{Fields, ScriptError, Server, Value};

/// Claims up to `max` executions of a lane on a partition, with everything that a worker needs.
pub async fn ff_claim_execution(server: &dyn Server, args: ClaimArgs, nonce: &Nonce) -> Result<Claims, ScriptError> {
    let lane = args.lane.within(&args.namespace);
    let (lease_id, attempt_id) = nonce.lease(0);
    let claim = ClaimExecution {
        lane_eligible: eligible_key(&args),
        lane: lane.to_string(),
        kinds: args.kinds.iter().map(|kind| kind.to_string().into()).collect(),
        capabilities: words(&args.capabilities),
        assigned: args.assigned,
        max: args.max as u64,
        worker_id: args.holder.worker_id.to_string(),
        worker_instance_id: args.holder.worker_instance_id.to_string(),
        lease_ttl_ms: args.lease_ttl_ms,
        first_lease_id: lease_id.to_string(),
        first_attempt_id: attempt_id.to_string(),
    };
    let mut fields = ask(server, claim.call()).await?;
    let claims = claims(server, args, nonce, &mut fields).await?;
    let limited = fields.maybe_text()?.is_some();
    Ok(Claims { limited, admissions: admissions(&mut fields)?, ..claims })
}

/// Reads the executions that quota policies must admit before they are claimed.
fn admissions(fields: &mut Fields) -> Result<Vec<AdmissionRequest>, ScriptError> {
    fields.rows(|row| {
        let (execution_id, epoch) = (row.read()?, LeaseEpoch(row.read()?));
        let slots = slots_of(&row.text()?).ok_or_else(|| ScriptError::parse("what quotas apply cannot be read"))?;
        Ok(AdmissionRequest { execution_id, epoch, slots })
    })
}

/// Claims executions that quota policies have admitted. With a grant, also returns the number of the lane's executions
/// held afterwards.
pub async fn ff_claim_admitted(
    server: &dyn Server,
    args: AdmittedClaimArgs,
    nonce: &Nonce,
) -> Result<AdmittedClaims, ScriptError> {
    let AdmittedClaimArgs { claim: args, admitted, admitted_at, grant } = args;
    let (partition, (lease_id, attempt_id)) = (args.partition, nonce.lease(0));
    let one = |one: &AdmissionRequest| [one.execution_id.to_string(), one.epoch.to_string(), slots_text(&one.slots)];
    let claim = ClaimAdmitted {
        lane_eligible: eligible_key(&args),
        lane: args.lane.within(&args.namespace).to_string(),
        max: args.max as u64,
        worker_id: args.holder.worker_id.to_string(),
        worker_instance_id: args.holder.worker_instance_id.to_string(),
        lease_ttl_ms: args.lease_ttl_ms,
        first_lease_id: lease_id.to_string(),
        first_attempt_id: attempt_id.to_string(),
        admitted_at: moment(admitted_at),
        granted: grant.map(|grant| grant.n.into()),
        seq: grant.map(|grant| grant.seq),
        revision: grant.map(|grant| grant.revision),
        admitted: admitted.iter().flat_map(one).map(Into::into).collect(),
    };
    let mut fields = ask(server, claim.call()).await?;
    let claims = claims(server, args, nonce, &mut fields).await?;
    let claims = Claims { limited: fields.maybe_text()?.is_some(), ..claims };
    let counted = (fields.maybe_read()?, fields.maybe_read()?, fields.maybe_read()?, fields.maybe_read()?);
    let count = match counted {
        (Some(held), Some(seq), Some(revision), Some(at)) => {
            Some(LaneCount { partition, held, seq, revision, counted_at: TimestampMs(at) })
        }
        _ => None,
    };
    Ok(AdmittedClaims { claims, count, running: fields.items(Fields::read)? })
}

/// Claims as many executions of a lane with a limit as a grant allows, and returns the number held on the partition
/// afterwards.
pub async fn ff_claim_granted(
    server: &dyn Server,
    args: GrantedClaimArgs,
    nonce: &Nonce,
) -> Result<(Claims, LaneCount), ScriptError> {
    let GrantedClaimArgs { claim: args, grant } = args;
    let (partition, (lease_id, attempt_id)) = (args.partition, nonce.lease(0));
    let claim = ClaimGranted {
        lane_eligible: eligible_key(&args),
        lane: args.lane.within(&args.namespace).to_string(),
        kinds: args.kinds.iter().map(|kind| kind.to_string().into()).collect(),
        capabilities: words(&args.capabilities),
        assigned: args.assigned,
        max: args.max as u64,
        worker_id: args.holder.worker_id.to_string(),
        worker_instance_id: args.holder.worker_instance_id.to_string(),
        lease_ttl_ms: args.lease_ttl_ms,
        first_lease_id: lease_id.to_string(),
        first_attempt_id: attempt_id.to_string(),
        granted: grant.n.into(),
        seq: grant.seq,
        revision: grant.revision,
    };
    let mut fields = ask(server, claim.call()).await?;
    let claims = claims(server, args, nonce, &mut fields).await?;
    let count = lane_count(&mut fields, partition)?;
    Ok((Claims { admissions: admissions(&mut fields)?, ..claims }, count))
}

fn words(capabilities: &BTreeSet<Capability>) -> Vec<Bytes> {
    capabilities.iter().map(|capability| capability.to_string().into()).collect()
}

/// Returns the key of the waiting executions in the lane of a claim.
fn eligible_key(args: &ClaimArgs) -> String {
    index_keys(args.partition).lane_eligible(&args.lane.within(&args.namespace))
}

/// Reads the common part of a claim's answer: the end of the leases, the best execution that still waits, and the
/// tasks.
async fn claims(
    server: &dyn Server,
    args: ClaimArgs,
    nonce: &Nonce,
    fields: &mut Fields,
) -> Result<Claims, ScriptError> {
    let lease_expires_at = TimestampMs(fields.read()?);
    let next = fields.maybe_read()?.zip(fields.maybe_read()?.map(TimestampMs));
    let given = ClaimTerms {
        namespace: args.namespace,
        lane: args.lane,
        nonce: *nonce,
        lease_ttl_ms: args.lease_ttl_ms,
        lease_expires_at,
    };
    let mut claimed = Vec::new();
    let mut tasks = fields.nested()?;
    while !tasks.is_empty() {
        claimed.push(given.claimed(claimed.len(), tasks.counted()?, server).await?);
    }
    let next = next.map(|(behind, created_at)| Head { behind, created_at });
    Ok(Claims { claimed, next, ..Claims::default() })
}

/// The values common to all executions of one claim.
pub(crate) struct ClaimTerms {
    pub(crate) namespace: Namespace,
    pub(crate) lane: LaneId,
    pub(crate) nonce: Nonce,
    pub(crate) lease_ttl_ms: u64,
    pub(crate) lease_expires_at: TimestampMs,
}

impl ClaimTerms {
    /// Reads one task: its fixed fields, then optional fields as pairs of name and value.
    pub(crate) async fn claimed(
        &self,
        nth: usize,
        mut fields: Fields,
        server: &dyn Server,
    ) -> Result<ClaimedExecution, ScriptError> {
        let execution_id = fields.read()?;
        let (lease_id, attempt_id) = self.nonce.lease(nth);
        let fence = Fence { lease_id, lease_epoch: LeaseEpoch(fields.read()?), attempt_id };
        let attempt_index = AttemptIndex(fields.read()?);
        let mut task = Task {
            execution_id,
            namespace: self.namespace.clone(),
            lane_id: self.lane.clone(),
            kind: fields.read()?,
            priority: Priority::default(),
            tags: Tags::new(),
            policy: Policy::default(),
            fence,
            attempt_index,
            attempt: Origin::Initial,
            resumed: false,
            resumption: None,
            lease_ttl_ms: self.lease_ttl_ms,
            lease_expires_at: self.lease_expires_at,
            created_at: TimestampMs(fields.read()?),
            deadline_at: None,
            flow: None,
            trace: None,
        };
        let (mut payload, mut signals, mut inputs) = (Payload::json(fields.bytes()?), Vec::new(), Inputs::default());
        let mut steps = StepsPage::default();
        let (mut kind, mut reason, mut requested_by) = ("initial".to_owned(), None, None);
        while !fields.is_empty() {
            match fields.text()?.as_str() {
                "resumed" => (task.fence.attempt_id, task.resumed) = (fields.read()?, true),
                "type" => kind = fields.text()?,
                "reason" => reason = Some(fields.text()?),
                "requested_by" => requested_by = Some(fields.text()?),
                "priority" => task.priority = priority(fields.read()?)?,
                "deadline_at" => task.deadline_at = Some(TimestampMs(fields.read()?)),
                "content_type" => payload.content_type = fields.read()?,
                "policy" => task.policy = read_policy(Some(&fields.bytes()?))?,
                "tags" => task.tags = read_tags(&mut fields)?,
                "resumption" => {
                    let mut fields = fields.nested()?;
                    let resumption = resumption(&mut fields)?;
                    signals = crate::signal::signals(execution_id, &mut fields)?;
                    let ids = signals.iter().map(|received| received.signal.id).collect();
                    task.resumption = Some(Resumption { signals: ids, ..resumption });
                }
                "flow" => {
                    let mut fields = fields.nested()?;
                    let (flow_id, node) = (fields.read()?, fields.read()?);
                    task.flow = Some(TaskFlow { flow_id, node, inputs: fields.read()? });
                }
                "trace" => task.trace = Some(read_trace(fields.nested()?)?),
                "steps" => steps = crate::step::page(fields.nested()?)?,
                "inputs" => inputs = Inputs::read(fields.nested()?)?,
                other => return Err(ScriptError::parse(format!("a task has no {other}"))),
            }
        }
        task.attempt = origin(&kind, attempt_index, reason, requested_by)?;
        let inputs = inputs.read_all(server, &execution_id).await?;
        Ok(ClaimedExecution { task, payload, signals, inputs, steps })
    }
}

/// Reads tags as the record repeats them, with a key or a value per line, or as a list of keys and values.
fn read_tags(fields: &mut Fields) -> Result<Tags, ScriptError> {
    let items = match fields.value()? {
        Value::Bytes(lines) => {
            lines.split(|byte| *byte == b'\n').map(|line| Value::Bytes(lines.slice_ref(line))).collect()
        }
        Value::List(items) => items,
        other => return Err(ScriptError::parse(format!("tags are {}", other.kind()))),
    };
    Ok(Hash::parse(items)?.all()?.into_iter().collect())
}
