//! Texts with bounds, and excerpts.

use bankrail_values::{BoundedText, UnknownCode, excerpt};
use proptest::prelude::*;
use std::borrow::Borrow as _;

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
    assert_eq!(
        BoundedText::<1, 2>::parse("👍👍👍")
            .unwrap_err()
            .to_string(),
        "expected 1 to 2 characters, found 3"
    );
    assert_eq!(excerpt("a\n"), "\"a\\n\"");
    assert_eq!(excerpt(&"x".repeat(41)), format!("\"{}\"…", "x".repeat(40)));
}

#[test]
fn the_bounds_are_exact_whatever_the_characters_take() {
    for character in ["x", "é", "€", "👍"] {
        for (length, two_to_four, any_to_two, from_five) in [
            (0, false, true, false),
            (1, false, true, false),
            (2, true, true, false),
            (3, true, false, false),
        ]
        .into_iter()
        .chain([
            (4, true, false, false),
            (5, false, false, true),
            (16, false, false, true),
        ]) {
            let text = character.repeat(length);
            assert_eq!(
                BoundedText::<2, 4>::parse(&text).is_ok(),
                two_to_four,
                "{text}"
            );
            assert_eq!(
                BoundedText::<0, 2>::parse(&text).is_ok(),
                any_to_two,
                "{text}"
            );
            assert_eq!(
                BoundedText::<5, 64>::parse(&text).is_ok(),
                from_five,
                "{text}"
            );
        }
    }
}

#[test]
fn a_text_is_the_same_in_each_form() {
    let text: BoundedText<1, 9> = "a text".parse().unwrap();
    assert_eq!(
        (text.as_str(), text.as_ref(), text.borrow()),
        ("a text", "a text", "a text")
    );
    assert_eq!(
        (text.to_string(), format!("{text:?}")),
        ("a text".to_owned(), "\"a text\"".to_owned())
    );
    assert_eq!(BoundedText::<1, 9>::try_from("a text").unwrap(), text);
    assert_eq!(
        BoundedText::<1, 9>::try_from("a text".to_owned()).unwrap(),
        text
    );
    assert_eq!(text.into_string(), "a text");
    let code = UnknownCode::unlisted("NEWS");
    assert_eq!((code.as_str(), code.as_ref()), ("NEWS", "NEWS"));
    assert_eq!(
        (code.to_string(), format!("{code:?}")),
        ("NEWS".to_owned(), "\"NEWS\"".to_owned())
    );
    assert_eq!(
        excerpt(&"é".repeat(40)),
        format!("\"{}\"", "é".repeat(40)),
        "nothing is cut"
    );
}
