//! Sets of keys: which key a token is checked with.

use bankrail_jose::{CurrentKey, KeyLookup, KeySet, KeySetError, Keyed, SelectError};

#[derive(Clone, Debug, PartialEq)]
struct Key(Option<&'static str>, u8);

impl Keyed for Key {
    fn kid(&self) -> Option<&str> {
        self.0
    }
}

fn found(set: &impl KeyLookup<Key>, kid: Option<&str>) -> Result<Vec<u8>, SelectError> {
    set.select(kid)
        .map(|keys| keys.as_slice().iter().map(|key| key.1).collect())
}

#[test]
fn a_name_selects_and_an_unknown_name_is_refused() {
    let set = KeySet::new([Key(Some("a"), 1), Key(Some("b"), 2)]).unwrap();
    assert_eq!(found(&set, Some("b")), Ok(vec![2]));
    assert_eq!(
        found(&set, Some("c")),
        Err(SelectError::UnknownKid { keys: 2 })
    );
    assert_eq!(found(&set, None), Ok(vec![1, 2]));
}

#[test]
fn two_keys_of_one_name_are_both_tried() {
    let [old, new, other] = [Key(Some("a"), 1), Key(Some("a"), 2), Key(Some("b"), 3)];
    let set = KeySet::new([old.clone(), other, new]).unwrap();
    assert_eq!(found(&set, Some("a")), Ok(vec![1, 2]));
    assert_eq!(found(&set, Some("b")), Ok(vec![3]));
    let four = KeySet::new(vec![old; 4]).unwrap();
    assert_eq!(found(&four, Some("a")), Ok(vec![1; 4]));
}

#[test]
fn trying_all_is_bounded() {
    let names = ["a", "b", "c", "d", "e"];
    let four = KeySet::new(["a", "b", "c", "d"].map(|name| Key(Some(name), 7))).unwrap();
    assert_eq!(found(&four, None), Ok(vec![7; 4]));
    let set = KeySet::new(names.map(|name| Key(Some(name), 0))).unwrap();
    assert_eq!(found(&set, None), Err(SelectError::KidRequired { keys: 5 }));
    assert!(found(&set, Some("e")).is_ok());
}

#[test]
fn keys_without_names_are_tried_whatever_the_token_says() {
    let set = KeySet::new([Key(None, 1), Key(None, 2)]).unwrap();
    assert_eq!(found(&set, Some("x")), Ok(vec![1, 2]));
    assert_eq!(found(&Key(None, 3), Some("x")), Ok(vec![3]));
    assert_eq!(found(&Key(Some("k"), 3), None), Ok(vec![3]));
    assert_eq!(
        found(&Key(Some("k"), 3), Some("x")),
        Err(SelectError::UnknownKid { keys: 1 })
    );
}

#[test]
fn sets_that_would_be_a_guess_are_refused() {
    let make = |keys: Vec<Key>| KeySet::new(keys).unwrap_err();
    assert!(matches!(make(vec![]), KeySetError::Empty));
    let five = make(vec![Key(Some("a"), 1); 5]);
    assert!(matches!(five, KeySetError::TooManySameKid { kid, max: 4 } if kid == "a"));
    assert!(matches!(
        make(vec![Key(Some("a"), 1), Key(None, 2)]),
        KeySetError::PartlyNamed
    ));
    assert!(matches!(
        make(vec![Key(None, 1); 65]),
        KeySetError::TooMany { max: 64 }
    ));
    const NAMES: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/*";
    let named = |count: usize| {
        (0..count)
            .map(|at| Key(Some(&NAMES[at..=at]), 0))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(&KeySet::new(named(64)).unwrap(), Some("/")),
        Ok(vec![0])
    );
    assert!(matches!(make(named(65)), KeySetError::TooMany { max: 64 }));
    assert!(KeySet::new(vec![Key(None, 1); 4]).is_ok());
    assert!(matches!(
        make(vec![Key(None, 1); 5]),
        KeySetError::TooManyUnnamed { max: 4 }
    ));
}

#[test]
fn clones_share_a_replacement_and_a_refused_one_changes_nothing() {
    let set = KeySet::from(Key(Some("old"), 1));
    let clone = set.clone();
    let before = set.select(Some("old")).unwrap();
    assert!(set.replace([]).is_err());
    set.replace([Key(Some("new"), 2)]).unwrap();
    assert_eq!(found(&clone, Some("new")), Ok(vec![2]));
    assert!(found(&clone, Some("old")).is_err());
    assert_eq!(before.as_slice(), [Key(Some("old"), 1)]);
}

#[test]
fn printing_shows_the_keys() {
    let key = Key(Some("k"), 7);
    assert_eq!(
        format!("{:?}", KeySet::from(key.clone())),
        r#"KeySet([Key(Some("k"), 7)])"#
    );
    assert_eq!(
        format!("{:?}", CurrentKey::new(key)),
        r#"CurrentKey(Key(Some("k"), 7))"#
    );
}
