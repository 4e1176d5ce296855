//! Bounded resources that callers share, with a limit in total and one per caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::capacity::rate::RateKey;

/// A number of units, and the units that each caller holds.
pub(crate) struct Pool {
    total: usize,
    each: usize,
    amounts: Mutex<Amounts>,
}

#[derive(Default)]
struct Amounts {
    all: usize,
    by: HashMap<RateKey, usize>,
}

/// The limit that is reached: the total, or the caller's share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolError {
    All,
    Share,
}

/// The units one caller holds; dropping it returns them.
pub(crate) struct Permit {
    pool: Arc<Pool>,
    who: RateKey,
    amount: usize,
}

impl Pool {
    pub(crate) fn new(total: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { total, each, amounts: Mutex::default() })
    }

    /// Creates a pool of which one caller gets at most half, so that no single caller keeps out all others.
    pub(crate) fn halved(total: usize) -> Arc<Self> {
        Self::new(total, total.div_ceil(2))
    }

    pub(crate) fn take(self: &Arc<Self>, who: &RateKey, amount: usize) -> Result<Permit, PoolError> {
        let mut taken = Permit { pool: self.clone(), who: who.clone(), amount: 0 };
        taken.take_more(amount)?;
        Ok(taken)
    }

    pub(crate) fn each(&self) -> usize {
        self.each
    }

    fn amounts(&self) -> MutexGuard<'_, Amounts> {
        self.amounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    pub(crate) fn take_more(&mut self, amount: usize) -> Result<(), PoolError> {
        let mut amounts = self.pool.amounts();
        let own = amounts.by.get(&self.who).copied().unwrap_or(0).saturating_add(amount);
        let all = amounts.all.saturating_add(amount);
        if all > self.pool.total {
            return Err(PoolError::All);
        }
        if own > self.pool.each {
            return Err(PoolError::Share);
        }
        amounts.all = all;
        if own > 0 {
            amounts.by.insert(self.who.clone(), own);
        }
        self.amount += amount;
        Ok(())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let mut amounts = self.pool.amounts();
        amounts.all -= self.amount;
        if let Some(own) = amounts.by.get_mut(&self.who) {
            *own -= self.amount;
            if *own == 0 {
                amounts.by.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn caller(last: u8) -> RateKey {
        RateKey::Address(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))
    }

    #[test]
    fn a_caller_takes_at_most_half_of_the_pool() {
        let pool = Pool::halved(4);
        let own = [pool.take(&caller(1), 1).ok().unwrap(), pool.take(&caller(1), 1).ok().unwrap()];
        assert_eq!(pool.take(&caller(1), 1).err(), Some(PoolError::Share));
        let others = pool.take(&caller(2), 2).ok().unwrap();
        assert_eq!(pool.take(&caller(3), 1).err(), Some(PoolError::All));
        drop((own, others));
        assert!(pool.take(&caller(1), 2).is_ok());
        assert!(pool.amounts().by.is_empty() && pool.amounts().all == 0, "callers that are gone cost no memory");
    }

    #[test]
    fn more_is_taken_as_long_as_there_is_some_and_all_of_it_is_given_back() {
        let pool = Pool::new(10, 10);
        let mut taken = pool.take(&caller(1), 0).ok().unwrap();
        assert_eq!(taken.take_more(8), Ok(()));
        assert_eq!(taken.take_more(3), Err(PoolError::All));
        assert_eq!(taken.take_more(2), Ok(()));
        assert_eq!(taken.take_more(usize::MAX), Err(PoolError::All));
        drop(taken);
        assert!(pool.take(&caller(2), 10).is_ok());
    }
}
