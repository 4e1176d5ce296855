//! Dice that show both sides the same throw.

use std::sync::{Mutex, PoisonError};

use ff_core::dice::{Dice, Nonce, SeededDice};

/// Shows one throw until it is thrown again, however often a store looks.
pub(crate) struct SharedDice {
    source: SeededDice,
    shown: Mutex<Nonce>,
}

impl SharedDice {
    pub(crate) fn new(seed: u64) -> Self {
        let source = SeededDice::new(seed);
        let shown = Mutex::new(source.nonce());
        Self { source, shown }
    }

    /// Throws again, and says what is shown from now on.
    pub(crate) fn throw(&self) -> Nonce {
        let thrown = self.source.nonce();
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = thrown;
        thrown
    }
}

impl Dice for SharedDice {
    fn nonce(&self) -> Nonce {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn secret(&self) -> [u8; 32] {
        self.source.secret()
    }
}
