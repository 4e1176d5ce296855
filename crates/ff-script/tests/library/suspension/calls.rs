//! Valid calls, spelled out field by field so that a test can spoil each field.

use bytes::Bytes;
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::partition::Partition;
use ff_core::types::WaitpointId;
use ff_script::signature::{
    ClaimResumedExecution, CloseWaitpoint, CreatePendingWaitpoint, DeliverSignal, OpenWaitpoint, ReadSignals,
    ReadWaitpoints, ResumeExecution, RotateWaitpointHmacSecret, SuspendExecution,
};

use super::scene::{PENDS_MS, Scene, key};

impl Scene<'_> {
    pub(super) fn keys(&self) -> (ExecKeyContext, IndexKeys) {
        let partition = Partition::of(&self.subject.id);
        (ExecKeyContext::new(&partition, &self.subject.id), IndexKeys::new(&partition))
    }

    /// Mints the token of a new waitpoint.
    pub(super) fn token(&self, id: &WaitpointId, text: &str) -> String {
        self.ring.mint(&self.subject.id, id, &key(text)).unwrap().expose()
    }

    pub(super) fn suspend_call(&self) -> SuspendExecution {
        let (exec, index) = self.keys();
        let (nonce, fence) = (SystemEntropy.nonce(), self.subject.fence);
        let waitpoint_id = nonce.waitpoint(0);
        SuspendExecution {
            exec_core: exec.core(),
            attempt_record: exec.noop(),
            lease_current: exec.lease_current(),
            lease_history: exec.lease_history(),
            lease_expiry: index.lease_expiry(),
            worker_leases: exec.noop(),
            suspension_current: exec.suspension_current(),
            waitpoint: exec.waitpoint(&waitpoint_id),
            waitpoint_signals: exec.waitpoint_signals(&waitpoint_id),
            suspension_timeout: index.suspension_timeout(),
            pending_waitpoint_expiry: index.pending_waitpoint_expiry(),
            lane_active: exec.noop(),
            lane_suspended: exec.noop(),
            waitpoints: exec.waitpoints(),
            waitpoint_condition: exec.waitpoint_condition(&waitpoint_id),
            attempt_timeout: index.attempt_timeout(),
            waitpoint_hmac_secrets: index.waitpoint_hmac_secrets(),
            suspend_dedup: exec.noop(),
            execution_id: self.subject.id.to_string(),
            attempt_index: Some(0),
            attempt_id: Some(fence.attempt_id.to_string()),
            lease_id: Some(fence.lease_id.to_string()),
            lease_epoch: Some(fence.lease_epoch.0),
            suspension_id: nonce.suspension().to_string(),
            waitpoint_id: waitpoint_id.to_string(),
            waitpoint_key: "a".into(),
            reason_code: "waiting_for_signal".into(),
            requested_by: "worker".into(),
            timeout_at: None,
            resume_condition_json: r#"{"type":"signal","waitpoint":"a"}"#.into(),
            resume_policy_json: None,
            continuation_metadata_pointer: Bytes::new(),
            use_pending_waitpoint: false,
            timeout_behavior: "fail".into(),
            lease_history_maxlen: Some(1_000),
            waitpoint_token: Some(self.token(&waitpoint_id, "a")),
            timeout_in_ms: None,
            idempotency_key: None,
            dedup_ttl_ms: None,
            further: vec![],
            has_continuation: false,
            secret_mark: None,
        }
    }

    /// Returns a suspension on the pending waitpoint.
    pub(super) fn suspend_on_granted(&self) -> SuspendExecution {
        let waitpoint_id = self.granted().waitpoint_id.to_string();
        SuspendExecution { waitpoint_id, waitpoint_token: None, use_pending_waitpoint: true, ..self.suspend_call() }
    }

    pub(super) fn create_call(&self, text: &str) -> CreatePendingWaitpoint {
        let ((exec, index), waitpoint_id) = (self.keys(), SystemEntropy.nonce().waitpoint(0));
        let fence = self.subject.fence;
        CreatePendingWaitpoint {
            exec_core: exec.core(),
            waitpoint: exec.waitpoint(&waitpoint_id),
            pending_waitpoint_expiry: index.pending_waitpoint_expiry(),
            waitpoint_hmac_secrets: index.waitpoint_hmac_secrets(),
            execution_id: self.subject.id.to_string(),
            attempt_index: Some(0),
            waitpoint_id: waitpoint_id.to_string(),
            waitpoint_key: text.to_owned().into(),
            expires_at: None,
            expires_in_ms: Some(PENDS_MS),
            lease_id: Some(fence.lease_id.to_string()),
            lease_epoch: Some(fence.lease_epoch.0),
            attempt_id: Some(fence.attempt_id.to_string()),
            waitpoint_token: Some(self.token(&waitpoint_id, "b")),
            secret_mark: None,
        }
    }

    pub(super) fn close_call(&self) -> CloseWaitpoint {
        let (exec, index) = self.keys();
        let waitpoint_id = self.granted.as_ref().map_or_else(WaitpointId::new, |granted| granted.waitpoint_id);
        CloseWaitpoint {
            exec_core: exec.core(),
            waitpoint: exec.waitpoint(&waitpoint_id),
            pending_waitpoint_expiry: index.pending_waitpoint_expiry(),
            waitpoint_id: waitpoint_id.to_string(),
            reason: Bytes::new(),
            has_reason: false,
        }
    }

    pub(super) fn resume_call(&self) -> ResumeExecution {
        let (exec, index) = self.keys();
        ResumeExecution {
            exec_core: exec.core(),
            suspension_current: exec.suspension_current(),
            waitpoint: exec.noop(),
            waitpoint_signals: exec.noop(),
            suspension_timeout: index.suspension_timeout(),
            lane_eligible: exec.noop(),
            lane_delayed: exec.noop(),
            lane_suspended: exec.noop(),
            execution_id: self.subject.id.to_string(),
            trigger_type: "approve".into(),
            resume_delay_ms: None,
            suspension_id: None,
            signal_id: None,
            payload: Bytes::new(),
            content_type: None,
            requested_by: None,
            reason: None,
        }
    }

    pub(super) fn rotate_call(&self) -> RotateWaitpointHmacSecret {
        RotateWaitpointHmacSecret {
            waitpoint_hmac_secrets: self.keys().1.waitpoint_hmac_secrets(),
            new_kid: "new".into(),
            new_secret_hex: "c0ffee".into(),
            grace_ms: "0".into(),
        }
    }

    pub(super) fn deliver_call(&self) -> DeliverSignal {
        let granted = self.granted();
        DeliverSignal {
            core: self.keys().0.core(),
            waitpoint_id: granted.waitpoint_id.to_string(),
            kid: granted.waitpoint_token.kid.to_string(),
            mac: granted.waitpoint_token.mac.expose_hex(),
            signal_id: SystemEntropy.nonce().signal().to_string(),
            signal_name: "go".into(),
            source_type: "user".into(),
            source_identity: None,
            payload: "\"yes\"".into(),
            content_type: None,
            idempotency_key: Some("once".into()),
            dedup_ttl_ms: 1_000,
            secret_mark: None,
        }
    }

    pub(super) fn open_call(&self) -> OpenWaitpoint {
        let granted = self.granted();
        let waitpoint_id = Some(granted.waitpoint_id.to_string());
        OpenWaitpoint { core: self.keys().0.core(), waitpoint_id, waitpoint_key: None, kid: "k1".into() }
    }

    pub(super) fn claim_call(&self) -> ClaimResumedExecution {
        ClaimResumedExecution {
            core: self.keys().0.core(),
            worker_id: "w".into(),
            worker_instance_id: "w-1".into(),
            lease_ttl_ms: 30_000,
            lease_id: SystemEntropy.nonce().lease(0).0.to_string(),
        }
    }

    pub(super) fn read_waitpoints_call(&self) -> ReadWaitpoints {
        ReadWaitpoints { core: self.keys().0.core(), waitpoint_id: None, open: false }
    }

    pub(super) fn read_signals_call(&self) -> ReadSignals {
        ReadSignals { core: self.keys().0.core(), signal_id: None, skip: 0, limit: 1, with_payload: true }
    }
}
