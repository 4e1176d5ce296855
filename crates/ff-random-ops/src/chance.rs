//! Repeatable pseudo-random numbers.

/// Sequence of pseudo-random numbers that is determined by its seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Creates the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns true once in `times` calls on average.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns a random element of the slice.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let count = u64::try_from(from.len()).unwrap();
        &from[usize::try_from(self.below(count)).unwrap()]
    }

    /// Returns the next number of SplitMix64, which is random enough for tests and takes three lines.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_another_does_not() {
        let first =
            |seed| (0..8).map(|_| 0).scan(Chance::new(seed), |chance, _| Some(chance.below(1_000))).collect::<Vec<_>>();
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
    }
}
