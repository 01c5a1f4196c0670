//! Canonical unpadded base64url (RFC 7515 section 2, RFC 4648 section 3.5).
//!
//! One byte string has exactly one spelling here: padding, white space, the `+/` alphabet and non-zero trailing bits
//! are refused. A replay check that is keyed on a token's text cannot be dodged by spelling the token anew.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The text is not canonical unpadded base64url.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected canonical base64url without padding")]
#[non_exhaustive]
pub struct Base64Error;

/// The bytes that `text` spells.
///
/// # Errors
/// [`Base64Error`] unless `text` is the one canonical spelling.
pub fn decode(text: &str) -> Result<Vec<u8>, Base64Error> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Base64Error)
}

/// The canonical spelling of `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Appends the canonical spelling of `bytes`.
pub fn encode_into(bytes: &[u8], text: &mut String) {
    URL_SAFE_NO_PAD.encode_string(bytes, text);
}

/// How many characters `encode` makes of this many bytes.
#[must_use]
pub const fn encoded_len(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4).saturating_sub(match bytes % 3 {
        1 => 2,
        2 => 1,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_canonical_spelling_is_read() {
        assert_eq!(decode("-_8").unwrap(), [0xfb, 0xff]);
        assert!(decode("").unwrap().is_empty());
        for text in ["-_8=", "+/8", "-_9", "-_8\n", " -_8", "-_8.", "-", "é", "-_\u{0}8"] {
            assert_eq!(decode(text), Err(Base64Error), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn octets_survive_the_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let text = encode(&bytes);
            prop_assert_eq!(text.len(), encoded_len(bytes.len()));
            prop_assert_eq!(decode(&text).unwrap(), bytes);
        }

        #[test]
        fn whatever_decodes_is_spelled_the_same_again(text in "[A-Za-z0-9_=+/-]{0,20}") {
            if let Ok(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }
}
