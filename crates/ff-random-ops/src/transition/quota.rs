//! Requests about quotas, with numbers for names and values. All of them are about one namespace, whose executions only
//! these requests claim.

/// Number of the namespace with quotas.
pub(crate) const QUOTA_NAMESPACE: u8 = 2;

/// One operation of an engine about quotas and budgets. Operations come one by one and may arrive late, repeatedly or
/// never.
#[derive(Clone, Debug, PartialEq)]
pub enum QuotaOrder {
    /// The home of the namespace defines or deletes a policy.
    Put { policy: u8, definition: Option<u8> },
    /// The home of a policy receives its definition.
    Define { policy: u8 },
    /// A partition receives all policies.
    Copy { partition: u16 },
    /// A claim takes the executions that no policy limits, and lists the others.
    Claim { partition: u16, max: usize },
    /// A policy judges executions for a claim. Without a claim, it judges whether the turn of any of them has come.
    Admit { policy: u8, jobs: Vec<u32>, claim: Option<u8> },
    /// A claim takes executions as admitted, on the partition of the first one, possibly too late.
    ClaimAdmitted { jobs: Vec<u32>, is_late: bool },
    /// A policy gets slots back.
    Settle { policy: u8, jobs: Vec<u32>, is_unused: bool, claim: Option<u8>, keys: u8 },
    /// The current or the last holder reports its usage.
    Report { job: u32, report: u8, tokens: u64 },
    /// The budget is charged with the usage of an execution.
    Charge { job: u32 },
    /// The execution records the usage that the budget has counted.
    SettleUsage { job: u32 },
    /// The usage of the budget is reset.
    Reset,
}
