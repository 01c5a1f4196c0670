//! The two spellings of a UUID.

use bankrail_values::{HyphenatedUuid, SimpleUuid};

#[test]
fn one_spelling_each() {
    let hyphenated = "0b7c2f6e-8a1d-11eb-8dcd-0242ac130003";
    let simple = "0b7c2f6e8a1d11eb8dcd0242ac130003";
    assert_eq!(
        HyphenatedUuid::parse(hyphenated).unwrap().to_string(),
        hyphenated
    );
    assert_eq!(
        HyphenatedUuid::parse(&hyphenated.to_uppercase())
            .unwrap()
            .to_string(),
        hyphenated
    );
    assert_eq!(
        SimpleUuid::parse(simple)
            .unwrap()
            .to_hyphenated()
            .to_string(),
        hyphenated
    );
    let (one, other) = (
        HyphenatedUuid::parse(hyphenated).unwrap(),
        SimpleUuid::parse(simple).unwrap(),
    );
    assert_eq!(
        (SimpleUuid::from(one), HyphenatedUuid::from(other)),
        (other, one)
    );
    assert_eq!(SimpleUuid::parse(simple).unwrap().version(), 1);
    for bad in [
        simple,
        "",
        "{0b7c2f6e-8a1d-11eb-8dcd-0242ac130003}",
        "0b7c2f6e-8a1d-11eb-8dcd-0242ac13000g",
    ] {
        assert!(HyphenatedUuid::parse(bad).is_err(), "{bad:?}");
    }
    for bad in [
        hyphenated,
        "0B7C2F6E8A1D11EB8DCD0242AC130003",
        "0b7c2f6e8a1d11eb8dcd0242ac13000",
        "",
        "٣",
    ] {
        assert!(SimpleUuid::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn random_ones_are_version_4() {
    let random = HyphenatedUuid::from_random_bytes([0xff; 16]);
    assert!(random.version() == 4 && random.is_rfc_variant());
}

#[test]
fn both_spellings_are_of_one_uuid() {
    let hyphenated = HyphenatedUuid::from_random_bytes([7; 16]);
    assert_eq!(
        hyphenated.to_string(),
        "07070707-0707-4707-8707-070707070707"
    );
    assert_eq!(
        hyphenated.to_simple().to_string(),
        "07070707070747078707070707070707"
    );
    assert_eq!(hyphenated.to_simple().to_hyphenated(), hyphenated);
    let other = SimpleUuid::parse("0b7c2f6e8a1d11ebcdcd0242ac130003").unwrap();
    assert!(!other.is_rfc_variant(), "the digit of the variant is c");
}
