//! Raw DEFLATE, without a zlib or gzip wrapper (RFC 1951, RFC 7516 section 4.1.3), with a bound on
//! the output.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zeroize::Zeroizing;

/// Inflates one complete DEFLATE stream of at most `max` bytes of content; returns `None` for any
/// other.
///
/// This never allocates more than about twice `max` bytes, whatever the stream has.
pub(crate) fn inflate(deflated: &[u8], max: usize) -> Option<Zeroizing<Vec<u8>>> {
    let mut stream = Decompress::new(false);
    // The ceiling is one byte above the bound, so that a stream that is longer than `max` is
    // noticed.
    let ceiling = max.checked_add(1)?;
    let mut plain = Zeroizing::new(Vec::with_capacity(
        ceiling.min(deflated.len().saturating_mul(4).max(1024)),
    ));
    loop {
        let before = (plain.len(), stream.total_in());
        let rest = deflated.get(usize::try_from(stream.total_in()).ok()?..)?;
        let status = stream
            .decompress_vec(rest, &mut plain, FlushDecompress::None)
            .ok()?;
        if plain.len() > max {
            return None;
        }
        if status == Status::StreamEnd {
            // Bytes after the end of the stream are refused.
            return (usize::try_from(stream.total_in()).ok()? == deflated.len()).then_some(plain);
        }
        if plain.len() < plain.capacity() {
            // Without progress the stream is cut off.
            if (plain.len(), stream.total_in()) == before {
                return None;
            }
            continue;
        }
        // A vector that grows by itself would leave a copy of the plain text behind.
        let mut larger = Zeroizing::new(Vec::with_capacity(
            ceiling.min(plain.capacity().saturating_mul(2)),
        ));
        larger.extend_from_slice(&plain);
        plain = larger;
    }
}

/// Deflates `plain` into one DEFLATE stream.
pub(crate) fn deflate(plain: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut stream = Compress::new(Compression::default(), false);
    // Incompressible data is written as stored blocks, which bounds its growth.
    let room = plain.len() + plain.len() / 1000 * 6 + 64;
    let mut deflated = Zeroizing::new(Vec::with_capacity(room));
    let status = stream.compress_vec(plain, &mut deflated, FlushCompress::Finish);
    debug_assert_eq!(status.ok(), Some(Status::StreamEnd));
    deflated
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_deflated_comes_back(
            plain in prop_oneof![prop::collection::vec(any::<u8>(), 0..5000), prop::collection::vec(0u8..2, 0..50_000)],
        ) {
            let deflated = deflate(&plain);
            let inflated = inflate(&deflated, plain.len()).unwrap();
            prop_assert_eq!(inflated.as_slice(), plain.as_slice());
            if let Some(less) = plain.len().checked_sub(1) {
                prop_assert!(inflate(&deflated, less).is_none());
            }
        }

        #[test]
        fn no_input_makes_it_panic_or_exceed_the_bound(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(inflate(&bytes, 1000).is_none_or(|plain| plain.len() <= 1000));
        }
    }

    /// The buffer has room for incompressible text, because growing would leave copies of the plain
    /// text behind.
    #[test]
    fn there_is_room_for_what_cannot_be_compressed() {
        // The sequence is pseudo-random and fixed.
        let mut state = 88_172_645_463_325_252_u64;
        let mut plain = Vec::new();
        while plain.len() < 250_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            plain.extend(state.to_le_bytes());
        }
        for (length, room) in [(0, 64), (999, 1063), (2500, 2576), (250_000, 251_564)] {
            let deflated = deflate(&plain[..length]);
            assert_eq!(deflated.capacity(), room, "{length}");
            assert_eq!(
                inflate(&deflated, length).unwrap().as_slice(),
                &plain[..length]
            );
        }
    }

    #[test]
    fn truncated_trailing_wrapped_and_bombs_are_refused() {
        let deflated = deflate(&[b'x'; 5000]);
        for length in 0..deflated.len() {
            assert!(inflate(&deflated[..length], 5000).is_none(), "{length}");
        }
        assert!(inflate(&[&deflated[..], b"\0"].concat(), 5000).is_none());
        assert!(
            inflate(b"\x78\x9c\x03\x00\x00\x00\x00\x01", 5000).is_none(),
            "zlib"
        );
        let bomb = deflate(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000);
        assert!(inflate(&bomb, 250_000).is_none());
    }
}
