//! The forms of aliases, case by case (Specification: "Payment alias (PayID) formats").

use crate::rows::Wrong;
use bankrail_webhook::AliasType::{self, BusinessNumber, Email, Organisation, Telephone};
use bankrail_webhook::alias::{Alias, AliasError};

/// An alias is valid by the specification or not, and may also have the form of the public pattern
/// (Default).
#[test]
fn an_alias_has_the_form_of_its_type() {
    let rows: Vec<(AliasType, String, bool, bool)> = [
        (Telephone, "+1-12", true, true),
        (Telephone, "+999-12", true, true),
        (Telephone, "+9999-12", false, false),
        (Telephone, "+-12", false, false),
        (Telephone, "61-12", false, false),
        (Telephone, "+61 12", false, false),
        (Telephone, "+6112", false, false),
        (Telephone, "+61-1", false, false),
        (Telephone, "+61-02", false, false),
        (Telephone, "+61-90", true, true),
        (Telephone, "+6a-12", false, false),
        (Telephone, "+61-1a", false, false),
        (Telephone, "+61-1-2", false, false),
        (Telephone, "+61-1٣", false, false),
        (Telephone, "+61-12 ", false, false),
        (Telephone, "", false, false),
        (Email, "a@b", true, false),
        (Email, "a@b.c", true, true),
        (Email, "A@b.c", false, false),
        (Email, "a@B.c", false, false),
        (Email, "é@b.c", true, false),
        (Email, "É@b.c", false, false),
        (Email, "a@É.c", false, false),
        (Email, "Ⓐ@b.c", false, false),
        (Email, "ß@b.c", true, false),
        (Email, "a@", false, false),
        (Email, "@b", false, false),
        (Email, "ab", false, false),
        (Email, "@", false, false),
        (Email, "", false, false),
        (Email, "a b@c.d", false, false),
        (Email, " a@b.c", false, false),
        (Email, "a@b.c\n", false, false),
        (Email, "a\t@b.c", false, false),
        (Email, "a\u{a0}@b.c", false, false),
        (Email, "a\u{3000}@b.c", false, false),
        (Email, "a@b@c.d", true, false),
        (Email, ".a@b.c", true, false),
        (Email, "a.@b.c", true, false),
        (Email, "a..b@c.d", true, false),
        (Email, "a.b@c.d", true, true),
        (Email, "a@.c", true, false),
        (Email, "a@b.", true, false),
        (Email, "a@b..c", true, false),
        (Email, "a@-b.c", true, false),
        (Email, "a@b-.c", true, false),
        (Email, "a@b-0.c", true, true),
        (Email, "a@b_0.c", true, false),
        (Email, "z9!#$%&'*+-/=?^_`{|}~0a@z9.a0", true, true),
        (BusinessNumber, "12345678", false, false),
        (BusinessNumber, "123456789", true, true),
        (BusinessNumber, "1234567890", false, false),
        (BusinessNumber, "12345678901", true, true),
        (BusinessNumber, "123456789012", false, false),
        (BusinessNumber, "00000000000", true, true),
        (BusinessNumber, "12345678x", false, false),
        (BusinessNumber, "1234 56789", false, false),
        (BusinessNumber, "12345678٣", false, false),
        (Organisation, "", false, false),
        (Organisation, "a", true, false),
        (Organisation, "ab", true, true),
        (Organisation, "!@[~ 09`az{", true, true),
        (Organisation, "aAb", false, false),
        (Organisation, "aZb", false, false),
        (Organisation, " ab", false, false),
        (Organisation, "ab ", false, false),
        (Organisation, "a\u{1f}b", false, false),
        (Organisation, "a\u{7f}b", false, false),
        (Organisation, "aéb", false, false),
    ]
    .map(|(alias_type, text, valid, strict)| (alias_type, text.to_owned(), valid, strict))
    .into_iter()
    .chain([
        (Telephone, format!("+1-1{}", "0".repeat(29)), true, true),
        (Telephone, format!("+1-1{}", "0".repeat(30)), false, false),
        (Email, format!("{}@b.c", "a".repeat(252)), true, true),
        (Email, format!("{}@b.c", "a".repeat(253)), false, false),
        (Email, format!("{}@b.c", "é".repeat(252)), true, false),
        (Email, format!("{}@b.c", "é".repeat(253)), false, false),
        (Email, format!("a@{}.c", "b".repeat(63)), true, true),
        (Email, format!("a@{}.c", "b".repeat(64)), true, false),
        (Organisation, "a".repeat(256), true, true),
        (Organisation, "a".repeat(257), false, false),
    ])
    .chain(
        "\"(),:;<>[\\]é\u{7f}"
            .chars()
            .map(|c| (Email, format!("a{c}b@c.d"), true, false)),
    )
    .collect();
    let mut wrong = Wrong::default();
    for (alias_type, text, valid, strict) in rows {
        let found = (
            Alias::parse(&alias_type, &text).is_ok(),
            Alias::parse_strict(&alias_type, &text).is_ok(),
        );
        wrong.unless_equal(format!("{alias_type} {text:?}"), found, (valid, strict));
    }
    wrong.none();
}

#[test]
fn an_alias_says_what_it_is_and_what_was_expected() {
    let alias = Alias::parse(&Email, "a@b").unwrap();
    assert_eq!((alias.alias_type(), alias.as_str()), (&Email, "a@b"));
    assert_eq!(
        (alias.to_string(), format!("{alias:?}")),
        ("a@b".to_owned(), "EMAL \"a@b\"".to_owned())
    );
    let said = |alias_type: &AliasType, text, strict| match strict {
        false => Alias::parse(alias_type, text).unwrap_err().to_string(),
        true => Alias::parse_strict(alias_type, text)
            .unwrap_err()
            .to_string(),
    };
    for (alias_type, strict, expected) in [
        (
            Telephone,
            false,
            "+, 1 to 3 digits, -, a digit that is not 0, and 1 to 29 digits",
        ),
        (
            Email,
            false,
            "lower case without white space, characters on both sides of an @, at most 256",
        ),
        (
            Email,
            true,
            "a lower-case dot-atom, @ and a domain with a dot, at most 256 characters",
        ),
        (BusinessNumber, false, "9 or 11 digits"),
        (
            Organisation,
            false,
            "at most 256 printable ASCII characters, lower case, no white space at the ends",
        ),
    ] {
        assert_eq!(
            said(&alias_type, "É", strict),
            format!("expected {expected}, found \"É\"")
        );
    }
    let unknown = Alias::parse(&AliasType::from("IBAN"), "a@b");
    assert_eq!(
        unknown,
        Err(AliasError::UnknownType {
            found: "\"IBAN\"".to_owned()
        })
    );
}

#[test]
fn only_an_organisation_needs_words() {
    for (alias_type, text, enough) in [
        (Organisation, "acme", false),
        (Organisation, "acme1", false),
        (Organisation, "acme &", false),
        (Organisation, "acme 1", true),
        (Organisation, "acme-parking", true),
        (Email, "a@b", true),
        (BusinessNumber, "123456789", true),
        (Telephone, "+1-12", true),
    ] {
        assert_eq!(
            Alias::parse(&alias_type, text).unwrap().may_describe(),
            enough,
            "{text}"
        );
    }
}
