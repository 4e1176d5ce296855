//! Quotas and budgets in the batch state.

use ff_core::hint::quota_hints;
use ff_core::quota::QuotaWrites;

use super::BatchState;

impl BatchState {
    /// Applies what is written of quotas.
    pub(crate) fn apply_to_quotas(&mut self, writes: QuotaWrites) {
        self.hints.extend(quota_hints(&writes));
        for (partition, set) in writes.sets {
            self.cache.quotas.write((partition, set.namespace.clone()), set);
        }
        for (policy_id, name, row) in writes.rows {
            match row {
                Some(row) => self.quota_rows.write((policy_id, name), row),
                None => self.quota_rows.remove((policy_id, name)),
            }
        }
    }
}
