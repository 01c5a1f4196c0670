//! Tests that base64url text has one spelling only.

use bankrail_jose::base64url::{Base64Error, decode, encode, encoded_len};
use proptest::prelude::*;

#[test]
fn only_the_canonical_spelling_is_read() {
    assert_eq!(decode("-_8").unwrap(), [0xfb, 0xff]);
    assert!(decode("").unwrap().is_empty());
    for text in [
        "-_8=", "+/8", "-_9", "-_8\n", " -_8", "-_8.", "-", "é", "-_\u{0}8",
    ] {
        assert!(matches!(decode(text), Err(Base64Error { .. })), "{text:?}");
    }
}

proptest! {
    #[test]
    fn bytes_survive_the_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
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

    /// A long text is decoded many characters at a time, which must not skip the check of any of
    /// them.
    #[test]
    fn a_long_text_with_any_other_character_is_refused(
        bytes in proptest::collection::vec(any::<u8>(), 1..500),
        at in any::<prop::sample::Index>(),
        other in any::<u8>(),
    ) {
        let mut text = encode(&bytes).into_bytes();
        prop_assert!(text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte)));
        let at = at.index(text.len());
        text[at] = other;
        let alphabet = other.is_ascii_alphanumeric() || b"-_".contains(&other);
        // A changed last character can end in bits that belong to no byte.
        let inner = at + 1 < text.len();
        if let Ok(text) = String::from_utf8(text) {
            let read = decode(&text);
            prop_assert!(read.is_ok() == alphabet || alphabet && !inner, "{:?}", text);
            prop_assert!(read.is_err() || encode(&read.unwrap()) == text);
        }
    }
}
