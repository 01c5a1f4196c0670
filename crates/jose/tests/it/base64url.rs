//! Base64url in its one spelling.

use bankrail_jose::base64url::{Base64Error, decode, encode, encoded_len};
use proptest::prelude::*;

#[test]
fn only_the_canonical_spelling_is_read() {
    assert_eq!(decode("-_8").unwrap(), [0xfb, 0xff]);
    assert!(decode("").unwrap().is_empty());
    for text in ["-_8=", "+/8", "-_9", "-_8\n", " -_8", "-_8.", "-", "é", "-_\u{0}8"] {
        assert!(matches!(decode(text), Err(Base64Error { .. })), "{text:?}");
    }
}

proptest! {
    #[test]
    fn bytes_survive_the_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
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
