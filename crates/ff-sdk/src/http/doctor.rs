//! The doctor, at a server.

use ff_core::backend::Answer;

use super::HttpBackend;
use ff_api::DoctorReport;

impl HttpBackend {
    /// Has the server check the invariants on one partition of its store.
    pub async fn examine_partition(&self, partition: u16) -> Answer<DoctorReport> {
        self.get(&["doctor"], &[("partition", partition.to_string())], 0).await
    }
}
