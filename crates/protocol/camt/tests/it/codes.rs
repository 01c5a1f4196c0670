//! Bank transaction codes have the names and combinations of the standard's list.

use bankrail_camt::{BankTransactionDomain, BankTransactionFamily};

const LIST: &str = include_str!("../../src/codes/list.tsv");

fn code(domain: &str, family: &str, sub_family: &str) -> BankTransactionDomain {
    let family = BankTransactionFamily::new(family.into(), sub_family.into());
    BankTransactionDomain::new(domain.into(), family)
}

#[test]
fn codes_have_their_names() {
    let names = |own: &BankTransactionDomain| {
        [own.name(), own.family_name(), own.sub_family_name()].map(Option::unwrap_or_default)
    };
    for (own, expected) in [
        (
            code("PMNT", "IDDT", "ESDD"),
            ["Payments", "Issued Direct Debits", "SEPA Core Direct Debit"],
        ),
        (
            code("CAMT", "ACCB", "ZABA"),
            ["Cash Management", "Account Balancing", "Zero Balancing"],
        ),
        (
            code("ACMT", "MDOP", "CHRG"),
            [
                "Account Management",
                "Miscellaneous Debit Operations",
                "Charges",
            ],
        ),
        // A sub-family may have a special name in one family.
        (
            code("SECU", "CASH", "STAM"),
            [
                "Securities",
                "Miscellaneous Securities Operations",
                "Stamp Duty",
            ],
        ),
        (
            code("PMNT", "DRFT", "STAM"),
            ["Payments", "Drafts", "Settlement At Maturity"],
        ),
        (
            code("XTND", "NTAV", "NTAV"),
            ["Extended Domain", "Not Available", "Not Available"],
        ),
    ] {
        assert_eq!(names(&own), expected);
        assert!(own.is_listed(), "{own:?}");
    }
}

#[test]
fn only_combinations_of_the_list_are_listed() {
    for own in [
        // Each code is in the list, but the combination is not.
        code("PMNT", "RCDT", "ESDD"),
        code("CAMT", "RCDT", "ESCT"),
        code("PMNT", "OTHR", "ESCT"),
        code("PMNT", "MCOP", "IADD"),
        // The workbook of the list gives this family no generic sub-family.
        code("ACMT", "ACOP", "INTR"),
        code("pmnt", "RCDT", "ESCT"),
        code("PMNT", "RCDT", ""),
        code("PMNT", "", ""),
        code("", "", "ESCT"),
        code("PMNT\tRCDT", "", "ESCT"),
        code("PMNT", "RCDT", "BOOK CAJT"),
    ] {
        assert!(!own.is_listed(), "{own:?}");
    }
    assert_eq!(
        code("ACMT", "ACOP", "INTR").sub_family_name(),
        Some("Interest")
    );
    let unknown = code("ABCD", "PMNT", "RCDT");
    assert_eq!(
        [
            unknown.name(),
            unknown.family_name(),
            unknown.sub_family_name()
        ],
        [None; 3]
    );
}

/// Each combination has its three names, and the list has as many as the edition.
#[test]
fn the_list_is_whole() {
    let mut combinations = 0;
    let mut domains = 0;
    for line in LIST.lines().skip(2) {
        let [domain, family, sub_family, name, all] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        assert!(!name.is_empty(), "{line}");
        domains += usize::from(family.is_empty() && sub_family.is_empty());
        for sub_family in all.split_terminator(' ') {
            let own = code(domain, family, sub_family);
            assert!(own.is_listed(), "{own:?}");
            assert!(
                own.name().is_some() && own.family_name().is_some(),
                "{own:?}"
            );
            assert!(own.sub_family_name().is_some(), "{own:?}");
            combinations += 1;
        }
    }
    assert_eq!((domains, combinations), (11, 1_527));
}
