//! Findings about counts, sums and currencies that a document states and that its parts contradict.

use crate::Direction;
use bankrail_iso20022::{BrokenRule, FindingKind};
use bankrail_values::Decimal;
use std::fmt;

/// A rule beyond the schema that a document breaks: a stated count, sum or currency that
/// contradicts the document's parts.
///
/// ```
/// use bankrail_camt::Disagreement;
/// use bankrail_iso20022::FindingKind;
///
/// let kind = FindingKind::from(Disagreement::BatchCount { stated: 3, counted: 2 });
/// assert!(matches!(Disagreement::of(&kind), Some(Disagreement::BatchCount { stated: 3, .. })));
/// assert!(!kind.is_schema());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Disagreement {
    /// The summary states another number of entries than there are.
    #[error("the summary states {stated} {entries}, the report has {counted}")]
    EntryCount {
        /// The entries that the count is about.
        entries: CountedEntries,
        /// The figure that the summary states.
        stated: u64,
        /// The number of entries counted.
        counted: u64,
    },
    /// The summary states a sum other than that of the entries.
    #[error("the summary states {stated} as sum of {entries}, they sum up to {summed}")]
    EntrySum {
        /// The entries that the sum is about.
        entries: CountedEntries,
        /// The figure that the summary states.
        stated: Decimal,
        /// The sum of the entries.
        summed: Decimal,
    },
    /// The summary states a net amount other than credits less debits.
    #[error(
        "the summary states {stated} as net amount of {entries}, credits less debits are {summed}"
    )]
    NetAmount {
        /// The entries that the net amount is about.
        entries: CountedEntries,
        /// The stated net amount, negative for a debit.
        stated: Decimal,
        /// The credits less the debits.
        summed: Decimal,
    },
    /// A batch states another number of transactions than its details have.
    #[error("the batch states {stated} transactions, {counted} are detailed")]
    BatchCount {
        /// The figure that the batch states.
        stated: u64,
        /// The number of transactions counted.
        counted: u64,
    },
    /// A batch states a total other than the sum of its details.
    #[error("the batch states a total of {stated}, its details sum up to {summed}")]
    BatchTotal {
        /// The figure that the batch states.
        stated: Decimal,
        /// The sum of the details.
        summed: Decimal,
    },
    /// A batch states another direction than that of its details.
    #[error("the batch states {stated}, its details sum up to {summed}")]
    BatchDirection {
        /// The stated direction.
        stated: Direction,
        /// The sum of the details, negative for a debit.
        summed: Decimal,
    },
    /// The details of an entry add up to another amount than the entry's.
    #[error(
        "the details of the entry of {entry} sum up to {summed}, the difference is {difference}"
    )]
    DetailsSum {
        /// The amount of the entry, negative for a debit.
        entry: Decimal,
        /// The sum of the details, negative for debits.
        summed: Decimal,
        /// The amount of the entry less the sum.
        difference: Decimal,
    },
    /// A transaction is in a currency other than its entry's.
    #[error("expected transaction {number} in the entry's currency {entry}, found {found}")]
    TransactionCurrency {
        /// The place of the transaction within the entry, from 1.
        number: usize,
        /// The entry's currency; cut and escaped when it is not a code.
        entry: String,
        /// The transaction's currency; cut and escaped when it is not a code.
        found: String,
    },
    /// The closing balance differs from the opening balance plus the booked entries.
    #[error(
        "the closing balance is {closing}, the opening balance of {opening} and the booked entries of {booked} are {summed}"
    )]
    ClosingBalance {
        /// The opening balance, negative when overdrawn.
        opening: Decimal,
        /// The sum of the booked entries.
        booked: Decimal,
        /// The opening balance plus the booked entries.
        summed: Decimal,
        /// The closing balance that the document states.
        closing: Decimal,
    },
    /// An entry is in a currency other than its account's.
    #[error("expected the account's currency {account}, found {found}")]
    EntryCurrency {
        /// The account's currency; cut and escaped when it is not a code.
        account: String,
        /// The entry's currency; cut and escaped when it is not a code.
        found: String,
    },
}

/// The entries of a report that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountedEntries {
    /// All entries.
    All,
    /// Credit entries.
    Credit,
    /// Debit entries.
    Debit,
    /// Entries of one bank transaction code; each part is cut and escaped when long.
    BankTransactionCode {
        /// The standard code, such as `PMNT/RCDT/DMCT`.
        domain: Option<Box<str>>,
        /// The proprietary code.
        proprietary: Option<Box<str>>,
        /// The issuer of the proprietary code.
        issuer: Option<Box<str>>,
    },
}

impl Disagreement {
    /// Returns the disagreement in a finding, if it is one.
    #[must_use]
    pub fn of(kind: &FindingKind) -> Option<&Self> {
        match kind {
            FindingKind::BrokenRule(rule) => rule.get(),
            _ => None,
        }
    }
}

impl From<Disagreement> for FindingKind {
    fn from(disagreement: Disagreement) -> Self {
        let name = match disagreement {
            Disagreement::EntryCount { .. } => "EntryCount",
            Disagreement::EntrySum { .. } => "EntrySum",
            Disagreement::NetAmount { .. } => "NetAmount",
            Disagreement::BatchCount { .. } => "BatchCount",
            Disagreement::BatchTotal { .. } => "BatchTotal",
            Disagreement::BatchDirection { .. } => "BatchDirection",
            Disagreement::DetailsSum { .. } => "DetailsSum",
            Disagreement::TransactionCurrency { .. } => "TransactionCurrency",
            Disagreement::ClosingBalance { .. } => "ClosingBalance",
            Disagreement::EntryCurrency { .. } => "EntryCurrency",
        };
        Self::BrokenRule(BrokenRule::new(name, disagreement))
    }
}

impl fmt::Display for CountedEntries {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => out.write_str("entries"),
            Self::Credit => out.write_str("credit entries"),
            Self::Debit => out.write_str("debit entries"),
            Self::BankTransactionCode {
                domain,
                proprietary,
                issuer,
            } => {
                out.write_str("entries of ")?;
                match (domain, proprietary) {
                    (None, None) => out.write_str("no bank transaction code")?,
                    (Some(domain), None) => write!(out, "the bank transaction code {domain}")?,
                    (None, Some(own)) => {
                        write!(out, "the proprietary bank transaction code {own}")?
                    }
                    (Some(domain), Some(own)) => {
                        write!(
                            out,
                            "the bank transaction code {domain} and the proprietary one {own}"
                        )?;
                    }
                }
                issuer
                    .as_ref()
                    .map_or(Ok(()), |issuer| write!(out, " of {issuer}"))
            }
        }
    }
}
