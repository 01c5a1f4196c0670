//! Constant-time RSAES-OAEP decoding of content keys.

use crate::ContentKey;
use openssl::sha::{Sha1, sha1};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

/// The length of a SHA-1 digest, in bytes.
const HASH_LEN: usize = 20;

/// Returns the content key in `encoded`, or `stand_in` if there is none (RFC 8017 section 7.1.2
/// step 3, with SHA-1, MGF1 with SHA-1 and an empty label). `encoded` is as long as the modulus.
///
/// The encoding is `00 ‖ seed ‖ digest of the label ‖ 00 … 00 01 ‖ content key`, masked from the
/// seed on. All content keys have the same length, so each part has a fixed position and no search
/// for the `01` is needed.
pub(super) fn content_key(encoded: &mut [u8], stand_in: ContentKey) -> ContentKey {
    let Some(zeros) = encoded
        .len()
        .checked_sub(2 * HASH_LEN + 2 + ContentKey::LEN)
    else {
        return stand_in;
    };
    let Some((first, rest)) = encoded.split_first_mut() else {
        return stand_in;
    };
    let (seed, block) = rest.split_at_mut(HASH_LEN);
    mask(seed, block);
    mask(block, seed);
    let (digest, rest) = block.split_at(HASH_LEN);
    let (padding, rest) = rest.split_at(zeros);
    let (one, key) = rest.split_at(1);

    let padding = padding
        .iter()
        .fold(Choice::from(1), |good, byte| good & byte.ct_eq(&0));
    let good = first.ct_eq(&0) & digest.ct_eq(&sha1(&[])) & padding & one.ct_eq(&[1]);
    let mut chosen = stand_in;
    for (chosen, found) in chosen.bytes_mut().iter_mut().zip(key) {
        chosen.conditional_assign(found, good);
    }
    chosen
}

/// Combines `to` by XOR with the MGF1 mask of `seed` (RFC 8017 appendix B.2.1).
fn mask(to: &mut [u8], seed: &[u8]) {
    for (counter, chunk) in (0_u32..).zip(to.chunks_mut(HASH_LEN)) {
        let mut digest = Sha1::new();
        digest.update(seed);
        digest.update(&counter.to_be_bytes());
        for (byte, mask) in chunk.iter_mut().zip(digest.finish()) {
            *byte ^= mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 256;

    /// Returns the input of the RSA encryption (RFC 8017 section 7.1.1 step 2), with these bytes as
    /// the unmasked block.
    fn encode(first: u8, block: &[u8]) -> Vec<u8> {
        let mut encoded = vec![first];
        encoded.extend([0x5a; HASH_LEN]);
        encoded.extend(block);
        let (seed, block) = encoded[1..].split_at_mut(HASH_LEN);
        mask(block, seed);
        mask(seed, block);
        encoded
    }

    fn block(key: &[u8]) -> Vec<u8> {
        let mut block = sha1(&[]).to_vec();
        block.resize(LEN - 1 - HASH_LEN - 1 - key.len(), 0);
        block.push(1);
        block.extend(key);
        block
    }

    fn decode(mut encoded: Vec<u8>) -> [u8; ContentKey::LEN] {
        *content_key(&mut encoded, ContentKey::from([9; ContentKey::LEN])).expose_secret()
    }

    #[test]
    fn a_content_key_is_found_and_nothing_else() {
        let (key, stand_in) = ([7; ContentKey::LEN], [9; ContentKey::LEN]);
        let good = block(&key);
        assert_eq!(decode(encode(0, &good)), key);
        for first in [1, 2, 0x80, 0xff] {
            assert_eq!(decode(encode(first, &good)), stand_in);
        }
        for at in 0..good.len() - ContentKey::LEN {
            for change in [1, 2, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= change;
                assert_eq!(decode(encode(0, &bad)), stand_in, "byte {at}");
            }
        }
        // Damages the first byte of the padding and one other byte, because two errors must not
        // cancel out.
        for at in HASH_LEN + 1..good.len() - ContentKey::LEN - 1 {
            let mut bad = good.clone();
            (bad[HASH_LEN], bad[at]) = (1, 1);
            assert_eq!(decode(encode(0, &bad)), stand_in, "byte {at}");
        }
        let shortest = [&sha1(&[])[..], &[1], &key].concat();
        assert_eq!(decode(encode(0, &shortest)), key);
        for other in [0, 1, 32, ContentKey::LEN - 1, ContentKey::LEN + 1, 200] {
            assert_eq!(
                decode(encode(0, &block(&vec![7; other]))),
                stand_in,
                "{other} bytes"
            );
        }
        for length in [0, 1, 20, 42, 105] {
            assert_eq!(decode(vec![0; length]), stand_in);
        }
    }
}
