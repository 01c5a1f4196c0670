//! Reproducible choices.

/// A generator of pseudo-random numbers (SplitMix64), which is the same on every machine.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns a small number below `bound`, which is not 0.
    pub(super) fn small(&mut self, bound: u8) -> u8 {
        u8::try_from(self.below(bound.into())).unwrap_or(0)
    }

    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        let length = u64::try_from(from.len())
            .ok()
            .filter(|length| *length > 0)?;
        from.get(usize::try_from(self.below(length)).ok()?).cloned()
    }
}
