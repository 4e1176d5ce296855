//! Execution ids. An id contains its partition, so every key of an execution can be built from its id alone.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::crc16::crc16;
use crate::partition::PartitionConfig;
use crate::types::{FlowId, IdempotencyKey, Namespace, QueueName, as_text};

/// The id of an execution, `{fp:N}:<uuid>`: its flow partition, and its own uuid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionId {
    partition: u16,
    uuid: Uuid,
}

/// The reason why a text is not an execution id. The three reasons have different causes: a foreign id, a mangled id,
/// and a truncated one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutionIdError {
    #[error("must begin with a partition tag, as in {{fp:7}}:<uuid>")]
    MissingTag,
    #[error("must have a whole number from 0 to 65535 as its partition, as in {{fp:7}}:<uuid>")]
    BadIndex,
    #[error("must end with a uuid, as in {{fp:7}}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c")]
    BadUuid,
}

impl ExecutionId {
    /// Creates the id of an execution on a known partition.
    pub fn new(partition: u16, uuid: Uuid) -> Self {
        Self { partition, uuid }
    }

    /// Parses an id.
    pub fn parse(text: &str) -> Result<Self, ExecutionIdError> {
        text.parse()
    }

    /// Creates a random id on the partition of a flow.
    pub fn for_flow(flow: &FlowId, config: &PartitionConfig) -> Self {
        Self::on_partition_of(flow, Uuid::now_v7(), config)
    }

    /// Creates the id of a flow's member, on the partition of the flow, regardless of any idempotency key.
    pub fn on_partition_of(flow: &FlowId, uuid: Uuid, config: &PartitionConfig) -> Self {
        Self::new(config.flow_index(flow.as_uuid().as_bytes()), uuid)
    }

    /// Creates the id of an execution outside of flows. Its partition follows from the idempotency key, if there is
    /// one, so that submissions with the same key meet on one partition; otherwise from the uuid. It never follows from
    /// the lane, because the partition of a busy lane would be overloaded.
    pub fn place(uuid: Uuid, namespace: &Namespace, key: Option<&IdempotencyKey>, config: &PartitionConfig) -> Self {
        match key {
            Some(key) => Self::place_by(uuid, namespace, key.as_str(), config),
            None => Self::new(config.flow_index(uuid.as_bytes()), uuid),
        }
    }

    /// Creates the id of an execution with a singleton or debounce key. Its partition follows from that key.
    pub fn place_in_queue(uuid: Uuid, namespace: &Namespace, queue: &QueueName, config: &PartitionConfig) -> Self {
        Self::place_by(uuid, namespace, queue.as_str(), config)
    }

    fn place_by(uuid: Uuid, namespace: &Namespace, key: &str, config: &PartitionConfig) -> Self {
        let name = [namespace.as_str().as_bytes(), &[0], key.as_bytes()].concat();
        Self::new(config.flow_index(&name), uuid)
    }

    pub fn partition(&self) -> u16 {
        self.partition
    }

    pub fn uuid(&self) -> Uuid {
        self.uuid
    }
}

impl PartitionConfig {
    fn flow_index(&self, bytes: &[u8]) -> u16 {
        crc16(bytes) % self.num_flow_partitions
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{fp:{}}}:{}", self.partition, self.uuid)
    }
}

impl fmt::Debug for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ExecutionId {
    type Err = ExecutionIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let tagged = text.strip_prefix("{fp:").ok_or(ExecutionIdError::MissingTag)?;
        let (index, uuid) = tagged.split_once("}:").ok_or(ExecutionIdError::MissingTag)?;
        let plain =
            !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
        let partition = index.parse::<u16>().ok().filter(|_| plain).ok_or(ExecutionIdError::BadIndex)?;
        let uuid = super::uuids::parse_hyphenated(uuid).ok_or(ExecutionIdError::BadUuid)?;
        Ok(Self { partition, uuid })
    }
}

as_text!(ExecutionId);

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

    #[test]
    fn an_id_survives_being_written_and_read() {
        let text = format!("{{fp:7}}:{UUID}");
        let id: ExecutionId = text.parse().unwrap();
        assert_eq!(id.partition(), 7);
        assert_eq!(id.to_string(), text);
    }

    #[test]
    fn each_defect_of_an_execution_id_has_its_own_error() {
        let parse = |text: String| text.parse::<ExecutionId>().unwrap_err();
        assert_eq!(parse(UUID.into()), ExecutionIdError::MissingTag);
        assert_eq!(parse(format!("{{fp:7{UUID}")), ExecutionIdError::MissingTag);
        for index in ["", "x", "-1", "+1", "65536", "07", "1 "] {
            assert_eq!(parse(format!("{{fp:{index}}}:{UUID}")), ExecutionIdError::BadIndex, "index {index:?}");
        }
        for uuid in ["", "nope", "018f3c5e7a107c319c450d3f7c1a2b3c", &UUID[..35], &UUID.to_uppercase()] {
            assert_eq!(parse(format!("{{fp:7}}:{uuid}")), ExecutionIdError::BadUuid, "uuid {uuid:?}");
        }
    }

    #[test]
    fn the_same_key_always_meets_itself() {
        let config = PartitionConfig::default();
        let namespace = Namespace::parse("acme").unwrap();
        let key = IdempotencyKey::parse("order-17").unwrap();
        let one = ExecutionId::place(Uuid::from_u128(1), &namespace, Some(&key), &config);
        let two = ExecutionId::place(Uuid::from_u128(2), &namespace, Some(&key), &config);
        assert_eq!(one.partition(), two.partition());
        assert_eq!(one.partition(), crc16(b"acme\0order-17") % 256);
    }

    #[test]
    fn an_execution_without_a_key_is_placed_by_its_own_uuid() {
        let config = PartitionConfig::default();
        let uuid = Uuid::parse_str(UUID).unwrap();
        let id = ExecutionId::place(uuid, &Namespace::parse("acme").unwrap(), None, &config);
        assert_eq!(id.partition(), crc16(uuid.as_bytes()) % 256);
    }

    #[test]
    fn a_member_lives_with_its_flow() {
        let config = PartitionConfig::default();
        let flow = FlowId::from_uuid(Uuid::parse_str(UUID).unwrap());
        let id = ExecutionId::on_partition_of(&flow, Uuid::from_u128(9), &config);
        assert_eq!(id.partition(), crc16(flow.as_uuid().as_bytes()) % 256);
    }
}
