//! Sets of scopes, and what is granted of them.

use bankrail_client_assertion::token::{
    NoScopeGrantedError, Scope, ScopeAccess, ScopeError, ScopeSet, names,
};

fn set(text: &str) -> ScopeSet {
    text.parse().unwrap()
}

#[test]
fn sets_have_no_order_and_single_spaces() {
    assert_eq!(set("B A"), set("A B"));
    assert_eq!(set("B A A").to_string(), "A B");
    for bad in [
        "",
        " ",
        "A  B",
        " A",
        "A ",
        "A\tB",
        "A\"",
        "A\\",
        "É",
        "A\u{7f}",
        &"x".repeat(129),
    ] {
        assert!(ScopeSet::parse(bad).is_err(), "{bad:?}");
    }
    assert!(ScopeSet::parse(&"x".repeat(128)).is_ok());
    let many = |count: usize| {
        (0..count)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(ScopeSet::parse(&many(64)).unwrap().len(), 64);
    assert_eq!(ScopeSet::parse(&many(65)), Err(ScopeError::TooMany));
}

#[test]
fn a_set_is_made_of_scopes_and_lists_them() {
    let scopes =
        |count: usize| (0..count).map(|number| Scope::parse(&format!("S{number}")).unwrap());
    assert_eq!(ScopeSet::from_scopes(scopes(0)), Err(ScopeError::None));
    for count in [1, 64] {
        assert_eq!(ScopeSet::from_scopes(scopes(count)).unwrap().len(), count);
    }
    assert_eq!(ScopeSet::from_scopes(scopes(65)), Err(ScopeError::TooMany));
    let two = set("B A");
    assert_eq!(
        two.iter().map(Scope::as_str).collect::<Vec<_>>(),
        ["A", "B"]
    );
    assert!(two.contains("A") && two.contains("B") && !two.contains("C") && !two.contains("A B"));
    assert_eq!(format!("{two:?}"), r#"{"A", "B"}"#);
}

#[test]
fn granted_is_the_intersection_and_returned_when_it_differs() {
    let permitted = set("A B C");
    let same = set("C A").granted_from(&permitted).unwrap();
    assert_eq!((same.scopes(), same.scope_to_return()), (&set("A C"), None));
    let fewer = set("A X").granted_from(&permitted).unwrap();
    assert_eq!(fewer.scope_to_return(), Some(&set("A")));
    let otherwise = set("a").granted_from(&permitted);
    assert!(
        matches!(otherwise, Err(NoScopeGrantedError { .. })),
        "names are compared byte for byte"
    );
}

#[test]
fn a_scope_names_a_resource_and_read_or_write() {
    use ScopeAccess::{Read, Write};
    for (name, constant, resource, access) in [
        (
            "GBL.INSTO.ACCOUNTS.STATEMENT.READ",
            names::STATEMENT_READ,
            "GBL.INSTO.ACCOUNTS.STATEMENT",
            Read,
        ),
        (
            "AU.INSTO.PAYTO.MANDATE.WRITE",
            names::MANDATE_WRITE,
            "AU.INSTO.PAYTO.MANDATE",
            Write,
        ),
        (
            "AU.INSTO.PAYTO.MANDATE.READ",
            names::MANDATE_READ,
            "AU.INSTO.PAYTO.MANDATE",
            Read,
        ),
        (
            "AU.INSTO.PAYTO.MPIR.WRITE",
            names::PAYMENT_INSTRUCTION_WRITE,
            "AU.INSTO.PAYTO.MPIR",
            Write,
        ),
    ] {
        let scope = Scope::parse(name).unwrap();
        assert_eq!(name, constant);
        assert_eq!((scope.resource(), scope.access()), (resource, Some(access)));
        assert_eq!(Scope::of(resource, access), Ok(scope));
    }
    for name in [
        "READ", ".READ", "A.read", "A.READ.X", "A", "A.READ.", "openid",
    ] {
        let scope = Scope::parse(name).unwrap();
        assert_eq!((scope.resource(), scope.access()), (name, None));
    }
    let both = set("A.READ B.WRITE C");
    assert!(both.allows("A", Read) && both.allows("B", Write));
    assert!(
        !both.allows("A", Write) && !both.allows("B", Read),
        "neither includes the other"
    );
    assert!(!both.allows("C", Read) && !both.allows("C", Write));
}
