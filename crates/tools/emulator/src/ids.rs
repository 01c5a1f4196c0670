//! Identifiers from a seed.

use bankrail_values::{HyphenatedUuid, SimpleUuid, TimeUuidGenerator, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of identifiers that gives the same sequence for the same seed.
#[derive(Debug)]
pub(crate) struct Ids {
    state: AtomicU64,
    /// The generator of identifiers of version 1, which contain a time.
    timed: TimeUuidGenerator,
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = mixed(seed).to_be_bytes();
        Self {
            state: AtomicU64::new(seed),
            timed: TimeUuidGenerator::from_random_bytes([a, b, c, d, e, f, g, h]),
        }
    }

    /// Returns the next number (SplitMix64, which must not be used for secrets).
    pub(crate) fn number(&self) -> u64 {
        // `Relaxed` suffices, because no other memory belongs to the state, and each caller gets
        // another number.
        mixed(
            self.state
                .fetch_add(STEP, Ordering::Relaxed)
                .wrapping_add(STEP),
        )
    }

    /// Returns a UUID of version 4.
    pub(crate) fn uuid(&self) -> HyphenatedUuid {
        let number = (u128::from(self.number()) << 64) | u128::from(self.number());
        HyphenatedUuid::from_random_bytes(number.to_be_bytes())
    }

    /// Returns a UUID of version 1, the kind that mandates and their actions have.
    pub(crate) fn timed(&self, now: Timestamp) -> SimpleUuid {
        self.timed.generate(now)
    }
}

/// The increment of SplitMix64's state for each number.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Applies the finalizer of SplitMix64: each bit of the result depends on all of the state.
pub(crate) fn mixed(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_identifiers() {
        let [one, same, other] = [7, 7, 8].map(Ids::new);
        let at = Timestamp::UNIX_EPOCH;
        let take = |ids: &Ids| (ids.number(), ids.uuid(), ids.timed(at), ids.timed(at));
        let (first, second) = (take(&one), take(&one));
        assert_eq!(first, take(&same));
        assert_ne!(first, second);
        assert_ne!(second, take(&other));
        assert_eq!((first.1.version(), first.2.version()), (4, 1));
    }
}
