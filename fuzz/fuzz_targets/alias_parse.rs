//! Takes text, or pieces of an alias repeated up to the borders of bounds. Reading an alias never
//! panics, each type's rule accepts what the plain rule accepts, and the strict rule no more.

use crate::invented::{logged, pieces};
use bankrail_webhook::alias::{Alias, is_abn, is_acn};
use bankrail_webhook::{AccountMask, AliasType};

const PIECES: &[&str] = &[
    "+", "-", "@", ".", "0", "1", "61", "a", "A", "\u{e9}", "\u{c9}", "\u{660}", " ", "\u{a0}", "~",
    "{", "51824753556", "004085616", "x.au", "*", "X",
];

fn are_digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.chars().count()) && text.chars().all(|c| c.is_ascii_digit())
}

/// The rules in the words of the specification.
fn plain(alias_type: &AliasType, text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    match alias_type {
        AliasType::Telephone => text.split_once('-').is_some_and(|(country, number)| {
            let country = country.strip_prefix('+').unwrap_or("");
            are_digits(country, 1..=3) && are_digits(number, 2..=30) && !number.starts_with('0')
        }),
        AliasType::BusinessNumber => are_digits(text, 9..=9) || are_digits(text, 11..=11),
        AliasType::Email => {
            let inner = characters.len().checked_sub(1).and_then(|end| characters.get(1..end));
            inner.is_some_and(|inner| inner.contains(&'@'))
                && characters.len() <= 256
                && !characters.iter().any(|c| c.is_whitespace() || c.is_uppercase())
        }
        AliasType::Organisation => {
            let is_allowed = |c: &char| matches!(c, ' '..='~') && !c.is_ascii_uppercase();
            (1..=256).contains(&characters.len())
                && characters.iter().all(is_allowed)
                && text.trim() == text
        }
        other => panic!("{other} is not known"),
    }
}

fuzz_target!(|data: &[u8]| {
    let text = &*pieces(data, PIECES);
    for alias_type in AliasType::KNOWN {
        let holds = plain(alias_type, text);
        match Alias::parse_strict(alias_type, text) {
            Ok(_) => assert!(holds),
            Err(error) => logged(&error),
        }
        let read = Alias::parse(alias_type, text);
        assert_eq!(read.is_ok(), holds, "{alias_type}: {text:?}");
        let Ok(alias) = read else { continue };
        assert_eq!((alias.as_str(), alias.alias_type()), (text, alias_type));
        assert_eq!(alias.to_string(), text);
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).count();
        let other = *alias_type != AliasType::Organisation;
        assert_eq!(alias.may_describe(), other || words >= 2);
        assert!(!format!("{alias:?}").contains(char::is_control));
    }
    logged(&Alias::parse(&AliasType::from("NEWS"), text).expect_err("not known"));
    let number = plain(&AliasType::BusinessNumber, text);
    assert!(number || !is_abn(text) && !is_acn(text));
    let mask = AccountMask::of(text);
    assert!(mask.covers(text) && !mask.covers(&format!("{text}x")));
    let shown = text.replace(['X', '*'], "7");
    assert!(mask.covers(&shown) && mask.as_str() == text);
    assert_eq!(mask.is_masked(), shown != text);
    assert!(!mask.is_all_masked() || mask.is_masked());
});
