//! UUIDs of version 1.

use crate::{SimpleUuid, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of ticks of 100 ns from 1582-10-15, the epoch of UUIDs of version 1, to the UNIX
/// epoch (RFC 9562 section 5.1).
const EPOCH: u64 = 0x01B2_1DD2_1381_4000;

/// Generates UUIDs of version 1 (RFC 9562 section 5.1), the form of mandate and action identifiers.
///
/// - No two UUIDs of one generator are equal, even if the clock is set back: if `now` has not
///   advanced, the time of the last UUID is advanced by 100 ns.
/// - Generators made from different random bytes differ in node and clock sequence. The node is
///   random and marked as such (section 6.10), so a UUID reveals no hardware address.
///
/// ```
/// use bankrail_values::{TimeUuidGenerator, Timestamp};
///
/// let generator = TimeUuidGenerator::from_random_bytes([7; 8]);
/// let (first, second) = (generator.generate(Timestamp::UNIX_EPOCH), generator.generate(Timestamp::UNIX_EPOCH));
/// assert_eq!((first.version(), second.version()), (1, 1));
/// assert_ne!(first, second);
/// ```
#[derive(Debug)]
pub struct TimeUuidGenerator {
    node: [u8; 6],
    clock_sequence: u16,
    last: AtomicU64,
}

impl TimeUuidGenerator {
    /// Returns a generator with a node and a clock sequence from eight random bytes. Use new random
    /// bytes in each process.
    #[must_use]
    pub const fn from_random_bytes(random: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, high, low] = random;
        Self {
            node: [a | 1, b, c, d, e, f],
            clock_sequence: u16::from_be_bytes([high, low]),
            last: AtomicU64::new(0),
        }
    }

    /// Returns the next UUID. A time before 1582-10-15 counts as that day.
    #[must_use]
    pub fn generate(&self, now: Timestamp) -> SimpleUuid {
        let now = EPOCH.saturating_add_signed(now.unix_millis().saturating_mul(10_000));
        let next = |last: u64| Some(now.max(last + 1));
        // `Relaxed`: no other memory access depends on the order of this one.
        let last = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .unwrap_or_else(|last| last);
        let ticks = now.max(last + 1);
        uuid::Builder::from_gregorian_timestamp(ticks, self.clock_sequence, &self.node)
            .into_uuid()
            .into()
    }
}
