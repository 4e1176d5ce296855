//! The differences between a file and a store, and the calls that apply them.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Context;
use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::{Map, Value};

use super::file::ConfigurationFile;
use super::resource::{Resource, Tenant};

/// The changes in the order in which they are made: lanes, quotas, schedules, budgets. Within a section, entries of the
/// file come first, then pruned resources; both are sorted by name.
pub(super) struct Plan {
    pub(super) changes: Vec<Change>,
    calls: Vec<Call>,
    pub(super) unchanged: usize,
}

/// A function that makes one change.
type Call = Box<dyn FnOnce(Tenant) -> LocalBoxFuture<'static, anyhow::Result<()>>>;

/// A difference between the store and the file.
#[derive(Serialize)]
pub(super) struct Change {
    section: &'static str,
    #[serde(skip)]
    noun: &'static str,
    name: String,
    change: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Create,
    Change,
    Delete,
}

impl Plan {
    /// Compares a file with a store.
    pub(super) async fn of(file: ConfigurationFile, tenant: &Tenant, prune: bool) -> anyhow::Result<Self> {
        let mut plan = Self { changes: Vec::new(), calls: Vec::new(), unchanged: 0 };
        plan.compare(file.lanes, tenant, prune).await?;
        plan.compare(file.quotas, tenant, prune).await?;
        plan.compare(file.schedules, tenant, prune).await?;
        plan.compare(file.budgets, tenant, prune).await?;
        Ok(plan)
    }

    async fn compare<R: Resource + 'static>(
        &mut self,
        wanted: Option<BTreeMap<R::Name, R>>,
        tenant: &Tenant,
        prune: bool,
    ) -> anyhow::Result<()> {
        let Some(wanted) = wanted else { return Ok(()) };
        let mut stored = R::stored(tenant).await?;
        for (name, entry) in wanted {
            let known = stored.remove(&name);
            let entry = entry.completed(known.as_ref())?;
            self.add(name, known, Some(entry))?;
        }
        if prune {
            for (name, known) in stored {
                let left = known.pruned();
                self.add(name, Some(known), left)?;
            }
        }
        Ok(())
    }

    fn add<R: Resource + 'static>(&mut self, name: R::Name, known: Option<R>, to: Option<R>) -> anyhow::Result<()> {
        let change = match (&known, &to) {
            (None, _) => Kind::Create,
            (Some(_), Some(_)) => Kind::Change,
            (Some(_), None) => Kind::Delete,
        };
        let value =
            |entry: &Option<R>| entry.as_ref().map(serde_json::to_value).transpose().context("cannot write JSON");
        let (before, after) = (value(&known)?, value(&to)?);
        if value(&known.clone().or_else(R::unwritten))? == after {
            self.unchanged += 1;
            return Ok(());
        }
        self.changes.push(Change { section: R::SECTION, noun: R::NOUN, name: name.to_string(), change, before, after });
        self.calls.push(Box::new(|tenant| Box::pin(async move { R::write(&tenant, name, known, to).await })));
        Ok(())
    }

    /// Makes the changes. Each of them is idempotent, so a file that was partly applied can be applied again.
    pub(super) async fn carry_out(&mut self, tenant: &Tenant) -> anyhow::Result<()> {
        let all = self.changes.len();
        for (done, (change, call)) in self.changes.iter().zip(self.calls.drain(..)).enumerate() {
            let written = call(tenant.clone()).await;
            written.with_context(|| format!("{} {}: {done} of {all} changes were made", change.noun, change.name))?;
        }
        Ok(())
    }

    /// Returns the number of changes of each kind, as text on one line.
    pub(super) fn summary(&self, dry_run: bool) -> String {
        let count = |kind| self.changes.iter().filter(|change| change.change == kind).count();
        let words = if dry_run { ["to create", "to change", "to delete"] } else { ["created", "changed", "deleted"] };
        let kinds = [Kind::Create, Kind::Change, Kind::Delete].map(count);
        let counts: Vec<_> = kinds.iter().zip(words).map(|(count, word)| format!("{count} {word}")).collect();
        format!("{}, {} unchanged", counts.join(", "), self.unchanged)
    }
}

/// Writes a line with the name of the resource and, unless it is deleted, a line for each field that differs.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.change {
            Kind::Create => '+',
            Kind::Change => '~',
            Kind::Delete => '-',
        };
        write!(f, "{sign} {} {}", self.noun, self.name)?;
        let empty = Map::new();
        let fields = |value: &Option<Value>| value.as_ref().and_then(Value::as_object).unwrap_or(&empty).clone();
        let (before, after) = (fields(&self.before), fields(&self.after));
        let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let text = |fields: &Map<String, Value>| fields.get(name).map_or("none".to_owned(), plain);
            match self.change {
                _ if before.get(name) == after.get(name) => {}
                Kind::Create => write!(f, "\n    {name}: {}", text(&after))?,
                Kind::Change => write!(f, "\n    {name}: {} -> {}", text(&before), text(&after))?,
                Kind::Delete => {}
            }
        }
        Ok(())
    }
}

/// Formats a value for people: a string without quotes, any other value as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
