//! Labels, put on an execution and taken away.

use std::collections::BTreeSet;

use clap::Args;
use ff_core::contracts::SetTagsArgs;
use ff_core::types::{TagKey, TagValue};

use super::submit::tag;
use crate::exit::Exit;
use crate::id::IdArg;
use crate::output;
use crate::settings::Settings;
use crate::table::printable;

/// Put labels on an execution or take them away, and print those it has
#[derive(Args)]
pub(crate) struct Tag {
    /// The execution: {fp:N}:<uuid>, quoted for the shell, or the uuid alone
    id: IdArg,

    /// Labels to put on it, beside those it has
    #[arg(value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(TagKey, TagValue)>,

    /// The key of a label to take away; may be given again
    #[arg(long, value_name = "KEY")]
    remove: Vec<TagKey>,
}

impl Tag {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let remove: BTreeSet<_> = self.remove.into_iter().collect();
        let client = settings.connect().await?.client();
        let execution_id = self.id.find(&client).await?;
        let args = SetTagsArgs { execution_id, set: self.tags.into_iter().collect(), remove };
        let tagged = client.set_tags(args).await?;
        if settings.json {
            output::json(&tagged)?;
        } else {
            for (key, value) in &tagged.tags {
                output::line(format_args!("{key}={}", printable(value.as_str())))?;
            }
        }
        Ok(Exit::Done)
    }
}
