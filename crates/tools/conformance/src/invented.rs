//! Invented ids and texts of a judge, which are the same in each run with the same seed.

use bankrail_values::HyphenatedUuid;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of pseudorandom numbers, the generator `SplitMix64`. Keys and initialisation vectors
/// never come from it.
pub(crate) struct Invented(AtomicU64);

impl Invented {
    pub(crate) fn new(seed: u32) -> Self {
        Self(AtomicU64::new(seed.into()))
    }

    /// Returns the next number.
    pub(crate) fn number(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        // `Relaxed` suffices, because no other memory belongs to the state, and each caller gets
        // another number.
        let state = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns the next UUID, of version 4.
    pub(crate) fn uuid(&self) -> HyphenatedUuid {
        let halves = [self.number(), self.number()].map(u128::from);
        HyphenatedUuid::from_random_bytes(((halves[0] << 64) | halves[1]).to_be_bytes())
    }
}

/// Returns a random seed.
pub(crate) fn any_seed() -> u32 {
    // Lossless: the upper half has 32 bits.
    u32::try_from(bankrail_values::jitter() >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_makes_one_sequence() {
        let [one, again, other] = [7, 7, 8].map(|seed| {
            let invented = Invented::new(seed);
            [(); 3].map(|()| invented.uuid().to_string())
        });
        assert_eq!(one, again);
        assert_ne!(one, other);
        assert_ne!(one[0], one[1]);
        // The published first number of the generator for the seed 0.
        assert_eq!(Invented::new(0).number(), 0xe220_a839_7b1d_cdaf);
    }
}
