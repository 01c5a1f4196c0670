//! The standard's list of bank transaction codes.

use crate::BankTransactionDomain;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The list, in columns: domain, family, sub-family, name, and the sub-families of a family. A row
/// of a sub-family without domain and family gives its name in all families that have no own row
/// for it.
const LIST: &str = include_str!("codes/list.tsv");

/// The rows of the list by domain, family and sub-family: the name, and the sub-families of a
/// family.
static ROWS: LazyLock<HashMap<[&str; 3], (&str, &str)>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let mut columns = line.split('\t');
        let place = [columns.next()?, columns.next()?, columns.next()?];
        Some((place, (columns.next()?, columns.next()?)))
    };
    LIST.lines().filter_map(row).collect()
});

/// Returns the name of a domain, family or sub-family, and the sub-families of a family.
fn row(place: [&str; 3]) -> Option<(&'static str, &'static str)> {
    ROWS.get(&place).copied()
}

/// The standard's list of bank transaction codes: edition 7.0 of 30 October 2023. Later additions,
/// such as `IRCA` in edition 7.1, are not in it.
///
/// ```
/// use bankrail_camt::{BankTransactionDomain, BankTransactionFamily};
///
/// let family = BankTransactionFamily::new("RCDT".into(), "ESCT".into());
/// let code = BankTransactionDomain::new("PMNT".into(), family);
/// assert_eq!(code.name(), Some("Payments"));
/// assert_eq!(code.family_name(), Some("Received Credit Transfers"));
/// assert_eq!(code.sub_family_name(), Some("SEPA Credit Transfer"));
/// assert!(code.is_listed());
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "codes")))]
impl BankTransactionDomain {
    /// Returns the name of the domain; `None` for a code that is not in the list.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        row([self.code.as_str(), "", ""]).map(|(name, _)| name)
    }

    /// Returns the name of the family; `None` for a family that the domain does not have.
    #[must_use]
    pub fn family_name(&self) -> Option<&'static str> {
        row([self.code.as_str(), self.family.code.as_str(), ""]).map(|(name, _)| name)
    }

    /// Returns the name of the sub-family; `None` for a code that is not in the list.
    #[must_use]
    pub fn sub_family_name(&self) -> Option<&'static str> {
        let own = self.family.sub_family.as_str();
        let here = row([self.code.as_str(), self.family.code.as_str(), own]);
        here.or_else(|| row(["", "", own])).map(|(name, _)| name)
    }

    /// Returns true for a combination of domain, family and sub-family that is in the list.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        let own = self.family.sub_family.as_str();
        let listed = |(_, all): (_, &str)| all.split_terminator(' ').any(|one| one == own);
        row([self.code.as_str(), self.family.code.as_str(), ""]).is_some_and(listed)
    }
}
