//! Texts with bounds, and excerpts.

use bankrail_values::{BoundedText, excerpt};
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_bound_counts_code_points(text in "\\PC{0,12}") {
        let length = text.chars().count();
        prop_assert_eq!(BoundedText::<3, 7>::parse(&text).is_ok(), (3..=7).contains(&length));
        prop_assert_eq!(BoundedText::<0, 3>::parse(&text).is_ok(), length <= 3);
    }
}

#[test]
fn the_error_counts_and_the_excerpt_cuts() {
    assert_eq!(BoundedText::<1, 2>::parse("👍👍👍").unwrap_err().to_string(), "expected 1 to 2 characters, found 3");
    assert_eq!(excerpt("a\n"), "\"a\\n\"");
    assert_eq!(excerpt(&"x".repeat(41)), format!("\"{}\"…", "x".repeat(40)));
}
