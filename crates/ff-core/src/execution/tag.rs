//! Tagging: changes the tags of an execution after its submission.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal, check_limit};
use crate::event::{Event, EventKind};
use crate::execution::{Execution, Tags};
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{ExecutionId, TagKey, TimestampMs};

/// Sets and removes tags of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTagsArgs {
    pub execution_id: ExecutionId,
    /// Tags to add or change.
    pub set: Tags,
    /// Tags to remove.
    pub remove: BTreeSet<TagKey>,
}

/// All tags of the execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TaggedExecution {
    pub tags: Tags,
}

impl ExecutionCommand for SetTagsArgs {
    type Reply = TaggedExecution;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        check_limit(Code::LimitExceeded, "tags", limits::TAGS, self.set.len())?;
        check_limit(Code::LimitExceeded, "remove", limits::TAGS, self.remove.len())?;
        match self.remove.iter().find(|key| self.set.contains_key(*key)) {
            Some(key) => Err(Refusal::invalid("remove", format!("must not name {key}, which is to be set as well"))),
            None => Ok(()),
        }
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<TaggedExecution>, Stop> {
        let change = set_tags(found(view, &self.execution_id)?, self, at.now)?;
        Ok(Decision::of(TaggedExecution { tags: change.after.tags.clone() }, [change]))
    }
}

/// Sets and removes tags of an execution. A tag with the same key is replaced, and removing an absent tag is allowed.
/// Finished executions may be tagged as well.
pub fn set_tags(execution: &Execution, args: &SetTagsArgs, now: TimestampMs) -> Result<Change, Refusal> {
    let mut change = execution.unchanged();
    let tags = &mut change.after.tags;
    tags.retain(|key, _| !args.remove.contains(key));
    tags.extend(args.set.clone());
    check_limit(Code::LimitExceeded, "tags", limits::TAGS, tags.len())?;
    if *tags != execution.tags {
        change.events.push(Event::new(&execution.id, now, EventKind::Tagged));
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::index::{Index, entries};
    use crate::rule::samples::{at, waiting};
    use crate::types::TagValue;

    fn key(text: &str) -> TagKey {
        TagKey::parse(text).unwrap()
    }

    fn tags(from: usize, until: usize) -> Tags {
        (from..until).map(|nth| (key(&format!("k{nth}")), TagValue::parse("v").unwrap())).collect()
    }

    fn args(set: Tags, remove: &[&str]) -> SetTagsArgs {
        SetTagsArgs { execution_id: waiting().id, set, remove: remove.iter().map(|text| key(text)).collect() }
    }

    #[test]
    fn tags_are_added_replaced_removed_and_indexed() {
        let first = set_tags(&waiting(), &args(tags(0, 2), &[]), at(1)).unwrap();
        let second = set_tags(&first.after, &args(tags(1, 3), &["k0", "absent"]), at(2)).unwrap();
        assert_eq!(second.after.tags, tags(1, 3));
        let labels = entries(&second.after).into_iter().filter(|(index, _)| matches!(index, Index::Tag(..)));
        assert_eq!(labels.count(), 2);
    }

    #[test]
    fn tags_already_set_change_nothing() {
        let first = set_tags(&waiting(), &args(tags(0, 2), &["k7"]), at(1)).unwrap().after;
        assert_eq!(set_tags(&first, &args(tags(0, 2), &["k7"]), at(2)).unwrap(), first.unchanged());
    }

    #[test]
    fn tags_add_up_to_their_limit() {
        let full = set_tags(&waiting(), &args(tags(0, limits::TAGS), &[]), at(1)).unwrap().after;
        let more = tags(limits::TAGS, limits::TAGS + 1);
        assert_eq!(set_tags(&full, &args(more.clone(), &[]), at(2)).unwrap_err().limit, Some((32, 33)));
        assert!(set_tags(&full, &args(more, &["k0"]), at(2)).is_ok(), "one in the place of another");
    }

    #[test]
    fn a_tag_cannot_be_set_and_removed_at_once() {
        let refusal = args(tags(0, 1), &["k0"]).check().unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some("remove")));
    }
}
