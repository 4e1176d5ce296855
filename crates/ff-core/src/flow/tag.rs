//! Tags of a flow, by which callers find it.

use serde::{Deserialize, Serialize};

use super::Step;
use crate::engine_error::{Code, check_limit};
use crate::execution::Tags;
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, flow_partition};
use crate::rule::view::{Stop, View};
use crate::types::FlowId;

/// A request to add tags to a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFlowTagsArgs {
    pub flow_id: FlowId,
    pub tags: Tags,
}

/// All tags of the flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TaggedFlow {
    pub tags: Tags,
}

impl Command for SetFlowTagsArgs {
    type Reply = TaggedFlow;
    const SETTLES_FLOWS: bool = true;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        flow_partition(&self.flow_id, partitions).index
    }

    /// Adds tags to a flow; a tag with the same key is replaced. A flow that has ended can be tagged as well.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<TaggedFlow>, Stop> {
        let flow = view.flow(&self.flow_id)?.filter(|flow| flow.is_visible()).ok_or(Code::FlowNotFound)?;
        let mut tags = flow.tags.clone();
        tags.extend(self.tags.clone());
        check_limit(Code::LimitExceeded, "tags", limits::TAGS, tags.len())?;
        if tags == flow.tags {
            return Ok(Decision::of(TaggedFlow { tags }, None));
        }
        let mut step = Step::new(view, at.now);
        step.flow_change(&self.flow_id)?.after.tags = tags.clone();
        Ok(Decision::settled(TaggedFlow { tags }, step.run()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::fixture::FlowFixture;
    use crate::types::{TagKey, TagValue};

    fn tags(from: usize, until: usize) -> Tags {
        let tag = |n| (TagKey::parse(&format!("k{n}")).unwrap(), TagValue::parse("v").unwrap());
        (from..until).map(tag).collect()
    }

    #[test]
    fn tags_add_up_to_their_limit() {
        let mut flow = FlowFixture::of("a");
        let flow_id = flow.id;
        let all = flow.ask(SetFlowTagsArgs { flow_id, tags: tags(0, 20) }).unwrap();
        assert_eq!(all.tags.len(), 20);
        let all = flow.ask(SetFlowTagsArgs { flow_id, tags: tags(10, limits::TAGS) }).unwrap();
        assert_eq!(all.tags.len(), limits::TAGS);
        let refusal = flow.refused(SetFlowTagsArgs { flow_id, tags: tags(limits::TAGS, limits::TAGS + 1) });
        assert_eq!(refusal.limit, Some((32, 33)));
        let unknown = SetFlowTagsArgs { flow_id: FlowId::new(), tags: tags(0, 1) };
        assert_eq!(flow.refused(unknown).code, Code::FlowNotFound);
    }
}
