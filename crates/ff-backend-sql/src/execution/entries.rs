//! The rows of an execution in the narrow tables, which are the indexes over changing values. All columns of a row are its key,
//! so it is inserted and deleted but never updated.

use ff_core::contracts::Cursor;
use ff_core::execution::{Blocker, Execution, Phase};
use ff_core::rule::index::{has_reason_index, has_state_index};
use ff_core::state::{BlockingReason, PublicState};
use ff_core::types::{BadText, FairKey, Namespace, RequirementClass};

use crate::session::{Key, Put};
use crate::table::Table;
use crate::table::schema::{DUE, LEASE, READY, TAG};
use crate::table::value::Value;

/// A narrow table.
pub(crate) struct NarrowTable {
    pub(crate) table: &'static Table,
    /// Returns the rows that follow from an execution.
    pub(crate) rows: fn(&Execution) -> Vec<Key>,
    /// Returns whether a change of an execution certainly leaves its rows unchanged.
    is_same: fn(&Execution, &Execution) -> bool,
}

pub(crate) static NARROW_TABLES: [NarrowTable; 4] = [
    NarrowTable { table: &READY, rows: ready, is_same: |_, _| false },
    NarrowTable { table: &LEASE, rows: lease, is_same: |_, _| false },
    NarrowTable { table: &DUE, rows: due, is_same: |_, _| false },
    NarrowTable { table: &TAG, rows: labels, is_same: has_same_tag_rows },
];

impl NarrowTable {
    /// Returns the rows to insert and to delete for changed executions, each given as stored and as changed.
    pub(crate) fn put_and_deleted(&self, rewritten: &[(Option<&Execution>, &Execution)]) -> (Vec<Put>, Vec<Key>) {
        let (mut put, mut deleted) = (Vec::new(), Vec::new());
        for (before, after) in rewritten {
            if before.is_some_and(|before| (self.is_same)(before, after)) {
                continue;
            }
            let (before, after) = (before.map(self.rows).unwrap_or_default(), (self.rows)(after));
            put.extend(after.iter().filter(|row| !before.contains(row)).cloned().map(Put::new));
            deleted.extend(before.into_iter().filter(|row| !after.contains(row)));
        }
        (put, deleted)
    }
}

/// The prefix of the class of executions that no live worker can run. A class assigned to a worker instance begins with two of
/// them, so all blocked executions are in one range.
const UNROUTABLE: char = ',';

/// Returns the class under which executions are queued that no live worker can run.
pub(crate) fn unroutable_class(class: &RequirementClass) -> String {
    format!("{UNROUTABLE}{class}")
}

/// Returns the class of a queue, and whether no live worker can run its executions.
pub(crate) fn class_of_queue(text: &str) -> Result<(RequirementClass, bool), BadText> {
    let blocked = text.strip_prefix(UNROUTABLE).filter(|class| !class.starts_with(UNROUTABLE));
    Ok((RequirementClass::parse(blocked.unwrap_or(text))?, blocked.is_some()))
}

/// Returns the class column of executions with a key. A class has no space, so the first space ends it.
pub(crate) fn class_word(class: &RequirementClass, key: &FairKey) -> Value {
    if key.is_empty() { class.as_str().into() } else { Value::Text(format!("{class} {key}")) }
}

fn ready(execution: &Execution) -> Vec<Key> {
    let class = execution.class();
    let class = match execution.queue_class() {
        Some(class) => class_word(&class, &execution.queue_key()),
        None if is_unroutable(execution) && !class.is_plain() => Value::Text(unroutable_class(&class)),
        None => return Vec::new(),
    };
    vec![vec![
        execution.id.partition().into(),
        execution.lane_key().as_str().into(),
        class,
        execution.kind.as_str().into(),
        execution.priority.get().into(),
        execution.created_at.into(),
        Value::Uuid(execution.id.uuid()),
    ]]
}

fn is_unroutable(execution: &Execution) -> bool {
    matches!(execution.phase, Phase::Blocked { on: Blocker::Route, .. })
}

fn lease(execution: &Execution) -> Vec<Key> {
    let Phase::Running { lease } = &execution.phase else { return Vec::new() };
    let row = |due: Key| [due, vec![execution.lane_key().as_str().into(), lease.acquired_at.into()]].concat();
    next_due(execution).into_iter().map(row).collect()
}

fn due(execution: &Execution) -> Vec<Key> {
    match &execution.phase {
        Phase::Running { .. } => Vec::new(),
        _ => next_due(execution).into_iter().collect(),
    }
}

fn next_due(execution: &Execution) -> Option<Key> {
    let (at, _) = execution.next_due()?;
    Some(vec![execution.id.partition().into(), at.into(), Value::Uuid(execution.id.uuid())])
}

/// Returns the tag rows of an execution. A staged execution has none.
fn labels(execution: &Execution) -> Vec<Key> {
    if execution.is_staged() {
        return Vec::new();
    }
    let (namespace, place) = (&execution.namespace, Cursor::of(execution));
    let labels = execution.tags.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let labels = labels.chain(state_as_tag(execution.public_state()));
    let labels = labels.chain(reason_as_tag(execution.blocking_reason()));
    let labels = labels.chain(usage_as_tag(execution));
    labels.map(|label| key_of_tag_row(namespace, label, place)).collect()
}

fn has_same_tag_rows(before: &Execution, after: &Execution) -> bool {
    let state_as_tag = |execution: &Execution| state_as_tag(execution.public_state());
    let reason_as_tag = |execution: &Execution| reason_as_tag(execution.blocking_reason());
    before.tags == after.tags
        && before.is_staged() == after.is_staged()
        && state_as_tag(before) == state_as_tag(after)
        && reason_as_tag(before) == reason_as_tag(after)
        && usage_as_tag(before) == usage_as_tag(after)
}

/// Returns the tag for searches by state, if the state is stored as one. Its key is empty, unlike that of a caller's tag.
pub(crate) fn state_as_tag(state: PublicState) -> Option<(&'static str, &'static str)> {
    has_state_index(state).then_some(("", state.as_str()))
}

/// Returns the tag for searches by blocking reason, if it is a reason of admission. Its key is empty.
pub(crate) fn reason_as_tag(reason: BlockingReason) -> Option<(&'static str, &'static str)> {
    has_reason_index(reason).then_some(("", reason.as_str()))
}

/// The tag value of executions with usage that budgets may not have counted. No state and no reason has this name.
pub(crate) const USAGE_BACKLOG: &str = "usage";

fn usage_as_tag(execution: &Execution) -> Option<(&'static str, &'static str)> {
    execution.usage.as_ref()?.is_pending().then_some(("", USAGE_BACKLOG))
}

/// Returns the row of a tag at an execution's place in listings.
pub(crate) fn key_of_tag_row(namespace: &Namespace, (key, value): (&str, &str), place: Cursor) -> Key {
    vec![
        namespace.as_str().into(),
        key.into(),
        value.into(),
        place.created_at.into(),
        place.execution_id.partition().into(),
        Value::Uuid(place.execution_id.uuid()),
    ]
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{CancelArgs, ClaimArgs, SubmitArgs};
    use ff_core::lease::Holder;
    use ff_core::model::Model;
    use ff_core::operation::Ask;
    use ff_core::payload::Payload;
    use ff_core::types::{TagKey, TagValue};

    use super::*;
    use crate::test_conditions::at;

    /// Returns a tagged execution in three states: waiting, running and cancelled.
    fn steps() -> [Execution; 3] {
        let mut model = Model::default();
        let tags = [(TagKey::parse("team").unwrap(), TagValue::parse("blue").unwrap())].into();
        let work = SubmitArgs { tags, ..SubmitArgs::new("k".parse().unwrap(), Payload::default()) };
        model.execute(&work.into_operation(), &at(5)).unwrap();
        let current = |model: &Model| model.executions().next().unwrap().clone();
        let waiting = current(&model);
        let claim = ClaimArgs::new(waiting.id.partition(), Holder::parse("w", "w-1").unwrap());
        model.execute(&claim.into_operation(), &at(5)).unwrap();
        let running = current(&model);
        let cancel = CancelArgs { execution_id: waiting.id, reason: None, requested_by: None };
        model.execute(&cancel.into_operation(), &at(5)).unwrap();
        [waiting, running, current(&model)]
    }

    /// Returns the number of rows that a step inserts and deletes in each table.
    fn changes(before: Option<&Execution>, after: &Execution) -> Vec<(&'static str, usize, usize)> {
        let changes = NARROW_TABLES.iter().map(|narrow| {
            let (put, deleted) = narrow.put_and_deleted(&[(before, after)]);
            assert!(put.iter().all(|put| put.row.values().len() == narrow.table.key), "{}", narrow.table.name);
            (narrow.table.name, put.len(), deleted.len())
        });
        changes.filter(|(_, put, deleted)| put + deleted > 0).collect()
    }

    #[test]
    fn every_step_moves_an_execution_from_table_to_table() {
        let [waiting, running, cancelled] = steps();
        assert_eq!(changes(None, &waiting), [("ready", 1, 0), ("tag", 1, 0)]);
        assert_eq!(changes(Some(&waiting), &running), [("ready", 0, 1), ("lease", 1, 0)]);
        assert_eq!(changes(Some(&running), &cancelled), [("lease", 0, 1), ("due", 1, 0), ("tag", 1, 0)]);
        assert_eq!(changes(Some(&cancelled), &cancelled), []);
    }
}
