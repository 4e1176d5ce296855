//! The id of an execution as people type it: whole, or its uuid alone.

use std::str::FromStr;

use ff_core::types::ExecutionId;
use ff_sdk::Client;
use uuid::Uuid;

/// An id from the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdArg {
    Whole(ExecutionId),
    Uuid(Uuid),
}

impl FromStr for IdArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse(), Uuid::parse_str(text)) {
            (Ok(id), _) => Ok(Self::Whole(id)),
            (Err(_), Ok(uuid)) => Ok(Self::Uuid(uuid)),
            (Err(error), Err(_)) => Err(format!("{error}, or be the uuid alone")),
        }
    }
}

impl IdArg {
    /// The whole id. A uuid alone is looked up.
    pub(crate) async fn find(self, client: &Client) -> anyhow::Result<ExecutionId> {
        match self {
            Self::Whole(id) => Ok(id),
            Self::Uuid(uuid) => Ok(client.find(uuid).await?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_whole_or_a_uuid() {
        let uuid = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";
        assert!(matches!(format!("{{fp:7}}:{uuid}").parse(), Ok(IdArg::Whole(id)) if id.partition() == 7));
        assert!(matches!(uuid.parse(), Ok(IdArg::Uuid(_))));
        assert!("17".parse::<IdArg>().unwrap_err().contains("the uuid alone"));
    }
}
