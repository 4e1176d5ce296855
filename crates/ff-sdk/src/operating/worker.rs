//! The worker instances that are there.

use ff_core::contracts::{ListWorkersArgs, WorkersPage};

use crate::{Client, Error};

impl Client {
    /// The worker instances that say they are there, by their ids, a page at a time.
    pub async fn workers(&self, args: ListWorkersArgs) -> Result<WorkersPage, Error> {
        Ok(self.backend().list_workers(args).await?)
    }
}
