//! The labels of an execution, as rows.

use ff_core::contracts::Cursor;
use ff_core::execution::Execution;
use ff_core::types::{Namespace, TagKey, TagValue};

use crate::session::{Key, Put};
use crate::value::Value;

/// The rows of an execution's labels, which are all key. What is staged is found by none.
pub(crate) fn labels_of(execution: &Execution) -> Vec<Key> {
    if execution.is_staged() {
        return Vec::new();
    }
    let label =
        |(key, value): (&TagKey, &TagValue)| key_of_label(&execution.namespace, (key, value), Cursor::of(execution));
    execution.tags.iter().map(label).collect()
}

/// The row that says that what is at a place in every listing has a label.
pub(crate) fn key_of_label(namespace: &Namespace, (key, value): (&TagKey, &TagValue), place: Cursor) -> Key {
    vec![
        namespace.as_str().into(),
        key.as_str().into(),
        value.as_str().into(),
        place.created_at.into(),
        place.execution_id.partition().into(),
        Value::Uuid(place.execution_id.uuid()),
    ]
}

/// The labels that executions come by and those they lose, each execution given as it was and as it is to be.
pub(crate) fn labels_put_and_deleted<'e>(
    rewritten: impl Iterator<Item = (Option<&'e Execution>, &'e Execution)>,
) -> (Vec<Put>, Vec<Key>) {
    let (mut put, mut deleted) = (Vec::new(), Vec::new());
    for (before, after) in rewritten {
        let was_plain = before.is_none_or(|before| before.tags.is_empty());
        if was_plain && after.tags.is_empty() {
            continue;
        }
        let (before, after) = (before.map(labels_of).unwrap_or_default(), labels_of(after));
        put.extend(after.iter().filter(|label| !before.contains(label)).cloned().map(Put::whole));
        deleted.extend(before.into_iter().filter(|label| !after.contains(label)));
    }
    (put, deleted)
}
