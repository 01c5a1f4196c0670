//! Customer codes and audiences.

use bankrail_client_assertion::{Audience, CustomerCode};

#[test]
fn an_audience_has_no_white_space_and_a_bounded_length() {
    for good in [
        "x",
        "https://auth.example.com/v1.0/auth",
        "urn:a",
        &"x".repeat(2048),
    ] {
        assert_eq!(Audience::parse(good).unwrap().as_str(), good);
    }
    for bad in [
        "",
        " x",
        "a b",
        "x\n",
        "x\u{a0}",
        "\u{7f}",
        &"x".repeat(2049),
    ] {
        assert!(Audience::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_customer_code_is_asked_for_in_upper_case_and_never_made_so() {
    for good in ["A", "CUSTOMERCODE", "0", "A.B-C_D/9", &"X".repeat(64)] {
        let code = CustomerCode::parse(good).unwrap();
        assert_eq!(code.as_str(), good);
        assert!(
            std::collections::BTreeSet::from([code]).contains(good),
            "a set is searched by the text"
        );
    }
    for bad in [
        "",
        "a",
        "CUSTOMERCODe",
        " A",
        "A ",
        "A B",
        "A\n",
        "É",
        "А",
        &"X".repeat(65),
    ] {
        assert!(CustomerCode::parse(bad).is_err(), "{bad:?}");
    }
}
