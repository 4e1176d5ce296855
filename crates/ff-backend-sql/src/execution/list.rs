//! Listing executions, newest first.

use std::cmp::Reverse;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{ListArgs, Page};
use ff_core::execution::Execution;

use super::walk::search;
use crate::error::SqlError;
use crate::schema::EXECUTION;
use crate::session::{Question, Read, key_of};
use crate::value::Row;
use crate::{ReadContext, record};

#[async_trait]
impl Question for ListArgs {
    type Answer = Page;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Page> {
        let args = self;
        let found = search(reader, &args).await?;
        let mut places = found.places;
        // What is older than some walk came to may be missing something between it and there.
        places.retain(|place| found.horizon.is_none_or(|horizon| *place >= horizon));
        places.sort_unstable_by_key(|place| Reverse(*place));
        let next = match places.len() > args.limit {
            true => places.get(args.limit - 1).copied(),
            false => found.horizon,
        };
        places.truncate(args.limit);
        let keys: Vec<_> = places.iter().map(|place| key_of(&place.execution_id)).collect();
        let rows = match keys.is_empty() {
            true => Vec::new(),
            false => reader.load(&EXECUTION, EXECUTION.named(&["record"]), &keys).await?,
        };
        let info = |row: &Row| Ok(record::read::<Execution>(row.text(0)?)?.info());
        Ok(Page { executions: rows.iter().flatten().map(info).collect::<Result<_, SqlError>>()?, next })
    }
}
