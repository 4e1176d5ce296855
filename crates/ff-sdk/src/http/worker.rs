//! The room of workers, over HTTP.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ListWorkersArgs, WorkersPage};

use super::HttpBackend;

impl Handle<ListWorkersArgs, WorkersPage> for HttpBackend {
    async fn handle(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.namespace.map(|namespace| ("namespace", self.whose(&namespace).to_string())));
        query.extend(args.after.map(|after| ("after", after.to_string())));
        self.get(&["workers"], &query, 0).await
    }
}
