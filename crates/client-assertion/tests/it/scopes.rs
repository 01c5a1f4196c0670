//! Sets of scopes, and what is granted of them.

use bankrail_client_assertion::token::{NoScopeGranted, ScopeError, ScopeSet};

fn set(text: &str) -> ScopeSet {
    text.parse().unwrap()
}

#[test]
fn sets_have_no_order_and_single_spaces() {
    assert_eq!(set("B A"), set("A B"));
    assert_eq!(set("B A A").to_string(), "A B");
    for bad in ["", " ", "A  B", " A", "A ", "A\tB", "A\"", "A\\", "É", "A\u{7f}", &"x".repeat(129)] {
        assert!(ScopeSet::parse(bad).is_err(), "{bad:?}");
    }
    let many = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(ScopeSet::parse(&many(64)).unwrap().len(), 64);
    assert_eq!(ScopeSet::parse(&many(65)), Err(ScopeError::TooMany));
}

#[test]
fn granted_is_the_intersection_and_returned_when_it_differs() {
    let permitted = set("A B C");
    let same = set("C A").granted_from(&permitted).unwrap();
    assert_eq!((same.scopes(), same.scope_to_return()), (&set("A C"), None));
    let fewer = set("A X").granted_from(&permitted).unwrap();
    assert_eq!(fewer.scope_to_return(), Some(&set("A")));
    let otherwise = set("a").granted_from(&permitted);
    assert!(matches!(otherwise, Err(NoScopeGranted { .. })), "names are compared byte for byte");
}
