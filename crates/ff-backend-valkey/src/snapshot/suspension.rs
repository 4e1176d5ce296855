//! Suspensions, waitpoints and signals in a snapshot.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ff_core::backend::Answer;
use ff_core::backend::snapshot::Snapshot;
use ff_core::contracts::{GrantedWaitpoint, SuspendOutcome, SuspendedExecution};
use ff_core::engine_error::EngineError;
use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::limits;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::signal::{Signal, SignalKeyEntry};
use ff_core::suspension::{BufferedSignal, SuspendKeyEntry, Waitpoint};
use ff_core::types::{ExecutionId, IdempotencyKey, SignalId, TimestampMs, WaitpointId};
use ff_script::signal::{ff_read_deliveries, ff_read_signals};
use ff_script::suspension::{ff_read_waitpoint_hmac_secrets, ff_read_waitpoints};
use redis::{FromRedisValue, cmd};

use crate::ValkeyBackend;

/// The waitpoints and signals of one execution.
#[derive(Default)]
pub(super) struct SuspensionState {
    waitpoints: BTreeMap<(ExecutionId, WaitpointId), Waitpoint>,
    signals: Option<(ExecutionId, Vec<Signal>)>,
    signal_payloads: BTreeMap<(ExecutionId, SignalId), Payload>,
    suspend_keys: BTreeMap<(ExecutionId, IdempotencyKey), SuspendKeyEntry>,
    signal_keys: BTreeMap<(ExecutionId, WaitpointId, IdempotencyKey), SignalKeyEntry>,
}

impl SuspensionState {
    pub(super) fn enter(self, snapshot: &mut Snapshot) {
        snapshot.waitpoints.extend(self.waitpoints);
        snapshot.signals.extend(self.signals);
        snapshot.signal_payloads.extend(self.signal_payloads);
        snapshot.suspend_keys.extend(self.suspend_keys);
        snapshot.signal_keys.extend(self.signal_keys);
    }
}

impl ValkeyBackend {
    /// Reads the state that the executions of a partition share: the feed, the secrets, and the index of pending
    /// waitpoints.
    pub(super) async fn shared_waits(&self, snapshot: &mut Snapshot, partition: u16, keys: &IndexKeys) -> Answer<()> {
        snapshot.deliveries = ff_read_deliveries(&*self.calls, partition, None, limits::FEED).await?.deliveries;
        let secrets = ff_read_waitpoint_hmac_secrets(&*self.calls, partition).await?;
        snapshot.ring = secrets.map(|secrets| secrets.ring);
        snapshot.pending_waitpoints = self.scores(&keys.pending_waitpoint_expiry()).await?;
        Ok(())
    }

    /// Reads the waitpoints and signals of one execution, and the idempotency keys of their calls.
    pub(super) async fn waits_of(&self, id: ExecutionId) -> Answer<SuspensionState> {
        let (mut waits, mut signals) = (SuspensionState::default(), Vec::new());
        loop {
            let page = ff_read_signals(&*self.calls, &id, signals.len(), limits::PAGE, true).await?;
            let last = page.signals.is_empty();
            for received in page.signals {
                waits.signal_payloads.extend(received.payload.map(|payload| ((id, received.signal.id), payload)));
                signals.push(received.signal);
            }
            if last {
                break;
            }
        }
        let early: BTreeMap<_, _> = signals.iter().map(|signal| (signal.id, buffered(signal))).collect();
        let mut suspend_keys = BTreeSet::new();
        for record in ff_read_waitpoints(&*self.calls, &id, None, false).await? {
            suspend_keys.extend(record.suspend_key.clone());
            let waitpoint = record.with_signals(|signal| early.get(signal).cloned());
            waits.waitpoints.insert((id, waitpoint.id), waitpoint);
        }
        for key in suspend_keys {
            if let Some(entry) = self.suspend_key(&waits, id, key).await? {
                waits.suspend_keys.insert((id, entry.key.clone()), entry);
            }
        }
        self.signal_keys(&mut waits, id, &signals).await?;
        waits.signals = Some((id, signals)).filter(|(_, signals)| !signals.is_empty());
        Ok(waits)
    }

    /// Returns the first answer to a suspension under a key, while the store remembers it.
    async fn suspend_key(
        &self,
        waits: &SuspensionState,
        id: ExecutionId,
        key: IdempotencyKey,
    ) -> Answer<Option<SuspendKeyEntry>> {
        let name = keys_of(&id).suspend_dedup(key.as_str());
        let reply = self.calls.plain(&name, cmd("HGETALL").arg(&name)).await?;
        let fields = HashMap::<String, String>::from_redis_value(reply).unwrap_or_default();
        if fields.is_empty() {
            return Ok(None);
        }
        let granted = |waitpoint: WaitpointId| Some(GrantedWaitpoint::from(waits.waitpoints.get(&(id, waitpoint))?));
        let read = || {
            let words = |name: &str| fields.get(name).map_or("", String::as_str).split_whitespace();
            let waitpoints = words("waitpoints").map(|waitpoint| granted(waitpoint.parse().ok()?));
            let signals = words("signals").map(|signal| signal.parse().ok());
            let outcome = match fields.get("outcome")?.as_str() {
                "suspended" => SuspendOutcome::Suspended,
                _ => SuspendOutcome::AlreadySatisfied { signals: signals.collect::<Option<_>>()? },
            };
            let suspension_id = fields.get("suspension_id")?.parse().ok()?;
            let answer = SuspendedExecution { suspension_id, waitpoints: waitpoints.collect::<Option<_>>()?, outcome };
            let until = TimestampMs(fields.get("remembered_until")?.parse().ok()?);
            Some(SuspendKeyEntry { execution_id: id, key, until, answer })
        };
        read().map(Some).ok_or_else(|| EngineError::Corrupt(format!("{name} cannot be read")))
    }

    /// Reads the idempotency keys of signals, with the signal of each.
    async fn signal_keys(&self, waits: &mut SuspensionState, id: ExecutionId, signals: &[Signal]) -> Answer<()> {
        for signal in signals {
            let (Some(waitpoint_id), Some(key)) = (signal.waitpoint_id, signal.idempotency_key.clone()) else {
                continue;
            };
            let name = keys_of(&id).signal_dedup(&waitpoint_id, key.as_str());
            let first = self.text(&name, cmd("GET").arg(&name)).await?;
            let Some(signal_id) = first.and_then(|first| first.parse::<SignalId>().ok()) else { continue };
            let record = keys_of(&id).signal(&signal_id);
            let until = self.text(&record, cmd("HGET").arg(&record).arg("dedup_until")).await?;
            let until = until.and_then(|until| until.parse().ok()).map(TimestampMs);
            let until =
                until.ok_or_else(|| EngineError::Corrupt(format!("{record} does not say how long it counts")))?;
            let entry = SignalKeyEntry { execution_id: id, waitpoint_id, key: key.clone(), signal_id, until };
            waits.signal_keys.insert((id, waitpoint_id, key), entry);
        }
        Ok(())
    }

    async fn text(&self, key: &str, command: &redis::Cmd) -> Answer<Option<String>> {
        Ok(Option::from_redis_value(self.calls.plain(key, command).await?).unwrap_or_default())
    }
}

fn keys_of(id: &ExecutionId) -> ExecKeyContext {
    ExecKeyContext::new(&Partition::of(id), id)
}

fn buffered(signal: &Signal) -> BufferedSignal {
    BufferedSignal {
        signal_id: signal.id,
        name: signal.name.clone(),
        source: signal.source.clone(),
        payload_bytes: signal.payload_bytes,
    }
}
