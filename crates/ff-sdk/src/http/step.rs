//! The domain of steps, over HTTP.

use ff_api::{StepsLimit, StepsQuery};
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ListStepsArgs, StepsPage};

use super::HttpConnection;
use super::error::unreadable;

impl Handle<ListStepsArgs, StepsPage> for HttpConnection {
    async fn handle(&self, args: ListStepsArgs) -> Answer<StepsPage> {
        args.check()?;
        let query = StepsQuery { after: args.after, limit: Some(StepsLimit(args.limit)) };
        let path = ["executions", &args.execution_id.to_string(), "steps"];
        let page: ff_api::StepsPage = self.get(&path, query, 0).await?;
        page.into_page().map_err(|refusal| unreadable(&refusal))
    }
}
