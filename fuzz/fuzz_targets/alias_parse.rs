//! Takes text. Reading an alias never panics, the strict rule accepts only what the plain rule
//! accepts, and each type's rule holds.

use bankrail_webhook::alias::{Alias, is_abn, is_acn};
use bankrail_webhook::{AccountMask, AliasType};

fuzz_target!(|text: &str| {
    for alias_type in AliasType::KNOWN {
        let plain = Alias::parse(alias_type, text);
        if Alias::parse_strict(alias_type, text).is_ok() {
            assert!(plain.is_ok());
        }
        let Ok(alias) = plain else { continue };
        assert_eq!((alias.as_str(), alias.alias_type()), (text, alias_type));
        assert!((1..=256).contains(&text.chars().count()));
        match alias_type {
            AliasType::Telephone => assert!(text.starts_with('+') && text.is_ascii()),
            AliasType::BusinessNumber => assert!(matches!(text.len(), 9 | 11)),
            AliasType::Email => assert!(text.contains('@') && !text.contains(char::is_whitespace)),
            AliasType::Organisation => assert!(text.is_ascii() && text.trim() == text),
            other => panic!("{other} is not known"),
        }
    }
    assert!(Alias::parse(&AliasType::from("NEWS"), text).is_err());
    let number = Alias::parse(&AliasType::BusinessNumber, text);
    assert!(number.is_ok() || !is_abn(text) && !is_acn(text));
    assert!(AccountMask::of(text).covers(text));
});
