//! Requests about quotas, in numbers. All of them are about one namespace, whose executions only these requests claim.

/// The namespace.
pub(crate) const QUOTA_NAMESPACE: u8 = 2;

/// One operation of an engine about quotas and budgets: they come one by one, late, again or never.
#[derive(Clone, Debug, PartialEq)]
pub enum QuotaOrder {
    /// The home of the namespace defines a policy, or lets it go.
    Put { policy: u8, definition: Option<u8> },
    /// The home of a policy learns of its definition.
    Define { policy: u8 },
    /// A partition learns of all policies.
    Copy { partition: u16 },
    /// A claim that takes the executions no policy limits, and lists the rest.
    Claim { partition: u16, max: usize },
    /// A policy is asked about executions for a claim; without one, whether the turn of any has come.
    Admit { policy: u8, jobs: Vec<u32>, claim: Option<u8> },
    /// Executions of the first one's partition are taken as admitted, perhaps too late.
    ClaimAdmitted { jobs: Vec<u32>, is_late: bool },
    /// Slots are given back.
    Settle { policy: u8, jobs: Vec<u32>, is_unused: bool, claim: Option<u8>, keys: u8 },
    /// A holder, or one before it, reports its spending.
    Report { job: u32, report: u8, tokens: u64 },
    /// The budget is charged with the spending of an execution.
    Charge { job: u32 },
    /// It is noted that the budget has counted it.
    SettleUsage { job: u32 },
    /// The budget begins anew.
    Reset,
}
